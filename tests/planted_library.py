"""A library whose articles name, deny and swap diagnoses as planned, and cases that are shown one of them at a time.

Each case has three articles: one that it cites, one that the whole history finds, and one that its first words find.
What each says is planned, so the outcomes of a respondent who believes what it reads are known by hand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exam_study import write_cases

from wardround.literature.index.build import build

# what the articles of a case say: cited, found by the whole history, found by its first words; and what it knows
PLAN = [
    *[("named", "nothing", "named", "")] * 4,
    *[("synonym", "denied", "synonym", "")] * 3,
    *[("named", "other", "nothing", "")] * 3,
    *[("denied", "named", "other", "")] * 2,
    *[("other", "synonym", "denied", "")] * 3,
    *[("nothing", "other", "other", "")] * 1,
    *[("nothing", "denied", "named", "knows")] * 2,
    *[("named", "other", "denied", "knows")] * 2,
]
# counted by hand from the plan, over its 20 cases
SHARES = {
    "reference": {
        "coverage": 12 / 20,  # 4 + 3 + 3, and 2 that are known anyway
        "evidence_based_correct": 12 / 20,
        "evidence_misled": 3 / 20,
        "knowledge_based_correct": 2 / 20,
        "hallucination": 3 / 20,  # 2 denied, 1 with nothing
        "grounded": 15 / 20,
    },
    "rag": {
        "coverage": 5 / 20,
        "evidence_based_correct": 5 / 20,
        "evidence_misled": 4 / 20,  # 3 + 1
        "knowledge_based_correct": 4 / 20,  # all that are known: their articles deny or swap the diagnosis
        "hallucination": 7 / 20,  # 4 with nothing, 3 denied
        "grounded": 9 / 20,
    },
    "agent": {
        "coverage": 9 / 20,  # 4 + 3 + 2
        "evidence_based_correct": 9 / 20,
        "evidence_misled": 3 / 20,
        "knowledge_based_correct": 2 / 20,
        "hallucination": 6 / 20,  # 3 with nothing, 3 denied
        "grounded": 12 / 20,
    },
}
BELIEVER = '{ believes = "evidence", by = [{ when = { tag = "knows" }, knows = 1.0 }] }'  # its extra_body
STUDY = """
name = "believer"
cases = "cases"
[[candidates]]
name = "believer"
provider = "simulated"
extra_body = {believer}
[conditions]
evidence = {evidence}
[literature]
index = {index}
k = 1
agent.hits = 1
[judge]
provider = "lexical"
"""
_STEMS = ["abler", "brenk", "corvin", "daltry", "elmon", "farrow", "gorlin", "haskel", "ivorin", "jastow"]
NAMES = [f"{stem}osis" for stem in _STEMS] + [f"{stem}emia" for stem in _STEMS]
SYNONYMS = [f"{name[:-4]}'s {'syndrome' if name.endswith('osis') else 'disease'}" for name in NAMES]


def said(kind: str, number: int) -> str:
    name, synonym, other = NAMES[number], SYNONYMS[number], NAMES[(number + 7) % 20]
    return {
        "named": f"The findings were those of {name}. No biopsy was needed.",
        "synonym": f"It was typical of {synonym}.",
        "denied": f"There was no evidence of {name}, and {synonym} was ruled out.",
        "other": f"Unlike {name}, it was painless; {name} was excluded. The diagnosis was {other}.",
        "nothing": "Imaging helped, and all were content.",
    }[kind]


def planted_index(folder: Path) -> Path:
    """The index of all three articles of every case."""
    articles = []
    for number, (cited, searched, first, _) in enumerate(PLAN):
        marks = {1000: f"reference{number}", 2000: f"beta{number} gamma{number} delta{number}", 3000: f"alpha{number}"}
        for base, kind in zip(marks, (cited, searched, first), strict=True):
            text = f"We saw {marks[base]}. {said(kind, number)}"
            articles.append({"pmid": str(base + number), "title": f"A report about {base + number}", "abstract": text})
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "articles.jsonl"
    source.write_text("".join(json.dumps(article) + "\n" for article in articles))
    build([source], folder / "index", columns=[])
    return folder / "index"


def planted_case(number: int, **fields: Any) -> dict[str, Any]:
    """A case whose first twelve words hold one sign, and whose whole history holds others."""
    options = [NAMES[(number + step) % 20] for step in (0, 3, 7, 11)]
    mcq = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": options, "gold": 0}
    open_ = {"id": "open", "kind": "open", "prompt": "Which diagnoses?", "gold": NAMES[number]}
    accept = {"accept": [SYNONYMS[number]]}
    return {
        "id": f"case-{number:02}",
        "tags": [PLAN[number][3]] if PLAN[number][3] else [],
        "history": f"alpha{number} was noted on the first day when this patient came in. "
        f"Later beta{number}, gamma{number} and delta{number} followed.",
        "references": [{"pmid": str(1000 + number)}],
        "questions": [mcq | accept, open_ | accept],
        **fields,
    }


def planted_cases() -> Sequence[dict[str, Any]]:
    return [planted_case(number) for number in range(len(PLAN))]


def planted_study(folder: Path) -> Path:
    """A study of all these cases, without and with the three kinds of evidence, one article each."""
    write_cases(folder / "cases", planted_cases())
    fields = {"believer": BELIEVER, "evidence": json.dumps(["none", *SHARES])}
    file = folder / "study.toml"
    file.write_text(STUDY.format(index=json.dumps(str(planted_index(folder / "library"))), **fields))
    return file
