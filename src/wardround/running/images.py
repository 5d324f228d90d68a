"""Images are hashed and made sendable off the event loop, once per distinct image and recipe."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections import OrderedDict
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from wardround.cases.encoded import Encoded
from wardround.core.ask import ImagePart
from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput
from wardround.degrade.recipe import render_degraded
from wardround.degrade.workers import end_with_the_parent
from wardround.running.store import Store

WRITTEN_TOGETHER = 256
KEPT_BYTES = 96 * 2**20


class Unlearnt(Exception):
    """The hash of this file is not known yet."""

    def __init__(self, file: str) -> None:
        self.file = file


class Fingerprints:
    """SHA-256 of image files. A file whose size and time of change are as before is not read again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str] = {}
        self._new: list[tuple[str, int, int, str]] = []

    async def learn(self, file: str) -> None:
        """Reads one file and makes its hash known."""
        try:
            status = os.stat(file)
            sha256 = await asyncio.to_thread(sha256_file, file)
        except OSError as error:
            raise _unreadable(file, error) from None
        self._known[file] = sha256
        self._new.append((file, status.st_size, status.st_mtime_ns, sha256))
        if len(self._new) >= WRITTEN_TOGETHER:
            self.remember()

    def remember(self) -> None:
        """Writes down what was learnt, so that the next start need not read the files again."""
        self._store.remember_files(self._new)
        self._new = []

    def __call__(self, file: str) -> str:
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._remembered(file)
        return known

    def _remembered(self, file: str) -> str:
        remembered = self._store.known_file(file)
        if remembered is None:
            raise Unlearnt(file)
        size, changed, sha256 = remembered
        try:
            status = os.stat(file)
        except OSError as error:
            raise _unreadable(file, error) from None
        if (size, changed) != (status.st_size, status.st_mtime_ns):
            raise Unlearnt(file)
        return sha256


def _unreadable(file: str, error: OSError) -> BadInput:
    return BadInput(Path(file), f"image cannot be read: {error.strerror}")


class Imagery:
    """Makes images sendable in worker processes, and keeps the latest in memory."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._kept: OrderedDict[str, Encoded] = OrderedDict()
        self._bytes = 0
        self._under_way: dict[str, asyncio.Future[Encoded]] = {}
        self._one_by_one = asyncio.Lock()

    async def encoded(self, part: ImagePart) -> Encoded:
        key = part.json
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        under_way = self._under_way.get(key)
        if under_way is None:
            under_way = self._under_way[key] = asyncio.ensure_future(self._rendered(part))
            under_way.add_done_callback(lambda done: self._keep(key, done))
        return await asyncio.shield(under_way)

    async def _rendered(self, part: ImagePart) -> Encoded:
        """Renders in a worker. One that dies takes the others with it: each is then tried alone."""
        pool = self._pool = self._pool or self._started(self._workers)
        try:
            return await asyncio.wrap_future(self._submit(pool, part))
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
        async with self._one_by_one:
            alone = self._started(1)
            try:
                return await asyncio.wrap_future(self._submit(alone, part))
            except BrokenProcessPool:
                raise BadInput(Path(part.path), "the process that decodes this image died") from None
            finally:
                alone.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def _started(workers: int) -> ProcessPoolExecutor:
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(workers, spawn, initializer=end_with_the_parent)

    @staticmethod
    def _submit(pool: ProcessPoolExecutor, part: ImagePart) -> Future[Encoded]:
        """Workers are started here, and never hear of Ctrl-C: the run says when they end."""
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(render_degraded, Path(part.path), part.frame, part.recipe)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)

    def _keep(self, key: str, done: asyncio.Future[Encoded]) -> None:
        del self._under_way[key]
        if done.cancelled() or done.exception() is not None:
            return
        self._kept[key] = done.result()
        self._bytes += len(done.result().base64)
        while self._bytes > KEPT_BYTES and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.base64)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._kept.clear()
