"""`people`: the CSV file, its answers in a run, and their measures."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from wardround.candidates.people import candidates_by_role, read_person_answers
from wardround.core.errors import WardroundError
from wardround.pipeline import mark_run, run_study

HEAD = "person,role,specialty,case,question,trial,option,confidence,seconds,at\n"
LINES = [
    "ann,attending,Surg,case-0,mcq,0,A,0.9,12.5,2026-05-01T10:00:00",  # right, in her specialty
    "ann,attending,Surg,case-1,mcq,0,B,90%,,",  # right, out of it
    "ann,attending,Surg,case-2,mcq,0,A,,,",  # wrong
    "ann,attending,Surg,case-3,mcq,0,,,,",  # no answer
    "bob,attending,Pediatrics; surgery,case-0,mcq,0,disease 0 beta,0.5,,",  # wrong, told by its text
    "cem,student,,case-0,mcq,0,a,,,",  # right
    "cem,student,,elsewhere,mcq,0,B,,,",  # a case of another set
]


def write_study(folder: Path, lines: list[str] = LINES, conditions: str = "", more: str = "") -> Path:
    cases = [
        {
            "id": f"case-{number}",
            "specialty": "Surgery" if number == 0 else "Dentistry",
            "questions": [
                {
                    "id": "mcq",
                    "kind": "choice",
                    "prompt": f"What has patient {number}?",
                    "options": [f"disease {number} {name}" for name in ("alpha", "beta", "gamma", "delta")],
                    "gold": number % 4,
                }
            ],
        }
        for number in range(6)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "experts.csv").write_text(HEAD + "\n".join(lines) + "\n")
    people = f'provider = "people"\nmodel = "{folder / "experts.csv"}"\n'
    (folder / "study.toml").write_text(
        f'name = "exam"\ncases = "."\ntrials = 2\n[conditions]\n{conditions}\n'
        f'[[candidates]]\nname = "human/attending"\n{people}extra_body = {{ role = "attending" {more}}}\n'
        f'[[candidates]]\nname = "human/student"\n{people}extra_body = {{ role = "student" {more}}}\n'
        '[[candidates]]\nname = "model"\nprovider = "random"\n'
    )
    return folder / "study.toml"


def run(study: Path) -> Path:
    ended = run_study(study, runs=study.parent / "runs", note=lambda text: None, quiet=True)
    assert ended.exit_code == 0
    return ended.folder


def measured(folder: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    with (folder / "measures.csv").open() as file:
        return {(line["measure"], line["candidate"], line["slice"]): line for line in csv.DictReader(file)}


def test_answers_about_other_cases_are_said_to_be_left_out(tmp_path: Path) -> None:
    manifest = json.loads((run(write_study(tmp_path)) / "manifest.json").read_text())
    assert manifest["warnings"] == ["human/student: 1 answer is about cases that are not in the set, and left out"]


def test_answers_of_people_are_answers_like_any_other(tmp_path: Path) -> None:
    folder = run(write_study(tmp_path, conditions='options = "shuffled"\nconfidence = "verbal"'))
    marks = pl.read_parquet(folder / "marks.parquet").filter(pl.col("person").is_not_null())
    rows = marks.select("candidate", "case", "trial", "person", "outcome", "in_specialty", "confidence").sort(
        "candidate", "case", "trial"
    )
    assert rows.rows() == [
        ("human/attending", "case-0", 0, "ann", "right", "yes", 0.9),
        ("human/attending", "case-0", 1, "bob", "wrong", "yes", 0.5),
        ("human/attending", "case-1", 0, "ann", "right", "no", 0.9),
        ("human/attending", "case-2", 0, "ann", "wrong", "no", None),
        ("human/student", "case-0", 0, "cem", "right", None, None),
    ]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["inapplicable"] == {"none of these people answered it": 3 + 5}  # counted, never wrong
    before = (folder / "measures.csv").read_bytes()
    (tmp_path / "experts.csv").unlink()  # what was answered is in the store
    mark_run(folder, note=lambda text: None)
    assert (folder / "measures.csv").read_bytes() == before


def test_a_role_is_the_mean_over_its_people_and_not_over_answers(tmp_path: Path) -> None:
    lines = measured(run(write_study(tmp_path)))
    line = lines["accuracy", "human/attending", "{}"]
    assert float(line["value"]) == pytest.approx((2 / 3 + 0 / 1) / 2)  # over answers it would be 2/4
    assert (line["n"], line["version"], line["method"]) == ("4", "mean over 2 people", "too few cases")
    inside = lines["accuracy", "human/attending", '{"in_specialty":"yes"}']
    outside = lines["accuracy", "human/attending", '{"in_specialty":"no"}']
    assert (float(inside["value"]), inside["n"], float(outside["value"]), outside["n"]) == (0.5, "2", 0.5, "2")
    assert ("accuracy", "human/student", '{"in_specialty":"no"}') not in lines
    assert {line["candidate"] for (name, *_), line in lines.items() if name == "worst@2"} == {"model"}


def test_more_answers_are_other_asks_and_nothing_stale_is_used(tmp_path: Path) -> None:
    first = measured(run(write_study(tmp_path)))
    study = write_study(tmp_path, [*LINES[1:], "ann,attending,Surg,case-0,mcq,0,D,,,"])
    second = measured(run(study))
    line, other = (lines["accuracy", "human/attending", "{}"] for lines in (first, second))
    assert (float(line["value"]), float(other["value"])) == (pytest.approx(1 / 3), pytest.approx(1 / 6))


def test_people_answer_under_the_first_condition_or_the_one_of_when(tmp_path: Path) -> None:
    axes = 'stem = ["full", "options-only"]'
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    first = pl.read_parquet(run(write_study(tmp_path / "a", conditions=axes)) / "marks.parquet")
    named = pl.read_parquet(
        run(write_study(tmp_path / "b", conditions=axes, more=', when = { stem = "options-only" }')) / "marks.parquet"
    )
    for marks, stem in ((first, "full"), (named, "options-only")):
        shown = marks.filter(pl.col("person").is_not_null())["condition"].unique().to_list()
        assert [json.loads(condition)["stem"] for condition in shown] == [stem]


def test_a_file_is_split_into_one_candidate_for_each_role(tmp_path: Path) -> None:
    write_study(tmp_path)
    experts = {"name": "experts", "provider": "people", "model": str(tmp_path / "experts.csv")}
    assert [(table["name"], table["extra_body"]) for table in candidates_by_role(experts)] == [
        ("human/attending", {"role": "attending"}),
        ("human/student", {"role": "student"}),
    ]
    assert candidates_by_role({"name": "x", "provider": "random"}) == [{"name": "x", "provider": "random"}]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (",attending,,case-0,mcq,0,A,,,", ":2: person: is empty"),
        ("ann,,,case-0,mcq,0,A,,,", ":2: role: is empty"),
        ("ann,attending,,case-0,mcq,x,A,,,", ":2: trial: cannot be read: 'x'"),
        ("ann,attending,,case-0,mcq,-1,A,,,", ":2: trial: is below 0"),
        ("ann,attending,,case-0,mcq,0,A,80,,", ":2: confidence: is '80'; expected 0 to 1, or 0% to 100%"),
        ("ann,attending,,case-0,mcq,0,A,,-3,", ":2: seconds: is '-3'; expected a number of seconds from 0"),
        ("ann,attending,,case-0,mcq,0,A,,,noon", ":2: at: cannot be read: 'noon'"),
        ("ann,attending,,case-0,mcq,0,A,,", ":2: does not have one cell for each of the 10 columns"),
        ("ann,attending,,case-0,dx,0,A,,,", ":2: question: case 'case-0' has no question 'dx', only mcq"),
        ("ann,attending,,case-0,mcq,0,E,,,", ":2: option: 'E' is not an option; expected A to D, or an option's text"),
        ("ann,attending,,far,mcq,0,A,,,", ": contains no answers to cases of this set"),
        ("ann,nurse,,case-0,mcq,0,A,,,", ": contains no answers of attending"),
    ],
)
def test_a_bad_line_raises_with_its_number(tmp_path: Path, line: str, problem: str) -> None:
    study = write_study(tmp_path, [line])
    with pytest.raises(WardroundError) as refused:
        run_study(study, runs=tmp_path / "runs", note=lambda text: None, quiet=True)
    assert str(refused.value) == f"{tmp_path / 'experts.csv'}{problem}"


def test_a_file_that_is_not_such_a_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "experts.csv"
    with pytest.raises(WardroundError, match="there is no such file"):
        list(read_person_answers(file))
    file.write_text("person,role\n")
    with pytest.raises(WardroundError, match=r"experts.csv:1: has no column 'case'"):
        list(read_person_answers(file))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(WardroundError, match="is not a CSV file"):
        list(read_person_answers(file))
    file.write_text(HEAD + LINES[0] + "\n" + LINES[0] + "\n")
    with pytest.raises(WardroundError, match=r":3: ann answered case-0 mcq twice in trial 0, first in line 2"):
        list(read_person_answers(file))
