"""Measures of evidence and retrieval (CURE)."""

from wardround.measuring.measures.mark_totals import DEPTHS
from wardround.measuring.measures.record import MeasureRecord, mean, rate


def _outcome(name: str, label: str, meaning: str, formula_text: str, origin: str = "") -> MeasureRecord:
    return MeasureRecord(
        name=name,
        label=label,
        meaning=meaning,
        formula_text=formula_text,
        origin=origin or "paper (CURE 3.3), inferred",
        versions=lambda context: [rate(name, "grounding_of", requires="grounding_of")],
    )


def _retrieval(name: str, label: str, meaning: str, formula_text: str) -> MeasureRecord:
    return MeasureRecord(
        name=name,
        label=label,
        meaning=meaning,
        formula_text=f"mean over searches with a relevant document; {formula_text}",
        origin="choice",
        depths=DEPTHS if name.endswith("@k") else (),
        versions=lambda context: [
            mean(name.replace("@k", f"@{context.depth}"), "searches", requires="searches"),
        ],
    )


EVIDENCE = (
    MeasureRecord(
        name="coverage",
        label="Evidence covers the truth",
        meaning="Share of asks whose documents contain the true diagnosis.",
        formula_text="covered / marks with `covered`",
        origin="paper (CURE 3.3), inferred",
        versions=lambda context: [rate("covered", "covered_of", requires="covered_of")],
    ),
    _outcome(
        "grounded",
        "Grounded",
        "Share of answers that the supplied documents support.",
        "grounded / scored marks with a judged grounding",
        "paper (CURE 3.3)",
    ),
    _outcome(
        "evidence_based_correct",
        "Right by evidence",
        "Share right and supported by the documents.",
        "the cell right and grounded; the four cells add up to 1",
    ),
    _outcome(
        "evidence_misled",
        "Misled by evidence",
        "Share wrong but supported by the documents.",
        "the cell wrong and grounded",
    ),
    _outcome(
        "knowledge_based_correct",
        "Right by knowledge",
        "Share right without support in the documents.",
        "the cell right and not grounded",
    ),
    _outcome(
        "hallucination",
        "Hallucinated",
        "Share wrong without support in the documents.",
        "the cell wrong and not grounded",
    ),
)
RETRIEVAL = (
    _retrieval(
        "recall@k",
        "recall@k",
        "Share of the cited documents among the first k found.",
        "relevance is yes or no; k = 1, 5, 10",
    ),
    _retrieval(
        "precision@k",
        "precision@k",
        "Share of the first k found that the case cites.",
        "divided by k even if fewer were found; k = 1, 5, 10",
    ),
    _retrieval("mrr", "MRR", "Mean of 1 over the rank of the first cited document.", "0 if none was found"),
    _retrieval(
        "ndcg@k",
        "nDCG@k",
        "How high the cited documents rank among the first k found.",
        "gain 1 / log2(rank + 1); k = 1, 5, 10",
    ),
    _retrieval(
        "map",
        "MAP",
        "Mean over cited documents of the precision at their rank.",
        "average precision; a document that was not found counts 0",
    ),
)
