"""Builds that are killed, while their writer is asked or while they write, and run again, against one left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from exam_server import ExamServer

from wardround.building.sources.eurorad.build import build_eurorad
from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.building.sources.pmc.build import build_pmc
from wardround.core.study import CandidateSettings

BUILDS = {"eurorad": build_eurorad, "pmc": build_pmc, "ophthalmic": build_ophthalmic}
ROLES = {"ophthalmic": ("writer", "reviewer")}


def written(source_kind: str, source: str, out: str, url: str) -> None:
    models = {
        role: CandidateSettings(name=role, provider="openai", base_url=url, model=role, concurrency=1)
        for role in ROLES.get(source_kind, ("writer",))
    }
    BUILDS[source_kind](Path(source), Path(out), models=models, answers=Path(out).parent / "answers.sqlite")


def files_of(folder: Path) -> dict[str, bytes]:
    """All that a build wrote."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def killed_and_left_alone(source_kind: str, source: Path, folder: Path, reply: str) -> tuple[dict[str, bytes], ...]:
    """What a build wrote that was killed after an answer and run again, and what one wrote that was not."""
    killed, alone = folder / "killed" / "set", folder / "alone" / "set"
    script = "import sys; from killed_build import written; written(*sys.argv[1:])"
    environment = os.environ | {"PYTHONPATH": f"{Path(__file__).parent}:{Path(__file__).parents[1]}"}
    with ExamServer(lambda body, index: reply, service_seconds=0.3) as server:
        told = [source_kind, str(source), str(killed), server.url]
        process = subprocess.Popen([sys.executable, "-c", script, *told], env=environment)
        while server.succeeded < 1:
            assert process.poll() is None, "it ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not killed.exists()
        server.service_seconds = 0.0
        written(*told)
        written(source_kind, str(source), str(alone), server.url)
    return files_of(killed), files_of(alone)


PAUSED = """
import sys
from pathlib import Path
import wardround.building.sources.dicom.build as dicom

def paused(function):
    def waits(*given):
        print("here", flush=True)
        sys.stdin.readline()
        return function(*given)
    return waits

dicom.write = paused(dicom.write)
dicom.private.keep_names = paused(dicom.private.keep_names)
dicom.private._write = paused(dicom.private._write)
dicom.build_dicom(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
"""


def killed_while_writing(files: Path, histories: Path, out: Path, times: int) -> None:
    """Starts a build of hospital studies, lets it write so many things, and kills it."""
    told = [sys.executable, "-c", PAUSED, str(files), str(histories), str(out)]
    with subprocess.Popen(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(times):
            assert process.stdout.readline() == "here\n", "it ended before it could be killed"
            process.stdin.write("\n")
            process.stdin.flush()
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
