"""Images whose source does not tell the modality: a table, a column, the question's words or a model tell it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clean_pool import draw_picture, write_pool
from clean_pool import question as make_question
from exam_server import ExamServer, text_of

from wardround.building.sources.medq_deg.build import build_medq_deg
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import CandidateSettings
from wardround.degrade.types import degradation_type


def pool_without_modalities(folder: Path, *, prompts: tuple[str, ...] = ("", "", ""), **fields: Any) -> Path:
    (folder / "images").mkdir(parents=True)
    cases = []
    for number, prompt in enumerate(prompts):
        draw_picture(number, "RGB").save(folder / "images" / f"scan-{number}.png")
        question = make_question(prompt=prompt or f"Which organ is number {number}?", **fields)
        cases.append(
            {"id": f"case-{number}", "images": [{"path": f"images/scan-{number}.png"}], "questions": [question]}
        )
    return write_pool(folder, cases)


def modalities(folder: Path) -> list[str | None]:
    return [case.images[0].modality for case in sorted(CaseSet.open(folder), key=lambda case: case.id)]


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def test_a_source_without_modalities_is_not_refused(tmp_path):
    built = build_medq_deg([pool_without_modalities(tmp_path / "pool")], tmp_path / "set")
    assert built.clean == 3
    assert modalities(built.folder) == [None, None, None]
    assert all(degradation_type(type).modality is None for type in built.types)  # what fits any image
    assert manifest(built.folder)["modalities_from"] == {"not known: general degradations only": 3}


def test_a_table_names_images_or_cases(tmp_path):
    pool = pool_without_modalities(tmp_path / "pool")
    (tmp_path / "images.csv").write_text("image,modality\nscan-0.png,CT\nimages/scan-1.png,MR\n")
    (tmp_path / "cases.csv").write_text("case,modality\ncase-2,Ultrasound\ncase-0,fundus\n")
    first = build_medq_deg([pool], tmp_path / "one", modalities=tmp_path / "images.csv")
    assert modalities(first.folder) == ["CT", "MRI", None]
    second = build_medq_deg([pool], tmp_path / "two", modalities=tmp_path / "cases.csv")
    assert [rejected.detail for rejected in second.rejected] == ["modality is 'fundus'"]
    assert modalities(second.folder) == [None, "Ultrasound"]


def test_a_column_of_the_source_tells_it(tmp_path):
    pool = pool_without_modalities(tmp_path / "pool", image_type="X-ray")
    built = build_medq_deg([pool], tmp_path / "set", modality_column="image_type")
    assert modalities(built.folder) == ["X-ray"] * 3
    assert manifest(built.folder)["modalities_from"] == {"column": 3}


def test_a_value_that_names_one_modality_is_that_one(tmp_path):
    values = ("Computed Tomography (CT)", "CT-Scan of the abdomen", "Chest X-Ray PA", "CT and MRI")
    rows = "".join(f"case-{number},{value}\n" for number, value in enumerate(values))
    (tmp_path / "cases.csv").write_text(f"case,modality\n{rows}")
    pool = pool_without_modalities(tmp_path / "pool", prompts=("", "", "", ""))
    built = build_medq_deg([pool], tmp_path / "set", modalities=tmp_path / "cases.csv")
    assert modalities(built.folder) == ["CT", "CT", "X-ray"]
    assert [rejected.detail for rejected in built.rejected] == ["modality is 'CT and MRI'"]


def test_a_table_that_contradicts_itself_is_one_line(tmp_path):
    (tmp_path / "cases.csv").write_text("case,modality\ncase-0,CT\ncase-1,MR\ncase-0,ct scan\ncase-0,MRI\n")
    problem = "cases.csv:5: case-0 is 'CT' in a row above and 'MRI' here"
    with pytest.raises(BadInput, match=problem):
        build_medq_deg([tmp_path / "pool"], tmp_path / "set", modalities=tmp_path / "cases.csv")


def test_words_of_the_question_tell_it_if_they_name_one(tmp_path):
    prompts = ("What does this CT show?", "Is it a CT or an MRI?", "What does this colonoscopy show?")
    built = build_medq_deg([pool_without_modalities(tmp_path / "pool", prompts=prompts)], tmp_path / "set")
    assert modalities(built.folder) == ["CT", None, "Endoscopy"]


def test_a_named_model_sees_the_images_that_nothing_else_tells(tmp_path):
    prompts = ("What does this CT show?", "", "")

    def reply(body: dict[str, Any], index: int) -> str:
        assert "image_url" in json.dumps(body)
        assert "- Dermoscopy" in text_of(body)
        return "Dermoscopy." if server.calls % 2 else "other"

    with ExamServer(reply) as server:
        model = CandidateSettings(name="modality", provider="openai", base_url=server.url, model="sees", concurrency=1)
        pool = pool_without_modalities(tmp_path / "pool", prompts=prompts)
        built = build_medq_deg(
            [pool], tmp_path / "set", models={"modality": model}, answers=tmp_path / "answers.sqlite"
        )
        assert server.calls == 2
    assert sorted(map(str, modalities(built.folder))) == ["CT", "Dermoscopy"]
    assert [rejected.detail for rejected in built.rejected] == ["modality is 'other'"]
    assert manifest(built.folder)["modalities_from"] == {"model": 2, "words of the question": 1}


@pytest.mark.parametrize("text", ["name,modality\na,CT\n", "image,kind\na,CT\n"])
def test_a_table_without_its_columns_is_one_line(tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(BadInput, match=r"table.csv:1: expected the columns modality and image or case"):
        build_medq_deg([tmp_path / "pool"], tmp_path / "set", modalities=tmp_path / "table.csv")


def test_what_was_rejected_is_written_even_without_a_set(tmp_path):
    pool = pool_without_modalities(tmp_path / "pool")
    (tmp_path / "cases.csv").write_text("case,modality\n" + "".join(f"case-{n},fundus\n" for n in range(3)))
    with pytest.raises(WardroundError, match="no question can be used: 3 x none of the 7 modalities"):
        build_medq_deg([pool], tmp_path / "set", modalities=tmp_path / "cases.csv")
    assert len((tmp_path / "set" / "rejected.jsonl").read_text().splitlines()) == 3
    assert build_medq_deg([pool], tmp_path / "set").clean == 3  # in the same place
