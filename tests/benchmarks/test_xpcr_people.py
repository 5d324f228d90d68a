"""People who sat X-PCR's chains stand in Table 2 beside models: by stage, SWA, complete chains, calibration."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from measure_oracle import uas
from test_xpcr import STEADY, cell, interval, run
from xpcr_eyes import STAGES, eyes

from wardround.benchmarks.engine.bench import BenchResult
from wardround.candidates.people import COLUMNS
from wardround.reporting import report

CASES = 40
PLANTED = {"ann": ("specialist", 0.95, 0.3), "bob": ("specialist", 0.9, 0.2), "cem": ("resident", 0.6, 0.6)}
UNFINISHED = ("abe", "specialist")  # left every chain after its second stage, and would come first by name
Sat = dict[tuple[str, int], list[bool]]  # person and case: right at each stage


@pytest.fixture(scope="module")
def sat(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchResult, Sat]:
    """A person is right with one chance after right stages alone and with another after a wrong one; all say 80%."""
    folder = tmp_path_factory.mktemp("people")
    cases, right = eyes(folder / "cases", CASES), Sat()
    records = [json.loads(line) for line in (cases / "cases.jsonl").read_text().splitlines()]
    file = folder / "experts.csv"
    with file.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(line for person in PLANTED for line in chains(person, records, right))
        for case in records[:10]:
            for question in case["questions"][:2]:
                asked = {"case": case["id"], "question": question["id"], "option": "D"}
                writer.writerow(dict(zip(("person", "role"), UNFINISHED, strict=True)) | asked)
    people = [
        {"name": f"human/{role}", "provider": "people", "model": str(file), "extra_body": {"role": role}}
        for role in ("specialist", "resident")
    ]
    return run("xpcr/table2", cases, folder, [STEADY, *people]), right


def chains(person: str, cases: list[dict], right: Sat) -> Iterator[dict[str, str]]:
    role, after_right, after_wrong = PLANTED[person]
    chance = random.Random(person)
    for number, case in enumerate(cases):
        own = right.setdefault((person, number), [])
        for question in case["questions"]:
            own.append(chance.random() < (after_right if all(own) else after_wrong))
            options = question["options"]
            option = question["gold"] if own[-1] else (question["gold"] + 1) % len(options)
            asked = {"case": case["id"], "question": question["id"], "option": options[option]}
            yield {"person": person, "role": role, "confidence": "0.8", **asked}


def mean(role: str, right: Sat, of: slice | int | None) -> float:
    """The mean over people of one stage, or of whole chains, by plain counting."""
    names = [name for name, person in PLANTED.items() if person[0] == role]
    counted = [
        [all(stages) if of is None else stages[of] for (who, _), stages in right.items() if who == name]
        for name in names
    ]
    return sum(sum(each) / len(each) for each in counted) / len(names)


@pytest.mark.parametrize("role", ["specialist", "resident"])
def test_stages_mean_and_complete_chains_of_people_are_their_answers(sat: tuple[BenchResult, Sat], role: str) -> None:
    benched, right = sat
    table, row = benched.tables[0], (f"human/{role}",)
    stages = [mean(role, right, number) for number in range(6)]
    for stage, value in zip(STAGES, stages, strict=True):
        assert cell(table, row, stage, "Stage-wise accuracy").value == pytest.approx(value)
    swa, ccr = cell(table, row, "SWA", "Stage-wise accuracy"), cell(table, row, "CCR")
    assert swa.value == pytest.approx(sum(stages) / 6)
    assert swa.n == (2 if role == "specialist" else 1) * CASES * 6  # nothing of who left in the middle
    assert ccr.value == pytest.approx(mean(role, right, None))
    assert ccr.n == (2 if role == "specialist" else 1) * CASES
    low, high = interval(ccr)
    assert low < (0.95**6 + 0.9**6) / 2 < high if role == "specialist" else low < 0.6**6 < high
    assert interval(swa)[0] < sum(stages) / 6 < interval(swa)[1]


def test_the_confidence_of_people_is_measured_too(sat: tuple[BenchResult, Sat]) -> None:
    benched, right = sat
    table, row = benched.tables[0], ("human/resident",)
    shift = 0.8 - sum(mean("resident", right, number) for number in range(6)) / 6
    assert cell(table, row, "plug-in", "ECE").value == pytest.approx(abs(shift))  # one bin
    low, high = interval(cell(table, row, "debiased", "ECE"))
    assert low < 0.8 - 0.6 < high
    assert "over people" in table.notes[0]


@pytest.mark.parametrize("role", ["specialist", "resident"])
def test_people_have_the_uncertainty_aware_score_of_models(sat: tuple[BenchResult, Sat], role: str) -> None:
    """The mean over people of each person's UAS, by the oracle that models are checked against."""
    benched, right = sat
    scores = []
    for person in (name for name, planted in PLANTED.items() if planted[0] == role):
        answers = [
            (0.8, is_right, "RAS"[(case + place) % 3], 1.0)
            for (who, case), stages in right.items()
            if who == person
            for place, is_right in enumerate(stages)
        ]
        scores.append(uas(answers))
    found = cell(benched.tables[0], (f"human/{role}",), "UAS")
    assert found.value == pytest.approx(sum(scores) / len(scores))
    low, high = interval(found)
    assert low < found.value < high


def test_models_are_compared_with_people_on_their_questions(sat: tuple[BenchResult, Sat]) -> None:
    with (Path(sat[0].folder or "") / "comparisons.csv").open() as lines:
        found = {line["b"]: line for line in csv.DictReader(lines)}
    assert set(found) == {"human/specialist", "human/resident"}
    assert {line["family"] for line in found.values()} == {"models and people: accuracy"}
    line = found["human/resident"]
    assert float(line["low"]) < 0.75 - 0.6 < float(line["high"])
    assert (line["a"], line["n"], line["clusters"]) == ("steady", str(CASES * 6), str(CASES))


def test_the_report_compares_models_with_people(sat: tuple[BenchResult, Sat]) -> None:
    page = report(Path(sat[0].folder or "")).read_text()
    assert "<h3>Models and people: accuracy</h3>" in page
    assert re.search(r"steady answers [\d.]+ points more often\s+right than human/resident", page)
    assert "Every pair of candidates" not in page
