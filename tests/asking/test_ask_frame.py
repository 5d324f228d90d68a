"""The key of a plain question that is composed in a frame is that of its Ask, whatever its texts are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exam_study import case, write_cases
from PIL import Image

from wardround.asking import render
from wardround.asking.ask_frame import OPTIONS_PLACE, QUESTION_PLACE, make_frame
from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake, canonical_json, sha256_file
from wardround.core.condition import Condition
from wardround.core.study import Study

PROMPTS = [
    "What is it?",
    'He said "nothing"\\ and\tleft.\nWhat is it?',
    " What is it? ",
    "What is it?\n",
    "Was ist es für ein Ödem?",
    "Cafe\u0301 au lait spots?",
    "\u0301 stands first",
    f"What is {QUESTION_PLACE}?",
    f"What is {OPTIONS_PLACE}?",
    "What is \0images\0?",
]


def asked_about(history: str, **fields: Any) -> dict[str, Any]:
    question = case(1)["questions"][0]
    choices = [question | {"id": f"q{number}", "prompt": prompt} for number, prompt in enumerate(PROMPTS)]
    odd = question | {"id": "odd", "options": ["α", "b ", ' "c"', "d\n"]}
    opened = [{"id": f"open{n}", "kind": "open", "prompt": f"What is it, {n}?", "gold": "it"} for n in range(3)]
    return case(1, history=history, questions=[*choices, odd, *opened], **fields)


CASES = {
    "ascii": asked_about("A man of 50."),
    "with an accent": asked_about("Ménière's disease was suspected."),
    "with a place in it": asked_about(f"A man {QUESTION_PLACE} of 50."),
    "image": asked_about("A man of 50.", images=[{"path": "1.png", "modality": "CT"}]),
}
OWN_PROMPTS = {
    "question twice": "{question}\n\n{history}\n\n{question}\n\n{options}",
    "options first": "{options}\n\n{history}\n\n{question}",
    "accent after a slot": "{history}\n\n{question}\u0301\n\n{options}\u0301",
    "whole stem": "{question}\n\n{options}",
    "image place": "{history}\n\n{question}\n\n{images}\n\n{options}",
}


@pytest.mark.parametrize("prompt", [None, *OWN_PROMPTS])
@pytest.mark.parametrize("name", CASES)
def test_a_framed_key_is_the_key_of_the_ask(tmp_path: Path, name: str, prompt: str | None) -> None:
    Image.new("L", (4, 4)).save(tmp_path / "1.png")
    if prompt is not None:
        (tmp_path / "prompts" / "own").mkdir(parents=True)
        for kind in ("choice", "choice-images"):
            (tmp_path / "prompts" / "own" / f"{kind}.txt").write_text(OWN_PROMPTS[prompt])
        for kind in ("open", "open-images"):
            (tmp_path / "prompts" / "own" / f"{kind}.txt").write_text("{history}\n\n{question}")
    cases = CaseSet.open(write_cases(tmp_path / "cases", [CASES[name] | {"images": []}]))
    if CASES[name].get("images"):
        cases = CaseSet.open(write_cases(tmp_path, [CASES[name]]))
    settings = {"name": "a", "provider": "random"}
    study = Study.model_validate({"name": "s", "cases": ".", "candidates": [settings]})
    renderer, whole = (Renderer(study, cases, Prompts(tmp_path), sha256_file) for _ in range(2))
    candidate, condition = study.candidates[0], Condition(options="rotated", prompt="own" if prompt else "paper")
    shown = cases.case(0)
    for question in shown.questions:
        assert render.is_plain(question, condition, candidate)
        for trial in range(2):
            order = renderer.order(shown, question, condition, trial)
            key, with_images = renderer.plain_key(shown, question, condition, candidate, candidate.identity, order)
            ask = whole.render(shown, question, condition, candidate, candidate.identity, trial).ask
            assert (key, with_images) == (ask.key, bool(ask.images)), question.prompt


def test_most_questions_are_framed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Otherwise the test above would compare the slow way with itself."""
    cases = CaseSet.open(write_cases(tmp_path, [CASES["ascii"]]))
    study = Study.model_validate({"name": "s", "cases": ".", "candidates": [{"name": "a", "provider": "random"}]})
    renderer, candidate, shown = Renderer(study, cases, Prompts(), sha256_file), study.candidates[0], cases.case(0)
    texts: list[str] = []
    monkeypatch.setattr(render, "hash_text", lambda json: texts.append(json) or b"")
    for question in shown.questions:
        order = renderer.order(shown, question, Condition(), 0)
        renderer.plain_key(shown, question, Condition(), candidate, candidate.identity, order)
    assert len(texts) == len(shown.questions) - 2  # the first two prompts alone have plain texts in a choice question


def test_a_frame_hashes_canonical_json() -> None:
    frame = make_frame(canonical_json({"a": f"1 {OPTIONS_PLACE} 2", "b": f"3 {QUESTION_PLACE}"}))
    assert frame is not None
    assert frame.key('the "question"', "the\noptions") == blake({"a": "1 the\noptions 2", "b": '3 the "question"'})


@pytest.mark.parametrize("json", ["nothing", QUESTION_PLACE, OPTIONS_PLACE, (QUESTION_PLACE + OPTIONS_PLACE) * 2])
def test_a_text_without_each_place_once_has_no_frame(json: str) -> None:
    assert make_frame(canonical_json(json)) is None
