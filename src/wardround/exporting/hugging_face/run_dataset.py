"""A run as a Hugging Face dataset: its answers, measures and comparisons as Parquet, with card and manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wardround.core.files import new_folder, write_file
from wardround.exporting.answer_table import read_answers
from wardround.exporting.destination import require_new_folder
from wardround.exporting.hugging_face.card import quoted
from wardround.exporting.hugging_face.croissant import BOOLEAN, FLOAT, INTEGER, TEXT, DataTable, croissant
from wardround.exporting.shared_manifest import shared_manifest_text
from wardround.reporting.reference_condition import score_measures
from wardround.reporting.run_files import RunFiles, read_run

DESCRIPTION = "A run of wardround: the answers of models to medical questions, and their measures with intervals."


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes the folder. `datasets` loads each table by its name: `load_dataset(FOLDER, "measures")`."""
    require_new_folder(out)
    run = read_run(folder)
    tables = {"answers": read_answers(folder), "measures": run.measures, "comparisons": run.comparisons}
    tables = {name: table for name, table in tables.items() if len(table)}
    with new_folder(out) as draft:
        (draft / "data").mkdir()
        for name, table in tables.items():
            table.write_parquet(draft / _file(name))
        write_file(draft / "manifest.json", shared_manifest_text(run))
        write_file(draft / "README.md", _card(run, {name: len(table) for name, table in tables.items()}))
        described = {name: DataTable(_file(name), _types(table)) for name, table in tables.items()}
        metadata = croissant(run.name, DESCRIPTION, draft, described)
        write_file(draft / "croissant.json", json.dumps(metadata, indent=2) + "\n")
    return [out]


def _file(table: str) -> str:
    return f"data/{table}.parquet"


def _types(table: pl.DataFrame) -> dict[str, str]:
    """The columns of single texts, numbers and truth values; lists are left out of the metadata."""
    types = {}
    for name, dtype in table.schema.items():
        if dtype == pl.Boolean:
            types[name] = BOOLEAN
        elif dtype.is_integer():
            types[name] = INTEGER
        elif dtype.is_float():
            types[name] = FLOAT
        elif dtype in (pl.String, pl.Categorical, pl.Enum):
            types[name] = TEXT
    return types


def _card(run: RunFiles, counts: Mapping[str, int]) -> str:
    lines = ["---", f"pretty_name: {quoted(run.name)}", "license: other", "license_name: not-stated"]
    lines += ["tags:", "- medical", "- evaluation", "- wardround", "configs:"]
    for name in counts:
        lines += [f"- config_name: {name}", "  data_files:", "  - split: test", f"    path: {_file(name)}"]
    cases = run.manifest.get("cases") or {}
    lines += ["---", "", f"# {run.name}", ""]
    lines += [
        f"A run of wardround {run.manifest.get('wardround')} on {cases.get('questions')} questions of a case set "
    ]
    lines[-1] += f"with the hash `{cases.get('hash')}`. `manifest.json` says how it was made."
    lines += ["", "| candidate | measure | value | 95% interval | n |", "|---|---|---|---|---|"]
    for measure in score_measures(run):
        for candidate in run.candidates:
            line = run.find_line(measure, candidate, {})
            if line is None or line.value is None:
                continue
            interval = f"{line.low:.3f} to {line.high:.3f}" if line.low is not None and line.high is not None else "-"
            name = candidate.replace("|", "\\|")
            lines.append(f"| {name} | {measure} | {line.value:.3f} | {interval} | {line.n} |")
    lines += ["", "| table | rows |", "|---|---|", *(f"| {name} | {count} |" for name, count in counts.items()), ""]
    lines += [
        "The answers hold prompts with histories, right answers and replies. The licence is not stated. Name it above "
        "before you publish this, and publish only what the sources and the patients' consent allow.",
        "",
    ]
    return "\n".join(lines)
