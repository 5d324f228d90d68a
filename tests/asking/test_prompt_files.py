"""Prompt files of users: slots as papers print them, a folder that the study names, files for images."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wardround.asking.prompt_slots import SLOT_MEANINGS, known_kinds, parse_prompt, slots_of_kind
from wardround.asking.prompts import Prompts, own_folder, own_prompts, prompt_kind
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError

# laid out as ClinBench's two prompts and MedQ-Deg's are, in words of our own
TEXT = "Question: {Question}\nOptions: {Options}\n\nInstruction: say it.\n"
WITH_IMAGES = "Question: {Question}\nImages: {Images}\nOptions: {Options}\n\nInstruction: look, then say it.\n"
ONE_LETTER = "Assist. Use the image. {question}\n\n{option_text}\n\nOne letter.\n\nAnswer:\n"
ERROR = "Classes.\n\nQ: {Question}\nGold: {Correct Answer}\nSaid: {Model's Answer}\nWhy: {Model’s Reasoning}\n"
SLOTS = {"history": "Ill.", "findings": "A mass.", "question": "Which?", "options": "A. x\nB. y", "given": ""}
STEM = "Ill.\n\nImaging findings:\nA mass.\n\nWhich?"


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for kind, text in texts.items():
        (folder / f"{kind.replace('_', '-')}.txt").write_text(text)
    return folder


def study(prompts: str | None, **conditions: list[str]) -> Any:
    return SimpleNamespace(prompts=prompts, conditions=conditions)


def test_the_slots_that_papers_print_are_read_and_the_question_is_the_whole_stem(tmp_path: Path) -> None:
    write(tmp_path / "printed", choice=TEXT, choice_images=WITH_IMAGES, error=ERROR)
    prompts = Prompts.of_study(study("printed"), tmp_path)
    assert (
        prompts.fill("clinbench", "choice", SLOTS) == f"Question: {STEM}\nOptions: A. x\nB. y\n\nInstruction: say it."
    )
    filled = prompts.fill("clinbench", "choice-images", {**SLOTS, "images": "<here>"})
    assert filled == f"Question: {STEM}\nImages: <here>\nOptions: A. x\nB. y\n\nInstruction: look, then say it."
    judged = {"question": "q", "gold": "g", "answer": "a", "reasoning": "r"}
    assert prompts.fill("judge", "error", judged) == "Classes.\n\nQ: q\nGold: g\nSaid: a\nWhy: r"


def test_a_question_slot_beside_a_history_slot_is_the_question_alone(tmp_path: Path) -> None:
    write(tmp_path / "printed", choice="{history} {question} {options}")
    assert Prompts(tmp_path, "printed").fill("paper", "choice", SLOTS) == "Ill. Which? A. x\nB. y"


def test_medq_deg_s_slots_are_read(tmp_path: Path) -> None:
    write(tmp_path / "printed", choice=ONE_LETTER)
    filled = Prompts(tmp_path, "printed").fill("medq-deg", "choice", {"question": "Which?", "options": "A. x"})
    assert filled == "Assist. Use the image. Which?\n\nA. x\n\nOne letter.\n\nAnswer:"


def test_a_line_whose_slot_is_empty_is_left_out_of_a_paragraph_with_several(tmp_path: Path) -> None:
    write(tmp_path / "printed", choice=WITH_IMAGES)
    assert "Images" not in Prompts(tmp_path, "printed").fill("paper", "choice", SLOTS)


def test_the_folder_of_the_study_comes_before_the_one_beside_it_and_ours(tmp_path: Path) -> None:
    write(tmp_path / "prompts" / "clinbench", choice="beside {question} {options}", open="beside {question}")
    write(tmp_path / "mine", choice="flat {question} {options}")
    write(tmp_path / "mine" / "clinbench", choice_verbal="named {question} {options}")
    prompts = Prompts.of_study(study("mine"), tmp_path)
    for kind in ("choice", "choice-verbal", "open", "choice-options-only"):
        prompts.fill("clinbench", kind, SLOTS)
    assert prompts.sources == {
        "clinbench/choice": "mine",
        "clinbench/choice-verbal": "mine",
        "clinbench/open": "prompts",
        "clinbench/choice-options-only": "wardround",
    }


def test_a_file_for_images_is_used_where_its_folder_has_one(tmp_path: Path) -> None:
    assert prompt_kind("choice", Condition(), shows_images=True) == "choice-images"
    assert prompt_kind("choice", Condition(confidence="verbal"), shows_images=True) == "choice-images-verbal"
    assert prompt_kind("choice", Condition(stem="options-only"), shows_images=True) == "choice-options-only"
    assert Prompts().resolve("clinbench", "choice-images") == "choice-images"
    assert Prompts().resolve("paper", "choice-images-verbal") == "choice-verbal"
    write(tmp_path / "mine", choice=TEXT)
    # the user's one file is for both; our file for images does not come before it
    assert Prompts(tmp_path, "mine").resolve("clinbench", "choice-images") == "choice"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"choice": "{question} {opts}"}, r"choice\.txt: unknown slot \{opts\}; there are \{question\}, \{options\}"),
        ({"choice": "{question}"}, r"choice\.txt: lacks the slot \{options\}"),
        ({"error": "{Question} {Correct Answer} {Model's Answer}"}, r"error\.txt: lacks the slot \{reasoning\}"),
        ({"chioce": TEXT}, r"chioce\.txt: is not a kind of prompt; there are agent-calls, "),
        ({}, r"mine: has no prompts; expected"),
    ],
)
def test_a_bad_file_of_the_study_s_folder_gets_one_line_before_anything_is_asked(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    write(tmp_path / "mine", **files)
    with pytest.raises(WardroundError, match=message) as error:
        Prompts.of_study(study("mine"), tmp_path)
    assert "\n" not in str(error.value)


def test_a_missing_folder_and_one_file_for_two_compared_prompts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="there is no such folder; prompts = 'mine'"):
        Prompts.of_study(study("mine"), tmp_path)
    write(tmp_path / "mine", choice=TEXT)
    with pytest.raises(WardroundError, match=r"would be used for each of paper, clinbench"):
        Prompts.of_study(study("mine", prompt=["paper", "clinbench"]), tmp_path)


def test_every_prompt_of_ours_has_the_slots_of_its_kind() -> None:
    for name, kinds in own_prompts().items():
        for kind in kinds:
            text = (own_folder() / name / f"{kind}.txt").read_text(encoding="utf-8")
            parsed = parse_prompt(text, kind, f"{name}/{kind}.txt")
            assert name == "building" or (slots_of_kind(kind) is not None and parsed.slots <= set(SLOT_MEANINGS))
    assert all(slots_of_kind(kind) is not None for kind in known_kinds())


def test_ours_follow_the_order_of_the_papers() -> None:
    """ClinBench: question, (images), options, instruction, closing sentence; error: classes, input, answer's form."""
    closing = ("Options:\n{options}", "Instruction: ", "The answer is [Option].")
    assert_in_order("clinbench", "choice", "Question: {question}", *closing)
    assert_in_order("clinbench", "choice-images", "Question: {question}", "Images:\n{images}", *closing)
    judged = ("{question}", "{gold}", "{answer}", "{reasoning}")
    for kind in ("error", "error-images"):
        assert_in_order("judge", kind, "1. Key", "5. Temporal", *judged, "Error Category:", "Justification:")
    assert_in_order("medq-deg", "choice", "medical AI assistant", "{question}", "{options}", "letter", "\nAnswer:")


def assert_in_order(name: str, kind: str, *texts: str) -> None:
    prompt = (own_folder() / name / f"{kind}.txt").read_text(encoding="utf-8")
    places = [prompt.index(text) for text in texts]
    assert places == sorted(places)
