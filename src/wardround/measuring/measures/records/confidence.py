"""Measures of confidence: votes, calibration, claims with a probability, and over-confidence (DKE)."""

from typing import Any

from wardround.measuring.engine.known_sums import RANKED
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.measures import formulas
from wardround.measuring.measures.confidence import BINS, UAS
from wardround.measuring.measures.confidence_order import KEEP
from wardround.measuring.measures.dke import INTER_VERSIONS
from wardround.measuring.measures.record import (
    SIGNED_FRACTION,
    MeasureContext,
    MeasureRecord,
    composite,
    derived,
    mean,
    rate,
    signed,
)

_VERBAL: dict[str, Any] = {"group": "verbal", "version": "verbal"}
_LIMIT: dict[str, Any] = {"group": "shared", "version": "inf"}


def _with_invalid(context: MeasureContext) -> dict[str, Any]:
    """The sensitivity version that counts unparsed votes as one more outcome."""
    version = f"invalid votes as an outcome, {context.votes}"
    return {"group": "voted", "version": version, "requires": "certain_all", "is_companion": True}


def _confidence(context: MeasureContext) -> list[Measure]:
    votes = [
        mean("certainty", "certain", n="counted", group="voted", version=context.votes),
        mean("certainty_all", "certain_all", **_with_invalid(context)),
    ]
    limit, stated = mean("certainty_inf", "certain_inf", **_LIMIT), mean("stated", "stated_of", **_VERBAL)
    return [*(votes if context.has_votes else []), limit, stated]


def _confidence_missing(context: MeasureContext) -> list[Measure]:
    votes = [rate("missing", "voted", group="voted", version=context.votes)] if context.has_votes else []
    return [*votes, rate("missing_inf", "shared", **_LIMIT), rate("unstated", "statable", **_VERBAL)]


def _calibration_shift(context: MeasureContext) -> list[Measure]:
    votes = [
        signed("shift", "certain", n="counted", group="voted", version=context.votes),
        *_shift_companions("", "voted", context.votes),
        signed("shift_all", "certain_all", **_with_invalid(context)),
    ]
    limit = [signed("shift_inf", "certain_inf", **_LIMIT), *_shift_companions("_inf", "shared", "inf")]
    return [*(votes if context.has_votes else []), *limit, signed("stated_shift", "stated_of", **_VERBAL)]


def _shift_companions(suffix: str, group: str, version: str) -> list[Measure]:
    """Printed next to the shift, since a shift of zero does not mean calibrated."""
    whole = f"claims_certain{suffix}"
    fields: dict[str, Any] = {"group": group, "is_companion": True, "requires": whole}
    return [
        signed(f"share_shift{suffix}", whole, version=f"vote share - majority accuracy, {version}", **fields),
        signed(f"calibrated_shift{suffix}", whole, version=f"of a calibrated respondent, {version}", **fields),
    ]


def _majority(context: MeasureContext) -> list[Measure]:
    votes = [rate("majority", "elected", group="elected", version=context.votes)] if context.has_votes else []
    return [*votes, rate("majority_inf", "shared", **_LIMIT)]


def _vote_share(context: MeasureContext) -> list[Measure]:
    votes = [mean("agreement", "agreement_of", group="elected", version=context.votes)] if context.has_votes else []
    return [*votes, mean("agreement_inf", "certain_inf", **_LIMIT)]


def _uas(context: MeasureContext) -> list[Measure]:
    scaled = "" if context.importance is None else f", importance / {context.importance:.6g}"
    measures = []
    for source, group, version in context.claim_versions:
        weight = f"uas_weight:{source}"
        fields = {"group": group, "version": f"{UAS}{scaled}, {version}", "requires": weight}
        measures.append(signed(f"uas:{source}", weight, n=f"uas_of:{source}", **fields))
    return measures


_ECE = (
    ("plug-in", formulas.ece, MeasureKind.COMPOSITE, ("gap",)),
    ("debiased", formulas.ece_debiased, MeasureKind.COMPOSITE, ("in", "gap", "square")),
    ("plug-in if calibrated", formulas.ece_null, MeasureKind.REFERENCE, ("noise",)),
)


def _ece(context: MeasureContext) -> list[Measure]:
    measures = []
    for claims in context.claim_versions:
        for name, formula, kind, parts in _ECE:
            sums = [claims.n, *(f"{part}:{claims.source}:{b}" for part in parts for b in range(BINS))]
            fields = claims.fields | {"kind": kind, "version": f"{name}, {BINS} bins, {claims.version}"}
            measures.append(composite(formula, sums, claims.n, **fields))
    return measures


def _brier(context: MeasureContext) -> list[Measure]:
    return [mean(f"brier:{claims.source}", claims.n, **claims.fields) for claims in context.claim_versions]


def _auroc(context: MeasureContext) -> list[Measure]:
    return [
        composite(formulas.auroc, [f"{name}:{claims.source}" for name in RANKED[:4]], claims.n, **claims.fields)
        for claims in context.claim_versions
    ]


def _kept_accuracy(context: MeasureContext) -> list[Measure]:
    right, kept = RANKED[4:]
    versions = context.claim_versions
    return [mean(f"{right}:{claims.source}", f"{kept}:{claims.source}", **claims.fields) for claims in versions]


def _dke_intra(context: MeasureContext) -> list[Measure]:
    measures = []
    for suffix, version in context.vote_versions:
        rise, rise_of = f"rise{suffix}", f"rise_of{suffix}"
        matched = f"matched originals, {version}"
        fields: dict[str, Any] = {"group": "choice", "requires": rise_of, "never_by": frozenset({"severity"})}
        fields["is_companion"] = True
        both = {"kind": MeasureKind.CONDITION, "version": f"both hold, {matched}"}
        measures += [
            composite(formulas.dke_intra, ("fall", "fall_of", rise, rise_of), rise_of, **both, **fields),
            signed("fall", "fall_of", version=f"accuracy L0 - L2, {matched}", **fields),
            signed(rise, rise_of, version=f"shift L2 - L0, {matched}", **fields),
            derived(f"both hold, all originals, {version}"),
        ]
    return measures


VOTES = (
    MeasureRecord(
        name="majority_accuracy",
        label="Majority vote",
        meaning="Share right if the most frequent answer over all trials counts.",
        formula_text="a tie of t options that includes the right one counts 1/t; no valid vote counts 0; "
        "from probabilities the most probable option (version `inf`)",
        origin="choice",
        versions=_majority,
    ),
    MeasureRecord(
        name="confidence",
        label="Confidence",
        meaning="From votes and log-probabilities: 1 minus the normalised entropy, which is not a probability. "
        "Verbal: the mean of the stated numbers.",
        formula_text="C = 1 - H / log K over valid votes, T in `version`; from probabilities E[C_T], and C itself "
        "under `inf`; verbal: mean stated number. `invalid votes as an outcome`: unparsed votes are one more outcome, "
        "C at least 0",
        origin="paper (MedQ-Deg eqs 3-5)",
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
        "from probabilities p of the top option (version `inf`)",
        origin="choice",
        versions=_vote_share,
    ),
    MeasureRecord(
        name="calibration_shift",
        label="Calibration shift",
        meaning="Confidence minus accuracy: above zero is over-confident. Zero does not prove good calibration.",
        formula_text="mean C - accuracy on the same questions; verbal: mean stated number - accuracy. Companions: "
        "`vote share - majority accuracy`; `of a calibrated respondent`: C - vote share, the shift of a respondent "
        "that is right as often as its votes agree; `invalid votes as an outcome`",
        origin="paper (MedQ-Deg eq. 6), companions a choice",
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
        formula_text="10 equal bins, closed on the right. `plug-in`: sum of abs(gap) / N, biased upward. `debiased`: "
        "each bin's abs(gap) minus what its own noise adds, 2 abs(G) - E abs(N(G, V)), at least 0; a bin with one "
        "claim adds nothing. `plug-in if calibrated`: what noise alone gives",
        origin="paper (X-PCR), bins and debiasing a choice",
        versions=_ece,
    ),
    MeasureRecord(
        name="brier",
        label="Brier score",
        meaning="Mean squared gap between confidence and outcome; lower is better.",
        formula_text="mean (confidence - right)^2; a tie of votes is right by its part",
        origin="choice",
        versions=_brier,
    ),
    MeasureRecord(
        name="auroc",
        label="AUROC of confidence",
        meaning="How well confidence separates right from wrong; 50 is chance.",
        formula_text="Mann-Whitney, ties half; in resamples Hajek's projection, with the ranks of the whole; none if "
        "all are right or all wrong",
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
        formula_text="share of resamples in which Acc(L0) > Acc(L2) and shift(L0) <= shift(L2), and both differences "
        "with intervals. `matched originals`: each L2 record with its own L0; `all originals`: as in the paper",
        origin="paper (MedQ-Deg), the share a choice",
        versions=_dke_intra,
    ),
    MeasureRecord(
        name="dke_inter",
        label="Over-confidence across candidates",
        meaning="The weaker the candidate, the more over-confident.",
        formula_text="share of pairs that differ in accuracy (candidate `*`, n = pairs, 3 to 200 candidates) in which "
        "the less accurate has the larger shift. Companions: Spearman(accuracy, shift), Spearman(accuracy, C), the "
        "cross-fitted share (accuracy from one half of the clusters, shift from the other, 40 splits both ways) and "
        "the share by permutation of C: coupling alone gives about 74%. The last two have no interval",
        origin="paper (MedQ-Deg), companions a choice",
        versions=lambda context: [
            derived(f"{name}, {version}" if name else version)
            for _, version in context.vote_versions
            for name in INTER_VERSIONS
        ],
    ),
)
