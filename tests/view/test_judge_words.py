"""The judge's own words stand beside its verdicts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from exam_server import ExamServer, text_of
from exam_study import write_cases, write_study

from wardround.pipeline import run_study
from wardround.view.explorer import Explorer


def explains(body: dict[str, Any], index: int) -> str:
    """A judge that compares letters and says what it compared."""
    gold, proposed = re.findall(
        r"^(?:Reference|Proposed) diagnosis: (?:<data>)?(.*?)(?:</data>)?$", text_of(body), re.M
    )
    verdict = "same" if gold.lower() == proposed.lower() else "not same"
    return f"{gold} and {proposed} were compared.\nVerdict: {verdict}"


def test_a_verdict_has_the_words_of_the_reply_that_it_was_read_from(tmp_path: Path) -> None:
    question = {"id": "open", "kind": "open", "prompt": "What is it?", "gold": "Gout"}
    write_cases(tmp_path / "cases", [{"id": "case", "history": "A painful toe.", "questions": [question]}])
    with ExamServer(lambda body, index: "1. Lupus\n2. Tetanus\n3. GOUT") as server, ExamServer(explains) as judge:
        judged_by = {"provider": "openai", "model": "judge", "base_url": judge.url, "timeout": 600}
        study = write_study(tmp_path, server.url, judge=judged_by)
        ended = run_study(study, runs=tmp_path / "runs", quiet=True, note=lambda line: None)
    explorer = Explorer([ended.folder])
    [trial] = explorer.question_document(0)["runs"][0]["asks"][0]["trials"]
    explorer.close()
    shown = [(verdict["same"], verdict["said"]) for verdict in trial["verdicts"]]
    assert shown == [
        (False, "gout and lupus were compared.\nVerdict: not same"),
        (False, "gout and tetanus were compared.\nVerdict: not same"),
        (True, "gout and GOUT were compared.\nVerdict: same"),
    ]


def test_a_rule_has_no_words(explored: Path) -> None:
    explorer = Explorer([explored])
    rows = explorer.table.rows.filter(question="open")["row"]
    trials = [trial for ask in explorer.question_document(rows[0])["runs"][0]["asks"] for trial in ask["trials"]]
    explorer.close()
    assert {verdict["said"] for trial in trials for verdict in trial["verdicts"]} == {None}
