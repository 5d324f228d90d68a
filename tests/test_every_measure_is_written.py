"""Every measure is written to the measures.csv of a run.

ASKED are measured in a real run: simulated candidates answer, their answers are parsed, judged, marked and measured,
and labels by people are added by `judge validate`. MARKED need another parser, evidence, searches, a
modality left out or reference texts: their marks are written to a run folder, and measured and reported from there as
`wardround mark` does.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import load_study
from wardround.marking.marks import MARKS_SCHEMA
from wardround.measuring import write_measures
from wardround.measuring.engine.encode import OPTIONAL
from wardround.measuring.measures.catalogue import RECORDS, find_record
from wardround.pipeline import run_study, validate_judge
from wardround.reporting import report

ASKED = """accuracy, accuracy_parsed, majority_accuracy, unparsed, refused, unscored, hit@k, swa, ccr, esa, uas, ece,
brier, auroc, aurc, coverage@risk10, harm, net_benefit@k, confidence, confidence_missing, vote_share,
calibration_shift, dke_intra, dke_inter, worst@k, sensitivity, specificity, precision_by_letter, kappa"""
MARKED = """parsers_differ, coverage, grounded, evidence_based_correct, evidence_misled, knowledge_based_correct,
hallucination, recall@k, precision@k, mrr, ndcg@k, map, mcs, ppl, bits_per_byte, rouge_l, eds, rubric_score,
rubric_score_unclipped, rubric_axis"""
STUDY = """name = "asked"
cases = "cases"
trials = 2
offline = true
[conditions]
confidence = ["votes", "verbal"]
degradation = ["none", "gaussian_blur@L2"]
[judge]
provider = "lexical"
"""
CANDIDATE = """[[candidates]]
name = "{name}"
provider = "simulated"
[candidates.extra_body]
accuracy = {accuracy}
sharpness = 0.8
unparsed = 0.05
hit1 = 0.4
hit3 = 0.6
confidence = {{ right = 0.9, wrong = 0.6 }}
by = [{{ when = {{ severity = "L2" }}, accuracy = 0.3 }}]
"""


def names(text: str) -> set[str]:
    return set(re.split(r",\s+", text.replace("\n", " ").strip()))


def written(folder: Path) -> set[str]:
    """The measures that have a value in a run's measures.csv."""
    with (folder / "measures.csv").open(encoding="utf-8", newline="") as file:
        with_value = {line["measure"] for line in csv.DictReader(file) if line["value"]}
    return {record.name for name in with_value if (record := find_record(name)) is not None}


def question(id: str, case: int, **more: Any) -> dict[str, Any]:
    options = [f"{id} {case} {kind}" for kind in ("alpha", "beta", "gamma", "delta")]
    return {"id": id, "kind": "choice", "prompt": f"{id} of {case}?", "options": options, "gold": case % 4, **more}


def write_cases(folder: Path, many: int) -> None:
    """A choice with a grade, a chain of two stages and an open question each, and an image that can be blurred."""
    folder.mkdir()
    Image.effect_noise((16, 16), 40).save(folder / "scan.png")
    lines = []
    for case in range(many):
        values = [question("mcq", case, grade="RAS"[case % 3], importance=1.0 + case % 2)]
        values += [
            question("iqa", case, stage="IQA", chain="c"),
            question("al", case, stage="AL", chain="c", given=["iqa"]),
        ]
        values.append({"id": "open", "kind": "open", "prompt": f"Name {case}.", "gold": f"disease {case}"})
        image = {"path": "scan.png", "modality": "CT"}
        lines.append({"id": f"case-{case}", "history": f"Patient {case}.", "images": [image], "questions": values})
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """A run from cases to measures; its judge is then compared with a person."""
    place = tmp_path_factory.mktemp("asked")
    write_cases(place / "cases", 12)
    candidates = {"good": 0.9, "fair": 0.7, "poor": 0.4}
    bodies = [CANDIDATE.format(name=name, accuracy=accuracy) for name, accuracy in candidates.items()]
    (place / "study.toml").write_text(STUDY + "".join(bodies), encoding="utf-8")
    ended = run_study(place / "study.toml", runs=place / "runs", quiet=True, note=lambda line: None)
    assert ended.exit_code == 0
    verdicts = pl.read_parquet(ended.folder / "verdicts.parquet").unique(["case", "question", "diagnosis"])
    labels = place / "labels.csv"
    verdicts.select("case", "question", "diagnosis", pl.col("same").cast(pl.String)).write_csv(labels)
    validate_judge(ended.folder, labels)
    return written(ended.folder)


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Marks with evidence, searches, ablation and texts, measured and reported."""
    folder = tmp_path_factory.mktemp("marked")
    (folder / "study.toml").write_text(
        'name = "marked"\ncases = "none"\n[[candidates]]\nname = "one"\nprovider = "simulated"\n', encoding="utf-8"
    )
    rows = []
    for case in range(24):
        fields = {"candidate": "one", "case": f"c{case}", "cluster": f"c{case}", "trial": 0, "ask": "00", "parser": "p"}
        right = case % 3 > 0
        values = {"kind": "open", "question": "open", "outcome": "right" if right else "wrong", "hits": [right]}
        values |= {"grounded": case % 2 == 0, "covered": case % 4 > 0, "relevant": 3, "relevant_ranks": [1 + case % 9]}
        values |= {"logprob": -40.0 - case, "tokens": 20, "bytes": 90, "rouge_l": 0.4, "eds": 0.5}
        rows.append(fields | values | {"condition": canonical_json(DEFAULTS)})
        criteria = [{"id": "a", "points": 2.0, "axis": "care", "met": right}]
        graded = {"kind": "rubric", "question": "rubric", "outcome": "graded", "criteria": criteria}
        rows.append(fields | graded | {"score": float(right), "condition": canonical_json(DEFAULTS)})
        for without in ("none", "OCT"):
            result = right and (without == "none" or case % 2 == 0)
            chosen = {"kind": "choice", "question": "mcq", "k": 4, "gold": 0, "option": 0 if result else 1}
            chosen |= {"outcome": "right" if result else "wrong", "modality": ["CFP", "OCT"], "strict_option": 0}
            rows.append(fields | chosen | {"condition": canonical_json({**DEFAULTS, "without": without})})
    marks = pl.DataFrame(rows, schema=MARKS_SCHEMA | OPTIONAL)
    marks.write_parquet(folder / "marks.parquet")
    study = load_study(folder / "study.toml").model_copy(update={"conditions": {"without": ["none", "OCT"]}})
    write_measures(folder, marks, study)
    (folder / "manifest.json").write_text(json.dumps({"status": "complete"}), encoding="utf-8")
    report(folder)
    return written(folder)


def test_every_record_is_in_one_of_the_two_lists() -> None:
    assert names(ASKED) | names(MARKED) == {record.name for record in RECORDS} - {"accuracy@80"}
    assert not names(ASKED) & names(MARKED)


def test_what_can_be_asked_is_measured_in_a_real_run(asked: set[str]) -> None:
    assert names(ASKED) - asked == set()


def test_what_cannot_be_asked_yet_is_measured_from_marks(marked: set[str]) -> None:
    assert names(MARKED) - marked == set()
