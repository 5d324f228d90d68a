"""Samples and logs of Inspect, and sample files of lmms-eval, are imported like any table."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from wardround.cases.importing.guessing import guess_map
from wardround.cases.importing.mapped_cases import import_table
from wardround.core.errors import BadInput


def png() -> str:
    file = io.BytesIO()
    Image.new("L", (24, 24), 90).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def sample(number: int, **fields: Any) -> dict[str, Any]:
    question = {"id": number, "input": f"Question {number}: which organ?", "choices": ["liver", "pancreas"]}
    return {**question, "target": "B", "metadata": {"specialty": "endocrinology"}, **fields}


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": list(samples)}


def imported(file: Path) -> list[Any]:
    cases = import_table(file, guess_map(file))
    assert cases.problems == []
    return list(cases)


@pytest.mark.parametrize("layout", ["samples.jsonl", "log.json", "pretty.json", "log.eval"])
def test_samples_of_inspect_become_choices(layout: str, tmp_path: Path) -> None:
    samples = [sample(1, epoch=1), sample(2, epoch=1), sample(1, epoch=2)]
    file = tmp_path / layout
    if layout == "samples.jsonl":
        file.write_text("".join(json.dumps(record) + "\n" for record in samples[:2]))
    elif layout == "log.eval":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("header.json", json.dumps({"version": 2}))
            for record in samples:
                archive.writestr(f"samples/{record['id']}_epoch_{record['epoch']}.json", json.dumps(record))
    else:
        file.write_text(json.dumps(log(*samples), indent=None if layout == "log.json" else 2))

    first, second = imported(file)

    assert [case.questions[0].prompt for case in (first, second)] == [
        "Question 1: which organ?",
        "Question 2: which organ?",
    ]
    assert first.questions[0].gold_text == "pancreas"
    assert first.specialty == "endocrinology"


def test_a_log_that_is_compressed_by_zstandard_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    records = [sample(number, input=f"Où, n° {number}?\nNext line.") for number in (1, 2)]
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        for record in records:
            text = json.dumps(record, ensure_ascii=False, indent=2).encode()
            archive.writestr(f"samples/{record['id']}.json", pyarrow.compress(text, "zstd", asbytes=True))
            archive.filelist[-1].compress_type = 93  # the method of Zstandard, which the module cannot write itself

    first, second = imported(tmp_path / "log.eval")

    assert [first.questions[0].prompt, second.questions[0].prompt] == ["Où, n° 1?\nNext line.", "Où, n° 2?\nNext line."]
    assert first.questions[0].gold_text == "pancreas"


def test_metadata_of_a_sample_is_not_taken_for_its_question_or_answer(tmp_path: Path) -> None:
    record = sample(1, metadata={"question": "mcq", "answer": "liver"})
    (tmp_path / "samples.jsonl").write_text(json.dumps(record) + "\n")

    (case,) = imported(tmp_path / "samples.jsonl")

    assert (case.questions[0].prompt, case.questions[0].gold_text) == ("Question 1: which organ?", "pancreas")


def test_the_last_message_of_the_user_is_the_question_with_its_images(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "Which organ?"}, {"type": "image", "image": f"data:image/png;base64,{png()}"}]
    attached = [parts[0], {"type": "image", "image": "attachment://abc"}]
    chat = [{"role": "user", "content": "An example"}, {"role": "assistant", "content": "A"}]
    records = [
        sample(1, input=[{"role": "system", "content": "Be a doctor."}, *chat, {"role": "user", "content": parts}]),
        sample(2, input=[{"role": "user", "content": attached}], attachments={"abc": f"data:image/png;base64,{png()}"}),
    ]
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(record | {"target": ["B"]}) + "\n" for record in records))

    (case,) = imported(file)  # the two samples show the same image

    assert [question.prompt for question in case.questions] == ["Which organ?", "Which organ?"]
    assert len(case.images) == 1


def test_sample_files_of_lmms_eval_hold_the_row_of_the_data_set(tmp_path: Path) -> None:
    doc = {"question": "Which organ?", "options": ["liver", "pancreas"], "answer": "B"}
    line = {"doc_id": 7, "doc": doc, "target": "B", "resps": [["A"]], "filtered_resps": ["A"], "exact_match": 0.0}
    file = tmp_path / "20260101_samples_medqa.jsonl"
    file.write_text(json.dumps(line) + "\n")

    (case,) = imported(file)

    assert (case.questions[0].prompt, case.questions[0].gold_text) == ("Which organ?", "pancreas")


def test_a_table_of_vlmevalkit_in_which_most_rows_name_the_image_of_another(tmp_path: Path) -> None:
    rows = [["0", png(), "Which?"], ["1", "0", "Where?"], ["2", "0", "When?"]]
    lines = ["index\timage\tquestion\tA\tB\tanswer", *("\t".join([*row, "liver", "pancreas", "A"]) for row in rows)]
    file = tmp_path / "table.tsv"
    file.write_text("\n".join(lines) + "\n")

    (case,) = imported(file)

    assert len(case.images) == 1
    assert [question.prompt for question in case.questions] == ["Which?", "Where?", "When?"]


def test_a_log_that_is_not_an_archive_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_text("text")

    with pytest.raises(BadInput, match="cannot be read as a log of Inspect"):
        guess_map(tmp_path / "log.eval")
