"""A run as logs of Inspect AI: one `.eval` file for each candidate and condition, written by Inspect's own package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wardround import __version__
from wardround.core.errors import WardroundError
from wardround.core.files import new_folder
from wardround.core.text import option_letter
from wardround.exporting.answer_table import read_answers
from wardround.exporting.destination import new_file_name, require_new_folder
from wardround.reporting.answer_records import axis_values
from wardround.reporting.case_pages import changed_axes
from wardround.reporting.run_files import RunFiles, read_run

SCORER = "wardround"
SETTINGS = ("temperature", "top_p", "top_k", "max_tokens")  # that Inspect has under the same name


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes the folder of logs."""
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        raise WardroundError("logs of Inspect need its package: pip install 'wardround[inspect]'") from None
    require_new_folder(out)
    run, answers = read_run(folder), read_answers(folder)
    names: list[str] = []
    with new_folder(out) as draft:
        for group in answers.partition_by("candidate", "condition", maintain_order=True):
            first = group.row(0, named=True)
            axes = changed_axes(axis_values(first["condition"]))
            parts = [run.name, first["candidate"], *(f"{axis}-{value}" for axis, value in axes.items())]
            names.append(new_file_name(re.sub(r"[^\w.=+-]+", "-", "_".join(parts)), ".eval", names))
            write_eval_log(_log(run, group, axes), str(draft / names[-1]), format="eval")
    return [out / name for name in names]


def _log(run: RunFiles, answers: pl.DataFrame, axes: dict[str, str]) -> Any:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalMetric, EvalResults, EvalScore, EvalSpec
    from inspect_ai.model import GenerateConfig

    rows = answers.to_dicts()
    candidate, entry = rows[0]["candidate"], run.candidate_entries.get(rows[0]["candidate"], {})
    scored = [row for row in rows if row["outcome"] in run.study.scored_outcomes]
    metrics = {"accuracy": _accuracy(scored)} | _interval(run, candidate, rows[0]["condition"])
    sampling = {name: value for name, value in run.study.sampling if name in SETTINGS and value is not None}
    questions = answers.select("case", "question").n_unique()
    spec = EvalSpec(
        created=str(run.manifest.get("started") or "1970-01-01T00:00:00+00:00"),
        task=run.name,
        model=str(entry.get("model") or candidate),
        dataset=EvalDataset(name=run.name, samples=questions, shuffled=False),
        config=EvalConfig(epochs=answers["trial"].n_unique()),
        model_generate_config=GenerateConfig(**sampling),
        packages={"wardround": __version__},
        metadata={"candidate": candidate, "condition": axes, "cases": case_set_facts(run)},
    )
    score = EvalScore(
        name=SCORER,
        scorer=SCORER,
        scored_samples=len(scored),
        unscored_samples=len(rows) - len(scored),
        metrics={name: EvalMetric(name=name, value=value) for name, value in metrics.items() if value is not None},
    )
    return EvalLog(
        status="success" if run.is_complete else "cancelled",
        eval=spec,
        results=EvalResults(total_samples=len(rows), completed_samples=len(rows), scores=[score]),
        samples=[_sample(row, spec.model, row["outcome"] in run.study.scored_outcomes) for row in rows],
    )


def case_set_facts(run: RunFiles) -> dict[str, Any]:
    """What identifies the case set; its folder on this machine is not for others."""
    cases = run.manifest.get("cases") or {}
    return {name: cases.get(name) for name in ("hash", "cases", "questions")}


def _accuracy(rows: Sequence[dict[str, Any]]) -> float | None:
    return sum(row["outcome"] == "right" for row in rows) / len(rows) if rows else None


def _interval(run: RunFiles, candidate: str, condition: str) -> dict[str, float | None]:
    """The 95% interval of the accuracy, which a run has for the reference condition."""
    line = run.find_line("accuracy", candidate, {})
    is_reference = run.study.reference_condition.items() <= axis_values(condition).items()
    return {"accuracy_low": line.low, "accuracy_high": line.high} if line and is_reference else {}


def _sample(row: dict[str, Any], model: str, is_scored: bool) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
    from inspect_ai.scorer import Score

    options, gold = row["options_shown"], row["gold_shown"]
    answer = option_letter(row["place"]) if row["place"] is not None else None
    mark = Score(value="C" if row["outcome"] == "right" else "I", answer=answer, explanation=row["outcome"])
    return EvalSample(
        id=f"{row['case']}/{row['question']}",
        epoch=row["trial"] + 1,
        input=row["prompt"],
        choices=options,
        target=option_letter(gold) if gold is not None else row["gold_text"],
        messages=[ChatMessageUser(content=row["prompt"]), ChatMessageAssistant(content=row["reply"])],
        output=ModelOutput.from_content(model, row["reply"]),
        scores={SCORER: mark} if is_scored else {},
        metadata={name: row[name] for name in ("cluster", "outcome", "rule", "confidence")},
    )
