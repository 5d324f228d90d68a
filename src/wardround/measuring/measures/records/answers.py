"""Measures of answers: accuracy, hit@k, repeated answers, chains, options as tests, and modalities."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wardround.marking.parser.choice import PARSER
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import LIMIT, Measure
from wardround.measuring.measures import formulas
from wardround.measuring.measures.mark_totals import HITS
from wardround.measuring.measures.record import (
    QUESTION_KEYS,
    SIGNED_FRACTION,
    MeasureContext,
    MeasureRecord,
    composite,
    mean,
    rate,
    signed,
)
from wardround.measuring.measures.votes import WORST


def _accuracy(context: MeasureContext, only_by: str = "") -> list[Measure]:
    fields: dict[str, Any] = {"n": "answers_choice", "group": "choice", "version": context.parsers, "only_by": only_by}
    return [rate("right_choice", "scored_choice", **fields)]


def _accuracy_and_best_case(context: MeasureContext) -> list[Measure]:
    (accuracy,) = _accuracy(context)
    best_case = replace(
        accuracy, sums=("possibly_right_choice", "scored_choice"), variant="if_unparsed_right", is_companion=True
    )
    strict = rate("strict_right", "strict_of", group="choice", requires="strict_of", variant="strict", version=PARSER)
    return [accuracy, best_case, replace(strict, is_companion=True)]


def _worst(context: MeasureContext) -> list[Measure]:
    k = context.depth
    votes = [rate(f"worst@{k}", f"worst@{k}_of", group="choice", version=context.votes)]
    limit = mean(f"worst@{k}_inf", "shared_of", group="shared", source=LIMIT)
    return [*(votes if 1 < context.trials >= k else []), limit]


def _by_letter(
    context: MeasureContext, formula: Callable[..., Floats], *names: str, variant: str = "by_letter"
) -> list[Measure]:
    if not context.letters:
        return []
    sums = [f"{name}:{letter}" for name in names for letter in range(context.letters)]
    fields = {"group": "choice", "requires": "positive", "variant": variant}
    return [composite(formula, sums, "positive", **fields)]


_MICRO: dict[str, Any] = {"group": "choice", "requires": "positive"}

CHOICES = (
    MeasureRecord(
        name="accuracy",
        label="Accuracy",
        meaning="Share of choice questions answered right. An unparsed answer counts as not right, "
        "a refused one too unless the study leaves it out.",
        formula_text="right / (right + wrong + unparsed + refused), mean over trials; from probabilities p(gold). "
        'Unscored marks are left out, and with `refusals = "left out"` refused ones. `accuracy_if_unparsed_right`: '
        "(right + unparsed + refused) / the same, the best case; accuracy itself is the worst. `accuracy_strict`: by "
        "the strict parser, if the study marks by another one",
        origin="paper (MedQ-Deg eq. 2)",
        versions=_accuracy_and_best_case,
    ),
    MeasureRecord(
        name="accuracy_parsed",
        label="Accuracy when parsed",
        meaning="Share right among the answers in which a choice could be read.",
        formula_text="right / (right + wrong); printed next to accuracy, never instead",
        origin="choice",
        versions=lambda context: [
            rate(
                "right_choice",
                "parsed_choice",
                n="parsed_answers_choice",
                group="choice",
                version=context.parsers,
            )
        ],
    ),
    MeasureRecord(
        name="parsers_differ",
        label="Read differently",
        meaning="Share of choice answers that the study's parser and the strict one read differently.",
        formula_text="answers whose option (or none) is not the same by both / answers; only if the study marks by "
        "another parser than `strict`",
        origin="choice",
        versions=lambda context: [
            rate("readings_differ", "strict_of", group="choice", requires="strict_of", version=context.parsers)
        ],
    ),
    MeasureRecord(
        name="unparsed",
        label="Unparsed",
        meaning="Share of answers in which no choice could be read.",
        formula_text="unparsed / (right + wrong + unparsed + refused), the last as in accuracy; from probabilities the "
        "mass on no option",
        origin="choice",
        versions=lambda context: [rate("unparsed", "scored", n="answers", version=context.parsers)],
    ),
    MeasureRecord(
        name="refused",
        label="Refused",
        meaning="Share of questions that the server or the model refused: filtered, too long or declined.",
        formula_text="refused / (right + wrong + unparsed + refused), whether they count or are left out",
        origin="choice",
        versions=lambda context: [rate("refused", "scorable", n="scorable_answers")],
    ),
    MeasureRecord(
        name="unscored",
        label="Unscored",
        meaning="Share of answers that the judge could not mark. They are excluded from every score.",
        formula_text="unscored / marks",
        origin="choice",
        versions=lambda context: [rate("unscored", "marks", version=context.judges, requires="judged")],
    ),
    MeasureRecord(
        name="hit@k",
        label="hit@k",
        meaning="Share of open answers that name the right diagnosis among the first k.",
        formula_text="1 if any of the first k is the same; else unscored if any of them is unscored; else 0. Refused "
        "as in accuracy. k = 1, 3",
        origin="paper (CURE 2.3)",
        depths=HITS,
        versions=lambda context: [
            rate(f"hit@{context.depth}", f"hit@{context.depth}_of", group="open", version=context.judges)
        ],
    ),
)
WORST_OF_K = MeasureRecord(
    name="worst@k",
    label="Right every time",
    meaning="Share of questions answered right in all of k trials.",
    formula_text="mean C(c, k) / C(T, k) for c right of T answers, k = 1, 2, 4, 8, 16 up to T; "
    "from probabilities p(gold)^k, `worst@k_in_the_limit` for k over T too",
    origin="paper (ClinBench 4.5), per question a choice",
    depths=WORST,
    versions=_worst,
)
CHAINS = (
    MeasureRecord(
        name="swa",
        label="Stage-wise accuracy",
        meaning="Accuracy by stage of a chain, and the unweighted mean over the stages.",
        formula_text='accuracy in the slice `{"stage": ...}`; `{"stage": "mean"}` is the unweighted mean, '
        "resampled as a whole; none if a stage is missing",
        origin="paper (X-PCR)",
        versions=lambda context: _accuracy(context, "stage"),
    ),
    MeasureRecord(
        name="ccr",
        label="Complete chains",
        meaning="Share of chains in which every stage is right.",
        formula_text="per chain and trial: all questions of every stage right; a chain with a missing or unscored "
        "mark is left out; from probabilities their product",
        origin="paper (X-PCR), strictness a choice",
        versions=lambda context: [
            rate(
                "chains_right",
                "chains",
                group="choice",
                version="all questions of every stage",
                requires="chains",
                never_by=QUESTION_KEYS,
            )
        ],
    ),
    MeasureRecord(
        name="esa",
        label="Accuracy by grade",
        meaning="Accuracy over the grades of difficulty, and their unweighted mean.",
        formula_text="as swa, by `grade`",
        origin="paper (X-PCR)",
        versions=lambda context: _accuracy(context, "grade"),
    ),
)
MODALITIES = MeasureRecord(
    name="mcs",
    label="What a modality adds",
    meaning="Accuracy with all images minus accuracy without one modality; same questions.",
    formula_text="mean over the same questions, of cases with two or more modalities; slices of `without`",
    origin="paper (X-PCR), pairing a choice",
    unit=SIGNED_FRACTION,
    versions=lambda context: [
        signed("mcs", "mcs_of", group="choice", version="paired", requires="mcs_of", only_by="without")
    ],
)
OPTIONS = (
    MeasureRecord(
        name="sensitivity",
        label="Sensitivity",
        meaning="Each option as a yes/no test: share of right options that were chosen.",
        formula_text="over all options: TP / (TP + FN), which is accuracy; `sensitivity_by_letter`: mean over the "
        "letters (in the case's own order) that are ever right",
        origin="paper's formula (ClinBench appendix E.2)",
        versions=lambda context: [
            rate("true_positive", "positive", **_MICRO),
            *_by_letter(context, formulas.sensitivity_by_letter, "found", "gold"),
        ],
    ),
    MeasureRecord(
        name="specificity",
        label="Specificity",
        meaning="Each option as a yes/no test: share of wrong options that were not chosen.",
        formula_text="over all options: TN / (TN + FP); an abstention rejects all options. `specificity_by_letter`: "
        "mean over letters",
        origin="paper's formula (ClinBench appendix E.2)",
        versions=lambda context: [
            mean("true_negative", "negative", n="positive", **_MICRO),
            *_by_letter(context, formulas.specificity_by_letter, "found", "gold", "named", "there"),
        ],
    ),
    MeasureRecord(
        name="precision_by_letter",
        label="Precision, mean over letters",
        meaning="Share right among choices of a letter: similar in size to the specificity that ClinBench prints.",
        formula_text="mean over the letters that are ever right of TP / (TP + FP); 0 for a letter that is never chosen",
        origin="choice",
        versions=lambda context: _by_letter(
            context, formulas.precision_by_letter, "found", "gold", "named", variant=""
        ),
    ),
)
