"""The file of a batch: items are written one by one, so that memory does not grow with their number."""

from pathlib import Path
from tempfile import TemporaryDirectory

from wardround.candidates.batches.batch_api import BatchApi
from wardround.running.store.batches import Reservation


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

    def add(self, name: str, payload: bytes) -> bool:
        """Adds an item; False if there is no room for it. The first one always has room."""
        item = self._api.encode_item(f"{self.token}-{name}", payload)
        size = self._size + len(self._api.frame.between) + len(item) + len(self._api.frame.after)
        if self.items and (len(self.items) == self._max_items or size > self._api.max_bytes):
            return False
        self._size += self._file.write((self._api.frame.between if self.items else b"") + item)
        self.items.append(name)
        return True

    def finish(self) -> Path:
        """The whole file."""
        self._file.write(self._api.frame.after)
        self._file.close()
        return self.path

    def remove(self) -> None:
        self._file.close()
        self._folder.cleanup()
