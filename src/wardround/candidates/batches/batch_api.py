"""The interface of a provider's batch API."""

from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class BatchFrame(NamedTuple):
    """What stands before, between and after the items in the file of a batch."""

    before: bytes
    between: bytes
    after: bytes


JSON_LINES = BatchFrame(b"", b"\n", b"\n")


class BatchResult(NamedTuple):
    """What became of one item: the status and the body of its reply; 0 if it was never processed."""

    custom_id: str
    status: int
    body: bytes


class BatchFailed(Exception):
    """The provider refused a whole batch after it had taken it; nothing of it was answered."""

    def __init__(self, message: str, *, is_queue_full: bool = False) -> None:
        super().__init__(message)
        self.is_queue_full = is_queue_full  # it was too much for now: a smaller one, or a later one, may be taken


class BatchUncertain(Exception):
    """A batch under way may be the one that is looked for; only its results tell."""


class BatchApi(Protocol):
    max_items: int
    max_bytes: int
    frame: BatchFrame

    def encode_item(self, custom_id: str, payload: bytes) -> bytes:
        """One request of the file; `payload` is the JSON that would be sent alone."""
        ...

    async def submit(self, file: Path, token: str) -> str:
        """Submits a file; returns the provider's id. `token` is ours, by which `find` knows the batch."""
        ...

    async def find(self, token: str, items: int, since: str, known: Collection[str]) -> str | None:
        """The id of a batch whose submission was not confirmed; None if the provider does not have it.

        BatchUncertain if that cannot be told yet.

        `since` is when it was submitted (UTC, ISO 8601), `known` are the ids of others.
        """
        ...

    async def has_ended(self, id: str) -> bool:
        """Whether its results can be collected; BatchFailed if there will be none."""
        ...

    def results(self, id: str) -> AsyncIterator[BatchResult]:
        """What became of its items, in any order."""
        ...

    async def cancel(self, id: str) -> None:
        """Ends a batch; items that were processed have results."""
        ...

    def user_task(self, ids: Sequence[str]) -> str | None:
        """What the user must do for these batches; None if their provider processes them."""
        return None
