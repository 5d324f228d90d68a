"""A desk in a process of its own, as `wardround desk` starts it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from exam_study import start


class Served:
    """Started by the command line; `link` is the administrator's, once."""

    def __init__(self, root: Path, *more: str) -> None:
        self.process = start("desk", "--root", root, "--json", *more, cwd=root.parent)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        told = json.loads(line)
        self.url, self.link = told["url"], told["administrator"]

    def kill(self) -> None:
        """As a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._forget()

    def stop(self) -> tuple[int, str]:
        """Ctrl-C; its exit code, and what it said."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        said = self.process.communicate(timeout=30)[1]
        return self.process.returncode, said

    def _forget(self) -> None:
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._forget()
