"""A store that is removed or replaced during a run stops it at once: nothing is bought that cannot be kept."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, letter_by_hash
from exam_study import examine, write_cases, write_study

from wardround.core.errors import WardroundError


@pytest.mark.parametrize("loss", ["removed", "replaced"])
def test_a_store_that_vanishes_stops_the_run(tmp_path: Path, loss: str) -> None:
    write_cases(tmp_path / "cases", 200)
    store = tmp_path / "answers.sqlite"

    def answer(body: dict[str, Any], index: int) -> str:
        if server.calls == 20 and store.exists():
            shutil.move(store, tmp_path / "moved.sqlite")
            if loss == "replaced":
                store.write_bytes(b"")
        return letter_by_hash(body, index)

    with ExamServer(answer) as server:
        study = write_study(tmp_path, server.url, candidate={"concurrency": 4})
        with pytest.raises(WardroundError, match="the store was removed or replaced while a run was writing to it"):
            examine(study)
        assert server.calls <= 28  # those under way
