"""Published rationales stand with their questions, whatever the layout."""

from __future__ import annotations

import json

from wardround.cases.readers.clinbench import read_clinbench
from wardround.cases.readers.pubmedqa import read_pubmedqa


def only(gathered):
    (case,) = gathered
    return case


def test_pubmedqa_s_conclusion(tmp_path):
    record = {
        "QUESTION": "Does it help?",
        "CONTEXTS": ["We looked."],
        "final_decision": "yes",
        "LONG_ANSWER": "It does.",
    }
    (tmp_path / "ori_pqal.json").write_text(json.dumps({"123": record}))
    (question,) = only(read_pubmedqa(tmp_path)).questions
    assert question.rationale == "It does."


def test_clinbench_s_own_where_a_record_has_one(tmp_path):
    options = "\n".join(f"{letter}. disease {letter}" for letter in "ABCDEF")
    record = {"id": "1", "question_stem": "A man. What is it?", "options": options, "answer": "B"}
    record |= {"rationale": "Because of B.", "paraphrase": "B explains it."}
    (tmp_path / "clinbench_text.json").write_text(json.dumps([record]))
    case = only(read_clinbench(tmp_path))
    assert (case.questions[0].rationale, case.questions[0].paraphrase) == ("Because of B.", "B explains it.")
    assert "rationale" not in (case.model_extra or {})
