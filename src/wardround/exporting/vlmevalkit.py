"""VLMEvalKit's tables: a case set as a TSV of questions, a run as its tables of predictions.

Columns as VLMEvalKit's ImageMCQDataset reads them (looked up 2026-11-18): index, image (base64; a printed list if
several), hint, question, A to Z, answer (a letter), category, split. The others are ours and are kept by VLMEvalKit.
"""

from __future__ import annotations

import base64
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from wardround.cases.images.recipe import kind_of, recipe_for
from wardround.cases.images.render import render
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image, Question
from wardround.core.errors import BadInput
from wardround.core.files import new_folder, replacement, write_file
from wardround.core.text import LETTERS, safe_row
from wardround.exporting.answer_table import read_answers
from wardround.exporting.destination import new_file_name, require_new_file, require_new_folder
from wardround.reporting.answer_records import axis_values
from wardround.reporting.case_pages import changed_axes
from wardround.reporting.run_files import read_run

KEPT = ("specialty", "tags", "modality", "age", "sex", "findings", "accept", "rationale")  # under their own names
OWN = ("case", "question_id", "patient", *KEPT)


def export_cases(source: Path, out: Path) -> list[Path]:
    """Writes the TSV, and beside it the map by which `wardround cases import` reads it back."""
    cases = CaseSet.open(source)
    table_map = out.with_name(out.stem + ".map.toml")
    require_new_file(out)
    require_new_file(table_map)
    letters = LETTERS[: max((len(q.options or ()) for case in cases for q in case.questions), default=0)]
    columns = ["index", "image", "hint", "question", *letters, "answer", "category", "split", *OWN]
    _write_tsv(out, columns, _question_rows(cases))
    write_file(table_map, tomli_w.dumps(_map(letters)))
    return [out, table_map]


def _question_rows(cases: CaseSet) -> Iterator[dict[str, Any]]:
    index = 0
    for case in cases:
        for question in case.questions:
            shown = case.images if question.images is None else [case.images[number] for number in question.images]
            cells = [_base64(cases, image) for image in shown]
            image = cells[0] if len(cells) == 1 else str(cells) if cells else ""
            yield {"index": index, "image": image, **_question_cells(question), **_case_cells(case, shown)}
            index += 1


def _question_cells(question: Question) -> dict[str, Any]:
    options = question.options or []
    if len(options) > len(LETTERS):
        raise BadInput(Path(question.id), f"has {len(options)} options; VLMEvalKit has letters for {len(LETTERS)}")
    return {
        "question": question.prompt,
        **dict(zip(LETTERS, options, strict=False)),
        "answer": LETTERS[question.gold] if isinstance(question.gold, int) else question.gold,
        "category": question.skill,
        "question_id": question.id,
        "accept": "; ".join(question.accept),
        "rationale": question.rationale,
    }


def _case_cells(case: Case, shown: Sequence[Image]) -> dict[str, Any]:
    return {
        "hint": case.history,
        "split": case.split,
        "case": case.id,
        "patient": case.cluster,
        "specialty": case.specialty,
        "tags": "; ".join(case.tags),
        "modality": next((image.modality for image in shown if image.modality), None),
        "age": case.patient.age if case.patient else None,
        "sex": case.patient.sex if case.patient else None,
        "findings": case.findings,
    }


def _base64(cases: CaseSet, image: Image) -> str:
    """The file of an image; DICOM and NIfTI, which VLMEvalKit cannot read, as a candidate would be shown them."""
    path = cases.image_path(image)
    is_raster = kind_of(image.path) == "raster"
    return base64.b64encode(
        path.read_bytes() if is_raster else render(path, image.frame, recipe_for(image)).data
    ).decode()


def _map(letters: str) -> dict[str, Any]:
    """Where `wardround cases import` finds the fields."""
    return {
        "id": "question_id",
        "case": "case",
        "question": "question",
        "answer": "answer",
        "images": "image",
        **({"options": list(letters)} if letters else {"answer_form": "text"}),
        "history": "hint",
        "skill": "category",
        "split": "split",
        "patient": "patient",
        **{key: key for key in KEPT},
    }


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes a folder with a table of predictions for each candidate and condition, a row per question and trial.

    Options have the letters under which they were shown. `hit` is our mark: 1 if the answer is right.
    """
    require_new_folder(out)
    run, answers = read_run(folder), read_answers(folder)
    letters = LETTERS[: max((len(options or ()) for options in answers["options_shown"].to_list()), default=0)]
    columns = ["index", "question", *letters, "answer", "prediction", "hit", "category", "split"]
    columns += ["case", "question_id", "trial", "outcome"]
    names: list[str] = []
    with new_folder(out) as draft:
        for group in answers.partition_by("candidate", "condition", maintain_order=True):
            first = group.row(0, named=True)
            changed = changed_axes(axis_values(first["condition"]))
            parts = [first["candidate"], run.name, *(f"{axis}-{value}" for axis, value in changed.items())]
            names.append(new_file_name("_".join(parts), ".tsv", names))
            _write_tsv(draft / names[-1], columns, _prediction_rows(group))
    return [out / name for name in names]


def _prediction_rows(answers: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for index, row in enumerate(answers.iter_rows(named=True)):
        gold = row["gold_shown"]
        yield {
            "index": index,
            "question": row["prompt"],
            **dict(zip(LETTERS, row["options_shown"] or (), strict=False)),
            "answer": LETTERS[gold] if gold is not None else row["gold_text"],
            "prediction": row["reply"],
            "hit": int(row["outcome"] == "right"),
            "category": row["skill"],
            "question_id": row["question"],
            **{name: row[name] for name in ("split", "case", "trial", "outcome")},
        }


def _write_tsv(path: Path, columns: Sequence[str], rows: Iterator[dict[str, Any]]) -> None:
    with replacement(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n", restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow(dict(zip(row, safe_row(row.values()), strict=True)))
