"""Draws CURE's figures from simulated respondents: `python docs/figures/make_cure.py [STUDY...]` writes cure-*.png.

Patients, diseases and articles are invented. Each case has an article that it cites, one that its whole history finds
(RAG) and one that its first words find (the agent); a plan says which of them name the diagnosis, another or none.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from wardround.benchmarks.engine.bench import bench
from wardround.literature.index.build import build

HERE = Path(__file__).parent
CASES = 80
MAX_WIDTH = 1400  # pixels
SYLLABLES = ("al", "ber", "cor", "dun", "el", "fra", "gor", "hin", "is", "jor", "kel", "lam", "mor", "nis", "or", "pel")
SAYS = {"cited": (0.86, 0.08), "whole": (0.2, 0.55), "first": (0.34, 0.45)}  # shares that name the diagnosis, another
GAINS = {"history": -0.05, "history+images": 0.0, "history+findings": 0.35, "history+images+findings": 0.4}  # of inputs
FIGURES = {
    "fig2": ["outcomes"],
    "fig3": ["alignment"],
    "faithfulness": ["faithfulness"],
    "noise": ["figure"],
    "cells": ["cells"],
    "why": ["why"],
}


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    cases, index = make_set(folder)
    for study in sys.argv[1:] or FIGURES:
        stems = FIGURES[study]
        settings: dict[str, Any] = {"cases": cases, "candidates": respondents(), "index": str(index)}
        result = bench(f"cure/{study}", runs=folder / "runs", note=lambda text: None, **settings)
        for file in result.files:
            if file.suffix == ".png" and file.stem in stems:
                write_small(file, HERE / f"cure-{study}.png")
    shutil.rmtree(folder)


def write_small(source: Path, target: Path) -> None:
    """The picture with at most 64 colours and MAX_WIDTH."""
    picture = Image.open(source).convert("RGB")
    if picture.width > MAX_WIDTH:
        size = MAX_WIDTH, round(picture.height * MAX_WIDTH / picture.width)
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    picture.quantize(64).save(target, optimize=True)


def respondents() -> list[dict[str, Any]]:
    """Three that believe what they read and know more or less besides, and three that go by planted hit rates."""
    believers = {"believer 1": 0.05, "believer 2": 0.2, "believer 3": 0.4}
    listed = [
        {"name": name, "provider": "simulated", "extra_body": {"seed": seed, "believes": "evidence", "knows": knows}}
        for seed, (name, knows) in enumerate(believers.items())
    ]
    for seed, (name, skill) in enumerate({"doubter 1": 0.5, "doubter 2": 0.75, "doubter 3": 1.0}.items()):
        rows = [
            {
                "when": {"evidence": evidence, "inputs": inputs},
                "hit1": (base + (1 - base) * gain) * skill,
                "accuracy": (0.45 + 0.2 * base + 0.3 * gain) * (0.6 + 0.4 * skill),
            }
            for evidence, base in {"none": 0.25, "reference": 0.7, "rag": 0.18, "agent": 0.3}.items()
            for inputs, gain in GAINS.items()
        ]
        rows += [{"when": {"evidence": f"reference+{n}"}, "hit1": (0.7 - 0.012 * n) * skill} for n in (1, 3, 5, 10, 20)]
        truth = {"seed": 10 + seed, "by": rows}
        listed.append({"name": name, "provider": "simulated", "extra_body": truth})
    return listed


def make_set(folder: Path) -> tuple[Path, Path]:
    """The case set and its index."""
    rng = random.Random(0)
    diseases = [word(rng, 3).capitalize() + " disease" for _ in range(CASES)]
    common = [word(rng, 2) for _ in range(40)]
    articles: list[dict[str, Any]] = []
    lines = []
    for number, disease in enumerate(diseases):
        first, later = (" ".join(word(rng, 3) for _ in range(count)) for count in (9, 24))
        shared, cited = (" ".join(rng.sample(common, 8)) for _ in range(2))  # words of many histories and articles
        others = rng.sample([name for name in diseases if name != disease], 4)
        for kind, words in (("cited", cited), ("whole", f"{later} {shared}"), ("first", f"{first} {shared}")):
            named, other = SAYS[kind]
            drawn = rng.random()
            subject = disease if drawn < named else others[0] if drawn < named + other else None
            diagnosis = f"All patients were found to have {subject} after biopsy." if subject else "Causes varied."
            articles.append(article(len(articles), f"On {words[:25]}", f"We saw {words}. {diagnosis}"))
        lines.append(case(number, disease, others, f"{first} {shared[:40]} {later}.", str(10_000 + len(articles) - 3)))
    for number in range(120):
        articles.append(article(len(articles), f"Costs of ward {number}", f"Beds and staff of ward {number}."))
    (folder / "cases").mkdir()
    Image.new("L", (16, 16), 90).save(folder / "cases" / "scan.png")
    (folder / "cases" / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "articles.jsonl").write_text("".join(json.dumps(line) + "\n" for line in articles))
    build([folder / "articles.jsonl"], folder / "index", columns=[])
    return folder / "cases", folder / "index"


def case(number: int, disease: str, others: list[str], history: str, cited: str) -> dict[str, Any]:
    options = [*others[:3], disease]
    return {
        "id": f"case-{number}",
        "specialty": ("Neuroradiology", "Abdominal imaging")[number % 2],
        "history": history,
        "findings": f"A lesion, 12 mm, with {history.split()[0]}.",
        "images": [{"path": "scan.png", "modality": "CT"}],
        "references": [{"pmid": cited}],
        "questions": [
            {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": options, "gold": 3},
            {"id": "open", "kind": "open", "prompt": "What is it?", "gold": disease},
        ],
    }


def article(number: int, title: str, abstract: str) -> dict[str, Any]:
    return {"pmid": str(10_000 + number), "title": title, "abstract": abstract, "year": 2020}


def word(rng: random.Random, syllables: int) -> str:
    return "".join(rng.choice(SYLLABLES) for _ in range(syllables))


if __name__ == "__main__":
    main()
