"""Selfcheck: respondents with a planted truth go the real way, and every measure must find what was planted.

Each plant has a counter-plant, in which the measure must not fire. Truths are in closed form.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from wardround.api import run_study
from wardround.cases.set import write_case_set
from wardround.core.case import Case

CASES, OPTIONS, TRIALS = 240, 4, 10
STAGES = {"IQA": 0.95, "AL": 0.9, "LC": 0.85, "DD": 0.8, "SG": 0.7, "CD": 0.6}
GRADES = {"R": 0.8, "A": 0.6, "S": 0.4}
# an interval of 95% misses one truth in twenty: of many rows some must. One that is missed by as much again is wrong
STRETCH = 2.0


@dataclass(frozen=True)
class Plant:
    """A figure that is known beforehand."""

    measure: str
    candidate: str
    truth: float
    slice: str = "{}"
    version: str = ""  # the beginning of it, where a measure has several
    counter: bool = False  # whether it is a counter-plant


@dataclass(frozen=True)
class Row:
    """A plant and what was found of it."""

    plant: Plant
    value: float | None
    low: float | None
    high: float | None

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low is not None and self.high is not None and self.low <= self.plant.truth <= self.high

    @property
    def found(self) -> bool:
        """Whether the truth is as near as chance allows over all rows together."""
        if self.value is None:
            return False
        below, above = (abs(self.value - (end if end is not None else self.value)) for end in (self.low, self.high))
        off = self.plant.truth - self.value
        return -STRETCH * below - 1e-6 <= off <= STRETCH * above + 1e-6

    def told(self) -> dict[str, Any]:
        return {**self.plant.__dict__, "value": self.value, "low": self.low, "high": self.high} | {
            "covered": self.covered,
            "as_planted": self.found,
        }


@dataclass(frozen=True)
class Examined:
    """One study of simulated respondents, and what is planted in them."""

    name: str
    study: str
    plants: list[Plant]


def selfcheck(note: Callable[[str], None] = print) -> list[Row]:
    """Runs all plants through ask, parse, mark and measure."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_case_set(_cases(), folder / "cases")
        rows: list[Row] = []
        for examined in _examined():
            note(f"{examined.name}: {len(examined.plants)} plants")
            study = folder / f"{examined.name}.toml"
            study.write_text(f'name = "{examined.name}"\ncases = "cases"\noffline = true\n{examined.study}')
            ended = run_study(study, runs=folder / "runs", quiet=True, note=lambda line: None)
            measures = pl.read_csv(ended.folder / "measures.csv", schema_overrides={"version": pl.String})
            differences = pl.read_csv(ended.folder / "comparisons.csv")
            rows += [_row(plant, measures, differences) for plant in examined.plants]
    return rows


def _row(plant: Plant, measures: pl.DataFrame, differences: pl.DataFrame) -> Row:
    if plant.measure.startswith("difference of "):
        a, b = plant.candidate.split(" - ")
        lines = differences.filter(pl.col("measure") == plant.measure.removeprefix("difference of "))
        lines = lines.filter(pl.col("a") == a, pl.col("b") == b)
    else:
        lines = measures.filter(
            *(pl.col(key) == value for key, value in (("measure", plant.measure), ("candidate", plant.candidate))),
            pl.col("slice") == plant.slice,
            pl.col("version").fill_null("").str.starts_with(plant.version),
        )
    line: dict[str, Any] = lines.row(0, named=True) if len(lines) else {}
    return Row(plant, line.get("value"), line.get("low"), line.get("high"))


def _cases() -> Iterator[Case]:
    """Cases with a choice of each grade, a chain of six stages and an open question, all worded apart."""
    for number in range(CASES):
        grade = list(GRADES)[number % 3]
        questions = [_choice(number, f"choice-{grade}", grade=grade)]
        given: list[str] = []
        for stage in STAGES:
            questions.append(_choice(number, stage, stage=stage, chain=f"chain-{number}", given=given))
            given = [stage]
        open_question = {
            "id": "open",
            "kind": "open",
            "prompt": f"What has patient {number}?",
            "gold": f"disease {number}",
        }
        yield Case.model_validate(
            {"id": f"patient-{number}", "history": f"Patient {number}.", "questions": [*questions, open_question]}
        )


def _choice(number: int, name: str, **more: Any) -> dict[str, Any]:
    options = [f"{name} {number} {letter}" for letter in "klmn"]
    asked = {"id": name, "kind": "choice", "prompt": f"{name} of patient {number}?", "options": options}
    return {**asked, "gold": (number * 7 + len(name)) % OPTIONS, **more}


def _candidate(name: str, **planted: Any) -> str:
    body = ", ".join(f"{key} = {_toml(value)}" for key, value in planted.items())
    return f'[[candidates]]\nname = "{name}"\nprovider = "simulated"\nextra_body = {{ {body} }}\n'


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return orjson.dumps(value).decode()


def _examined() -> list[Examined]:
    return [_votes(), _logprobs(), _verbal(), _graded(), _chains(), _open()]


QUESTIONS = 'questions = ["choice-R", "choice-A", "choice-S"]\n'
SAMPLING = "[sampling]\ntemperature = 1.0\n"


def _votes() -> Examined:
    """Answers drawn ten times: agreement, accuracy, what cannot be read, and differences."""
    wavering = [0.7, 0.1, 0.1, 0.1]
    guessing = [0.25] * 4
    candidates = (
        _candidate("steady", accuracy=0.6)
        + _candidate("steady too", accuracy=0.6, seed=2)
        + _candidate("wavering", accuracy=0.7, mode="independent")
        + _candidate("guessing", accuracy=0.25, mode="independent")
        + _candidate("mumbling", accuracy=0.6, unparsed=0.2)
        + _candidate(
            "reading", accuracy=0.8, mode="independent", by=[{"when": {"stem": "options-only"}, "accuracy": 0.25}]
        )
    )
    study = (
        f"trials = {TRIALS}\n{QUESTIONS}{SAMPLING}{candidates}"
        '[conditions]\nconfidence = "votes"\nstem = ["full", "options-only"]\n'
        '[comparisons]\nall = { measure = "accuracy", between = "candidate", reference = "steady" }\n'
    )
    shown = '{"stem":"full"}'
    plants = [
        Plant("accuracy", "steady", 0.6, shown),
        Plant("unparsed", "steady", 0.0, shown, counter=True),
        Plant("confidence", "steady", 1.0, shown, f"T={TRIALS}"),
        Plant("vote_share", "steady", 1.0, shown, f"T={TRIALS}"),
        Plant("calibration_shift", "steady", 0.4, shown, f"T={TRIALS}"),
        Plant("accuracy", "wavering", 0.7, shown),
        Plant("worst@1", "wavering", 0.7, shown),
        Plant("worst@4", "wavering", 0.7**4, shown),
        Plant("worst@4", "steady", 0.6, shown, counter=True),
        Plant("confidence", "wavering", expected_c(wavering, TRIALS), shown, f"T={TRIALS}"),
        Plant("calibration_shift", "wavering", expected_c(wavering, TRIALS) - 0.7, shown, f"T={TRIALS}"),
        Plant("majority_accuracy", "wavering", majority_right(wavering, TRIALS), shown, f"T={TRIALS}"),
        Plant("accuracy", "guessing", 0.25, shown),
        Plant("confidence", "guessing", expected_c(guessing, TRIALS), shown, f"T={TRIALS}"),
        Plant("unparsed", "mumbling", 0.2, shown),
        Plant("accuracy", "mumbling", 0.48, shown),
        Plant("accuracy_parsed", "mumbling", 0.6, shown),
        Plant("sensitivity", "wavering", 0.7, shown),
        Plant("specificity", "wavering", 0.9, shown),
        Plant("accuracy", "reading", 0.8, shown),
        Plant("accuracy", "reading", 0.25, '{"stem":"options-only"}'),
        Plant("accuracy", "wavering", 0.7, '{"stem":"options-only"}', counter=True),
        Plant("difference of accuracy", "guessing - steady", -0.35),
        Plant("difference of accuracy", "steady too - steady", 0.0, counter=True),
    ]
    return Examined("votes", study, plants)


def _logprobs() -> Examined:
    """The same truths from one request's log-probabilities."""
    wavering = [0.7, 0.1, 0.1, 0.1]
    candidates = _candidate("wavering", accuracy=0.7, mode="independent") + _candidate("steady", accuracy=0.6)
    study = f'trials = {TRIALS}\n{QUESTIONS}{SAMPLING}{candidates}[conditions]\nconfidence = "logprobs"\n'
    limit = 1 + sum(p * math.log(p) for p in wavering) / math.log(OPTIONS)
    plants = [
        Plant("accuracy", "wavering", 0.7),
        Plant("worst@4", "wavering", 0.7**4),
        Plant("confidence", "wavering", expected_c(wavering, TRIALS), version=f"T={TRIALS}"),
        Plant("confidence", "wavering", limit, version="inf"),
        Plant("confidence", "steady", 1.0, version="inf"),
        Plant("accuracy", "steady", 0.6),
    ]
    return Examined("logprobs", study, plants)


def _verbal() -> Examined:
    """Stated confidence: honest, boastful, and telling right from wrong."""
    candidates = (
        _candidate("honest", accuracy=0.7, confidence=0.7, mode="independent")
        + _candidate("boastful", accuracy=0.6, confidence=0.95, mode="independent")
        + _candidate("discerning", accuracy=0.6, confidence={"right": 0.9, "wrong": 0.3}, mode="independent")
    )
    study = f'{QUESTIONS}{SAMPLING}{candidates}[conditions]\nconfidence = "verbal"\n'
    plants = [
        Plant("confidence", "boastful", 0.95, version="verbal"),
        Plant("calibration_shift", "boastful", 0.35, version="verbal"),
        Plant("calibration_shift", "honest", 0.0, version="verbal", counter=True),
        Plant("ece", "boastful", 0.35, version="plug-in"),
        Plant("brier", "boastful", 0.6 * 0.05**2 + 0.4 * 0.95**2, version="verbal"),
        Plant("brier", "honest", 0.21, version="verbal"),
        Plant("auroc", "discerning", 1.0, version="verbal"),
        Plant("auroc", "honest", 0.5, version="verbal", counter=True),
        Plant("confidence_missing", "honest", 0.0, version="verbal", counter=True),
    ]
    return Examined("verbal", study, plants)


def _graded() -> Examined:
    """Accuracy that falls with the grade of the question, and accuracy that does not."""
    by = [{"when": {"grade": grade}, "accuracy": accuracy} for grade, accuracy in GRADES.items()]
    candidates = _candidate("falling", by=by) + _candidate("level", accuracy=0.6)
    study = f"{QUESTIONS}{SAMPLING}{candidates}"
    mean = sum(GRADES.values()) / len(GRADES)
    plants = [
        *(Plant("esa", "falling", accuracy, f'{{"grade":"{grade}"}}') for grade, accuracy in GRADES.items()),
        Plant("esa", "falling", mean, '{"grade":"mean"}'),
        *(Plant("esa", "level", 0.6, f'{{"grade":"{grade}"}}', counter=True) for grade in GRADES),
    ]
    return Examined("graded", study, plants)


def _chains() -> Examined:
    """Six dependent stages: accuracy by stage, and whole chains."""
    by = [{"when": {"stage": stage}, "accuracy": accuracy} for stage, accuracy in STAGES.items()]
    candidates = _candidate("falling", by=by) + _candidate("perfect", accuracy=1.0)
    named = ", ".join(f'"{stage}"' for stage in STAGES)
    study = f"questions = [{named}]\n{SAMPLING}{candidates}"
    plants = [
        *(Plant("swa", "falling", accuracy, f'{{"stage":"{stage}"}}') for stage, accuracy in STAGES.items()),
        Plant("swa", "falling", sum(STAGES.values()) / len(STAGES), '{"stage":"mean"}'),
        Plant("ccr", "falling", math.prod(STAGES.values())),
        Plant("ccr", "perfect", 1.0, counter=True),
    ]
    return Examined("chains", study, plants)


def _open() -> Examined:
    """Ranked lists, judged by name."""
    candidates = _candidate("knowing", hit1=0.4, hit3=0.7) + _candidate("ignorant", hit1=0.0, hit3=0.0)
    study = f'questions = ["open"]\n{SAMPLING}{candidates}[judge]\nprovider = "lexical"\n'
    plants = [
        Plant("hit@1", "knowing", 0.4),
        Plant("hit@3", "knowing", 0.7),
        Plant("hit@1", "ignorant", 0.0, counter=True),
        Plant("unscored", "knowing", 0.0, counter=True),
    ]
    return Examined("open", study, plants)


def vote_vectors(shares: list[float], trials: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every way in which so many votes can fall, with its probability."""
    for counts in product(range(trials + 1), repeat=len(shares)):
        if sum(counts) == trials:
            ways = math.factorial(trials) / math.prod(map(math.factorial, counts))
            yield counts, ways * math.prod(p**n for p, n in zip(shares, counts, strict=True))


def expected_c(shares: list[float], trials: int) -> float:
    """The mean of C = 1 - H/log K over all ways in which the votes can fall."""

    def c(counts: tuple[int, ...]) -> float:
        return 1 + sum(n / trials * math.log(n / trials) for n in counts if n) / math.log(len(counts))

    return sum(chance * c(counts) for counts, chance in vote_vectors(shares, trials))


def majority_right(shares: list[float], trials: int) -> float:
    """How often the first option has the most votes; a tie of t counts 1/t."""

    def right(counts: tuple[int, ...]) -> float:
        return (counts[0] == max(counts)) / counts.count(max(counts))

    return sum(chance * right(counts) for counts, chance in vote_vectors(shares, trials))
