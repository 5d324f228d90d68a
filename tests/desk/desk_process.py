"""A desk in a process of its own, as `wardround desk` starts it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from exam_study import start


class DeskProcess:
    """Started by the command line; `link` is the administrator's, once."""

    def __init__(self, root: Path, *more: str) -> None:
        self.process = start("desk", "--root", root, "--json", *more, cwd=root.parent)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        announcement = json.loads(line)
        self.url, self.link = announcement["url"], announcement["administrator"]
        self.listening = announcement["listening"]

    def kill(self) -> None:
        """Kills it, like a power cut."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._close_pipes()

    def stop(self) -> tuple[int, str]:
        """Sends Ctrl-C; returns the exit code and stderr."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        stderr = self.process.communicate(timeout=300)[1]
        return self.process.returncode, stderr

    def _close_pipes(self) -> None:
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()

    def __enter__(self) -> DeskProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._close_pipes()
