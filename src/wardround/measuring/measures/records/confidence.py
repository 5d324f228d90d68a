"""Measures of confidence: votes, calibration, claims with a probability, and over-confidence (DKE)."""

from typing import Any

from wardround.measuring.engine.known_sums import RANKED
from wardround.measuring.engine.measure import LIMIT, STATED, STATED_OPEN, Measure, MeasureKind
from wardround.measuring.measures import formulas
from wardround.measuring.measures.confidence import BINS, UAS
from wardround.measuring.measures.confidence_order import KEEP
from wardround.measuring.measures.dke import ALL_ORIGINALS, INTER_VARIANTS
from wardround.measuring.measures.record import (
    CLAIMS_BY_SOURCE,
    SIGNED_FRACTION,
    MeasureContext,
    MeasureRecord,
    VoteSource,
    composite,
    derived,
    mean,
    rate,
    signed,
)

_VERBAL: dict[str, Any] = {"group": "verbal", "source": STATED}
_VERBAL_OPEN: dict[str, Any] = {"group": "verbal_open", "source": STATED_OPEN}
_LIMIT: dict[str, Any] = {"group": "shared", "source": LIMIT}


def _with_unparsed(context: MeasureContext) -> dict[str, Any]:
    """The sensitivity variant that counts unparsed votes as one more outcome."""
    fields = {"group": "voted", "requires": "certain_all", "is_companion": True}
    return fields | {"variant": "unparsed_counted", "version": context.votes}


def _over_all_items(context: MeasureContext) -> dict[str, Any]:
    """The variant of MedQ-Deg's equations 3 and 4 as printed: all items, and shares of all T answers."""
    fields = {"group": "voted", "requires": "items_printed", "is_companion": True}
    return fields | {"variant": "all_items", "version": context.votes}


def _confidence(context: MeasureContext) -> list[Measure]:
    votes = [
        mean("certainty", "certain", n="counted", group="voted", version=context.votes),
        mean("certainty_all", "certain_all", **_with_unparsed(context)),
        mean("certainty_printed", "items_printed", **_over_all_items(context)),
    ]
    limit, stated = mean("certainty_inf", "certain_inf", **_LIMIT), mean("stated", "stated_of", **_VERBAL)
    stated_open = mean("stated_open", "stated_open_of", **_VERBAL_OPEN)
    return [*(votes if context.has_votes else []), limit, stated, stated_open]


def _confidence_missing(context: MeasureContext) -> list[Measure]:
    votes = [rate("missing", "voted_of", group="voted", version=context.votes)] if context.has_votes else []
    stated = [rate("unstated", "statable", **_VERBAL), rate("unstated_open", "statable_open", **_VERBAL_OPEN)]
    return [*votes, rate("missing_inf", "shared_of", **_LIMIT), *stated]


def _calibration_shift(context: MeasureContext) -> list[Measure]:
    votes = [
        signed(
            "shift",
            "certain",
            n="counted",
            group="voted",
            version=context.votes,
            claims=("certainty", "shift", "certain"),
        ),
        *_shift_companions("voted", context.vote_sources[0]),
        signed(
            "shift_all", "certain_all", **_with_unparsed(context), claims=("certainty_all", "shift_all", "certain_all")
        ),
        signed(
            "shift_printed",
            "items_printed",
            **_over_all_items(context),
            claims=("certainty_printed", "shift_printed", "items_printed"),
        ),
    ]
    limit = [
        signed("shift_inf", "certain_inf", **_LIMIT, claims=("certainty_inf", "shift_inf", "certain_inf")),
        *_shift_companions("shared", context.vote_sources[-1]),
    ]
    stated = [
        signed("stated_shift", "stated_of", **_VERBAL, claims=CLAIMS_BY_SOURCE["verbal"]),
        signed("stated_open_shift", "stated_open_of", **_VERBAL_OPEN, claims=CLAIMS_BY_SOURCE["verbal_open"]),
    ]
    return [*(votes if context.has_votes else []), *limit, *stated]


def _shift_companions(group: str, votes: VoteSource) -> list[Measure]:
    """Printed next to the shift, since a shift of zero does not mean calibrated."""
    whole = f"claims_certain{votes.suffix}"
    fields: dict[str, Any] = {"group": group, "is_companion": True, "requires": whole, **votes.fields}
    return [
        signed(
            f"share_shift{votes.suffix}",
            whole,
            variant="of_vote_share",
            **fields,
            claims=CLAIMS_BY_SOURCE[votes.claims],
        ),
        signed(f"calibrated_shift{votes.suffix}", whole, variant="if_calibrated", **fields),
    ]


def _majority(context: MeasureContext) -> list[Measure]:
    votes = [rate("majority", "elected_of", group="elected", version=context.votes)] if context.has_votes else []
    return [*votes, rate("majority_inf", "shared_of", **_LIMIT)]


def _vote_share(context: MeasureContext) -> list[Measure]:
    votes = [mean("agreement", "agreement_of", group="elected", version=context.votes)] if context.has_votes else []
    return [*votes, mean("agreement_inf", "certain_inf", **_LIMIT)]


def _uas(context: MeasureContext) -> list[Measure]:
    scaled = "" if context.importance is None else f", importance / {context.importance:.6g}"
    measures = []
    for claims in context.claim_sources:
        weight, version = f"uas_weight:{claims.sums}", _versions(f"{UAS}{scaled}", claims.version)
        fields = claims.fields | {"version": version, "requires": weight}
        measures.append(signed(f"uas:{claims.sums}", weight, n=f"uas_of:{claims.sums}", **fields))
    return measures


def _versions(*parts: str) -> str:
    return ", ".join(filter(None, parts))


_ECE = (  # variant, formula, kind, sums by bin, products by cluster and bin
    ("", formulas.ece, MeasureKind.CALIBRATION, ("gap", "in", "noise"), ()),
    ("debiased", formulas.ece_debiased, MeasureKind.CALIBRATION, ("gap", "in", "noise"), (("gap", "gap"),)),
    (
        "if_calibrated",
        formulas.ece_null,
        MeasureKind.REFERENCE,
        ("in", "gap", "square", "noise"),
        (("gap", "gap"), ("gap", "in"), ("in", "in")),
    ),
)


def _ece(context: MeasureContext) -> list[Measure]:
    measures = []
    for claims in context.claim_sources:

        def by_bin(part: str, source: str = claims.sums) -> list[str]:
            return [f"{part}:{source}:{b}" for b in range(BINS)]

        for variant, formula, kind, parts, pairs in _ECE:
            sums = [claims.n, *(name for part in parts for name in by_bin(part))]
            products = [pair for a, b in pairs for pair in zip(by_bin(a), by_bin(b), strict=True)]
            fields = claims.fields | {"kind": kind, "variant": variant, "products": tuple(products)}
            fields["version"] = _versions(f"{BINS} bins", claims.version)
            fields["claims"] = CLAIMS_BY_SOURCE[claims.sums]
            measures.append(composite(formula, sums, claims.n, **fields))
    return measures


def _brier(context: MeasureContext) -> list[Measure]:
    return [
        mean(f"brier:{claims.sums}", claims.n, **claims.fields, claims=CLAIMS_BY_SOURCE[claims.sums])
        for claims in context.claim_sources
    ]


def _auroc(context: MeasureContext) -> list[Measure]:
    return [
        composite(
            formulas.auroc,
            [f"{name}:{claims.sums}" for name in RANKED[:4]],
            claims.n,
            kind=MeasureKind.AUROC,
            **claims.fields,
        )
        for claims in context.claim_sources
    ]


def _kept_accuracy(context: MeasureContext) -> list[Measure]:
    right, kept = RANKED[4:6]
    sources = context.claim_sources
    return [mean(f"{right}:{claims.sums}", f"{kept}:{claims.sums}", **claims.fields) for claims in sources]


def _dke_intra(context: MeasureContext) -> list[Measure]:
    measures = []
    for votes in context.vote_sources:
        rise, rise_of = f"rise{votes.suffix}", f"rise_of{votes.suffix}"
        fields: dict[str, Any] = {"group": "choice", "requires": rise_of, "never_by": frozenset({"severity"})}
        fields |= {"compares": "degradation", "is_companion": True, **votes.fields}
        sums = ("fall", "fall_of", rise, rise_of)
        measures += [
            composite(formulas.dke_intra, sums, rise_of, kind=MeasureKind.CONDITION, **fields),
            signed("fall", "fall_of", variant="fall_in_accuracy", **fields),
            signed(rise, rise_of, variant="rise_in_shift", **fields),
            derived(variant=ALL_ORIGINALS, **votes.fields),
        ]
    return measures


VOTES = (
    MeasureRecord(
        name="majority_accuracy",
        label="Majority vote",
        meaning="Share right if the most frequent answer over all trials counts.",
        formula_text="a tie of t options that includes the right one counts 1/t; no valid vote counts 0; "
        "from probabilities the most probable option (`majority_accuracy_in_the_limit`)",
        origin="choice",
        versions=_majority,
    ),
    MeasureRecord(
        name="confidence",
        label="Confidence",
        meaning="From votes and log-probabilities: 1 minus the normalised entropy, which is not a probability. "
        "Verbal: the mean of the stated numbers.",
        formula_text="C = 1 - H / log K over valid votes, T in `version`; from probabilities E[C_T], and C itself in "
        "`confidence_in_the_limit`; `confidence_stated`: mean stated number of choices, "
        "`confidence_stated_open` of open answers. `confidence_unparsed_counted`: unparsed "
        "votes are one more outcome, C at least 0; `confidence_all_items`: the paper's, shares of all T answers",
        origin="paper (MedQ-Deg eq. 3)",
        versions=_confidence,
    ),
    MeasureRecord(
        name="confidence_missing",
        label="No confidence",
        meaning="Share of questions with too few valid answers for a confidence.",
        formula_text="fewer than max(2, T/2) valid votes; verbal: answers that state no number",
        origin="choice",
        versions=_confidence_missing,
    ),
    MeasureRecord(
        name="vote_share",
        label="Vote share",
        meaning="Mean share of the trials that agree with the most frequent answer.",
        formula_text="over the questions with enough valid votes for a C; an unparsed vote agrees with no other; "
        "from probabilities p of the top option (`vote_share_in_the_limit`)",
        origin="choice",
        versions=_vote_share,
    ),
    MeasureRecord(
        name="calibration_shift",
        label="Calibration shift",
        meaning="Confidence minus accuracy: above zero is over-confident. Zero does not prove good calibration.",
        formula_text="mean C - accuracy on the same questions; stated: mean stated number - accuracy. Companions: "
        "`calibration_shift_of_vote_share`: vote share - majority accuracy; `calibration_shift_if_calibrated`: C - "
        "vote share, the shift of a respondent that is right as often as its votes agree; "
        "`calibration_shift_unparsed_counted`; `calibration_shift_all_items`: the paper's, over all questions, with "
        "shares of all T answers (an answer that names no option is in no share)",
        origin="paper (MedQ-Deg eq. 4), companions a choice",
        unit=SIGNED_FRACTION,
        versions=_calibration_shift,
    ),
)
CLAIMS = (
    MeasureRecord(
        name="uas",
        label="Uncertainty-aware score",
        meaning="Rewards honest uncertainty and punishes confident errors.",
        formula_text="sum w s / sum w. Weights: grade (R 1, A 1.25, S 1.4) x importance scaled to mean 1 over all "
        "questions. Scores: CC 1, CU .6, IU .2, IC -.2 x importance (from 1 to at most 5). Confident from "
        "tau = (IU - IC) / ((CC - CU) + (IU - IC)). No stated confidence counts as 1; no floor. Questions with neither "
        "grade nor importance are left out",
        origin="choice (`xpcr-uas/local-1`): the paper's weights are unknown, never compare",
        unit=SIGNED_FRACTION,
        versions=_uas,
    ),
    MeasureRecord(
        name="ece",
        label="Expected calibration error",
        meaning="Mean gap between confidence and accuracy; biased upward in small samples.",
        formula_text="10 equal bins, closed on the right; sum of abs(gap) / N, biased upward. `ece_debiased`: "
        "each bin's abs(gap) minus what its own noise adds, 2 abs(G) - E abs(N(G, V)), V over clusters, at least 0. "
        "`ece_if_calibrated`: what noise alone gives one with the same confidences. Both ends of the interval are of "
        "the true ECE; the lower is 0 if noise explains it (method `upper bound`)",
        origin="paper (X-PCR), bins and debiasing a choice",
        versions=_ece,
    ),
    MeasureRecord(
        name="brier",
        label="Brier score",
        meaning="Mean squared gap between confidence and outcome; lower is better.",
        formula_text="mean (confidence - right)^2; of a tie of t votes the mean over its t ways to be broken",
        origin="choice",
        versions=_brier,
    ),
    MeasureRecord(
        name="auroc",
        label="AUROC of confidence",
        meaning="How well confidence separates right from wrong; 50 is chance.",
        formula_text="Mann-Whitney, ties half; none if all are right or all wrong",
        origin="choice",
        versions=_auroc,
    ),
    MeasureRecord(
        name=f"accuracy@{KEEP}",
        label="Accuracy at 80% coverage",
        meaning="Share right if the candidate abstains from the 20% of which it is least confident.",
        formula_text="the 80% most confident claims, ties at the limit by their part; in resamples the threshold stays",
        origin="choice",
        versions=_kept_accuracy,
    ),
)
OVERCONFIDENCE = (
    MeasureRecord(
        name="dke_intra",
        label="Over-confidence under degradation",
        meaning="Accuracy falls and confidence does not.",
        formula_text="share of resamples in which Acc(L0) > Acc(L2) and shift(L0) <= shift(L2), each L2 record with "
        "its own L0; `dke_intra_all_originals`: with all L0, as in the paper. Both differences with intervals: "
        "`dke_intra_fall_in_accuracy`, `dke_intra_rise_in_shift`",
        origin="paper (MedQ-Deg eq. 5), the share a choice",
        versions=_dke_intra,
    ),
    MeasureRecord(
        name="dke_inter",
        label="Over-confidence across candidates",
        meaning="The weaker the candidate, the more over-confident.",
        formula_text="share of pairs that differ in accuracy (candidate `*`, n = pairs, 3 to 200 candidates) in which "
        "the less accurate has the larger shift. Companions: `dke_inter_spearman_shift` (accuracy with shift), "
        "`dke_inter_spearman_confidence` (accuracy with C), `dke_inter_cross_fitted` (accuracy from one half of the "
        "clusters, shift from the other, 40 splits both ways) and `dke_inter_by_chance` (C permuted: coupling alone "
        "gives about 74%). The last two have no interval",
        origin="paper (MedQ-Deg eq. 6), companions a choice",
        versions=lambda context: [
            derived(variant=variant, **votes.fields) for votes in context.vote_sources for variant in INTER_VARIANTS
        ],
    ),
)
