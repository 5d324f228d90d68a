"""A small library for tests: articles about the diseases of small cases, and cases that cite them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wardround.literature.index.build import build

DISEASES = ("sarcoidosis", "amyloidosis", "cholangitis", "osteoid osteoma", "pheochromocytoma", "moyamoya disease")
SIGNS = ("hilar nodes", "macroglossia", "jaundice", "night pain", "paroxysmal hypertension", "puff of smoke vessels")


def article(number: int) -> dict[str, Any]:
    """An article that tells the sign and the disease of a case, and the article that the case comes from."""
    return {
        "pmid": str(1000 + number),
        "title": f"Imaging of {SIGNS[number]}",
        "abstract": f"Patients with {SIGNS[number]} often have {DISEASES[number]}. " + "Imaging helps. " * 30,
        "year": 2010 + number,
    }


def own_article(number: int) -> dict[str, Any]:
    text = f"A case of {SIGNS[number]} that was {DISEASES[number]}."
    return {"pmid": str(9000 + number), "title": text, "abstract": text, "year": 2024}


def library(folder: Path, more: tuple[dict[str, Any], ...] = ()) -> Path:
    """An index of all these articles, of some about nothing, and of `more`; searched by words alone."""
    others = [
        {"pmid": str(5000 + n), "title": f"Costs of ward {n}", "abstract": f"We counted beds and staff of ward {n}."}
        for n in range(30)
    ]
    articles = [*map(article, range(6)), *map(own_article, range(6)), *others, *more]
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "articles.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in articles))
    build([source], folder / "index", columns=[])
    return folder / "index"


def case(number: int, **fields: Any) -> dict[str, Any]:
    """A case with a choice and an open question, which cites its article and another that no index holds."""
    options = [DISEASES[(number + step) % 6] for step in range(4)]
    mcq = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": options, "gold": 0}
    open_ = {"id": "open", "kind": "open", "prompt": "What is it?", "gold": DISEASES[number]}
    return {
        "id": f"case-{number}",
        "history": f"A patient with {SIGNS[number]}.",
        "references": [{"pmid": str(1000 + number)}, {"pmid": str(7000 + number)}],
        "origin": {"name": "journal", "pmids": [str(9000 + number)]},
        "questions": [mcq, open_],
        **fields,
    }
