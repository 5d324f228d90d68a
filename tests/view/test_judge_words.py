"""The judge's own words stand beside its verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exam_server import ExamServer
from judged_study import judged_pair, list_diagnoses, run, write_judged_study

from wardround.view.explorer import Explorer


def explains(body: dict[str, Any], index: int) -> str:
    gold, proposed = judged_pair(body)
    verdict = "same" if gold.lower() == proposed.lower() else "not same"
    return f"{gold} and {proposed} were compared.\nVerdict: {verdict}"


def test_a_verdict_has_the_words_of_the_reply_that_it_was_read_from(tmp_path: Path) -> None:
    with ExamServer(list_diagnoses) as server, ExamServer(explains) as judge:
        ended = run(write_judged_study(tmp_path, server.url, {"base_url": judge.url}, cases=2))
    explorer = Explorer([ended.folder])
    [trial] = explorer.question_document(1)["runs"][0]["asks"][0]["trials"]
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
