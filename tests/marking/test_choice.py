"""The answer parser against replies that were labelled before it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.core.errors import WardroundError
from wardround.marking import MODES, parse_choice, parser_version
from wardround.marking.parser.choice import PARSER, Reading

GOLDEN = Path(__file__).parents[1] / "golden"
CHEST = ["Pneumonia", "Pulmonary embolism", "Asthma", "Heart failure"]


def golden(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]


ODD, REAL = golden("odd_replies.jsonl"), golden("smollm2_replies.jsonl")


def misread(labelled: list[dict[str, Any]]) -> list[tuple[str, int | None, Reading]]:
    readings = [(entry, parse_choice(entry["reply"], entry["options"])) for entry in labelled]
    return [(entry["reply"], entry["option"], read) for entry, read in readings if read.option != entry["option"]]


def test_there_are_enough_of_them() -> None:
    assert len(REAL) >= 300
    assert len({entry["prompt"] for entry in REAL}) == 6
    assert len(ODD) >= 200


def test_every_odd_reply_is_read_as_labelled() -> None:
    assert misread(ODD) == []


def test_every_reply_of_a_real_model_is_read_as_labelled() -> None:
    assert misread(REAL) == []


def test_few_of_the_replies_written_later_are_read_wrongly() -> None:
    """They were labelled before they were read, and are harder than most; rules were mended on them since."""
    wrong = [reply for reply, _, read in misread(golden("later_replies.jsonl")) if read.option is not None]
    assert len(wrong) <= 4


def test_stated_confidences_are_read_as_labelled() -> None:
    labelled = [entry for entry in ODD if "confidence" in entry]
    assert len(labelled) >= 20
    for entry in labelled:
        assert parse_choice(entry["reply"], entry["options"]).confidence == entry["confidence"], entry["reply"]


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ("Confidence (0-100): 85", 0.85),
        ("Confidence (0% to 100%): 85%", 0.85),
        ("Sicherheit: 0,85", 0.85),
        ("Confiance : 87,5 %", 0.875),
        ("Confidence: 80-90%", None),
        ("Confidence: 85, since there is fever", 0.85),
    ],
)
def test_confidences_beside_their_scale_with_a_comma_or_as_a_range(line: str, confidence: float | None) -> None:
    read = parse_choice(f"B\n{line}", CHEST)
    assert (read.option, read.confidence) == (1, confidence)


def test_a_confidence_in_words_or_beyond_100_percent_is_none() -> None:
    for reply in ("A\nConfidence: high", "A\nConfidence: 250%", "A"):
        assert parse_choice(reply, CHEST).confidence is None


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Many students choose A.", None),
        ("A common mistake is to choose C. The right answer is D.", 3),
        ("The first diagnosis to consider is pneumonia.", None),
        ("If there were fever, the answer would be A.", None),
        ("The answer would be A if there were fever; here it is B.", 1),
        ("A is the best answer? I think not.", None),
        ("I was told the answer is A. This is wrong.", None),
        ("B. However, some might argue that the answer is C.", 1),
        ("The answer is B, or possibly C.", None),
        ("My answer is A. However, B is also possible.", 0),
        ("Asthma is less likely than pneumonia.", None),
        ("The probability of B is 70%, of C 30%.", None),
        ("The correct answer is not listed.", None),
        ("I rule out A and B.", None),
    ],
)
def test_what_is_said_of_an_option_is_not_always_a_choice(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST).option == option


@pytest.mark.parametrize(
    "reply",
    [
        '{"A": false, "B": true, "C": false, "D": false}',
        '{"A": 0.1, "B": 0.7, "C": 0.2}',
        "A=10%, B=80%, C=10%",
        "The answer is A or",
        "The answer is B and",
        "The answer is B (or C).",
        "B. Wait, no. C.",
        "The answer is B. Wait, let me check the film again.",
        "Answer: A\n\nAnswer: C",
        "B would be correct if there were fever. C.",
        "B is the correct answer if there was fever.",
        "A\n\nB\n\nC",
    ],
)
def test_lists_of_options_and_answers_taken_back_or_cut_off_are_not_read(reply: str) -> None:
    assert parse_choice(reply, CHEST).option is None


def test_part_of_an_option_that_another_shares_names_neither() -> None:
    options = ["Diabetes mellitus", "Type 2 diabetes mellitus", "Diabetes insipidus"]
    for reply in ("Diabetes", "The answer is diabetes.", "The patient has diabetes, type 2."):
        assert parse_choice(reply, options).option is None
    assert parse_choice("Type 2 diabetes", options).option == 1
    assert parse_choice("diabetes", ["Diabetes mellitus", "Asthma"]).option == 0


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Ich würde B wählen.", 1),
        ("Am ehesten D.", 3),
        ("À mon avis, C.", 2),
        ("Creo que es la D.", 3),
        ("最可能的是B，但也不能排除A", 1),
    ],
)
def test_opinions_in_other_languages(reply: str, option: int) -> None:
    assert parse_choice(reply, CHEST).option == option


NOISE = st.tuples(
    st.sampled_from(["", " ", "\n\n", "\t", " \n "]),
    st.sampled_from(
        [
            "",
            "<think>The answer is A. No, B!</think>\n",
            "<think>\nA? B? C? D? E?\n</think>\n\n",
            "<reasoning>Option D is correct.</reasoning> ",
            "Sure! ",
            "Thank you for this question.\n\n",
            "Let me look at the case.\n",
        ]
    ),
    st.sampled_from(["", "**"]),
    st.sampled_from(
        [
            "",
            "\n\nI hope this helps!",
            "\n\nPlease consult a physician.",
            "\n\nThis is not medical advice.\n\nLet me know if I can help.",
        ]
    ),
    st.sampled_from(["", "  ", "\n\n\n", "\n"]),
)


@given(st.sampled_from(ODD + REAL), NOISE)
@settings(max_examples=1500, deadline=None)
def test_noise_changes_no_reading(entry: dict[str, Any], noise: tuple[str, ...]) -> None:
    space, before, bold, after, end = noise
    reply = entry["reply"]
    said = f"{space}{before}{bold}{reply}{bold}{after}{end}"
    unfinished = reply.lower().count("<think>") > reply.lower().count("</think>")
    if unfinished:  # whatever comes after an open tag is reasoning
        said = f"{space}{before}{reply}"
    assert parse_choice(said, entry["options"]).option == entry["option"]


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=12))
@settings(max_examples=500, deadline=None)
def test_any_text_gives_a_legal_option_or_none(reply: str, options: list[str]) -> None:
    for mode in MODES:
        read = parse_choice(reply, options, mode)
        assert read.option is None or 0 <= read.option < len(options)
        assert read.rule
        assert read.confidence is None or 0 <= read.confidence <= 1


@given(st.integers(0, 25))
def test_every_letter_is_its_option(place: int) -> None:
    options = [f"finding number {number} of many" for number in range(100, 126)]
    letter = chr(ord("A") + place)
    for reply in (letter, f"({letter})", f"The answer is {letter}.", f"{letter}. {options[place]}", options[place]):
        assert parse_choice(reply, options).option == place
    for end in ("\n\nThe patient has fever.", "\n1. Fever", "<|im_end|>", "</s>"):  # A and I are words elsewhere
        assert parse_choice(f"{letter}{end}", options).option == place
        assert parse_choice(f"Answer: {letter}{end}", options).option == place
    assert parse_choice(f"{letter}\n\n({letter}).", options).option == place


HOSTILE = ["a ", "A ", "(", "answer is ", "<think>", "\\boxed{", '{"answer":', "Pneumonia ", "not A ", "\n", "~~a"]
HOSTILE += ["\\text{", "A or ", "confidence ", "1", "<answer>", '"', "A.\n", "</think>", "is ", "**", "%", "- ", "[/"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_reply_of_100_kb_is_read(piece: str) -> None:
    reply = piece * (100_000 // len(piece))
    assert parse_choice(reply + "\n\nThe answer is B.", CHEST).option in (None, 1)


def test_first_tokens_are_read_like_replies() -> None:
    tokens = {"B": 1, " B": 1, "b": 1, "**B": 1, "(B": 1, "The": None, "Pul": None, "E": None, " I": None, "": None}
    for token, option in tokens.items():
        assert parse_choice(token, CHEST).option == option, token


def test_a_very_long_reasoning_keeps_its_end() -> None:
    reply = "The patient is breathless. " * 5_000 + "\n\nThe answer is C."
    assert parse_choice(reply, CHEST).option == 2


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(WardroundError, match="unknown parser mode 'lenient'"):
        parse_choice("B", CHEST, mode="lenient")


def test_each_mode_has_its_version() -> None:
    assert parser_version() == PARSER
    assert len({parser_version(mode) for mode in MODES}) == len(MODES)


# the papers' own rules, with what they misread


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("B", 1),
        ("b", 1),
        (" B\n", 1),
        ("B.", 1),
        ("(C)", 2),
        ("The answer is B", None),  # T is the first capital letter
        ("Definitely B", 3),
        ("A patient like this has B", 0),
        ("b.", None),
        ("none of them", None),
        ("", None),
    ],
)
def test_medq_deg_takes_the_first_capital_letter(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST, mode="medq-deg-paper").option == option


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("The answer is B.", 1),
        ("Sudden onset.\n\nThe answer is [B].", 1),
        ("** The answer is C.", 2),
        ("The answer is (D)", 3),
        ("The answer is Asthma.", 2),
        ("The answer is [B. Pulmonary embolism].", 1),
        ("The answer is B. Asthma.", None),
        ("The answer is A. No, the answer is B.", None),
        ("The answer is A. The answer is B.", 1),
        ("The answer is B. I hope this helps.", None),
        ("B", None),
        ("The answer is E.", None),
        ("The answer is unclear.", None),
    ],
)
def test_clinbench_wants_its_final_sentence(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST, mode="clinbench-paper").option == option
