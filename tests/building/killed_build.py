"""A build that is killed while its writer is asked, and run again, against one that is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from exam_server import ExamServer

from wardround.building.eurorad.build import build_eurorad
from wardround.building.ophthalmic.build import build_ophthalmic
from wardround.building.pmc.build import build_pmc
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
