"""The file of a batch: items are written one by one, so that memory does not grow with their number."""

from pathlib import Path
from tempfile import TemporaryDirectory

from wardround.candidates.batches.batch_api import BatchApi
from wardround.running.store.batches import Reservation

MAX_ENVELOPE = 300  # bytes that an item has around its payload, and the file after its last item


class ItemFile:
    """Collects items until the provider's limits are reached."""

    def __init__(self, api: BatchApi, token: str, max_items: int) -> None:
        self._api, self.token = api, token
        self._max_items = min(api.max_items, max_items)
        self._folder = TemporaryDirectory(prefix="wardround-batch-")
        self.path = Path(self._folder.name) / "batch"
        self._file = self.path.open("wb")
        self._size = self._file.write(api.frame.before)
        self.items: list[str] = []
        self.reserved = Reservation()  # for its items, of the budget

    def has_room(self, payload: bytes) -> bool:
        """Whether another item fits into the file. The first one always does."""
        is_small_enough = self._size + len(payload) + MAX_ENVELOPE <= self._api.max_bytes
        return not self.items or (len(self.items) < self._max_items and is_small_enough)

    def add(self, name: str, payload: bytes, reserved: Reservation) -> None:
        """Adds an item, for which so much is reserved of the budget."""
        item = self._api.encode_item(f"{self.token}-{name}", payload)
        self._size += self._file.write((self._api.frame.between if self.items else b"") + item)
        self.items.append(name)
        self.reserved = self.reserved.plus(reserved)

    def finish(self) -> Path:
        """The whole file."""
        self._file.write(self._api.frame.after)
        self._file.close()
        return self.path

    def remove(self) -> None:
        self._file.close()
        self._folder.cleanup()
