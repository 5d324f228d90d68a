"""Selfcheck: simulated respondents with known parameters, whose true figures every measure must find.

Each planted figure has a counterpart for which the measure must not fire. All truths are in closed form.
"""

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w
from scipy.stats import binom

from wardround.cases.set import write_case_set
from wardround.core.case import Case
from wardround.pipeline import run_study

CASES, OPTIONS, TRIALS = 240, 4, 10
STAGES = {"IQA": 0.95, "AL": 0.9, "LC": 0.85, "DD": 0.8, "SG": 0.7, "CD": 0.6}
GRADES = {"R": 0.8, "A": 0.6, "S": 0.4}
MISSED, CHANCE = 0.05, 0.001  # 95% intervals miss one truth in twenty; more misses than this chance explains are wrong
ROUNDING = 1e-6


@dataclass(frozen=True)
class PlantedFigure:
    """A figure whose true value is known."""

    measure: str
    candidate: str
    truth: float
    slice: str = "{}"
    counter: bool = False  # whether the measure must not fire


@dataclass(frozen=True)
class PlantedResult:
    """A planted figure and its measured value."""

    plant: PlantedFigure
    value: float | None
    low: float | None
    high: float | None

    @property
    def is_as_planted(self) -> bool:
        """Whether the interval contains the truth; a figure without an interval has to be the truth."""
        if self.value is None:
            return False
        low, high = (self.value if end is None else end for end in (self.low, self.high))
        return low - ROUNDING <= self.plant.truth <= high + ROUNDING

    def to_dict(self) -> dict[str, Any]:
        interval = {"value": self.value, "low": self.low, "high": self.high}
        return self.plant.__dict__ | interval | {"as_planted": self.is_as_planted}


def max_misses(figures: int) -> int:
    """The number of truths outside their 95% intervals that chance explains among so many figures."""
    return int(binom.ppf(1 - CHANCE, figures, MISSED))


@dataclass(frozen=True)
class PlantedStudy:
    """One study of simulated respondents, and its planted figures."""

    name: str
    study: dict[str, Any]
    plants: list[PlantedFigure]


def run_selfcheck(note: Callable[[str], None] = print) -> list[PlantedResult]:
    """Runs all planted studies, from asking to measuring."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_case_set(_cases(), folder / "cases")
        results: list[PlantedResult] = []
        for planted in _planted_studies():
            note(f"{planted.name}: {len(planted.plants)} plants")
            file = folder / f"{planted.name}.toml"
            study = {"name": planted.name, "cases": "cases", "offline": True, **planted.study}
            file.write_text(tomli_w.dumps(study), encoding="utf-8")
            outcome = run_study(file, runs=folder / "runs", quiet=True, note=lambda line: None)
            measures = pl.read_csv(outcome.folder / "measures.csv")
            differences = pl.read_csv(outcome.folder / "comparisons.csv")
            results += [_result(plant, measures, differences) for plant in planted.plants]
    return results


def _result(plant: PlantedFigure, measures: pl.DataFrame, differences: pl.DataFrame) -> PlantedResult:
    if plant.measure.startswith("difference of "):
        a, b = plant.candidate.split(" - ")
        lines = differences.filter(measure=plant.measure.removeprefix("difference of "), a=a, b=b)
    else:
        lines = measures.filter(measure=plant.measure, candidate=plant.candidate, slice=plant.slice)
    line: dict[str, Any] = lines.row(0, named=True) if len(lines) else {}
    return PlantedResult(plant, line.get("value"), line.get("low"), line.get("high"))


def _cases() -> Iterator[Case]:
    """Cases with a choice question of one grade, a chain, an open and a rubric question, each with its own text."""
    for number in range(CASES):
        grade = list(GRADES)[number % 3]
        questions = [_choice(number, f"choice-{grade}", grade=grade)]
        earlier: list[str] = []
        for stage in STAGES:
            questions.append(_choice(number, stage, stage=stage, chain=f"chain-{number}", given=earlier))
            earlier = [stage]
        prompt, gold = f"What has patient {number}?", f"disease {number}"
        questions.append({"id": "open", "kind": "open", "prompt": prompt, "gold": gold})
        questions.append(
            {
                "id": "rubric",
                "kind": "rubric",
                "prompt": f"Advise patient {number}.",
                "criteria": [
                    {
                        "id": name,
                        "text": f"States {name} of patient {number}",
                        "points": points,
                        "axis": name.rstrip("12"),
                    }
                    for name, points in CRITERIA.items()
                ],
            }
        )
        fields = {"id": f"patient-{number}", "history": f"Patient {number}.", "questions": questions}
        yield Case.model_validate(fields)


def _choice(number: int, name: str, **fields: Any) -> dict[str, Any]:
    options = [f"{name} {number} {letter}" for letter in "klmn"]
    question = {"id": name, "kind": "choice", "prompt": f"{name} of patient {number}?", "options": options}
    return {**question, "gold": (number * 7 + len(name)) % OPTIONS, **fields}


def _candidate(name: str, **parameters: Any) -> dict[str, Any]:
    return {"name": name, "provider": "simulated", "extra_body": parameters}


def _planted_studies() -> list[PlantedStudy]:
    return [_votes(), _logprobs(), _verbal(), _graded(), _chains(), _open(), _rubric()]


CRITERIA = {"finding1": 6.0, "finding2": 4.0, "harm": -5.0}  # points by name
CHOICES = {"questions": ["choice-R", "choice-A", "choice-S"]}
SAMPLING = {"sampling": {"temperature": 1.0}}


def _votes() -> PlantedStudy:
    """Ten votes an item: agreement, accuracy, unparsed replies and differences."""
    wavering = [0.7, 0.1, 0.1, 0.1]
    guessing = [0.25] * 4
    options_only = {"when": {"stem": "options-only"}, "accuracy": 0.25}
    study = {
        "trials": TRIALS,
        **CHOICES,
        **SAMPLING,
        "candidates": [
            _candidate("steady", accuracy=0.6),
            _candidate("steady too", accuracy=0.6, seed=2),
            _candidate("wavering", accuracy=0.7, mode="independent"),
            _candidate("guessing", accuracy=0.25, mode="independent"),
            _candidate("mumbling", accuracy=0.6, unparsed=0.2),
            _candidate("reading", accuracy=0.8, mode="independent", by=[options_only]),
        ],
        "conditions": {"confidence": "votes", "stem": ["full", "options-only"]},
        "comparisons": {"all": {"measure": "accuracy", "between": "candidate", "reference": "steady"}},
    }
    shown = '{"stem":"full"}'
    plants = [
        PlantedFigure("accuracy", "steady", 0.6, shown),
        PlantedFigure("unparsed", "steady", 0.0, shown, counter=True),
        PlantedFigure("confidence", "steady", 1.0, shown),
        PlantedFigure("vote_share", "steady", 1.0, shown),
        PlantedFigure("calibration_shift", "steady", 0.4, shown),
        PlantedFigure("accuracy", "wavering", 0.7, shown),
        PlantedFigure("worst@1", "wavering", 0.7, shown),
        PlantedFigure("worst@4", "wavering", 0.7**4, shown),
        PlantedFigure("worst@4", "steady", 0.6, shown, counter=True),
        PlantedFigure("confidence", "wavering", expected_c(wavering, TRIALS), shown),
        PlantedFigure("calibration_shift", "wavering", expected_c(wavering, TRIALS) - 0.7, shown),
        PlantedFigure("majority_accuracy", "wavering", majority_right(wavering, TRIALS), shown),
        PlantedFigure("accuracy", "guessing", 0.25, shown),
        PlantedFigure("confidence", "guessing", expected_c(guessing, TRIALS), shown),
        PlantedFigure("unparsed", "mumbling", 0.2, shown),
        PlantedFigure("accuracy", "mumbling", 0.48, shown),
        PlantedFigure("accuracy_parsed", "mumbling", 0.6, shown),
        PlantedFigure("sensitivity", "wavering", 0.7, shown),
        PlantedFigure("specificity", "wavering", 0.9, shown),
        PlantedFigure("accuracy", "reading", 0.8, shown),
        PlantedFigure("accuracy", "reading", 0.25, '{"stem":"options-only"}'),
        PlantedFigure("accuracy", "wavering", 0.7, '{"stem":"options-only"}', counter=True),
        PlantedFigure("difference of accuracy", "guessing - steady", -0.35),
        PlantedFigure("difference of accuracy", "steady too - steady", 0.0, counter=True),
    ]
    return PlantedStudy("votes", study, plants)


def _logprobs() -> PlantedStudy:
    """The same truths from log-probabilities."""
    wavering = [0.7, 0.1, 0.1, 0.1]
    candidates = [_candidate("wavering", accuracy=0.7, mode="independent"), _candidate("steady", accuracy=0.6)]
    conditions = {"confidence": "logprobs"}
    study = {"trials": TRIALS, **CHOICES, **SAMPLING, "candidates": candidates, "conditions": conditions}
    limit = 1 + sum(p * math.log(p) for p in wavering) / math.log(OPTIONS)
    plants = [
        PlantedFigure("accuracy", "wavering", 0.7),
        PlantedFigure("worst@4", "wavering", 0.7**4),
        PlantedFigure("confidence", "wavering", expected_c(wavering, TRIALS)),
        PlantedFigure("confidence_in_the_limit", "wavering", limit),
        PlantedFigure("confidence_in_the_limit", "steady", 1.0),
        PlantedFigure("accuracy", "steady", 0.6),
    ]
    return PlantedStudy("logprobs", study, plants)


def _verbal() -> PlantedStudy:
    """Stated confidence: calibrated, overconfident, and different for right and wrong answers."""
    candidates = [
        _candidate("honest", accuracy=0.7, confidence=0.7, mode="independent"),
        _candidate("boastful", accuracy=0.6, confidence=0.95, mode="independent"),
        _candidate("discerning", accuracy=0.6, confidence={"right": 0.9, "wrong": 0.3}, mode="independent"),
    ]
    study = {**CHOICES, **SAMPLING, "candidates": candidates, "conditions": {"confidence": "verbal"}}
    plants = [
        PlantedFigure("confidence_stated", "boastful", 0.95),
        PlantedFigure("calibration_shift_stated", "boastful", 0.35),
        PlantedFigure("calibration_shift_stated", "honest", 0.0, counter=True),
        PlantedFigure("ece_stated", "boastful", 0.35),
        PlantedFigure("brier_stated", "boastful", 0.6 * 0.05**2 + 0.4 * 0.95**2),
        PlantedFigure("brier_stated", "honest", 0.21),
        PlantedFigure("auroc_stated", "discerning", 1.0),
        PlantedFigure("auroc_stated", "honest", 0.5, counter=True),
        PlantedFigure("confidence_missing_stated", "honest", 0.0, counter=True),
    ]
    return PlantedStudy("verbal", study, plants)


def _graded() -> PlantedStudy:
    """Accuracy that falls with the grade of the question, and accuracy that does not."""
    by = [{"when": {"grade": grade}, "accuracy": accuracy} for grade, accuracy in GRADES.items()]
    candidates = [_candidate("falling", by=by), _candidate("level", accuracy=0.6)]
    study = {**CHOICES, **SAMPLING, "candidates": candidates}
    mean = sum(GRADES.values()) / len(GRADES)
    plants = [
        *(PlantedFigure("esa", "falling", accuracy, f'{{"grade":"{grade}"}}') for grade, accuracy in GRADES.items()),
        PlantedFigure("esa", "falling", mean, '{"grade":"mean"}'),
        *(PlantedFigure("esa", "level", 0.6, f'{{"grade":"{grade}"}}', counter=True) for grade in GRADES),
    ]
    return PlantedStudy("graded", study, plants)


def _chains() -> PlantedStudy:
    """Chains of six stages: accuracy by stage, and of whole chains."""
    by = [{"when": {"stage": stage}, "accuracy": accuracy} for stage, accuracy in STAGES.items()]
    candidates = [_candidate("falling", by=by), _candidate("perfect", accuracy=1.0)]
    study = {"questions": list(STAGES), **SAMPLING, "candidates": candidates}
    plants = [
        *(PlantedFigure("swa", "falling", accuracy, f'{{"stage":"{stage}"}}') for stage, accuracy in STAGES.items()),
        PlantedFigure("swa", "falling", sum(STAGES.values()) / len(STAGES), '{"stage":"mean"}'),
        PlantedFigure("ccr", "falling", math.prod(STAGES.values())),
        PlantedFigure("ccr", "perfect", 1.0, counter=True),
    ]
    return PlantedStudy("chains", study, plants)


def _open() -> PlantedStudy:
    """Ranked lists, marked by the lexical judge."""
    candidates = [_candidate("knowing", hit1=0.4, hit3=0.7), _candidate("ignorant", hit1=0.0, hit3=0.0)]
    study = {"questions": ["open"], **SAMPLING, "candidates": candidates, "judge": {"provider": "lexical"}}
    plants = [
        PlantedFigure("hit@1", "knowing", 0.4),
        PlantedFigure("hit@3", "knowing", 0.7),
        PlantedFigure("hit@1", "ignorant", 0.0, counter=True),
        PlantedFigure("unscored", "knowing", 0.0, counter=True),
    ]
    return PlantedStudy("open", study, plants)


def _rubric() -> PlantedStudy:
    """Rubric answers, judged by a simulated judge that never errs."""
    advising, harming = {"criteria": 0.7, "penalties": 0.2}, {"criteria": 0.0, "penalties": 1.0}
    candidates = [_candidate("advising", **advising), _candidate("harming", **harming)]
    judge = {"provider": "simulated", "extra_body": {"accuracy": 1.0}}
    study = {"questions": ["rubric"], **SAMPLING, "candidates": candidates, "judge": judge}
    penalty = CRITERIA["harm"] / sum(points for points in CRITERIA.values() if points > 0)
    plants = [
        PlantedFigure("rubric_score", "advising", 0.7 + 0.2 * penalty),
        PlantedFigure("rubric_score_unclipped", "advising", 0.7 + 0.2 * penalty),
        PlantedFigure("rubric_axis_finding", "advising", 0.7),
        PlantedFigure("rubric_score", "harming", 0.0, counter=True),
        PlantedFigure("rubric_score_unclipped", "harming", penalty),
        PlantedFigure("unscored", "advising", 0.0, counter=True),
    ]
    return PlantedStudy("rubric", study, plants)


def vote_vectors(shares: list[float], trials: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every possible count of votes for each option, with its probability."""
    for counts in product(range(trials + 1), repeat=len(shares)):
        if sum(counts) == trials:
            ways = math.factorial(trials) / math.prod(map(math.factorial, counts))
            yield counts, ways * math.prod(p**n for p, n in zip(shares, counts, strict=True))


def expected_c(shares: list[float], trials: int) -> float:
    """The mean of C = 1 - H/log K over all possible votes."""

    def c(counts: tuple[int, ...]) -> float:
        return 1 + sum(n / trials * math.log(n / trials) for n in counts if n) / math.log(len(counts))

    return sum(probability * c(counts) for counts, probability in vote_vectors(shares, trials))


def majority_right(shares: list[float], trials: int) -> float:
    """The probability that the first option has the most votes; a tie of t counts 1/t."""

    def right(counts: tuple[int, ...]) -> float:
        return (counts[0] == max(counts)) / counts.count(max(counts))

    return sum(probability * right(counts) for counts, probability in vote_vectors(shares, trials))
