"""Conclusions in sentences that no fixed phrase opens: the only letter that stands, and what a statement ends on."""

from __future__ import annotations

import pytest

from wardround.marking import parse_choice

CHEST = ["Pneumonia", "Pulmonary embolism", "Asthma", "Heart failure"]
NERVES = ["Median nerve", "Ulnar nerve", "Radial nerve", "Axillary nerve"]
DRUGS = ["Metformin", "Warfarin", "Amoxicillin", "Morphine"]
DOSES = ["10 mg", "20 mg", "40 mg", "80 mg"]
STAGES = ["Stage IIA", "Stage IIB", "Stage IIIA", "Stage IV"]


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("B. Ulnar nerve is spared in a fracture of the shaft.", NERVES, 1),
        ("C: numb first web space, wrist drop after a shaft fracture", NERVES, 2),
        ("The humeral shaft is broken.\n\n👉 C: the wrist drops.", NERVES, 2),
        ("He cannot extend the wrist. That makes C correct and A incorrect, whatever the film shows.", NERVES, 2),
        ("Numb ring and little fingers point to it. B, not A (thumb), nor C (back of the hand).", NERVES, 1),
        (
            "A moves the thumb and D the shoulder. The wrist drop of this man is, as expected, listed as option C.",
            NERVES,
            2,
        ),
        ("Wrist drop is typical. The letter is C. (Axillary nerve injury numbs the shoulder.)", NERVES, 2),
        ("C. A humeral fracture hurts the ulnar nerve less often.", NERVES, 2),
        ("Let me consider B before I commit to anything in this difficult case.", NERVES, None),
        ("Start with the obvious: A. The thumb is strong, so it can be dropped.", NERVES, None),
        ("B would have been right without the weakness of the wrist in this man.", NERVES, None),
        ("Statement C describes the opposite of what the picture shows us here.", NERVES, None),
        ("The explanation for B is missing from the text that I was given here.", NERVES, None),
        ("Both A and C remain possible until the nerve conduction study is done.", NERVES, None),
        ("A: this is what the question asks for", NERVES, None),
    ],
)
def test_the_only_letter_that_stands_is_read(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("Numbness over the deltoid after a dislocation implicates the axillary nerve.", NERVES, 3),
        ("Weak wrist extension localises the lesion to the radial nerve.", NERVES, 2),
        ("Clawing with a positive Froment sign describes an ulnar palsy.", NERVES, 1),
        ("Two failed diets qualify her for metformin.", DRUGS, 0),
        ("Amoxicillin is preferred at this age, with paracetamol for the pain.", DRUGS, 2),
        ("Wheeze, dry cough at night. Asthma, classical. Spirometry should still be done.", CHEST, 2),
        ("An elevated BNP and basal crackles raise concern for heart failure.", CHEST, 3),
        ("Start him on forty milligrams at night.", DOSES, 2),
        ("FIGO 2B: the parametrium is involved, the pelvic wall is not.", STAGES, 1),
        ("The patient is allergic to amoxicillin.", DRUGS, None),
        ("Her GP prescribed amoxicillin for a sore throat.", DRUGS, None),
        ("He takes metformin for his diabetes.", DRUGS, None),
        ("The stem describes what nurses call heart failure.", CHEST, None),
        ("It isn't clear whether this is pneumonia or something else.", CHEST, None),
        ("Pneumonia is seen in elderly patients.", CHEST, None),
        ("The symptoms started three days after a pneumonia.", CHEST, None),
        ("A normal film does away with pneumonia.", CHEST, None),
        ("Amoxicillin is preferred for otitis, morphine for pain, and metformin for diabetes.", DRUGS, None),
    ],
)
def test_what_a_statement_of_the_case_ends_on_is_read(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option
