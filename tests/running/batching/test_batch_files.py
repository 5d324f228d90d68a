"""Batch files: written for `vllm run-batch`, and collected when it has processed them."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from exam_study import wardround, write_cases, write_study
from test_batches import ITEMS, PRICES, assert_half_the_price, chain, fails_once, run, spent

sys.path.append(str(Path(__file__).parents[2] / "candidates" / "contract"))
from batch_endpoints import RunBatch

from wardround.core.errors import WardroundError
from wardround.pipeline import INCOMPLETE, open_study_run


@pytest.fixture(autouse=True)
def _settings(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", RunBatch.key)


def make_study(folder: Path, cases: Any = 40, *, server: RunBatch | None = None, **top: Any) -> Path:
    write_cases(folder / "cases", cases)
    settings = {"batch": "file", "api_key_env": "EXAM_KEY", **PRICES}
    return write_study(folder, f"{server.url}/v1" if server else "http://127.0.0.1:9/v1", top=top, candidate=settings)


def process(study: Path, vllm: RunBatch, **options: Any) -> int:
    """Processes the input files that have no output file; returns how many there were."""
    inputs = [file for file in input_files(study) if not file.with_suffix(".output.jsonl").exists()]
    for file in inputs:
        vllm.process(file, file.with_suffix(".output.jsonl"), **options)
    return len(inputs)


def input_files(study: Path) -> list[Path]:
    folder = study.parent / "runs" / "exam" / "batches"
    return sorted(file for file in folder.glob("*.jsonl") if not file.name.endswith(".output.jsonl"))


def test_the_run_ends_with_the_command_to_type_and_the_next_one_collects(tmp_path):
    vllm, study = RunBatch(fails=fails_once), make_study(tmp_path, trials=2)

    ended = run(study)

    [file] = input_files(study)
    output = file.with_suffix(".output.jsonl")
    assert ended.exit_code == INCOMPLETE
    assert f"`vllm run-batch -i {shlex.quote(str(file))} -o {output} --model exam`" in ended.manifest["why"]
    process(study, vllm)
    assert run(study).exit_code == INCOMPLETE  # what failed is in another file
    assert process(study, vllm) == 1
    ended = run(study)
    assert ended.exit_code == 0
    [entry] = ended.manifest["candidates"]
    assert (entry["bought"], entry["duplicates"], entry["batches"]) == (80, 0, 2)
    assert_half_the_price(study)
    assert set(vllm.answered.values()) == {1}


def test_a_file_that_is_processed_in_part_is_waited_for_until_it_is_cancelled(tmp_path):
    vllm, study = RunBatch(), make_study(tmp_path)
    run(study)
    process(study, vllm, lines=30)

    assert run(study).exit_code == INCOMPLETE
    assert len(input_files(study)) == 1
    cancelled = wardround("batches", "cancel", study, cwd=tmp_path, EXAM_KEY=RunBatch.key)

    assert cancelled.returncode == 0, cancelled.stderr
    assert run(study).exit_code == INCOMPLETE
    assert process(study, vllm) == 1
    assert run(study).exit_code == 0
    assert set(vllm.answered.values()) == {1}
    assert len(vllm.answered) == 40


def test_a_chain_is_written_stage_by_stage(tmp_path):
    vllm, study = RunBatch(), make_study(tmp_path, map(chain, range(6)))
    for _ in range(3):
        assert run(study).exit_code == INCOMPLETE
        assert process(study, vllm) == 1
    assert run(study).exit_code == 0


def test_what_three_files_did_not_answer_is_asked_of_the_server(tmp_path):
    with RunBatch(fails=lambda item, times: True) as vllm:
        study = make_study(tmp_path, 3, server=vllm)
        for _ in range(3):
            assert run(study).exit_code == INCOMPLETE
            process(study, vllm)
        ended = run(study)
    assert ended.exit_code == 0
    assert {purpose: answers for purpose, _, answers, _ in spent(study)}["answer"] == 3


def test_a_provider_of_another_format_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 2)
    study = write_study(tmp_path, candidate={"provider": "anthropic", "batch": "file"})
    with pytest.raises(WardroundError, match="batch files have the format of provider 'openai'"):
        open_study_run(study, runs=tmp_path / "runs")


@pytest.mark.slow
def test_5000_asks_survive_five_kills(tmp_path):
    """Three files, one of which is cancelled half done, one item in ten fails, and the process is killed five times."""
    program = Path(__file__).with_name("killed_batches.py")
    vllm, study = RunBatch(fails=fails_once), make_study(tmp_path, ITEMS)

    def start(kill: str) -> int:
        return subprocess.run([sys.executable, program, kill, study], env=os.environ, check=False).returncode

    for kill in ("add", "submit", "confirm"):
        assert start(kill) == -signal.SIGKILL, kill
    assert start("never") == INCOMPLETE
    first, *others = input_files(study)
    assert len(others) == 2
    vllm.process(first, first.with_suffix(".output.jsonl"), lines=800)
    first.with_suffix(".cancelled").touch()
    process(study, vllm)
    for kill in ("commit", "end"):
        assert start(kill) == -signal.SIGKILL, kill
    while start("never") == INCOMPLETE:
        assert process(study, vllm)
    assert set(vllm.answered.values()) == {1}
    assert len(vllm.answered) == ITEMS
    rows = {purpose: (answers, duplicates) for purpose, _, answers, duplicates in spent(study)}
    assert rows == {"batch": (ITEMS, 0)}
    assert_half_the_price(study)
