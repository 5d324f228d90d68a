"""Images: hashed and encoded off the event loop, once per distinct image and recipe."""

import asyncio
import os
import signal
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.plain_png import may_be_sent_as_it_is, render_plain
from wardround.core.ask import ImagePart
from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput
from wardround.core.processes import worker_pool
from wardround.degrade.recipe import render_degraded
from wardround.running.store import AnswerStore

HASHES_PER_WRITE = 256
MAX_CACHED_BYTES = 96 * 2**20


class UnknownFingerprint(Exception):
    """The hash of this file is not known yet."""

    def __init__(self, file: str) -> None:
        self.file = file


class Fingerprints:
    """SHA-256 of image files. A file with the same size and modification time as before is not read again."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._known: dict[str, str] = {}
        self._stored: dict[str, tuple[int, int, str]] = {}  # of folders that were loaded
        self._new: list[tuple[str, int, int, str]] = []

    @property
    def known(self) -> Mapping[str, str]:
        """The hash of every file that was asked for."""
        return self._known

    def load(self, folder: str) -> None:
        """Reads what is stored of the files of a folder, which is quicker than one by one."""
        self._stored |= self._store.known_files(folder)

    async def learn(self, file: str) -> None:
        """Reads one file and makes its hash known."""
        await asyncio.to_thread(self._read, file)
        if len(self._new) >= HASHES_PER_WRITE:
            self.save()

    def read(self, file: str) -> str:
        """The hash of a file, which is read now if it is not known."""
        try:
            return self(file)
        except UnknownFingerprint:
            self._read(file)
            return self._known[file]

    def _read(self, file: str) -> None:
        try:
            status = os.stat(file)
            sha256 = sha256_file(file)
        except OSError as error:
            raise _unreadable(file, error) from None
        self._known[file] = sha256
        self._new.append((file, status.st_size, status.st_mtime_ns, sha256))

    def save(self) -> None:
        """Stores new hashes, so that the next start need not read the files again."""
        self._store.save_files(self._new)
        self._new = []

    def __call__(self, file: str) -> str:
        sha256 = self._known.get(file)
        if sha256 is None:
            sha256 = self._known[file] = self._stored_hash(file)
        return sha256

    def _stored_hash(self, file: str) -> str:
        stored = self._stored.get(file) or self._store.known_file(file)
        if stored is None:
            raise UnknownFingerprint(file)
        size, changed, sha256 = stored
        try:
            status = os.stat(file)
        except OSError as error:
            raise _unreadable(file, error) from None
        if (size, changed) != (status.st_size, status.st_mtime_ns):
            raise UnknownFingerprint(file)
        return sha256


def _unreadable(file: str, error: OSError) -> BadInput:
    return BadInput(Path(file), f"image cannot be read: {error.strerror}")


class ImageEncoder:
    """Encodes images in worker processes, reads those that are sent as they are, and caches the latest in memory."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._cache: OrderedDict[str, EncodedImage] = OrderedDict()
        self._bytes = 0
        self._in_flight: dict[str, asyncio.Future[EncodedImage]] = {}
        self._one_by_one = asyncio.Lock()

    async def encode(self, part: ImagePart) -> EncodedImage:
        key = part.json
        image = self._cache.get(key)
        if image is not None:
            self._cache.move_to_end(key)
            return image
        pending = self._in_flight.get(key)
        if pending is None:
            pending = self._in_flight[key] = asyncio.ensure_future(self._render(part))
            pending.add_done_callback(lambda done: self._store_in_cache(key, done))
        return await asyncio.shield(pending)

    async def _render(self, part: ImagePart) -> EncodedImage:
        """Renders in a worker. If one dies, its pool is lost: each image is then tried alone."""
        if may_be_sent_as_it_is(part.path, part.frame, part.recipe):
            plain = await asyncio.to_thread(render_plain, part.path, part.frame, part.recipe)
            if plain is not None:
                return plain
        pool = self._pool = self._pool or worker_pool(self._workers)
        try:
            return await asyncio.wrap_future(self._submit(pool, part))
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
        async with self._one_by_one:
            alone = worker_pool(1)
            try:
                return await asyncio.wrap_future(self._submit(alone, part))
            except BrokenProcessPool:
                raise BadInput(Path(part.path), "the process that decodes this image died") from None
            finally:
                alone.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def _submit(pool: ProcessPoolExecutor, part: ImagePart) -> Future[EncodedImage]:
        """Workers, which are started here, do not get Ctrl-C: the run ends them."""
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(render_degraded, Path(part.path), part.frame, part.recipe)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)

    def _store_in_cache(self, key: str, done: asyncio.Future[EncodedImage]) -> None:
        del self._in_flight[key]
        if done.cancelled() or done.exception() is not None:
            return
        self._cache[key] = done.result()
        self._bytes += len(done.result().base64)
        while self._bytes > MAX_CACHED_BYTES and len(self._cache) > 1:
            _, oldest = self._cache.popitem(last=False)
            self._bytes -= len(oldest.base64)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._cache.clear()
