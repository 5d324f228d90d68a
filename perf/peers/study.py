"""wardround: a study of the same case set, asked, committed to its store and written as a run."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from perf.measured import Clock, tell
from perf.workload import write_study
from wardround.core.study import load_study
from wardround.marking.reader import AnswerReader
from wardround.running.run import Examination, Places


async def run(examination: Examination) -> dict[str, object]:
    try:
        return await examination.run(quiet=True)
    finally:
        await examination.close()


def main(folder: Path, url: str, concurrency: int) -> None:
    study_file = write_study(folder, url, concurrency=concurrency)
    with tempfile.TemporaryDirectory() as workspace:
        started = Clock.now()
        places = Places.given(study_file, Path(workspace) / "runs", None)
        examination = Examination(load_study(study_file), places, AnswerReader(), note=lambda line: None)
        manifest = asyncio.run(run(examination))
        tell(started, status=manifest["status"])
        assert manifest["status"] == "complete"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
