"""Three people sit the exam over HTTP; their answers stand in clinbench/table3 beside a model."""

from __future__ import annotations

import csv
import json
import random

import pytest
from desk_site import DeskSite, write_set
from test_exam import chain_case, enter, exam_case, exported, sit
from typer.testing import CliRunner

from wardround.cli.main import app
from wardround.pipeline import run_study

PLANTED = {  # person: role, specialty, accuracy in it and out of it
    "Ann": ("attending", "Surgery", 0.95, 0.45),
    "Ben": ("attending", "Dent", 0.95, 0.45),
    "Cem": ("student", "", 0.3, 0.3),
}
NAMES = ["Surgery", "Dentistry", "Orthopedics", "Pediatrics"]


@pytest.fixture(scope="module")
def benched(tmp_path_factory):
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    write_set(site.root / "set", [exam_case(number, NAMES[number % 4]) for number in range(64)])
    task = site.make_task(
        "exam", "set", ["role:attending", "role:student"], cases="24", telling="text", confidence="yes"
    )
    right: dict[tuple[str, bool], list[bool]] = {}
    for name, (role, specialty, within, outside) in PLANTED.items():
        visitor, chance = enter(site, name, role, specialty), random.Random(name)

        def choose(item, page, specialty=specialty, within=within, outside=outside, chance=chance, name=name) -> int:
            assert "told in text." in page
            own = bool(specialty) and item.hidden["specialty"].startswith(specialty)
            is_right = chance.random() < (within if own else outside)
            right.setdefault((name, own), []).append(is_right)
            return (item.hidden["gold"] + (0 if is_right else chance.randrange(1, 5))) % 5

        sit(visitor, task, choose)
    file = site.root / "answers.csv"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/answers.csv").content)
    assert len(exported(site, task)) == 72
    run = ["bench", "clinbench/table3", "--cases", str(site.root / "set"), "--runs", str(site.root / "runs"), "--json"]
    run += ["--trials", "1", "--candidate", f"people=people,model={file}"]
    run += ["--candidate", "model=simulated,extra_body.accuracy=0.7"]
    ended = CliRunner().invoke(app, [*run, "--answers", str(site.root / "store.sqlite")])
    assert ended.exit_code == 0, ended.output
    (folder,) = [folder for folder in (site.root / "runs").iterdir() if (folder / "measures.csv").exists()]
    with (folder / "measures.csv").open() as lines:
        accuracies = {
            (row["candidate"], row["slice"]): row for row in csv.DictReader(lines) if row["measure"] == "accuracy"
        }
    with (folder / "comparisons.csv").open() as lines:
        compared = {(row["a"], row["b"]): row for row in csv.DictReader(lines)}
    assert set(compared) == {("model", "human/attending"), ("model", "human/student")}
    assert (
        float(compared["model", "human/student"]["low"])
        <= 0.7 - 0.3
        <= float(compared["model", "human/student"]["high"])
    )
    return json.loads(ended.stdout), accuracies, right


def test_people_stand_in_the_table_beside_the_model(benched):
    bench, accuracies, right = benched
    rows = [row for table in bench["tables"] for row in table["rows"]]
    assert {"human/attending", "human/student", "model"} <= {label for row in rows for label in row["labels"]}
    assert accuracies["model", "{}"]["n"] == "64"
    mean = [sum(sum(right[name, own]) for own in (True, False)) / 24 for name in ("Ann", "Ben")]
    assert float(accuracies["human/attending", "{}"]["value"]) == pytest.approx(sum(mean) / 2)
    assert float(accuracies["human/student", "{}"]["value"]) == pytest.approx(sum(right["Cem", False]) / 24)


def test_in_and_out_of_specialty_are_told_apart(benched):
    bench, accuracies, right = benched
    (table,) = bench["tables"]
    place = {column["heading"]: number for number, column in enumerate(table["columns"])}
    cells = {row["labels"][0]: row["cells"] for row in table["rows"] if not row.get("published")}
    for own, name in ((True, "yes"), (False, "no")):
        line = accuracies["human/attending", json.dumps({"in_specialty": name}, separators=(",", ":"))]
        shares = [sum(right[person, own]) / len(right[person, own]) for person in ("Ann", "Ben")]
        assert len(right["Ann", own]) == len(right["Ben", own]) == 12  # balanced
        assert float(line["value"]) == pytest.approx(sum(shares) / 2)
        shown = cells["human/attending"][place["Own" if own else "Other"]]
        assert shown["value"] == pytest.approx(sum(shares) / 2)
        assert cells["model"][place["Own" if own else "Other"]]["value"] is None  # a model has no specialty
        assert float(line["low"]) <= (0.95 if own else 0.45) <= float(line["high"])
    assert not any(candidate == "human/student" and "in_specialty" in where for candidate, where in accuracies)


def test_chains_sat_at_the_desk_have_stages_and_complete_chains(tmp_path):
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [chain_case(number) for number in range(9)])
    task = site.make_task("exam", "set", ["role:specialist"], cases="9", confidence="yes")
    right: dict[str, dict[str, list[bool]]] = {}
    for name in ("Ann", "Ben"):
        chance, own = random.Random(name), right.setdefault(name, {})

        def choose(item, page, chance=chance, own=own) -> int:
            is_right = chance.random() < 0.7
            own.setdefault(item.hidden["case"], []).append(is_right)
            return item.hidden["gold"] if is_right else 2

        sit(enter(site, name, "specialist", "Ophthalmology"), task, choose)
    file = site.root / "answers.csv"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/answers.csv").content)
    study = site.root / "study.toml"
    study.write_text(
        'name = "chains"\ncases = "set"\n[conditions]\nconfidence = "verbal"\n'
        '[[candidates]]\nname = "model"\nprovider = "random"\n'
        f'[[candidates]]\nname = "human/specialist"\nprovider = "people"\nmodel = "{file}"\n'
    )
    ended = run_study(study, runs=site.root / "runs", note=lambda text: None, quiet=True)
    with (ended.folder / "measures.csv").open() as lines:
        measures = {
            (row["measure"], row["slice"]): row
            for row in csv.DictReader(lines)
            if row["candidate"] == "human/specialist"
        }
    chains = [[all(stages) for stages in own.values()] for own in right.values()]
    assert all(len(chain) == 9 for chain in chains)
    complete = sum(sum(chain) / 9 for chain in chains) / 2
    assert float(measures["ccr", "{}"]["value"]) == pytest.approx(complete)
    assert measures["ccr", "{}"]["n"] == "18"
    every = [stage for own in right.values() for stages in own.values() for stage in stages]
    assert float(measures["swa", '{"stage":"mean"}']["value"]) == pytest.approx(sum(every) / len(every))
    assert float(measures["confidence_stated", "{}"]["value"]) == pytest.approx(0.8)
    with (ended.folder / "comparisons.csv").open() as lines:
        (compared,) = csv.DictReader(lines)
    assert (compared["a"], compared["b"], compared["n"]) == ("model", "human/specialist", str(2 * 9 * 3))
