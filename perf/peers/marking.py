"""wardround: a finished run is marked, measured and reported; `again` keeps what would come out as it is."""

from __future__ import annotations

import sys
from pathlib import Path

from perf.measured import Clock, print_usage
from wardround.pipeline import mark_run
from wardround.running.inputs.kept_results import FILE


def main(folder: Path, *, again: bool = False) -> None:
    if not again:
        (folder / FILE).unlink(missing_ok=True)
    started = Clock.now()
    mark_run(folder)
    print_usage(started)


if __name__ == "__main__":
    main(Path(sys.argv[1]), again="again" in sys.argv[2:])
