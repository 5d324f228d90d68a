"""What the marks of an item add to sums: outcomes, hits, evidence, retrieval, leakage, agreement, plug-ins' values."""

import numpy as np
import polars as pl

from wardround.core.errors import WardroundError
from wardround.literature.evaluation.relevance import ranking_measures
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import ItemMarks
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.measures.record import mark_sums

HITS = (1, 3)
DEPTHS = (1, 5, 10)
COARSE = 2.0**10  # surprises reach thousands per text, so they are multiples of 2**-20


def outcome_sums(marks: ItemMarks) -> dict[str, Floats]:
    """The number of marks of each item with each outcome."""
    refused = marks.flags("refused")
    all_marks, right = marks.total(marks.outcome("unscored") | True), marks.total(marks.outcome("right"))
    scored, unscored = marks.total(~marks.outcome("unscored")), marks.total(marks.outcome("unscored") & ~refused)
    parsed = scored - marks.total(marks.outcome("unparsed"))
    return {
        "marks": all_marks,
        "unscored": unscored,
        "scorable": all_marks - unscored,
        "scorable_answers": all_marks - unscored,
        "refused": marks.total(refused),
        "answers": scored,
        "scored": scored,
        "right": right,
        "wrong": marks.total(marks.outcome("wrong")),
        "unparsed": marks.total(marks.outcome("unparsed") & ~refused),
        "parsed": parsed,
        "parsed_answers": parsed,
    }


def reading_sums(marks: ItemMarks) -> dict[str, Floats]:
    """Marks by another parser: right as the strict one reads them, and those that the two read differently."""
    if not marks.has("strict_option"):
        return {}
    strict, option = marks.floats("strict_option"), np.nan_to_num(marks.floats("option"), nan=-1.0)
    known = ~np.isnan(strict) & ~marks.outcome("unscored")
    return {
        "strict_of": marks.total(known),
        "strict_right": marks.total(known & (strict == marks.floats("gold"))),
        "readings_differ": marks.total(known & (strict != option)),
    }


def hit_sums(marks: ItemMarks) -> dict[str, Floats]:
    """hit@k: any of the first k judged the same is 1; else any of them unscored is unscored; else 0.

    A candidate of which no answer could be judged has no hit rate: its unparsed answers alone would give 0.
    """
    sums: dict[str, Floats] = {}
    if not marks.flags("open").any():
        return sums
    hits = (
        marks.frame["hits"] if marks.has("hits") else pl.Series("hits", [None] * len(marks.frame), pl.List(pl.Boolean))
    )
    is_open, judged = marks.flags("open"), hits.is_not_null().to_numpy()
    candidate = marks.frame["candidate"].to_physical().to_numpy()
    open_unscored = is_open & marks.outcome("unscored")
    has_rate = ~np.isin(candidate, candidate[open_unscored]) | np.isin(candidate, candidate[is_open & judged])
    for k in HITS:
        first = hits.list.head(k)
        same = first.list.any().fill_null(False).to_numpy() & is_open
        complete = (first.list.drop_nulls().list.len() == first.list.len()).fill_null(False).to_numpy()
        decided = same | (is_open & has_rate & (judged & complete | ~judged & ~open_unscored))
        sums |= {f"hit@{k}": marks.total(same), f"hit@{k}_of": marks.total(decided)}
    return sums


def evidence_sums(marks: ItemMarks) -> dict[str, Floats]:
    """The four outcomes of correct x grounded, over marks that are scored and whose grounding was judged.

    Correct is a right first diagnosis, or a right option. Coverage is over every mark with `covered`, scored or not.
    """
    sums: dict[str, Floats] = {}
    if marks.has("grounded"):
        judged = marks.frame["grounded"].is_not_null().to_numpy() & ~marks.outcome("unscored")
        grounded, right = marks.flags("grounded"), marks.outcome("right")
        sums |= {
            "grounding_of": marks.total(judged),
            "grounded": marks.total(judged & grounded),
            "evidence_based_correct": marks.total(judged & right & grounded),
            "knowledge_based_correct": marks.total(judged & right & ~grounded),
            "evidence_misled": marks.total(judged & ~right & grounded),
            "hallucination": marks.total(judged & ~right & ~grounded),
        }
    if marks.has("covered"):
        known = marks.frame["covered"].is_not_null().to_numpy()
        sums |= {"covered_of": marks.total(known), "covered": marks.total(marks.flags("covered"))}
    return sums


def retrieval_sums(marks: ItemMarks) -> dict[str, Floats]:
    """recall@k, precision@k, nDCG@k, MRR and average precision of each search, added up by item.

    A search without relevant documents has no value. A search that retrieves none of them has zeros.
    """
    if not marks.has("relevant"):
        return {}
    relevant = marks.frame["relevant"].fill_null(0).to_numpy().astype(np.int64)
    search, rank = _retrieved(marks, relevant > 0)
    figures = ranking_measures(search, rank, relevant, DEPTHS)
    sums = {name: marks.total(exact(values * (relevant > 0))) for name, values in figures.items()}
    return sums | {"searches": marks.total(relevant > 0)}


def _retrieved(marks: ItemMarks, has_relevant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every relevant document that was retrieved: its search (a mark) and its rank, in this order, without repeats."""
    if not marks.has("relevant_ranks"):
        return np.zeros(0, np.int64), np.zeros(0)
    documents = marks.frame.select(rank="relevant_ranks").with_row_index("mark").filter(pl.Series(has_relevant))
    documents = documents.explode("rank").drop_nulls().unique().sort("mark", "rank")
    return documents["mark"].cast(pl.Int64).to_numpy(), documents["rank"].cast(pl.Float64).to_numpy()


def leakage_sums(marks: ItemMarks) -> dict[str, Floats]:
    """Surprise (negative log-probability), tokens and bytes of the texts; likeness of what was generated."""
    sums: dict[str, Floats] = {}
    if marks.has("logprob"):
        surprise = -marks.floats("logprob")
        for unit in ("tokens", "bytes"):
            size = marks.floats(unit)
            known = ~np.isnan(surprise) & (size > 0)
            rounded = exact(np.where(known, surprise, 0.0) / COARSE) * COARSE
            sums |= {f"surprise_{unit}": marks.total(rounded), unit: marks.total(np.where(known, size, 0.0))}
            sums[f"texts_{unit}"] = marks.total(known)
    for name in ("rouge_l", "eds"):
        if marks.has(name):
            values = marks.floats(name)
            known = ~np.isnan(values)
            sums |= {name: marks.total(exact(np.where(known, values, 0.0))), f"{name}_of": marks.total(known)}
    return sums


def mark_value_sums(marks: ItemMarks, weight: float = 1.0) -> dict[str, Floats]:
    """Values, weights and number of the marks that count; `weight`: the trials that one mark represents."""
    sums: dict[str, Floats] = {}
    for record in marks.encoded.mark_records:
        value, whole, n = mark_sums(record.name)
        values = marks.floats(value)
        counts = ~np.isnan(values)
        low = -1.0 if record.mark_kind is MeasureKind.SIGNED else 0.0
        if len(outside := values[counts & ((values < low) | (values > 1.0))]):
            raise WardroundError(f"measure {record.name!r}: a mark has the value {outside[0]:g}; expected {low:g} to 1")
        count = marks.total(counts)
        total = marks.total(exact(np.where(counts, values, 0.0)))
        sums |= {value: weight * total, whole: weight * count, n: count}
    return sums


def agreement_sums(marks: ItemMarks) -> dict[str, Floats]:
    """Verdicts of the judge (`hits`) and of a reader (`labels`), over diagnoses with both."""
    if not marks.has("labels") or not marks.has("hits"):
        return {}
    pairs = (
        marks.frame.select("hits", "labels")
        .with_row_index("mark")
        .filter(pl.col("hits").is_not_null() & pl.col("labels").is_not_null())
        .with_columns(
            pl.col(name).list.head(pl.min_horizontal(pl.col("hits", "labels").list.len()))
            for name in ("hits", "labels")
        )
        .explode("hits", "labels")
        .drop_nulls()
    )
    item = marks.item[pairs["mark"].to_numpy()]
    judge, reader = (pairs[name].to_numpy().astype(bool) for name in ("hits", "labels"))
    cells = {
        "both": judge & reader,
        "only_judge": judge & ~reader,
        "only_reader": ~judge & reader,
        "neither": ~judge & ~reader,
    }
    sums = {name: np.bincount(item, weights=flags, minlength=marks.size) for name, flags in cells.items()}
    return sums | {"verdicts": np.bincount(item, minlength=marks.size).astype(float)}
