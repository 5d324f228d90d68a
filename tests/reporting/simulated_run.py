"""A run folder made of simulated marks, with figures computed here and not by wardround."""

from __future__ import annotations

import io
import json
import math
import random
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w
from PIL import Image

from wardround.core.condition import DEFAULTS
from wardround.measuring.engine.tables import MEASURES
from wardround.reporting import AskView, CaseView, PromptPart, TrialView

ACCURACY = {"sharp-eyed": 0.8, "small-model": 0.45, "longest option": 0.28, "random": 0.25}
SIGHTED = ("sharp-eyed", "small-model")
SPECIALTIES = ("neuro", "chest", "abdomen", "eye")
OPTIONS = ("glioma", "abscess", "infarct", "metastasis")
AXES = {"images": ("as-is", "swapped"), "options": ("as-given", "shuffled")}
TRIALS = 2


def study_text(names: Iterable[str], reference: str) -> str:
    """The study file of a run of these candidates."""
    family = {"measure": "accuracy", "between": "candidate", "reference": reference}
    study = {
        "name": "simulated",
        "cases": "forty",
        "trials": TRIALS,
        "conditions": {axis: list(values) for axis, values in AXES.items()},
        "comparisons": {
            "candidates": family,
            "looking": {"measure": "accuracy", "between": "images", "reference": "as-is"},
        },
        "candidates": [{"name": name, "provider": "simulated", "model": name} for name in names],
    }
    return tomli_w.dumps(study)


def marks(cases: int = 40, rename: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """One mark per case, candidate, condition and trial, from planted accuracies."""
    drawn, rows = random.Random(7), []
    for candidate, images, options in product(ACCURACY, *AXES.values()):
        if images == "swapped" and candidate not in SIGHTED:
            continue
        chance = ACCURACY[candidate] if images == "as-is" else min(ACCURACY[candidate], 0.3)
        condition = {**DEFAULTS, "images": images, "options": options}
        for case, trial in product(range(cases), range(TRIALS)):
            unparsed = drawn.random() < (0.12 if candidate == "small-model" else 0.01)
            right = drawn.random() < chance
            gold = case % 4
            option = None if unparsed else gold if right else (gold + 1 + drawn.randrange(3)) % 4
            rows.append(
                {
                    "candidate": (rename or {}).get(candidate, candidate),
                    "case": f"case-{case:02}",
                    "cluster": f"case-{case:02}",
                    "question": "mcq",
                    "condition": json.dumps(condition, sort_keys=True, separators=(",", ":")),
                    "trial": trial,
                    "ask": f"{case:064x}",
                    "option": option,
                    "outcome": "unparsed" if unparsed else "right" if right else "wrong",
                    "rule": None if unparsed else "letter alone",
                    "confidence": None if unparsed else round(0.4 + 0.5 * drawn.random(), 3),
                    "hits": None,
                    "grounded": None,
                    "error_class": None,
                    "judge": None,
                    "parser": "1",
                    "specialty": SPECIALTIES[case % 4],
                }
            )
    return rows


def wilson(right: int, n: int) -> tuple[float, float]:
    z, share = 1.959963984540054, right / n
    middle, reach = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)


def measured(rows: list[dict[str, Any]], candidate: str, slice: dict[str, str]) -> list[dict[str, Any]]:
    """Accuracy of one candidate in one slice; over the whole and in each condition the other measures too."""
    values = {axis: values[0] for axis, values in AXES.items()} | slice
    chosen = [
        row
        for row in rows
        if row["candidate"] == candidate
        and all((row.get(key) or json.loads(row["condition"]).get(key)) == value for key, value in values.items())
    ]
    n, clusters = len(chosen), len({row["cluster"] for row in chosen})
    right = sum(row["outcome"] == "right" for row in chosen)
    unparsed = sum(row["outcome"] == "unparsed" for row in chosen)
    common = {"candidate": candidate, "slice": json.dumps(slice, sort_keys=True), "n": n, "clusters": clusters}
    common |= {"unparsed": unparsed / n if n else None, "refused": 0.0, "method": "wilson", "version": "1"}
    if not n:
        return [{**common, "measure": "accuracy", "value": None, "low": None, "high": None}]
    low, high = wilson(right, n) if clusters >= 8 else (None, None)
    lines = [{**common, "measure": "accuracy", "value": right / n, "low": low, "high": high}]
    if not slice or len(slice) == len(AXES):
        parsed, sure = n - unparsed, [row["confidence"] for row in chosen if row["confidence"] is not None]
        low, high = wilson(right, parsed)
        lines.append({**common, "measure": "accuracy_parsed", "value": right / parsed, "low": low, "high": high})
        mean = sum(sure) / len(sure)
        lines.append({**common, "measure": "confidence", "value": mean, "low": mean - 0.02, "high": mean + 0.02})
        shift = mean - right / n
        lines.append(
            {**common, "measure": "calibration_shift", "value": shift, "low": shift - 0.05, "high": shift + 0.05}
        )
        lines.append({**common, "measure": "majority_accuracy", "value": right / n, "low": None, "high": None})
    return lines


def measures(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    slices = [{}, *({axis: value} for axis, values in AXES.items() for value in values)]
    slices += [dict(zip(AXES, values, strict=True)) for values in product(*AXES.values())]
    slices += [{"specialty": value} for value in (*SPECIALTIES, "skin")]
    lines = []
    for candidate, slice in product(dict.fromkeys(row["candidate"] for row in rows), slices):
        if slice.get("images") == "swapped" and not any(
            row["candidate"] == candidate and "swapped" in row["condition"] for row in rows
        ):
            continue
        lines += measured(rows, candidate, slice)
    return lines


@cache
def figures_of(cases: int, *renamed: tuple[str, str]) -> list[dict[str, Any]]:
    """The figures of these marks, which most tests need alike."""
    return measures(marks(cases, dict(renamed)))


def comparisons(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Differences of the figures above; the intervals and p values are made up, the page only prints them."""
    whole = {row["candidate"]: row["value"] for row in figures if row["measure"] == "accuracy" and row["slice"] == "{}"}
    names = list(whole)
    differences = []
    for name in names[:-1]:
        value = whole[name] - whole[names[-1]]
        differences.append((name, names[-1], "{}", value, 0.0004 if value > 0.1 else 0.41, "candidates"))
    for name in names[:2]:
        by_images = {
            row["slice"]: row["value"] for row in figures if row["measure"] == "accuracy" and row["candidate"] == name
        }
        value = by_images['{"images": "swapped"}'] - by_images['{"images": "as-is"}']
        differences.append(
            ("swapped", "as-is", json.dumps({"candidate": name}), value, 0.012 if value < -0.1 else 0.63, "looking")
        )
    return [
        {
            "measure": "accuracy",
            "a": a,
            "b": b,
            "slice": slice,
            "value": value,
            "low": value - 0.081,
            "high": value + 0.083,
            "p": p / 2,
            "p_adjusted": p,
            "family": family,
            "n": 320,
            "clusters": 40,
            "method": "sign-flip",
        }
        for a, b, slice, value, p, family in differences
    ]


def write_run(
    folder: Path, *, cases: int = 40, rename: dict[str, str] | None = None, **manifest: Any
) -> list[dict[str, Any]]:
    """Writes the folder and returns the marks; keywords replace keys of the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = marks(cases, rename)
    figures = figures_of(cases, *(rename or {}).items())
    candidates = []
    for name in dict.fromkeys(row["candidate"] for row in rows):
        asks = sum(row["candidate"] == name for row in rows)
        blind = name in ("longest option", "random")
        candidates.append(
            {
                "name": name,
                "provider": name.split()[0] if blind else "openai",
                "model": None if blind else f"maker/{name}-2b",
                "sees": not blind,
                "asks": asks,
                "stored": asks // 3,
                "new": asks - asks // 3,
                "calls": 0 if blind else asks - asks // 3 + 4,
                "tokens_in": 0 if blind else asks * 812,
                "tokens_out": 0 if blind else asks * 9,
                "cost": 0.0 if blind else asks * 0.00031,
                "failed": 0,
                "reported_models": [] if blind else [f"maker/{name}-2b"],
                "deviations": ["temperature 0.7 is fixed by the server"] if name == "small-model" else [],
            }
        )
    document = {
        "wardround": "0.1.0",
        "study": {"name": "simulated", "hash": "5c" * 32},
        "status": "complete",
        "started": "2025-11-15T09:00:00Z",
        "finished": "2025-11-15T09:12:41Z",
        "versions": {"python": "3.11.9", "numpy": "2.4.6"},
        "cases": {"path": "forty", "hash": "ab" * 32, "cases": cases, "questions": cases, "skipped": []},
        "prompts": {"paper/choice": "1f" * 32},
        "candidates": candidates,
        "inapplicable": {"the candidate does not see, and the condition differs in images only": 160},
        "warnings": ["small-model: 12 of 100 answers could not be parsed"],
        "notes": ["Simulated answers, made to test this page. Nothing here says anything about a real model."],
        "chance": 0.25,
        "reference": {axis: values[0] for axis, values in AXES.items()},
        **manifest,
    }
    (folder / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    names = [candidate["name"] for candidate in candidates]
    (folder / "study.toml").write_text(study_text(names, (rename or {}).get("random", "random")), encoding="utf-8")
    pl.DataFrame(rows).drop("specialty").write_parquet(folder / "marks.parquet")
    pl.DataFrame(figures, infer_schema_length=None).select(*MEASURES).write_csv(folder / "measures.csv")
    pl.DataFrame(comparisons(figures)).write_csv(folder / "comparisons.csv")
    return rows


def views(rows: list[dict[str, Any]]) -> Iterator[CaseView]:
    """The marks as case pages show them, with an image drawn for each case."""
    for case in dict.fromkeys(row["case"] for row in rows):
        mine = [row for row in rows if row["case"] == case]
        asks = []
        for candidate, condition in dict.fromkeys((row["candidate"], row["condition"]) for row in mine):
            trials = [row for row in mine if row["candidate"] == candidate and row["condition"] == condition]
            axes = json.loads(condition)
            order = (2, 0, 3, 1) if axes["options"] == "shuffled" else (0, 1, 2, 3)
            image = picture(case + axes["images"])
            asks.append(
                AskView(
                    candidate=candidate,
                    question="mcq",
                    condition=axes,
                    prompt=(PromptPart(image=image, text="CT"), PromptPart(text="What is the diagnosis?")),
                    gold=int(case[-2:]) % 4,
                    options=OPTIONS,
                    order=order,
                    slices={"specialty": (trials[0]["specialty"],)},
                    trials=tuple(
                        TrialView(
                            trial=row["trial"],
                            text="I am not sure." if row["option"] is None else "ABCD"[order.index(row["option"])],
                            outcome=row["outcome"],
                            option=row["option"],
                            confidence=row["confidence"],
                            rule=row["rule"],
                            finish="stop",
                        )
                        for row in trials
                    ),
                )
            )
        yield CaseView(
            case, tuple(asks), history="A 54-year-old with three weeks of headache.", facts={"age": "54", "sex": "F"}
        )


@cache
def picture(seed: str) -> str:
    """A small grey image as a data URI, another one for every seed."""
    image = Image.frombytes("L", (16, 16), random.Random(seed).randbytes(256)).resize((96, 96))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"
