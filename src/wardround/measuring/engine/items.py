"""Items: what each question adds to the sums of which measures are made.

An item is one question under one condition, answered by one candidate in all its trials. `items` gives it a
column for each thing that a measure adds up and for each group of items that a measure is about. All are
multiples of 2**-30 (surprises of texts: of 2**-20), so that adding them up is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.chains.complete import chain_sums
from wardround.measuring.comparing.pairs import twin_sums
from wardround.measuring.engine.encode import Coded
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import Marked, marked
from wardround.measuring.engine.outcomes import hit_sums, outcome_sums
from wardround.measuring.measures.confidence import GRADES, Claims, claim_sums, uas_sums
from wardround.measuring.measures.evidence import evidence_sums
from wardround.measuring.measures.expected_votes import Expected, expected_votes, limiting_votes, top_right
from wardround.measuring.measures.leakage import leakage_sums
from wardround.measuring.measures.retrieval import retrieval_sums
from wardround.measuring.measures.votes import WORST, ballots, of_gold, option_sums, vote_sums, worst_sums
from wardround.measuring.validation.kappa import agreement_sums

OF_CHOICES = ("answers", "scored", "right", "parsed", "parsed_answers")
SOURCES = ("verbal", "votes", "inf")  # of confidence
Sums = dict[str, Floats]


class Items(NamedTuple):
    """One row per item: ITEM, strata and `whole` (all trials are there); its sums by name; the claims made."""

    rows: pl.DataFrame
    sums: Sums
    claims: dict[str, Claims]

    def frame(self, names: list[str]) -> pl.DataFrame:
        """The items as a table, with some of the sums; what the marks do not tell is zero."""
        nothing = np.zeros(len(self.rows))
        return self.rows.with_columns(pl.Series(name, self.sums.get(name, nothing)) for name in names)


def items(marks: pl.DataFrame, trials: int, numbers: Coded) -> Items:
    """Every item of these marks. Those with known probabilities stand after those whose answers were drawn."""
    every, marks = marks, marks.filter(~numbers.is_probe) if numbers.has_probes else marks
    by_shares = pl.col("shares").is_not_null() if "shares" in marks.columns else pl.lit(False)
    drawn = _counted(marked(marks.filter(~by_shares), numbers), trials)
    spread = _expected(marked(marks.filter(by_shares), numbers), trials) if "shares" in marks.columns else None
    index, sums, claims = drawn if spread is None else _joined(drawn, spread)
    for name in OF_CHOICES:
        sums[f"{name}_choice"] = sums[name] * sums["choice"]
    for source, claimed in claims.items():
        sums |= claim_sums(claimed, len(index), source)
    sums |= _uas(index, sums, claims, numbers)
    sums |= chain_sums(marks, numbers, index, trials)
    sums |= twin_sums(index, sums, numbers)
    if len(every) > len(marks):
        index, sums, claims = _joined(Items(index, sums, claims), _probed(every.filter(numbers.is_probe), numbers))
    return Items(index, {name: values for name, values in sums.items() if values.any()}, claims)


def _probed(marks: pl.DataFrame, numbers: Coded) -> Items:
    """Items of probes: they answer no question, and have a part in no measure but those of leakage."""
    found = marked(marks, numbers)
    whole = pl.Series("whole", np.ones(found.size, bool))
    return Items(found.index().with_columns(whole), leakage_sums(found), {})


def _joined(drawn: Items, spread: Items) -> Items:
    many, more = len(drawn.rows), len(spread.rows)
    sums = {
        name: np.concatenate([drawn.sums.get(name, np.zeros(many)), spread.sums.get(name, np.zeros(more))])
        for name in dict.fromkeys([*drawn.sums, *spread.sums])
    }
    moved = {name: Claims(each.item + many, each.confidence, each.right) for name, each in spread.claims.items()}
    return Items(pl.concat([drawn.rows, spread.rows]), sums, drawn.claims | moved)


def _counted(marks: Marked, trials: int) -> Items:
    """Items whose answers were drawn: T marks each."""
    sums = outcome_sums(marks)
    is_open = marks.total(marks.flags("open")) > 0
    told = marks.total(marks.flags("verbal")) > 0
    sums |= {"asked": np.ones(marks.size), "choice": (~is_open).astype(float), "open": is_open.astype(float)}
    sums |= {"verbal": told.astype(float), "judged": (is_open | (sums["unscored"] > 0)).astype(float)}
    stated, claims = _stated(marks, sums)
    sums |= stated | hit_sums(marks) | evidence_sums(marks) | retrieval_sums(marks)
    sums |= leakage_sums(marks) | agreement_sums(marks)
    votes = ballots(marks)
    sums |= vote_sums(marks, votes, sums, trials) | worst_sums(sums, trials)
    choice = sums["choice"]
    gold, right = np.where(choice > 0, marks.once("gold"), np.nan), sums["right"] * choice
    sums |= option_sums(votes, gold, marks.once("k"), right, sums["answers"] * choice)
    found = {"verbal": claims} if told.any() else {}
    if trials > 1:
        at = np.flatnonzero((sums["agreement_of"] > 0) & ~told)
        found["votes"] = Claims(at, sums["agreement"][at], sums["majority"][at])
    whole = pl.Series("whole", sums["marks"] == trials)
    return Items(marks.index().with_columns(whole), sums, found)


def _stated(marks: Marked, told: Sums) -> tuple[Sums, Claims]:
    """Numbers that candidates state, and the claims that these are."""
    if not told["verbal"].any():
        return {}, Claims(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    number = marks.floats("confidence")
    at = ~np.isnan(number) & ~marks.outcome("unscored") & marks.flags("verbal")
    number = np.where(at, number, 0.0)
    stated, right = marks.total(exact(number)), marks.total(at & marks.outcome("right"))
    statable = told["verbal"] * told["answers"]
    sums = {
        "stated": stated,
        "stated_of": marks.total(at),
        "stated_shift": stated - right,
        "statable": statable,
        "unstated": statable - marks.total(at),
        "unstated_right": marks.total(marks.outcome("right") & marks.flags("verbal") & ~at),
    }
    return sums, Claims(marks.item[at], number[at], marks.outcome("right")[at].astype(float))


def _uas(index: pl.DataFrame, sums: Sums, claims: dict[str, Claims], numbers: Coded) -> Sums:
    """Weights: grade times importance, which is scaled to mean 1 over all questions that have one.

    A question with neither has no clinical weight and no part in it. A missing confidence counts as 1: no
    doubt was declared.
    """
    about = numbers.subjects.select("importance", grade=pl.col("grade").replace_strict(GRADES, default=None))
    known = (about["importance"].is_not_null() | about["grade"].is_not_null()).to_numpy()
    if not known.any():
        return {}
    importance = (about["importance"] / (importance_scale(numbers) or 1.0)).fill_null(1.0).to_numpy()
    subject = index["subject"].to_numpy()
    weight = np.where(known, importance * about["grade"].fill_null(1.0).to_numpy(), 0.0)[subject]
    found: Sums = {}
    for source, claimed in claims.items():
        found |= uas_sums(_with_unstated(source, claimed, sums), weight * sums["choice"], importance[subject], source)
    return found


def _with_unstated(source: str, claimed: Claims, sums: Sums) -> Claims:
    """The claims, and those answers without a confidence as claims of certainty."""
    nothing = np.zeros(len(sums["asked"]))
    missing = {
        "verbal": sums.get("unstated", nothing),
        "votes": sums.get("missing", nothing) * (1 - sums.get("shared", nothing)),
        "inf": sums.get("missing_inf", nothing),
    }
    many = missing[source].astype(np.int64)
    right = sums["unstated_right"].astype(np.int64) if source == "verbal" else np.zeros_like(many)
    item = np.concatenate([claimed.item, np.repeat(np.arange(len(many)), many)])
    is_right = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many) < np.repeat(right, many)
    certain = np.ones(int(many.sum()))
    return Claims(item, np.concatenate([claimed.confidence, certain]), np.concatenate([claimed.right, is_right]))


def importance_scale(numbers: Coded) -> float | None:
    """The mean importance of all questions that have one; None where none has."""
    mean = numbers.subjects["importance"].mean()
    return float(mean) if isinstance(mean, float) and mean > 0 else None


def _expected(marks: Marked, trials: int) -> Items:
    """Items whose option probabilities are known: one mark each, which stands for T expected votes."""
    shares = _matrix(marks.frame["shares"])
    gold_at, options = marks.once("gold"), marks.once("k")
    gold = np.maximum(of_gold(shares, gold_at), 0.0) if len(shares) else np.zeros(0)
    valid = np.minimum(shares.sum(axis=1), 1.0)
    top = shares.max(axis=1, initial=0.0)
    limit = limiting_votes(shares, gold, options)
    majority = top_right(shares, gold)
    ones = np.ones(len(shares))
    figures = {
        "scored": trials * ones,
        "right": trials * gold,
        "wrong": trials * (valid - gold),
        "unparsed": trials * (1.0 - valid),
        "parsed": trials * valid,
        "parsed_answers": (valid > 0).astype(float),
        "majority_inf": majority,
        "agreement_inf": limit.certain * top,
        "claims_certain_inf": limit.certain,
        "share_shift_inf": limit.certain * (exact(top) - exact(majority)),
        "calibrated_shift_inf": limit.certain * (exact(limit.certainty) - exact(top)),
        **_confidence(limit, "_inf"),
        **{f"worst@{k}{version}": gold**k for k in WORST for version in ("_inf", *([""] if k <= trials else []))},
        **{f"worst@{k}_of": ones for k in WORST if k <= trials},
        **option_sums(trials * shares, gold_at, options, trials * gold, trials * ones),
    }
    if trials > 1:
        votes = expected_votes(shares, gold, options, trials)
        figures |= _confidence(votes, "") | {"counted": (votes.certain > 0).astype(float), "voted": ones}
    figures |= dict.fromkeys(("marks", "answers", "asked", "choice", "shared"), ones)
    at = np.flatnonzero(limit.certain > 0)
    claims = Claims(at, top[at], majority[at])
    whole = pl.Series("whole", np.ones(len(shares), bool))
    return Items(marks.index().with_columns(whole), {n: exact(v) for n, v in figures.items()}, {"inf": claims})


def _confidence(expected: Expected, version: str) -> Sums:
    certain = exact(expected.certain)
    certainty = np.clip(exact(expected.certainty), 0.0, certain)
    return {
        f"certain{version}": certain,
        f"certainty{version}": certainty,
        f"shift{version}": certainty - exact(expected.right),
        f"missing{version}": 1.0 - certain,
    }


def _matrix(shares: pl.Series) -> Floats:
    """The lists as rows, padded with zeros, in multiples of 2**-30."""
    lengths = shares.list.len().to_numpy()
    matrix = np.zeros((len(shares), int(lengths.max()) if len(shares) else 1))
    inside = np.arange(matrix.shape[1]) < lengths[:, None]
    matrix[inside] = shares.explode().drop_nulls().to_numpy() if len(shares) else 0.0
    return exact(matrix)
