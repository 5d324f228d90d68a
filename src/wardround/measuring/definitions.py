"""Every measure: a small pure function of sums over items, and the table that says which sums.

The functions take totals (numbers or arrays of any shape) and give nan where there is nothing to divide by.
Formulas are those of specs/statistics.md unless a paper is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from wardround.measuring.exact import Floats
from wardround.measuring.items import HITS


class Kind(Enum):
    """What a measure is decides which interval it gets."""

    RATE = "a count out of a count"
    MEAN = "a mean of values between 0 and 1"
    SIGNED = "a mean of values between -1 and 1"


@dataclass(frozen=True)
class Measure:
    """A figure over marks: the sums that its function takes, and what its n counts.

    The first two sums of a rate or mean are its numerator and its denominator.
    """

    name: str
    value: Callable[..., Floats]
    sums: tuple[str, ...]
    kind: Kind
    n: str
    about: str = "asked"  # the group of items that it is about
    version: str = ""
    applies_to: str = ""  # the group without which it is left out; by default the one that it is about

    @property
    def needed(self) -> str:
        return self.applies_to or self.about


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, nan where the whole is nothing."""
    found: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)
    return found


def accuracy(right: Floats, scored: Floats) -> Floats:
    """right / (right + wrong + unparsed), the mean over trials (MedQ-Deg, eq. 2); from shares, p(gold).

    Over choice questions: an open answer has hit@k.
    """
    return ratio(right, scored)


def accuracy_parsed(right: Floats, parsed: Floats) -> Floats:
    """right / (right + wrong): printed beside accuracy, never instead."""
    return ratio(right, parsed)


def majority_accuracy(majority: Floats, elected: Floats) -> Floats:
    """Share of questions whose most frequent option is right; a tie of t options that holds it counts 1/t.

    A question without any valid vote counts 0. From shares: the most probable option (version `inf`).
    """
    return ratio(majority, elected)


def unparsed(unparsed: Floats, scored: Floats) -> Floats:
    """unparsed / (right + wrong + unparsed); from shares, the probability on no option."""
    return ratio(unparsed, scored)


def unscored(unscored: Floats, marks: Floats) -> Floats:
    """Marks that no judge could give / all marks."""
    return ratio(unscored, marks)


def hit(hits: Floats, scored: Floats) -> Floats:
    """hit@k (CURE): lists with the diagnosis among their first k / lists that could be scored."""
    return ratio(hits, scored)


def confidence(certainty: Floats, certain: Floats) -> Floats:
    """Mean C = 1 - H/log K over valid votes (MedQ-Deg, eqs 3-5); from shares E[C_T], and C itself under `inf`."""
    return ratio(certainty, certain)


def stated_confidence(stated: Floats, stated_of: Floats) -> Floats:
    """Mean of the stated numbers (X-PCR)."""
    return ratio(stated, stated_of)


def confidence_missing(missing: Floats, voted: Floats) -> Floats:
    """Share of questions with fewer than max(2, T/2) valid votes; for verbal, of answers that state no number."""
    return ratio(missing, voted)


def vote_share(agreement: Floats, certain: Floats) -> Floats:
    """Mean share of the trials that chose the majority option; from shares, p of the top option (version `inf`).

    Over the questions with enough valid votes for a C. An unparsed trial agrees with nobody.
    """
    return ratio(agreement, certain)


def calibration_shift(shift: Floats, certain: Floats) -> Floats:
    """Mean C - accuracy on the same questions (MedQ-Deg, eq. 6); for verbal, mean stated number - accuracy."""
    return ratio(shift, certain)


def definitions(trials: int, parsers: str, judges: str) -> list[Measure]:
    """All measures of a study with this number of trials, in the order in which they are written."""
    rate, of_parsed = Kind.RATE, ("right_choice", "parsed_choice")
    found = [
        Measure("accuracy", accuracy, ("right_choice", "scored_choice"), rate, "answers_choice", "choice", parsers),
        Measure("accuracy_parsed", accuracy_parsed, of_parsed, rate, "parsed_answers_choice", "choice", parsers),
        Measure("unparsed", unparsed, ("unparsed", "scored"), rate, "answers", version=parsers),
        Measure("unscored", unscored, ("unscored", "marks"), rate, "marks", version=judges, applies_to="judged"),
        *(Measure(f"hit@{k}", hit, (f"hit@{k}", f"hit@{k}_of"), rate, f"hit@{k}_of", "open", judges) for k in HITS),
        *(_of_votes(f"T={trials}") if trials > 1 else ()),
        *_of_shares(),
        *_of_words(),
    ]
    order = list(dict.fromkeys(measure.name for measure in found))
    return sorted(found, key=lambda measure: order.index(measure.name))


def _of_votes(version: str) -> list[Measure]:
    """Figures of T votes, counted or expected."""
    rate, mean, signed = Kind.RATE, Kind.MEAN, Kind.SIGNED
    return [
        Measure("majority_accuracy", majority_accuracy, ("majority", "elected"), rate, "elected", "elected", version),
        Measure("confidence", confidence, ("certainty", "certain"), mean, "counted", "voted", version),
        Measure("confidence_missing", confidence_missing, ("missing", "voted"), rate, "voted", "voted", version),
        Measure("vote_share", vote_share, ("agreement", "agreement_of"), mean, "agreement_of", "elected", version),
        Measure("calibration_shift", calibration_shift, ("shift", "certain"), signed, "counted", "voted", version),
    ]


def _of_shares() -> list[Measure]:
    """Figures of the probabilities themselves: those of ever more votes."""
    rate, mean, signed, n, about = Kind.RATE, Kind.MEAN, Kind.SIGNED, "certain_inf", "shared"
    return [
        Measure("majority_accuracy", majority_accuracy, ("majority_inf", "shared"), rate, "shared", about, "inf"),
        Measure("confidence", confidence, ("certainty_inf", "certain_inf"), mean, n, about, "inf"),
        Measure("confidence_missing", confidence_missing, ("missing_inf", "shared"), rate, "shared", about, "inf"),
        Measure("vote_share", vote_share, ("agreement_inf", "certain_inf"), mean, n, about, "inf"),
        Measure("calibration_shift", calibration_shift, ("shift_inf", "certain_inf"), signed, n, about, "inf"),
    ]


def _of_words() -> list[Measure]:
    """Figures of the numbers that candidates state."""
    rate, mean, signed, n, about = Kind.RATE, Kind.MEAN, Kind.SIGNED, "stated_of", "verbal"
    return [
        Measure("confidence", stated_confidence, ("stated", "stated_of"), mean, n, about, "verbal"),
        Measure("confidence_missing", confidence_missing, ("unstated", "statable"), rate, "statable", about, "verbal"),
        Measure("calibration_shift", calibration_shift, ("stated_shift", "stated_of"), signed, n, about, "verbal"),
    ]
