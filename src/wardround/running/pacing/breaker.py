"""Breaker: stops a candidate whose server refuses everything, with the reason, before it costs hours or money."""

from collections import Counter

from wardround.candidates.candidate import CandidateUnavailable, Fault

MAX_REFUSED_IN_A_ROW = 5  # different Asks
MAX_FILTERED_IN_A_ROW = 20  # different Asks that were refused for a known reason by a server that answered others


class Breaker:
    """Counts faults that waiting does not mend, and refused Asks, since the last answer."""

    def __init__(self) -> None:
        self._faults: Counter[str] = Counter()
        self._refused: dict[bool, set[bytes]] = {False: set(), True: set()}  # by whether the Ask shows images
        self._filtered: dict[bool, set[bytes]] = {False: set(), True: set()}  # likewise
        self.has_answered = {False: False, True: False}  # likewise

    def answered(self, *, with_images: bool) -> None:
        self.has_answered[with_images] = True
        self._faults.clear()
        self._refused[with_images].clear()
        self._filtered[with_images].clear()

    def faulted(self, fault: Fault) -> None:
        if fault.stops_after is not None:
            self._faults[fault.kind] += 1
            if self._faults[fault.kind] >= fault.stops_after:
                raise CandidateUnavailable(f"{self._faults[fault.kind]} times in a row: {fault}")

    def refused(self, ask: bytes, *, with_images: bool, for_known_reason: bool) -> None:
        """An Ask was refused; the reason is known if the server says that it lies in the question."""
        refused = self._filtered if for_known_reason and self.has_answered[with_images] else self._refused
        refused[with_images].add(ask)

    def refuses_all(self, *, with_images: bool) -> str | None:
        """So many refusals in a row, in words, that they say something of the candidate, not of the questions."""
        refused, filtered = len(self._refused[with_images]), len(self._filtered[with_images])
        if refused < MAX_REFUSED_IN_A_ROW and filtered < MAX_FILTERED_IN_A_ROW:
            return None
        return f"{max(refused, filtered)} questions {'with images ' if with_images else ''}in a row were refused"
