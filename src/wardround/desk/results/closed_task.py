"""What a person sees of a closed task: their own result beside peers and models, and where they differed."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wardround.core.study import load_study
from wardround.core.text import LETTERS
from wardround.desk.auth.accounts import Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, DeskVerdict, Task
from wardround.desk.results.agreement import latest_labels, latest_verdicts
from wardround.marking.marks import MARKS_FILE
from wardround.measuring.engine.wilson import wilson

FEWEST_PEERS = 3  # fewer would reveal single people
EXAM = "exam"


class Score(NamedTuple):
    """A share of right answers, or of agreement, over so many questions or items."""

    name: str
    share: float
    of: int
    low: float | None = None
    high: float | None = None


class ReadingDifference(NamedTuple):
    """An item on which a person's answer is not the right one, or not that of the majority."""

    name: str
    question: str
    own: str
    other: str


class ClosedTask(NamedTuple):
    """A person's part in a closed task. `measure` says what the scores are shares of."""

    items: int
    begun: str
    ended: str
    measure: str
    scores: list[Score]
    differences: list[ReadingDifference]


def closed_task(desk: Desk, task: Task, person: Person) -> ClosedTask | None:
    """A person's results; None if they have read nothing."""
    verdicts = desk.tasks.verdicts(task, person=person)
    if not verdicts:
        return None
    if task.kind == EXAM:
        items, measure, scores, differences = _exam(desk, task, person)
    else:
        items, measure, scores, differences = _reading(desk, task, person)
    return ClosedTask(items, verdicts[0].time, verdicts[-1].time, measure, scores, differences)


def _exam(desk: Desk, task: Task, person: Person) -> tuple[int, str, list[Score], list[ReadingDifference]]:
    items = {item.number: item for item in desk.tasks.list_items(task)}
    answers: dict[int, dict[int, DeskVerdict]] = {}  # by person and item, of questions with options
    for verdict in desk.tasks.verdicts(task):
        if "option" in verdict.said:
            answers.setdefault(verdict.person, {})[verdict.item] = verdict
    own = answers.get(person.id, {})
    scores = [_score("You", [_is_right(items[number], verdict) for number, verdict in own.items()])] if own else []
    peers = [
        fmean(_is_right(items[number], verdict) for number, verdict in theirs.items())
        for other, theirs in answers.items()
        if other != person.id
    ]
    if len(peers) >= FEWEST_PEERS:
        scores.append(Score(f"Mean of {len(peers)} other people", fmean(peers), len(peers)))
    if task.settings.get("run"):
        asked = {(items[number].hidden["case"], items[number].hidden["question"]) for number in own}
        scores += model_scores(desk.resolve(task.settings["run"]), asked)
    differences = [
        ReadingDifference(
            items[number].name,
            _prompt(items[number]),
            _option(items[number], verdict.said["option"]),
            _gold(items[number]),
        )
        for number, verdict in own.items()
        if not _is_right(items[number], verdict)
    ]
    return len(own), "right answers to the questions that you were asked", scores, differences


def model_scores(run: Path, asked: set[tuple[str, str]]) -> list[Score]:
    """The candidates of a run on these questions, under the study's first condition."""
    marks = pl.read_parquet(run / MARKS_FILE, columns=["candidate", "case", "question", "condition", "outcome"])
    condition = load_study(run / "study.toml").all_conditions[0].json
    wanted = pl.DataFrame(sorted(asked), schema=["case", "question"], orient="row")
    table = marks.filter(pl.col("condition") == condition).join(wanted, on=["case", "question"], how="semi")
    groups = table.group_by("candidate").agg(
        share=(pl.col("outcome") == "right").mean(), of=pl.struct("case", "question").n_unique()
    )
    rows = groups.sort("share", descending=True).iter_rows(named=True)
    return [Score(row["candidate"], row["share"], row["of"]) for row in rows]


def _reading(desk: Desk, task: Task, person: Person) -> tuple[int, str, list[Score], list[ReadingDifference]]:
    labels = latest_labels(desk, task)
    items = {item.number: item for item in desk.tasks.list_items(task)}
    read = latest_verdicts(desk.tasks.verdicts(task, person=person))
    same: dict[str, list[bool]] = {}
    differences = []
    for number, by_reader in labels.items():
        for reader, label in by_reader.items():
            others = [other for name, other in by_reader.items() if name != reader]
            if not others:
                continue
            most = max(sorted(set(others)), key=others.count)
            if 2 * others.count(most) <= len(others):
                continue
            same.setdefault(reader, []).append(label == most)
            if reader == person.name and label != most:
                differences.append(ReadingDifference(items[number].name, "", label, most))
    scores = [_score("You", same[person.name])] if person.name in same else []
    peers = [fmean(values) for reader, values in same.items() if reader != person.name]
    if len(peers) >= FEWEST_PEERS:
        scores.append(Score(f"Mean of {len(peers)} other people", fmean(peers), len(peers)))
    return len(read), "items on which the majority of the other readers decided the same", scores, differences


def _score(name: str, hits: list[bool]) -> Score:
    share = fmean(hits)
    low, high = wilson(np.array(share), np.array(float(len(hits))))
    return Score(name, share, len(hits), float(low), float(high))


def _is_right(item: DeskItem, verdict: DeskVerdict) -> bool:
    return bool(verdict.said["option"] == item.hidden["gold"])


def _prompt(item: DeskItem) -> str:
    return str(item.shown["question"]["prompt"])


def _option(item: DeskItem, place: int) -> str:
    options: list[Any] = item.shown["question"]["options"]
    return f"{LETTERS[place]}. {options[place]}"


def _gold(item: DeskItem) -> str:
    hidden: Mapping[str, Any] = item.hidden
    return _option(item, hidden["gold"])
