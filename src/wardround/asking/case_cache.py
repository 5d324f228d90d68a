"""CaseCache: what was computed for the latest cases, so that planning and asking do not compute it twice."""

from __future__ import annotations

from typing import Any

from wardround.core.case import Case


class CaseCache:
    """A dictionary for each of the latest cases, at most about `max_entries` entries in all."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._by_case: dict[int, tuple[Case, dict[Any, Any]]] = {}  # by identity; the oldest first
        self._case: Case | None = None
        self._shared: dict[Any, Any] = {}
        self._counted = self._size_before = 0

    def of(self, case: Case) -> dict[Any, Any]:
        """What was computed for this very case so far, to be added to."""
        if case is not self._case:
            self._counted += len(self._shared) - self._size_before
            self._drop_oldest()
            _, self._shared = self._by_case.setdefault(id(case), (case, {}))
            self._case, self._size_before = case, len(self._shared)
        return self._shared

    def _drop_oldest(self) -> None:
        while self._counted > self._max_entries:
            _, dropped = self._by_case.pop(next(iter(self._by_case)))
            self._counted -= len(dropped)
