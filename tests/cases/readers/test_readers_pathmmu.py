"""PathMMU's data.json: subsets and splits, options with letters, images that the release does not hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from wardround.cases.readers.pathmmu import read_pathmmu
from wardround.core.errors import BadInput

ROW: dict[str, Any] = {
    "No": 1,
    "img": "a.jpg",
    "question": "Which cell?",
    "options": ["A) Neuron", "B) Eosinophil"],
    "answer": "B) Eosinophil",
    "explanation": "Its granules are red.",
}


def write(folder: Path, parts: Any) -> Path:
    (folder / "images").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "images" / "a.jpg")
    (folder / "data.json").write_text(json.dumps(parts))
    return folder


def test_questions_about_one_image_are_a_case_of_its_subset_and_split(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"No": 2, "question": "Which stain?", "answer": "A"}]
    source = write(tmp_path, {"Atlas": {"test_tiny": rows}, "PubMed": {"val": [ROW]}})

    tiny, val = read_pathmmu(source)

    assert [(tiny.id, tiny.split), (val.id, val.split)] == [
        ("pathmmu-Atlas-test_tiny-a", "test_tiny"),
        ("pathmmu-PubMed-val-a", "val"),
    ]
    assert tiny.cluster == val.cluster == "images/a.jpg"
    assert [(question.options, question.gold) for question in tiny.questions] == [
        (["Neuron", "Eosinophil"], 1),
        (["Neuron", "Eosinophil"], 0),
    ]
    assert tiny.questions[0].rationale == "Its granules are red."


def test_images_that_the_release_lacks_are_counted_and_wrong_rows_are_named(tmp_path: Path) -> None:
    social = [ROW | {"img": "b.jpg"}, ROW | {"img": "c.jpg"}]
    wrong = [ROW, ROW | {"answer": "C) Mast cell"}, ROW | {"img": 3.5}, 7]
    source = write(tmp_path, {"SocialPath": {"test": social}, "Atlas": {"test": wrong}})

    cases = read_pathmmu(source)

    assert len(cases) == 1
    problems = [f"{problem.field}: {problem.message}" for problem in cases.problems]
    assert problems[0] == "SocialPath.test: 2 of 2 questions are left out: no file images/b.jpg and 1 other images"
    assert problems[1].startswith("Atlas.test[1].answer: ")
    assert problems[2].startswith("Atlas.test[2].img: ")
    assert problems[3] == "Atlas.test[3]: is not an object"


def test_another_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not PathMMU's data"):
        read_pathmmu(write(tmp_path, [ROW]))
