"""Ranked lists of diagnoses in the shapes that models give them."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.marking.parser.open import ranked_diagnoses

GOLDEN = Path(__file__).parents[2] / "golden"
LABELLED, HELD_OUT = (
    [json.loads(line) for line in (GOLDEN / file).read_text(encoding="utf-8").splitlines()]
    for file in ("open_replies.jsonl", "open_held_out.jsonl")
)
MENDED, LATER = ([entry for entry in HELD_OUT if (entry["part"] > 4) == is_later] for is_later in (False, True))
NAMES = ["Pulmonary embolism", "Aortic dissection", "B-cell lymphoma", "Crohn's disease", "E. coli sepsis"]
SHAPES = [
    "{n}. {name}",
    "{n}) {name}",
    "- {name}",
    "{name}",
    "{n}. **{name}**",
    "{n}. {name} (20%)",
    "{n}. {name}: it fits",
]


def folded(names: list[str]) -> list[str]:
    """Names as they are compared with labels: without case and brackets."""
    return [re.sub(r"\s*\([^()]*\)", "", name).casefold() for name in names]


@pytest.mark.parametrize("replies", [LABELLED, MENDED], ids=["development", "held out"])
def test_every_labelled_reply_is_read(replies: list[dict[str, Any]]) -> None:
    """The held-out replies were read once before what they showed was mended: docs/parser.md has that first figure."""
    misread = [
        (entry["reply"], read)
        for entry in replies
        if folded(read := ranked_diagnoses(entry["reply"])) != folded(entry["diagnoses"])
    ]
    assert misread == []


def test_few_first_diagnoses_of_the_later_replies_are_read_wrongly_or_not() -> None:
    """Parts 5 to 13: what is left after the general errors of each part were mended."""
    readings = [(folded(ranked_diagnoses(entry["reply"])), folded(entry["diagnoses"])) for entry in LATER]
    misread = [(read, label) for read, label in readings if read[:1] != label[:1]]
    assert len(LATER) == 886
    assert sum(bool(read) for read, _ in misread) <= 18
    assert sum(not read for read, _ in misread) <= 7


SENTENCES = (GOLDEN / "open_sentences.txt").read_text(encoding="utf-8").splitlines()
UNREAD_SENTENCES = {"{X} caused these symptoms.", "Between {y} and {x}, the latter is better supported: {x}."}
BEFORE = ["", "The patient has fever and a raised CRP. ", "There is tenderness, and the ESR is 80. "]
AFTER = [
    "",
    " The differential includes {y} and {z}.",
    "\n\nDifferential:\n- {Y}\n- {Z}",
    " {Y} and {z} are less likely.",
]
DISEASES = [
    ("aortic dissection", "myocardial infarction", "pericarditis"),
    ("Whipple disease", "gout", "lupus nephritis"),
]


@pytest.mark.parametrize(
    "sentence",
    [
        "This cannot be asthma.",
        "Asthma can be excluded by spirometry.",
        "Asthma was my first idea.",
        "If the wheeze were polyphonic, it would be asthma.",
        "The brother had asthma.",
        "I do not think that asthma explains the fever.",
        "Tests for asthma are recommended.",
    ],
)
def test_a_sentence_that_denies_or_supposes_states_nothing(sentence: str) -> None:
    assert ranked_diagnoses(f"{sentence} The film shows a line.") == []


@pytest.mark.parametrize("label", ["Other possibilities", "Also possible", "Alternatives", "Less likely"])
def test_what_is_called_other_is_not_the_diagnosis(label: str) -> None:
    """Another one was stated, in words that were not understood."""
    assert ranked_diagnoses(f"The film settles it beyond dispute.\n\n{label}:\n- Gout\n- Asthma") == []
    assert ranked_diagnoses(f"Sarcoidosis\n\n{label}:\n- Gout\n- Asthma") == ["Sarcoidosis", "Gout", "Asthma"]


@pytest.mark.parametrize("sentence", [text for text in SENTENCES if text not in UNREAD_SENTENCES])
def test_a_sentence_states_its_diagnosis_whatever_surrounds_it(sentence: str) -> None:
    for number, (before, after) in enumerate(product(BEFORE, AFTER)):
        names = dict(zip("xyz", DISEASES[number % 2], strict=True))
        names |= {key.upper(): name[0].upper() + name[1:] for key, name in names.items()}
        reply = (before + sentence + after).format(**names)
        assert folded(ranked_diagnoses(reply)[:1]) == [names["x"].casefold()], reply


@pytest.mark.parametrize(
    ("reply", "diagnoses"),
    [
        (
            "1. Bilateral hilar lymphadenopathy with nodules, most in keeping with sarcoidosis.\n2. No effusion.",
            ["sarcoidosis"],
        ),
        ("Findings consistent with acute pulmonary embolism", ["acute pulmonary embolism"]),
        ("Gout is the answer: negatively birefringent crystals.", ["gout"]),
        ("Mesothelioma, that is my diagnosis.", ["mesothelioma"]),
        ("DDx: tuberculosis vs lymphoma. Favour lymphoma.", ["lymphoma", "tuberculosis"]),
        (
            "The X-ray is negative but the pain persists, i.e. an occult scaphoid fracture.",
            ["occult scaphoid fracture"],
        ),
        ("Acute pancreatitis, consistent with the raised lipase.", ["acute pancreatitis"]),
        ("This is a tricky case.", []),
        ("All of this adds up to hemochromatosis.", ["hemochromatosis"]),
        ("Sarcoidosis is less likely than tuberculosis.", ["tuberculosis", "sarcoidosis"]),
    ],
)
def test_a_finding_is_not_its_diagnosis_and_a_sentence_is_not_a_name(reply: str, diagnoses: list[str]) -> None:
    assert folded(ranked_diagnoses(reply)) == diagnoses


def test_there_are_enough_labelled_replies_of_many_kinds() -> None:
    assert len(LABELLED) + len(HELD_OUT) >= 500
    assert len({entry["why"] for entry in LABELLED + HELD_OUT}) >= 100
    assert not {entry["reply"] for entry in LABELLED} & {entry["reply"] for entry in HELD_OUT}


@given(st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.sampled_from(SHAPES), st.booleans())
@settings(deadline=None)
def test_a_list_in_any_shape_gives_its_names_in_order(names: list[str], shape: str, reasoned: bool) -> None:
    reply = "\n".join(shape.format(n=n, name=name) for n, name in enumerate(names, start=1))
    if reasoned:
        reply = f"<think>1. Gout\n2. Lupus</think>\nThe most likely diagnoses are:\n{reply}"
    assert ranked_diagnoses(reply) == names


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_gives_clean_names(reply: str) -> None:
    for name in ranked_diagnoses(reply):
        assert name == name.strip()
        assert "\n" not in name


@pytest.mark.parametrize(
    "piece", ["[", "{", '["a",', "1. ", "- ", "is ", "(", "a, ", "|", "诊断", "The ", "0.1 ", ": ", '{"a":']
)
def test_a_hostile_reply_of_100_kb_is_read(piece: str) -> None:
    assert isinstance(ranked_diagnoses(piece * (100_000 // len(piece))), list)
