"""Images: hashed and encoded off the event loop, once per distinct image and recipe."""

import asyncio
import os
import signal
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.file_hash import FileHash
from wardround.cases.images.plain_png import may_be_sent_as_it_is, render_plain
from wardround.core.ask import ImagePart
from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput
from wardround.core.processes import worker_pool
from wardround.degrade.recipe import render_degraded
from wardround.running.store import AnswerStore

HASHES_PER_WRITE = 256
FILES_AT_ONCE, READERS = 32, 4  # that planning has read together, and the threads that read them
MAX_CACHED_BYTES = 96 * 2**20


class UnknownFingerprint(Exception):
    """The hash of this file is not known yet."""

    def __init__(self, file: str) -> None:
        self.file = file


class Fingerprints:
    """SHA-256 of image files. A file with the same size and modification time as before is not read again."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._known: dict[str, FileHash] = {}
        self._stored: dict[str, tuple[int, int, str]] = {}  # of folders that were loaded
        self._new: list[tuple[str, int, int, str]] = []

    @property
    def known(self) -> Mapping[str, FileHash]:
        """The hash of every file that was asked for."""
        return self._known

    def load(self, folder: str) -> None:
        """Reads what is stored of the files of a folder, which is quicker than one by one."""
        self._stored |= self._store.known_files(folder)

    async def learn(self, file: str) -> None:
        """Reads one file and makes its hash known."""
        await asyncio.to_thread(self._read, file)
        self._save_many()

    async def learn_all(self, files: Sequence[str]) -> None:
        """Reads files, several at once, and makes their hashes known; not those that cannot be read."""
        shares = [files[reader::READERS] for reader in range(min(READERS, len(files)))]
        await asyncio.gather(*(asyncio.to_thread(self._read_readable, share) for share in shares))
        self._save_many()

    def _read_readable(self, files: Sequence[str]) -> None:
        for file in files:
            with suppress(BadInput):
                self._read(file)

    def read(self, file: str) -> str:
        """The hash of a file, which is read now if it is not known."""
        try:
            return self(file)
        except UnknownFingerprint:
            self._read(file)
            return self._known[file].sha256

    def _read(self, file: str) -> None:
        try:
            status = os.stat(file)
            sha256 = sha256_file(file)
        except OSError as error:
            raise _unreadable(file, error) from None
        self._known[file] = FileHash(status.st_size, status.st_mtime_ns, sha256)
        self._new.append((file, status.st_size, status.st_mtime_ns, sha256))

    def _save_many(self) -> None:
        if len(self._new) >= HASHES_PER_WRITE:
            self.save()

    def save(self) -> None:
        """Stores new hashes, so that the next start need not read the files again."""
        self._store.save_files(self._new)
        self._new = []

    def __call__(self, file: str) -> str:
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._stored_hash(file)
        return known.sha256

    def _stored_hash(self, file: str) -> FileHash:
        stored = self._stored.get(file) or self._store.known_file(file)
        if stored is None:
            raise UnknownFingerprint(file)
        hashed = FileHash(*stored)
        try:
            status = os.stat(file)
        except OSError as error:
            raise _unreadable(file, error) from None
        if not hashed.is_of(status):
            raise UnknownFingerprint(file)
        return hashed


def _unreadable(file: str, error: OSError) -> BadInput:
    return BadInput(Path(file), f"image cannot be read: {error.strerror}")


class ImageEncoder:
    """Encodes images in worker processes, reads those that are sent as they are, and caches the latest in memory."""

    def __init__(self, workers: int | None = None, hashes: Mapping[str, FileHash] | None = None) -> None:
        """`hashes` are those of files that are known; a file that was not changed since is not hashed again."""
        self._workers = workers or os.cpu_count() or 1
        self._hashes = {} if hashes is None else hashes  # which may be filled later
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
            hashed = self._hashes.get(part.path)
            plain = await asyncio.to_thread(render_plain, part.path, part.frame, part.recipe, hashed)
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
