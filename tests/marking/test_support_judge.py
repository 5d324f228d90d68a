"""A judge that says whether documents support a diagnosis: asked once a pair, stored, and counted where it fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from exam_server import ExamServer, text_of
from exam_study import write_cases, write_study
from judge_ward import judges, run
from library_study import case, library

from wardround.api import mark_run
from wardround.core.errors import BadInput
from wardround.core.study import load_study


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


def says_amyloidosis(body: dict[str, Any], number: int) -> str:
    return "1. amyloidosis"


def believes_names(body: dict[str, Any], number: int) -> str:
    """Says yes to documents that name the diagnosis; of those about jaundice it cannot say."""
    text = text_of(body)
    if "speak for a diagnosis" not in text:
        return judges(body, number)
    diagnosis = re.search(r"^Diagnosis: (.*)$", text, re.M)[1]
    documents = text[: text.index("Diagnosis: ")]
    return "Perhaps" if "jaundice" in documents else "A" if diagnosis in documents else "B"


def fails_on_nodes(body: dict[str, Any], number: int) -> web.Response | None:
    text = text_of(body)
    return web.Response(status=500) if "hilar nodes" in text and "speak for a diagnosis" in text else None


def study(folder: Path, candidate: str, judge: str, index: Path, **more: Any) -> Path:
    write_cases(folder / "cases", map(case, range(6)))
    return write_study(
        folder,
        candidate,
        top={"questions": ["open"]},
        conditions={"evidence": ["none", "reference"]},
        literature={"index": str(index), "support": "judge"},
        judge={"provider": "openai", "model": "judge", "base_url": judge, "attempts": 1, "timeout": 20},
        **more,
    )


def told(folder: Path, column: str) -> list[bool | None]:
    marks = pl.read_parquet(folder / "marks.parquet").filter(pl.col("condition").str.contains('"reference"'))
    return marks.sort("case")[column].to_list()


def test_each_pair_is_asked_once_and_never_again(tmp_path, index):
    with ExamServer(says_amyloidosis) as candidate, ExamServer(believes_names) as judge:
        judge.replying = fails_on_nodes
        ended = run(study(tmp_path, candidate.url, judge.url, index))
        asked = [text_of(body) for body in judge.bodies if "speak for a diagnosis" in text_of(body)]
        # six cases: is the truth there, and is amyloidosis there; of the case that is amyloidosis both are one
        assert len(set(asked)) == len(asked) == 11
        assert told(ended.folder, "covered") == [None, True, None, True, True, True]
        assert told(ended.folder, "grounded") == [None, True, None, False, False, False]
        assert ended.manifest["judge"]["support"] == {"pairs": 11, "unreadable": 2, "unanswered": 2}
        assert ended.exit_code == 3
        measures = pl.read_csv(ended.folder / "measures.csv").filter(pl.col("measure") == "grounded")
        assert set(measures.filter(pl.col("slice").str.contains("reference"))["n"]) == {4}

        judge.replying, calls = None, judge.calls
        again = mark_run(ended.folder, note=lambda line: None)
        assert judge.calls == calls + 2  # what failed, and nothing else
        assert told(ended.folder, "covered") == [True, True, None, True, True, True]
        assert again.exit_code == 0
        mark_run(ended.folder, note=lambda line: None)
        assert judge.calls == calls + 2


def test_a_simulated_judge_errs_as_planted(tmp_path, index):
    file = study(tmp_path, "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1", index)
    text = file.read_text()
    text = text.replace(
        'provider = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "exam"',
        'provider = "simulated"\nextra_body = {hit1 = 1.0}',
    )
    text = text[: text.index("[judge]")] + (
        '[judge]\nprovider = "simulated"\n'
        'extra_body = {accuracy = 1.0, by = [{when = {task = "yes"}, accuracy = 0.0}]}\n'
    )
    file.write_text(text)
    ended = run(file)
    assert told(ended.folder, "covered") == [False] * 6  # it calls no support support
    assert ended.exit_code == 0


@pytest.mark.parametrize("judge", ["", '[judge]\nprovider = "lexical"\n'])
def test_it_needs_a_judge_that_is_a_model(tmp_path, judge):
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "x"\ncases = "cases"\n[[candidates]]\nname = "c"\nprovider = "simulated"\n'
        f'[conditions]\nevidence = ["reference"]\n[literature]\nindex = "i"\nsupport = "judge"\n{judge}'
    )
    with pytest.raises(BadInput, match=r"needs a \[judge\] that is a model"):
        load_study(file)


def test_a_study_without_it_is_bound_as_before(tmp_path):
    text = (
        'name = "x"\ncases = "cases"\n[[candidates]]\nname = "c"\nprovider = "simulated"\n[literature]\nindex = "i"\n'
    )
    (tmp_path / "one.toml").write_text(text)
    (tmp_path / "two.toml").write_text(text + 'support = "lexical"\n')
    (tmp_path / "three.toml").write_text(text + 'support = "judge"\n[judge]\nprovider = "openai"\n')
    one, two, three = (load_study(tmp_path / f"{name}.toml").hash for name in ("one", "two", "three"))
    assert one == two != three
