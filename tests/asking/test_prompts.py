"""Prompts: found by name, filled by slot, hashed as files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from wardround.asking.prompts import Prompts, prompt_kind
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError


def own(folder: Path, text: str, name: str = "mine", kind: str = "choice") -> Prompts:
    file = folder / "prompts" / name / f"{kind}.txt"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return Prompts(folder)


def test_a_paragraph_whose_slot_is_empty_is_left_out(tmp_path):
    prompts = own(tmp_path, "Start.\n\nHistory:\n{history}\n\nFindings: {findings}.\n\n{question}", kind="open")
    filled = prompts.fill("mine", "open", {"history": "Ill.", "findings": "", "question": "What?"})
    assert filled == "Start.\n\nHistory:\nIll.\n\nWhat?"
    assert prompts.fill("mine", "open", {"findings": "A mass"}) == "Start.\n\nFindings: A mass."


def test_braces_in_a_case_are_not_slots(tmp_path):
    prompts = own(tmp_path, "{history}\n\n{question}", kind="open")
    filled = prompts.fill("mine", "open", {"history": "a {question} b", "question": "\\1 {history}?"})
    assert filled == "a {question} b\n\n\\1 {history}?"


def test_the_hash_is_of_the_file_and_of_used_prompts_only(tmp_path):
    text = "Ä {question} {options}\n"
    prompts = own(tmp_path, text)
    assert prompts.hashes == {}
    prompts.fill("mine", "choice", {"question": "x"})
    assert prompts.hashes == {"mine/choice": hashlib.blake2b(text.encode(), digest_size=32).hexdigest()}


def test_a_prompt_beside_the_study_takes_precedence_over_ours(tmp_path):
    slots = {"question": "Which?", "options": "A. x"}
    assert own(tmp_path, "{question} {options}", name="paper").fill("paper", "choice", slots) == "Which? A. x"
    assert "Which?\n\nA. x\n\n" in Prompts().fill("paper", "choice", slots)


def test_a_missing_prompt_is_named(tmp_path):
    with pytest.raises(WardroundError, match=r"prompt = 'terse': there is no prompts/terse/open\.txt beside the study"):
        Prompts(tmp_path).fill("terse", "open", {})


def test_every_condition_has_its_prompt_among_ours():
    slots = {"question": "Which?", "options": "A. x\nB. y", "history": "Ill."}
    for kind, stem, confidence in (
        ("choice", "full", "none"),
        ("choice", "full", "verbal"),
        ("choice", "options-only", "none"),
        ("choice", "options-only", "verbal"),
        ("open", "full", "none"),
        ("open", "full", "verbal"),
    ):
        condition = Condition(stem=stem, confidence=confidence)
        filled = Prompts().fill("paper", prompt_kind(kind, condition), slots)
        assert ("A. x\nB. y" in filled) == (kind == "choice")
        assert ("Which?" in filled) == ("Ill." in filled) == (stem == "full")
        assert ("Confidence: a number followed by %" in filled) == (confidence == "verbal")
        assert "{" not in filled


def test_a_prompt_without_a_place_for_earlier_answers_is_refused_in_a_chain_only(tmp_path):
    folder = tmp_path / "prompts/short"
    folder.mkdir(parents=True)
    for kind in ("choice", "choice-options-only"):
        (folder / f"{kind}.txt").write_text("{options}\n\n{question}")
    prompts = Prompts(tmp_path)
    assert prompts.fill("short", "choice", {"question": "What?", "given": ""}) == "What?"
    assert prompts.fill("short", "choice-options-only", {"question": "What?", "given": "Diagnosis: flu"}) == "What?"
    with pytest.raises(WardroundError, match=r"prompt short/choice.txt has no \{given\}: it cannot show earlier"):
        prompts.fill("short", "choice", {"question": "What?", "given": "Diagnosis: flu"})
