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
HERE = Path(__file__).parent


def run_build(source_kind: str, source: str, out: str, url: str) -> None:
    models = {
        role: CandidateSettings(name=role, provider="openai", base_url=url, model=role, concurrency=1)
        for role in ROLES.get(source_kind, ("writer",))
    }
    BUILDS[source_kind](Path(source), Path(out), models=models, answers=Path(out).parent / "answers.sqlite")


def read_files(folder: Path) -> dict[str, bytes]:
    """Everything that a build wrote."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def killed_and_left_alone(source_kind: str, source: Path, folder: Path, reply: str) -> tuple[dict[str, bytes], ...]:
    """The files of a build that was killed after its first answer and run again, and of one that was not killed."""
    killed, alone = folder / "killed" / "set", folder / "alone" / "set"
    script = "import sys; from killed_build import run_build; run_build(*sys.argv[1:])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (HERE, *HERE.parents[:2])))}
    with ExamServer(lambda body, index: reply) as server:
        arguments = (source_kind, str(source), str(killed), server.url)
        server.hold(answers=1)
        command = [sys.executable, "-c", script, *arguments]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        server.wait_for(lambda: server.held > 0, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not killed.exists()
        server.release()
        run_build(*arguments)
        run_build(source_kind, str(source), str(alone), server.url)
    return read_files(killed), read_files(alone)


PAUSING_BUILD = """
import sys
from pathlib import Path
import wardround.building.sources.dicom.build as build
import wardround.building.sources.dicom.secret as secret

def pausing(function):
    def pause(*arguments):
        print("here", flush=True)
        sys.stdin.readline()
        return function(*arguments)
    return pause

build.write_dicom = pausing(build.write_dicom)
build.write_names = pausing(build.write_names)
secret._write = pausing(secret._write)
build.build_dicom(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
"""


def kill_while_writing(files: Path, histories: Path, out: Path, writes: int) -> None:
    """Starts a build of hospital studies, lets it write so many files, and kills it."""
    command = [sys.executable, "-c", PAUSING_BUILD, str(files), str(histories), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(writes):
            assert process.stdout.readline() == "here\n", "it ended before it could be killed"
            process.stdin.write("\n")
            process.stdin.flush()
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
