"""wardround: a finished run is marked, measured and reported again."""

from __future__ import annotations

import sys
from pathlib import Path

from perf.measured import Clock, tell
from wardround.pipeline import mark_run


def main(folder: Path) -> None:
    started = Clock.now()
    mark_run(folder)
    tell(started)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
