"""A case set with published rationales, the same in other words, and dates: for probes of leakage."""

from __future__ import annotations

import random
from typing import Any

SIGNS = [
    "fever",
    "cough",
    "rash",
    "pain",
    "swelling",
    "thirst",
    "fatigue",
    "pallor",
    "vertigo",
    "tremor",
    "jaundice",
    "oedema",
]
PLACES = ["chest", "knee", "scalp", "wrist", "ankle", "liver", "spleen", "throat", "eyelid", "shoulder"]
TESTS = ["ferritin", "lactate", "troponin", "calcium", "sodium", "creatinine", "bilirubin", "cortisol"]
CAUSES = [
    *("fibrosis", "embolism", "mutation", "autoimmunity", "ischaemia", "obstruction", "toxins", "parasites", "allergy"),
    *("necrosis", "haemolysis", "vasospasm", "malabsorption", "compression", "infiltration", "trauma", "amyloid"),
    *("granulomas", "dehydration", "starvation", "radiation", "hypoxia", "dysplasia", "neuropathy", "stenosis"),
]


def leaked_case(number: int, **fields: Any) -> dict[str, Any]:
    """Five options whose order is drawn; a stem of about sixty words; the older half was published before 2024."""
    drawn = random.Random(number)
    signs, places, tests = (drawn.sample(words, 4) for words in (SIGNS, PLACES, TESTS))
    causes = drawn.sample(CAUSES, 10)  # in no stem
    stem = (
        f"Patient {number} came with {signs[0]} of the {places[0]} that had begun {drawn.randint(2, 90)} days before. "
        f"There was {signs[1]} as well, and on examination {signs[2]} near the {places[1]} was found. "
        f"The {tests[0]} was {drawn.randint(2, 900)} and the {tests[1]} was {drawn.randint(2, 900)}, while the "
        f"{tests[2]} stayed at {drawn.randint(2, 900)}. After a week the {signs[3]} had spread to the {places[2]}, "
        f"and treatment with medicine {drawn.randint(10, 99)} changed nothing about the {places[3]} at all."
    )
    question = {
        "id": "mcq",
        "kind": "choice",
        "prompt": "What is the diagnosis?",
        "options": [f"{sign} disease" for sign in drawn.sample(SIGNS, 5)],
        "gold": number % 5,
        "rationale": f"A {tests[0]} this high together with {signs[1]} of the {places[0]} is seen in patient {number} "
        f"only, and {tests[1]} rules the other diseases of the {places[1]} out: {', '.join(causes[:5])}.",
        "paraphrase": f"Nothing but this fits: {signs[1]} at the {places[0]}, raised {tests[0]}. Other causes about "
        f"the {places[1]} would have changed {tests[1]}; so much for {' and '.join(causes[5:])}. (Case {number})",
    }
    published = "2023-05-01" if number % 2 else "2025-05-01"
    return {
        "id": f"case-{number}",
        "history": stem,
        "questions": [question],
        "origin": {"published": published},
    } | fields


def leaked_set(many: int = 40) -> list[dict[str, Any]]:
    return [leaked_case(number) for number in range(many)]
