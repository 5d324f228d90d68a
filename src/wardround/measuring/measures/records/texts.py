"""Measures of reference texts (leakage), and of a judge."""

from collections.abc import Callable
from math import inf

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure
from wardround.measuring.measures import formulas
from wardround.measuring.measures.record import SIGNED_FRACTION, MeasureContext, MeasureRecord, composite, mean
from wardround.measuring.validation.agreement import yes_no_kappa


def _surprise(context: MeasureContext, formula: Callable[..., Floats], unit: str) -> list[Measure]:
    texts = f"texts_{unit}"
    fields = {"requires": texts, "bounds": (0.0, inf), "only_by": _by_probe(context)}
    return [composite(formula, (f"surprise_{unit}", unit), texts, **fields)]


def _similarity(context: MeasureContext, name: str) -> list[Measure]:
    return [mean(name, f"{name}_of", requires=f"{name}_of", only_by=_by_probe(context))]


def _by_probe(context: MeasureContext) -> str:
    return "probe" if context.probes > 1 else ""


LEAKAGE = (
    MeasureRecord(
        name="ppl",
        label="Perplexity",
        meaning="Exponential of the mean negative log-likelihood per token; not a percentage.",
        formula_text="exp(-sum log p / tokens), token-weighted; each [probe](leakage.md) separately",
        origin="paper (ClinBench appendix D.3), reading a choice",
        unit="perplexity",
        versions=lambda context: _surprise(context, formulas.perplexity, "tokens"),
    ),
    MeasureRecord(
        name="bits_per_byte",
        label="Bits per byte",
        meaning="Negative log-likelihood per byte of text, comparable between candidates.",
        formula_text="-sum log2 p / UTF-8 bytes; each probe separately",
        origin="choice",
        unit="bits per byte",
        versions=lambda context: _surprise(context, formulas.bits_per_byte, "bytes"),
    ),
    MeasureRecord(
        name="rouge_l",
        label="ROUGE-L",
        meaning="Similarity of the generated text to the reference: longest common subsequence.",
        formula_text="mean ROUGE-L F1; each probe separately",
        origin="paper (ClinBench appendix D.3)",
        versions=lambda context: _similarity(context, "rouge_l"),
    ),
    MeasureRecord(
        name="eds",
        label="Edit similarity",
        meaning="1 minus the edit distance to the reference divided by the longer length.",
        formula_text="mean 1 - Levenshtein / longer length; each probe separately",
        origin="paper (ClinBench appendix D.3)",
        versions=lambda context: _similarity(context, "eds"),
    ),
)
KAPPA = MeasureRecord(
    name="kappa",
    label="Kappa",
    meaning="Agreement of the judge with a human reader, corrected for chance.",
    formula_text="Cohen's, over verdicts that both gave; none if both always say the same",
    origin="choice",
    unit=SIGNED_FRACTION,
    versions=lambda context: [
        composite(
            yes_no_kappa,
            ("both", "only_judge", "only_reader", "neither"),
            "verdicts",
            group="open",
            version=context.judges,
            requires="verdicts",
            bounds=(-1.0, 1.0),
        )
    ],
)
