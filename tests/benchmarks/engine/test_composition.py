"""What a case set holds, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_cases import choice, cure_cases, write, xpcr_cases

from wardround.benchmarks.engine.bench import bench
from wardround.reporting.tables.table import Table


def composition(benchmark: str, cases: Path, *, published: bool = False) -> dict[str, Table]:
    found = bench(f"{benchmark}/composition", cases=cases, candidates=[], published=published)
    assert found.folder is None
    return {table.title: table for table in found.tables}


def figures(table: Table) -> dict[str, list[float | None]]:
    return {row.labels[0]: [cell.value for cell in row.cells] for row in table.rows}


def test_the_composition_of_a_cure_set_is_as_counted_by_hand(tmp_path: Path) -> None:
    tables = composition("cure", cure_cases(tmp_path, 40))
    facts = next(table for title, table in tables.items() if title.startswith("cure/composition"))
    facts_by_label = {row.labels[0]: row.cells[0].text for row in facts.rows}
    assert facts_by_label == {
        "Cases": "40",
        "Questions": "80",
        "of which choice": "40",
        "of which open": "40",
        "Sex F": "50.0%",
        "Sex M": "50.0%",
        "Age, mean": "39.5",
        "Age, range": "20 to 59",
        "Images per case, mean": "1.5",
        "References per case, mean": "1.0",  # 39 / 40
        "Options per choice, mean": "4.0",
        "Options per choice, range": "4 to 4",
        "Right by guessing": "25.0%",
    }
    assert figures(tables["Cases by specialty"]) == {"neuro": [14, 0.35], "chest": [13, 0.325], "abdomen": [13, 0.325]}
    assert figures(tables["Images by modality"]) == {"MR": [40, pytest.approx(2 / 3)], "CT": [20, pytest.approx(1 / 3)]}


def test_the_papers_composition_stands_beside_a_cure_set(tmp_path: Path) -> None:
    tables = composition("cure", cure_cases(tmp_path, 40), published=True)
    facts = next(table for title, table in tables.items() if title.startswith("cure/composition"))
    published = {row.labels[0]: row.cells[1].text for row in facts.rows}
    assert (published["Cases"], published["Age, range"], published["Right by guessing"]) == ("530", "0 to 94", "21.3%")
    assert published["Questions"] == ""  # not in the paper
    specialties = tables["Cases by specialty"]
    assert [column.heading for column in specialties.columns] == ["Count", "Share of all", "Published share"]
    assert figures(specialties)["Neuroradiology"] == [0, 0.0, 0.185]
    assert figures(tables["Images by modality"])["CT"][2] == pytest.approx(0.311)


def test_xpcr_in_the_papers_order_with_its_counts_beside(tmp_path: Path) -> None:
    tables = composition("xpcr", xpcr_cases(tmp_path, 24), published=True)
    stages = tables["Questions by stage"]
    assert [column.heading for column in stages.columns][:5] == ["Count", "Share of all", "R", "A", "S"]
    third = pytest.approx(1 / 3)
    assert figures(stages)["CD"] == [
        24,
        pytest.approx(1 / 6),
        third,
        third,
        third,
        13_918,
        pytest.approx(13_918 / 176_188),
    ]
    assert list(figures(stages)) == ["IQA", "AL", "LC", "DD", "SG", "CD"]
    diseases = figures(tables["Questions by disease"])
    assert diseases["AMD"][0] == 48
    assert diseases["GLA"][0] == 0  # the paper's, not in this set
    assert diseases["Stargardt"][-2:] == [None, None]  # this set's, not in the paper


def test_medq_deg_groups_types_as_the_paper_does(tmp_path: Path) -> None:
    asked = [choice("clean", 1, skill="Counting", capability="Imaging Perception")]
    for number, degradation in enumerate(("sparse_view@L1", "sparse_view@L2", "low_dose@L1", "home_made@L1")):
        more = {"of": "clean", "degradations": [degradation], "skill": "Counting", "capability": "Imaging Perception"}
        asked.append(choice(f"d{number}", number, **more))
    image = {"path": "scan.png", "modality": "CT"}
    tables = composition("medq-deg", write(tmp_path, [{"id": "one", "images": [image], "questions": asked}]))
    types = {row.labels: [cell.value for cell in row.cells] for row in tables["Questions by type of degradation"].rows}
    assert types == {
        ("sparse_view", "Artifacts"): [2, 1.0, 0.5],
        ("low_dose", "Noise"): [1, 1.0, 0.25],
        ("home_made", ""): [1, 1.0, 0.25],
    }
    assert figures(tables["Questions by severity"]) == {"L1": [3, 0.6], "L0": [1, 0.2], "L2": [1, 0.2]}
    assert figures(tables["Questions by skill"]) == {"Counting": [5, 1.0, 1.0]}


def test_questions_without_a_skill_are_listed_and_count_in_the_shares(tmp_path: Path) -> None:
    asked = [choice("one", 1, skill="Counting", capability="Imaging Perception"), choice("two", 1, label="Bone")]
    asked += [choice("three", 1, capability="Imaging Perception"), choice("four", 1)]
    image = {"path": "scan.png", "modality": "CT"}
    tables = composition("medq-deg", write(tmp_path, [{"id": "one", "images": [image], "questions": asked}]))
    skills = tables["Questions by skill"]
    assert figures(skills) == {"Counting": [1, 1.0, 0.25]}
    assert skills.notes == [
        "3 of 4 questions have no skill; by their label: Bone (1), Imaging Perception (1), no label (1). "
        "Shares of all include them."
    ]


def test_columns_of_a_set_are_not_taken_for_those_of_degradations(tmp_path: Path) -> None:
    """A source may have columns `category`, `type` and `severity` of its own."""
    own = {"category": "Radiology", "type": "single choice", "severity": "hard"}
    asked = [choice("clean", 1, **own), choice("d", 1, of="clean", degradations=["low_dose@L2"], **own)]
    image = {"path": "scan.png", "modality": "CT"}
    tables = composition("medq-deg", write(tmp_path, [{"id": "one", "images": [image], "questions": asked}]))
    types = tables["Questions by type of degradation"]
    assert [row.labels for row in types.rows] == [("low_dose", "Noise")]
    assert figures(tables["Questions by severity"]) == {"L0": [1, 0.5], "L2": [1, 0.5]}


def test_what_a_set_does_not_tell_is_said(tmp_path: Path) -> None:
    tables = composition("clinbench", write(tmp_path, [{"id": "one", "questions": [choice("mcq", 1)]}]), published=True)
    assert tables["Cases by specialty"].rows == []
    assert tables["Cases by specialty"].notes == ["The cases of this set have no specialty."]
