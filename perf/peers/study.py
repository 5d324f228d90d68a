"""wardround: a study of the case set, asked, committed to its store and written as a run.

What it needs is imported where it is used, as the command does: image workers import this file too.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path


def main(study_file: Path, workspace: Path) -> None:
    from perf.measured import Clock, print_usage
    from wardround.core.study import load_study
    from wardround.marking.reader import AnswerReader
    from wardround.running.inputs.run_paths import RunPaths
    from wardround.running.study_run import StudyRun

    started = Clock.now()
    places = RunPaths.from_options(study_file, workspace / "runs", None)
    examination = StudyRun(load_study(study_file), places, AnswerReader(), note=lambda line: None)

    async def run() -> dict[str, object]:
        try:
            return await examination.run(quiet=True)
        finally:
            await examination.close()

    manifest = asyncio.run(run())
    print_usage(started)
    assert manifest["status"] == "complete", manifest["why"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
