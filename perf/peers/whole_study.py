"""wardround: a study from its file to its report, as `wardround run` does it."""

from __future__ import annotations

import sys
from pathlib import Path


def main(study_file: Path, workspace: Path) -> None:
    import wardround.marking.run_marks  # loaded before the clock starts, as the peer's libraries are
    import wardround.measuring
    import wardround.reporting.page  # noqa: F401
    from perf.measured import Clock, print_usage
    from wardround.pipeline import run_study

    started = Clock.now()
    ended = run_study(study_file, runs=workspace / "runs", note=lambda line: print(line, file=sys.stderr))
    print_usage(started, new=ended.manifest["candidates"][0]["new"])
    assert ended.exit_code == 0, ended.manifest["why"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
