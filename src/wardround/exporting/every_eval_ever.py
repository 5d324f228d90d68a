"""A run in the schema 0.3.0 of Every Eval Ever (looked up 2026-11-18): scores with intervals, and every answer.

Only scores of which higher is better are written, because the schema asks for that direction.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.files import new_folder, write_file
from wardround.exporting.answer_table import read_answers
from wardround.exporting.destination import require_new_folder
from wardround.reporting.labels import measure_title
from wardround.reporting.reference_condition import score_measures
from wardround.reporting.run_files import MeasureLine, RunFiles, read_run

SCHEMA_VERSION = "0.3.0"
NOT_STATED = "not stated"
SETTINGS = ("temperature", "top_p", "top_k", "max_tokens")  # that the schema names


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes data/BENCHMARK/DEVELOPER/MODEL/UUID.json for each candidate, and its answers (UUID_samples.jsonl)."""
    require_new_folder(out)
    run, answers = read_run(folder), read_answers(folder)
    retrieved = f"{time.time():.3f}"
    files: list[Path] = []
    with new_folder(out) as draft:
        for candidate in run.candidates:
            if not (results := _results(run, candidate)):
                continue
            model = _model(run, candidate)
            identity = f"{run.name}/{model['id']}/{retrieved}"
            place = Path("data", *map(_file_name, (run.name, model["developer"], model["name"])), str(uuid4()))
            lines = "".join(
                json.dumps(_instance(row, run.name, model["id"], identity), ensure_ascii=False) + "\n"
                for row in answers.filter(pl.col("candidate") == candidate).iter_rows(named=True)
            )
            record = {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": identity,
                "evaluation_timestamp": str(run.manifest.get("started") or NOT_STATED),
                "retrieved_timestamp": retrieved,
                "source_metadata": {
                    "source_type": "evaluation_run",
                    "source_organization_name": NOT_STATED,
                    "evaluator_relationship": "other",
                },
                "eval_library": {"name": "wardround", "version": str(run.manifest.get("wardround"))},
                "model_info": model,
                "evaluation_results": results,
                "detailed_evaluation_results": {
                    "format": "jsonl",
                    "file_path": f"{place.as_posix()}_samples.jsonl",
                    "hash_algorithm": "sha256",
                    "checksum": hashlib.sha256(lines.encode()).hexdigest(),
                    "total_rows": lines.count("\n"),
                },
            }
            (draft / place).parent.mkdir(parents=True, exist_ok=True)
            write_file(draft / f"{place}.json", json.dumps(record, indent=2, ensure_ascii=False) + "\n")
            write_file(draft / f"{place}_samples.jsonl", lines)
            files += [out / f"{place}.json", out / f"{place}_samples.jsonl"]
    return files


def _model(run: RunFiles, candidate: str) -> dict[str, Any]:
    entry = run.candidate_entries.get(candidate, {})
    provider = str(entry.get("provider") or NOT_STATED)
    id = str(entry.get("model") or f"{provider}/{candidate}")
    details = {"candidate": candidate, "provider": provider, "sees_images": str(bool(entry.get("sees", True))).lower()}
    details |= {"deployment_type": "unknown", "model_availability": "unknown"}  # which a run does not say
    if entry.get("reported_models"):
        details["reported_models"] = canonical_json(entry["reported_models"])
    developer = id.partition("/")[0] if "/" in id else provider
    return {"name": id.rpartition("/")[2], "id": id, "developer": developer, "additional_details": details}


def _results(run: RunFiles, candidate: str) -> list[dict[str, Any]]:
    """The scores of a candidate, one for each slice."""
    scores = set(score_measures(run))
    lines = (line for line in run.measure_lines if line.candidate == candidate and line.measure in scores)
    return [_result(run, line) for line in lines if line.value is not None]


def _result(run: RunFiles, line: MeasureLine) -> dict[str, Any]:
    cases = run.manifest.get("cases") or {}
    where = " ".join(f"{key}={value}" for key, value in line.slice.items())
    facts = {"clusters": line.clusters, "unparsed": line.unparsed, "refused": line.refused, "version": line.version}
    details = {name: str(value) for name, value in facts.items() if value is not None}
    score: dict[str, Any] = {"score": line.value, "details": details | dict(line.slice)}
    if line.low is not None and line.high is not None:
        interval = {"lower": line.low, "upper": line.high, "confidence_level": 0.95, "method": str(line.method)}
        score["uncertainty"] = {"confidence_interval": interval} | ({"num_samples": line.n} if line.n else {})
    arguments = {name: value for name, value in run.study.sampling if name in SETTINGS and value is not None}
    return {
        "evaluation_name": " ".join(filter(None, (run.name, line.measure, where))),
        "source_data": {
            "dataset_name": str(run.study.cases),
            "source_type": "other",
            "additional_details": {name: str(cases.get(name)) for name in ("hash", "cases", "questions")},
        },
        "metric_config": {
            "evaluation_description": f"{measure_title(line.measure)}, {where or 'at the reference condition'}",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": score,
        "generation_config": {"generation_args": arguments, "additional_details": {"trials": str(run.study.trials)}},
    }


def _instance(row: dict[str, Any], benchmark: str, model: str, identity: str) -> dict[str, Any]:
    options, place = row["options_shown"], row["place"]
    chosen = options[place] if options and place is not None else ""
    attribution = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": chosen,
        "extraction_method": str(row["rule"] or row["parser"] or row["judge"] or NOT_STATED),
        "is_terminal": True,
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "model_id": model,
        "evaluation_name": benchmark,
        "sample_id": f"{row['case']}/{row['question']}",
        "interaction_type": "single_turn",
        "input": {"raw": row["prompt"], "reference": [row["gold_text"]], "choices": options},
        "output": {"raw": [row["reply"]]},
        "answer_attribution": [attribution],
        "evaluation": {"score": float(row["outcome"] == "right"), "is_correct": row["outcome"] == "right"},
        "metadata": {"outcome": row["outcome"], "condition": row["condition"], "trial": str(row["trial"])},
    }


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip(".") or "unnamed"
