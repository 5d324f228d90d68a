"""Items: what each question adds to the sums of measures.

An item is one question under one condition, answered by one candidate in all its trials. `build_items` gives it a
column for each sum, and for each group of items that a measure is about. All are multiples of 2**-30
(surprises of texts: of 2**-20), so that adding them up is exact.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.measuring.chains.complete import chain_sums
from wardround.measuring.comparing.originals import original_sums
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import ItemMarks, group_by_item
from wardround.measuring.engine.known_sums import require_known
from wardround.measuring.measures.confidence import Claims, claim_sums, mean_importance, uas_sums, uas_weights
from wardround.measuring.measures.expected_votes import (
    Expected,
    expected_certainty,
    expected_votes,
    limiting_votes,
    top_right,
)
from wardround.measuring.measures.mark_totals import (
    agreement_sums,
    evidence_sums,
    hit_sums,
    leakage_sums,
    mark_value_sums,
    outcome_sums,
    reading_sums,
    retrieval_sums,
)
from wardround.measuring.measures.rubric_sums import rubric_sums
from wardround.measuring.measures.votes import WORST, count_votes, gold_votes, option_sums, vote_sums, worst_sums

OF_CHOICES = ("answers", "scored", "right", "parsed", "parsed_answers")
Sums = dict[str, Floats]


class Items(NamedTuple):
    """One row per item: ITEM, strata and `whole` (all trials are there); its sums by name; the claims made."""

    rows: pl.DataFrame
    sums: Sums
    claims: dict[str, Claims]

    def frame(self, names: list[str]) -> pl.DataFrame:
        """The items as a table with some of the sums; a sum that the marks do not have is zero."""
        return self.rows.with_columns(pl.Series(name, self.column(name)) for name in names)

    def column(self, name: str) -> Floats:
        """One sum of every item, zero if the marks do not have it; a name that no sum has is an error."""
        if name not in self.sums:
            require_known(name)
            return np.zeros(len(self.rows))
        return self.sums[name]


def build_items(marks: pl.DataFrame, trials: int, encoded: EncodedMarks) -> Items:
    """Every item of these marks: first those with drawn answers, then those with known probabilities."""
    all_marks, marks = marks, marks.filter(~encoded.is_probe) if encoded.has_probes else marks
    by_shares = pl.col("shares").is_not_null() if "shares" in marks.columns else pl.lit(False)
    drawn = _drawn_items(group_by_item(marks.filter(~by_shares), encoded), trials)
    known = None
    if "shares" in marks.columns:
        known = _expected_items(group_by_item(marks.filter(by_shares), encoded).first_only(), trials)
    index, sums, claims = drawn if known is None else _concatenate(drawn, known)
    for name in OF_CHOICES:
        sums[f"{name}_choice"] = sums[name] * sums["choice"]
    sums["possibly_right_choice"] = sums["right_choice"] + sums["scored_choice"] - sums["parsed_choice"]
    for source, claimed in claims.items():
        sums |= claim_sums(claimed, len(index), source)
    sums |= _uas(index, sums, claims, encoded) | _harm(index, sums, encoded)
    sums |= chain_sums(marks, encoded, index, trials)
    sums |= original_sums(index, sums, encoded)
    if len(all_marks) > len(marks):
        index, sums, claims = _concatenate(
            Items(index, sums, claims), _probe_items(all_marks.filter(encoded.is_probe), encoded)
        )
    return Items(index, {name: values for name, values in sums.items() if values.any()}, claims)


def _probe_items(marks: pl.DataFrame, encoded: EncodedMarks) -> Items:
    """Items of leakage probes: they answer no question and enter only the measures of leakage."""
    item_marks = group_by_item(marks, encoded)
    whole = pl.Series("whole", np.ones(item_marks.size, bool))
    return Items(item_marks.index().with_columns(whole), leakage_sums(item_marks), {})


def _concatenate(first: Items, second: Items) -> Items:
    size, second_size = len(first.rows), len(second.rows)
    sums = {
        name: np.concatenate([first.sums.get(name, np.zeros(size)), second.sums.get(name, np.zeros(second_size))])
        for name in dict.fromkeys([*first.sums, *second.sums])
    }
    moved = {
        source: Claims(claims.item + size, claims.confidence, claims.right) for source, claims in second.claims.items()
    }
    return Items(pl.concat([first.rows, second.rows]), sums, first.claims | moved)


def _drawn_items(marks: ItemMarks, trials: int) -> Items:
    """Items whose answers were drawn: T marks each."""
    sums = outcome_sums(marks) | reading_sums(marks)
    is_open, is_rubric = (marks.total(marks.flags(kind)) > 0 for kind in ("open", "rubric"))
    is_choice = ~is_open & ~is_rubric
    is_verbal = marks.total(marks.flags("verbal")) > 0
    sums |= {"asked": np.ones(marks.size), "choice": is_choice.astype(float), "open": is_open.astype(float)}
    sums |= {"verbal": (is_verbal & is_choice).astype(float), "verbal_open": (is_verbal & is_open).astype(float)}
    sums["judged"] = (is_open | is_rubric | (sums["unscored"] > 0)).astype(float)
    claims: dict[str, Claims] = {}
    for group, name, of_kind in (("verbal", "stated", is_choice), ("verbal_open", "stated_open", is_open)):
        if sums[group].any():
            stated, claims[group] = _stated(marks, sums, group, name, of_kind)
            sums |= stated
    sums |= hit_sums(marks) | evidence_sums(marks) | retrieval_sums(marks)
    sums |= rubric_sums(marks, is_rubric) | leakage_sums(marks) | agreement_sums(marks) | mark_value_sums(marks)
    votes = count_votes(marks)
    sums |= vote_sums(marks, votes, sums, trials) | worst_sums(sums, trials)
    choice = sums["choice"]
    gold, right = np.where(choice > 0, marks.per_item("gold"), np.nan), sums["right"] * choice
    sums |= option_sums(votes, gold, marks.per_item("k"), right, sums["answers"] * choice)
    if trials > 1:
        item = np.flatnonzero((sums["agreement_of"] > 0) & ~is_verbal)
        claims["votes"] = Claims(item, sums["agreement"][item], sums["majority"][item])
    whole = pl.Series("whole", sums["marks"] == trials)
    return Items(marks.index().with_columns(whole), sums, claims)


def _stated(marks: ItemMarks, outcomes: Sums, group: str, name: str, of_kind: NDArray[np.bool_]) -> tuple[Sums, Claims]:
    """Sums of the confidences stated with one kind of answer, and the claims that they are."""
    number, is_verbal = marks.floats("confidence"), marks.flags("verbal") & of_kind[marks.item]
    at = ~np.isnan(number) & ~marks.outcome("unscored") & is_verbal
    number = np.where(at, number, 0.0)
    stated, right = marks.total(exact(number)), marks.total(at & marks.outcome("right"))
    statable = outcomes[group] * outcomes["answers"]
    unstated = name.replace("stated", "unstated")
    sums = {
        name: stated,
        f"{name}_of": marks.total(at),
        f"{name}_shift": stated - right,
        name.replace("stated", "statable"): statable,
        unstated: statable - marks.total(at),
        f"{unstated}_right": marks.total(marks.outcome("right") & is_verbal & ~at),
    }
    return sums, Claims(marks.item[at], number[at], marks.outcome("right")[at].astype(float))


def _uas(index: pl.DataFrame, sums: Sums, claims: dict[str, Claims], encoded: EncodedMarks) -> Sums:
    """Weights: grade times importance, which is scaled to mean 1 over all questions that have one.

    A question with neither has no clinical weight and is left out. A missing confidence counts as 1: no
    doubt was declared.
    """
    weights, importance = uas_weights(encoded.subjects)
    if not weights.any():
        return {}
    subject = index["subject"].to_numpy()
    weight = weights[subject] * sums["choice"]
    uas: Sums = {}
    for source, claimed in claims.items():
        uas |= uas_sums(_with_unstated(source, claimed, sums), weight, importance[subject], source)
    return uas


def _harm(index: pl.DataFrame, sums: Sums, encoded: EncodedMarks) -> Sums:
    """Answers to choice questions that are not right, weighted by importance; without importance there is no weight."""
    if (scale := mean_importance(encoded.subjects)) is None:
        return {}
    importance = (encoded.subjects["importance"] / scale).fill_null(0.0).to_numpy()
    weight = exact(importance[index["subject"].to_numpy()])
    scored, wrong = sums["scored_choice"], sums["scored_choice"] - sums["right_choice"]
    return {
        "harm": exact(weight * wrong),
        "harm_of": exact(weight * scored),
        "harm_answers": sums["answers_choice"] * (weight > 0),
    }


def _with_unstated(source: str, claimed: Claims, sums: Sums) -> Claims:
    """The claims, with each answer without a confidence as a claim of certainty."""
    nothing = np.zeros(len(sums["asked"]))
    missing = {
        "verbal": sums.get("unstated", nothing),
        "verbal_open": sums.get("unstated_open", nothing),
        "votes": sums.get("missing", nothing) * (1 - sums.get("shared", nothing)),
        "inf": sums.get("missing_inf", nothing),
    }
    count = missing[source].astype(np.int64)
    answers_right = {"verbal": "unstated_right", "verbal_open": "unstated_open_right"}
    right = sums[answers_right[source]].astype(np.int64) if source in answers_right else np.zeros_like(count)
    item = np.concatenate([claimed.item, np.repeat(np.arange(len(count)), count)])
    is_right = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) < np.repeat(right, count)
    certain = np.ones(int(count.sum()))
    return Claims(item, np.concatenate([claimed.confidence, certain]), np.concatenate([claimed.right, is_right]))


def _expected_items(marks: ItemMarks, trials: int) -> Items:
    """Items with known option probabilities: one mark each, which represents T expected votes."""
    shares = _matrix(marks.frame["shares"])
    gold_option, options = marks.per_item("gold"), marks.per_item("k")
    gold = np.maximum(gold_votes(shares, gold_option), 0.0) if len(shares) else np.zeros(0)
    valid = np.minimum(shares.sum(axis=1), 1.0)
    top = shares.max(axis=1, initial=0.0)
    limit = limiting_votes(shares, gold, options)
    majority = top_right(shares, gold)
    ones = np.ones(len(shares))
    counts, refused = (~marks.outcome("unscored")).astype(float), marks.flags("refused").astype(float)
    sums = {
        "scored": trials * counts,
        "scorable": trials * ones,
        "scorable_answers": ones,
        "refused": trials * refused,
        "right": trials * gold,
        "wrong": trials * (valid - gold),
        "unparsed": trials * (1.0 - valid) * (1.0 - refused),
        "parsed": trials * valid,
        "parsed_answers": (valid > 0).astype(float),
        "majority_inf": majority,
        "agreement_inf": limit.certain * top,
        "claims_certain_inf": limit.certain,
        "share_shift_inf": limit.certain * (exact(top) - exact(majority)),
        "calibrated_shift_inf": limit.certain * (exact(limit.certainty) - exact(top)),
        **_confidence(limit, "_inf", counts),
        **{f"worst@{k}{version}": gold**k for k in WORST for version in ("_inf", *([""] if k <= trials else []))},
        **{f"worst@{k}_of": counts for k in WORST if k <= trials},
        **mark_value_sums(marks, trials),
        **option_sums(trials * shares, gold_option, options, trials * gold, trials * counts),
    }
    if trials > 1:
        votes = expected_votes(shares, gold, options, trials)
        sums |= _confidence(votes, "", counts) | {"counted": (votes.certain > 0).astype(float), "voted": ones}
        sums["voted_of"] = counts
        over_all = exact(np.clip(expected_certainty(shares, options, trials), 0.0, 1.0))
        sums |= {
            "certainty_printed": counts * over_all,
            "shift_printed": counts * (over_all - exact(gold)),
            "items_printed": counts,
        }
    sums |= {"answers": counts, "shared_of": counts}
    sums |= dict.fromkeys(("marks", "asked", "choice", "shared"), ones)
    item = np.flatnonzero(limit.certain > 0)
    claims = Claims(item, top[item], majority[item])
    whole = pl.Series("whole", np.ones(len(shares), bool))
    return Items(marks.index().with_columns(whole), {n: exact(v) for n, v in sums.items()}, {"inf": claims})


def _confidence(expected: Expected, version: str, counts: Floats) -> Sums:
    certain = exact(expected.certain)
    certainty = np.clip(exact(expected.certainty), 0.0, certain)
    return {
        f"certain{version}": certain,
        f"certainty{version}": certainty,
        f"shift{version}": certainty - exact(expected.right),
        f"missing{version}": counts * (1.0 - certain),
    }


def _matrix(shares: pl.Series) -> Floats:
    """The lists as rows, padded with zeros, in multiples of 2**-30."""
    lengths = shares.list.len().to_numpy()
    matrix = np.zeros((len(shares), int(lengths.max()) if len(shares) else 1))
    inside = np.arange(matrix.shape[1]) < lengths[:, None]
    matrix[inside] = shares.explode().drop_nulls().to_numpy() if len(shares) else 0.0
    return exact(matrix)
