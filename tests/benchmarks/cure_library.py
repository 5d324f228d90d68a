"""Cases in CURE's shape with a small index of their literature, in which everything is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from wardround.literature.index.build import build

WORDS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Iris", "Juniper")
SIGNS = ("fever", "cough", "swelling", "ataxia", "rash", "dyspnoea", "vertigo", "jaundice", "cramps", "tremor")


def disease(number: int) -> str:
    """A name that no other case's name resembles."""
    return f"{WORDS[number // 10 % 10]}{WORDS[number % 10].lower()} {WORDS[number // 100 % 10].lower()}oma"


def sign(number: int) -> str:
    return f"{SIGNS[number % 10]} of the {WORDS[number // 10 % 10].lower()}{number} kind"


def article(pmid: int, title: str, abstract: str) -> dict[str, Any]:
    return {"pmid": str(pmid), "title": title, "abstract": abstract, "year": 2020}


def cited(number: int) -> dict[str, Any]:
    """What case number cites; its words are not those of the history."""
    return article(10_000 + number, f"On {disease(number)}", f"Patients with {disease(number)} do well when treated.")


def nearby(number: int) -> dict[str, Any]:
    """What the words of a history find: it names no disease."""
    return article(30_000 + number, f"Signs such as {sign(number)}", f"We describe {sign(number)} in a cohort.")


def ward(number: int) -> dict[str, Any]:
    """About nothing."""
    return article(50_000 + number, f"Costs of ward {number}", f"Beds and staff of ward {number} were counted.")


def index(
    folder: Path, many: int, *, wards: int = 60, more: Sequence[dict[str, Any]] = (), columns: Sequence[str] = ()
) -> Path:
    articles = [*map(cited, range(many)), *map(nearby, range(many)), *map(ward, range(wards)), *more]
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "articles.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in articles))
    build([source], folder / "index", columns=columns)
    return folder / "index"


def case(number: int, **fields: Any) -> dict[str, Any]:
    options = [disease(number + step) for step in (1, 0, 2, 3)]
    return {
        "id": f"case-{number}",
        "specialty": ("neuro", "chest")[number % 2],
        "history": f"A patient with {sign(number)}.",
        "findings": f"Lesions that fit {disease(number)}, among others.",
        "images": [{"path": "scan.png", "modality": "CT"}],
        "references": [{"pmid": str(10_000 + number)}],
        "questions": [
            {"id": "mcq", "kind": "choice", "prompt": f"Diagnosis {number}?", "options": options, "gold": 1},
            {"id": "open", "kind": "open", "prompt": f"Diagnosis {number}?", "gold": disease(number)},
        ],
        **fields,
    }


def case_set(folder: Path, cases: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("L", (8, 8), 90).save(folder / "scan.png")
    (folder / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in cases))
    return folder
