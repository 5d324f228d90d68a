"""A judge of support: asked once for each pair, stored, and counted if it fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from exam_server import ExamServer, text_of
from exam_study import write_cases, write_study
from judged_study import compare_letters, run
from library_study import case, library

from wardround.core.errors import BadInput
from wardround.core.study import load_study
from wardround.pipeline import mark_run


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


def answer_amyloidosis(body: dict[str, Any], number: int) -> str:
    return "1. amyloidosis"


def confirm_names(body: dict[str, Any], number: int) -> str:
    """Yes to documents that name the diagnosis; no readable verdict on those about jaundice."""
    text = text_of(body)
    if "speak for a diagnosis" not in text:
        return compare_letters(body, number)
    diagnosis = re.search(r"^Diagnosis: <data>(.*)</data>$", text, re.M)[1]
    documents = text[: text.index("Diagnosis: ")]
    return "Perhaps" if "jaundice" in documents else "A" if diagnosis in documents else "B"


def fail_on_nodes(body: dict[str, Any], number: int) -> web.Response | None:
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
        judge={"provider": "openai", "model": "judge", "base_url": judge, "attempts": 1, "timeout": 600},
        **more,
    )


def column_of(folder: Path, column: str) -> list[bool | None]:
    marks = pl.read_parquet(folder / "marks.parquet").filter(pl.col("condition").str.contains('"reference"'))
    return marks.sort("case")[column].to_list()


def test_each_pair_is_asked_once(tmp_path, index):
    with ExamServer(answer_amyloidosis) as candidate, ExamServer(confirm_names) as judge:
        judge.replying = fail_on_nodes
        ended = run(study(tmp_path, candidate.url, judge.url, index))
        asked = [text_of(body) for body in judge.bodies if "speak for a diagnosis" in text_of(body)]
        # six cases with the gold and with amyloidosis, which are one pair in the case of amyloidosis
        assert len(set(asked)) == len(asked) == 11
        assert column_of(ended.folder, "covered") == [None, True, None, True, True, True]
        assert column_of(ended.folder, "grounded") == [None, True, None, False, False, False]
        assert ended.manifest["judge"]["support"] == {"pairs": 11, "unreadable": 2, "unanswered": 2}
        assert ended.exit_code == 3
        measures = pl.read_csv(ended.folder / "measures.csv").filter(pl.col("measure") == "grounded")
        assert set(measures.filter(pl.col("slice").str.contains("reference"))["n"]) == {4}

        judge.replying, calls = None, judge.calls
        again = mark_run(ended.folder, note=lambda line: None)
        assert judge.calls == calls + 2  # only those that failed
        assert column_of(ended.folder, "covered") == [True, True, None, True, True, True]
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
    assert column_of(ended.folder, "covered") == [False] * 6  # its verdict on supported pairs is always wrong
    assert ended.exit_code == 0


@pytest.mark.parametrize("judge", ["", '[judge]\nprovider = "lexical"\n'])
def test_support_by_a_rule_is_refused(tmp_path, judge):
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "x"\ncases = "cases"\n[[candidates]]\nname = "c"\nprovider = "simulated"\n'
        f'[conditions]\nevidence = ["reference"]\n[literature]\nindex = "i"\nsupport = "judge"\n{judge}'
    )
    with pytest.raises(BadInput, match=r"needs a \[judge\] that is a model"):
        load_study(file)


def test_the_default_of_support_is_not_in_the_hash_of_a_study(tmp_path):
    text = (
        'name = "x"\ncases = "cases"\n[[candidates]]\nname = "c"\nprovider = "simulated"\n[literature]\nindex = "i"\n'
    )
    (tmp_path / "one.toml").write_text(text)
    (tmp_path / "two.toml").write_text(text + 'support = "lexical"\n')
    (tmp_path / "three.toml").write_text(text + 'support = "judge"\n[judge]\nprovider = "openai"\n')
    one, two, three = (load_study(tmp_path / f"{name}.toml").hash for name in ("one", "two", "three"))
    assert one == two != three
