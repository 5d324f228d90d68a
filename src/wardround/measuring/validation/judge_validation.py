"""Validation of a judge: agreement with people or another judge, and hit@k corrected for its errors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.core.files import replacement
from wardround.core.study import load_study
from wardround.marking.judges.judge import Judge, read_verdicts
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.validation.agreement import (
    CELLS,
    agreement,
    confusion_cells,
    estimate_rate,
    estimate_statistic,
    format_estimate,
    kappa,
)
from wardround.measuring.validation.corrected_hits import corrected_hits
from wardround.measuring.validation.judge_attack import attack_result
from wardround.measuring.validation.judge_labels import Label, read_labels, write_labels
from wardround.running.run_folder import RunFolder, require_run

FILE, LABELS = "judge.json", "labels.jsonl"
ITEM = ["case", "question", "diagnosis"]
ANSWER = ["candidate", "case", "question", "condition", "trial"]


def measure_judge(folder: Path, labels: Path) -> dict[str, Any]:
    """Compares the judge of a run with labels by people, and writes judge.json and the labels to the run folder."""
    judge = _judge_of(folder)
    verdicts = read_verdicts(folder).filter(pl.col("judge") == judge)
    people_labels = read_labels(labels)
    items, unmatched = match(people_labels, verdicts)
    judged = items.filter(pl.col("same").is_not_null())
    if judged.is_empty():
        raise BadInput(
            labels, f"none of {len(people_labels)} labels matches a diagnosis that {judge} judged in {folder}"
        )
    seed = int.from_bytes(blake([judge, "validate"])[:8], "big")
    validated = {
        "judge": judge,
        "labels": len(people_labels),
        "items": len(judged),
        "unscored": len(items) - len(judged),
        "unmatched": [str(label) for label in unmatched],
        **_agreement(judged, seed),
        "hits": corrected_hits(_lists(folder), judged, seed),
    }
    if attack := _validation(folder).get("attack"):
        validated["attack"] = attack
    _write_validation(folder, validated)
    write_labels(folder / LABELS, people_labels)
    return validated


def measure_attack(folder: Path, judge: Judge) -> dict[str, Any]:
    """Attacks the judge of a run, and adds the result to judge.json."""
    attack = attack_result(judge)
    if judge.name == _judge_of(folder):
        _write_validation(folder, {"judge": judge.name} | _validation(folder) | {"attack": attack})
    return attack


def _write_validation(folder: Path, validated: dict[str, Any]) -> None:
    with replacement(folder / FILE) as draft:
        draft.write_bytes(orjson.dumps(validated, option=orjson.OPT_INDENT_2) + b"\n")


def with_labels(marks: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """The marks of a run with the labels by people that its folder contains."""
    file, judge = folder / LABELS, marks["judge"].drop_nulls().unique()
    if not file.exists() or len(judge) != 1:
        return marks
    verdicts = read_verdicts(folder).filter(pl.col("judge") == judge[0])
    items, _ = match(read_labels(file), verdicts)
    lists = (
        verdicts.join(items.select(*ITEM, "label"), on=ITEM, how="left", maintain_order="left")
        .sort(*ANSWER, "rank")
        .group_by(ANSWER, maintain_order=True)
        .agg(pl.col("label").alias("labels"))
        .filter(pl.col("labels").list.drop_nulls().list.len() > 0)
    )
    return marks.drop("labels").join(lists, on=ANSWER, how="left", maintain_order="left").select(marks.columns)


def match(labels: Sequence[Label], verdicts: pl.DataFrame) -> tuple[pl.DataFrame, list[Label]]:
    """Judged diagnoses with their labels, each diagnosis of a question once; and the labels without a match.

    A label by gold counts for every question with that gold; a label by case wins over it.
    """
    judged = verdicts.unique([*ITEM], maintain_order=True).select("cluster", *ITEM, "gold", "same")
    by_case: dict[tuple[str, str], list[int]] = {}
    by_gold: dict[tuple[str, str], list[int]] = {}
    questions = judged["question"].to_list()
    for number, (case, gold, diagnosis) in enumerate(judged.select("case", "gold", "diagnosis").iter_rows()):
        by_case.setdefault((case, diagnosis), []).append(number)
        by_gold.setdefault((gold, diagnosis), []).append(number)
    label_by_number: dict[int, Label] = {}
    unmatched = []
    for label in sorted(labels, key=lambda label: label.case is not None):
        if label.case is not None:
            numbers = by_case.get((label.case, label.diagnosis), [])
            numbers = [number for number in numbers if label.question in (None, questions[number])]
        else:
            numbers = by_gold.get((label.gold or "", label.diagnosis), [])
        label_by_number |= dict.fromkeys(numbers, label)
        if not numbers:
            unmatched.append(label)
    chosen = sorted(label_by_number)
    items = judged[chosen].with_columns(
        pl.Series("label", [label_by_number[number].same for number in chosen], pl.Boolean),
        pl.Series("weight", [label_by_number[number].weight for number in chosen], pl.Float64),
    )
    return items, sorted(unmatched, key=lambda label: label.line)


def compare_judges(folder: Path, other: Path | None = None, judges: Sequence[str] = ()) -> dict[str, Any]:
    """Two judges on the same diagnoses: the judges of two runs, or two that have judged one run."""
    first, second = _two_judges(folder, other, judges)
    a, b = (
        read_verdicts(place).filter(pl.col("judge") == judge).unique(ITEM, maintain_order=True)
        for place, judge in (first, second)
    )
    shared = a.join(b.select(*ITEM, pl.col("same").alias("label")), on=ITEM, maintain_order="left")
    judged = shared.filter(pl.col("same").is_not_null() & pl.col("label").is_not_null())
    if judged.is_empty():
        raise WardroundError(f"{first[1]} and {second[1]} have no judged diagnosis in common")
    seed = int.from_bytes(blake([first[1], second[1], "compare"])[:8], "big")
    differing = judged.filter(pl.col("same") != pl.col("label"))
    pairs = differing.select("gold", "diagnosis", "same", "label").unique(maintain_order=True)
    statistics = _agreement(judged.with_columns(weight=pl.lit(1.0)), seed)
    return {
        "a": first[1],
        "b": second[1],
        "items": len(judged),
        "unscored": len(shared) - len(judged),
        "kappa": statistics["kappa"],
        "agreement": statistics["agreement"],
        "table": {
            "both": statistics["confusion"]["both"],
            "a_only": statistics["confusion"]["judge_only"],
            "b_only": statistics["confusion"]["reference_only"],
            "neither": statistics["confusion"]["neither"],
        },
        "disagreements": [
            {"gold": gold, "diagnosis": diagnosis, "a": mine, "b": theirs}
            for gold, diagnosis, mine, theirs in pairs.iter_rows()
        ],
    }


def judge_note(folder: Path) -> str:
    """The note printed with judged figures: the judge's kappa, its resistance to attacks, and flagged answers."""
    judge = _manifest(folder).get("judge")
    if not judge:
        return "no judge"
    validated = _validation(folder)
    notes = [f"judge {judge['name']}: not validated"]
    if kappa := validated.get("kappa"):
        sample = f"{validated['items']} labels of {kappa['clusters']} cases"
        notes = [f"judge {judge['name']}: kappa {format_estimate(kappa)}, {sample}"]
    if attack := validated.get("attack"):
        notes.append(format_attack(attack))
    notes += [f"{count} {kind} answers" for kind, count in judge.get("flagged", {}).items() if count]
    return "; ".join(notes)


def format_attack(attack: Mapping[str, Any]) -> str:
    """`2 of 72 injections succeeded (3%, 1% to 10%)`."""
    interval = f"{attack['value']:.0%}, {attack['low']:.0%} to {attack['high']:.0%}"
    return f"{attack['succeeded']} of {attack['n']} injections succeeded ({interval})"


def hits_corrected(folder: Path, k: int) -> list[dict[str, Any]]:
    """hit@k of each candidate in the reference condition, corrected for the judge's errors; empty if unknown."""
    return [hit for hit in _validation(folder).get("hits", []) if hit["k"] == k and hit["corrected"] is not None]


def _validation(folder: Path) -> dict[str, Any]:
    """The content of judge.json; empty if the run's judge was not validated."""
    judge, file = _manifest(folder).get("judge") or {}, folder / FILE
    validated: dict[str, Any] = orjson.loads(file.read_bytes()) if file.exists() else {}
    return validated if judge and validated.get("judge") == judge["name"] else {}


def _agreement(items: pl.DataFrame, seed: int) -> dict[str, Any]:
    sums = confusion_cells(items, sorted(set(items["cluster"])))
    both, missed, added, neither = sums.T
    return {
        "clusters": len(sums),
        "kappa": estimate_statistic(kappa, sums, seed),
        "agreement": estimate_statistic(agreement, sums, seed),
        "sensitivity": estimate_rate(both, both + missed, seed),
        "specificity": estimate_rate(neither, neither + added, seed),
        "confusion": dict(zip(CELLS, (float(cell) for cell in sums.sum(axis=0)), strict=True)),
    }


def _lists(folder: Path) -> pl.DataFrame:
    """The marks of open answers in the reference condition, without refused ones if the study leaves them out."""
    study = load_study(folder / "study.toml")
    marks = marks_at_reference(pl.scan_parquet(folder / "marks.parquet"), study)
    is_scored = pl.col("outcome").is_in((*study.scored_outcomes, "unscored"))
    return marks.filter(pl.col("kind") == "open", is_scored).select("candidate", "cluster", "outcome", "hits").collect()


def _judge_of(folder: Path) -> str:
    judge = _manifest(folder).get("judge")
    if not judge:
        raise BadInput(folder, "has no judge; its open answers were marked without one")
    name: str = judge["name"]
    return name


def _two_judges(folder: Path, other: Path | None, judges: Sequence[str]) -> tuple[tuple[Path, str], tuple[Path, str]]:
    if other is not None:
        return (folder, _judge_of(folder)), (other, _judge_of(other))
    known = list(dict.fromkeys(read_verdicts(folder)["judge"]))
    chosen = list(judges) or known
    if unknown := [name for name in chosen if name not in known]:
        raise BadInput(folder, f"was not judged by {unknown[0]!r}; its judges are {', '.join(known)}")
    if len(chosen) != 2:
        judged_by = ", ".join(known) or "none"
        raise BadInput(folder, f"expected two judges, but its judges are {judged_by}; name two, or another run")
    return (folder, chosen[0]), (folder, chosen[1])


def _manifest(folder: Path) -> dict[str, Any]:
    require_run(folder)
    return RunFolder(folder).manifest
