"""The table of all measures: which sums each takes, which interval it gets, where it is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.outcomes import HITS
from wardround.measuring.measures import formulas as of
from wardround.measuring.measures.confidence import BINS, UAS
from wardround.measuring.measures.confidence_order import KEEP, RANKED
from wardround.measuring.measures.dke import INTER
from wardround.measuring.measures.retrieval import DEPTHS
from wardround.measuring.measures.votes import WORST
from wardround.measuring.validation.kappa import cohen_kappa

OF_A_QUESTION = frozenset({"stage", "skill", "capability", "grade", "kind", "task", "type", "severity", "category"})
Formula = Callable[..., Floats]


def _mean(kind: Kind, name: str, value: Formula, part: str, whole: str, *, n: str = "", **more: Any) -> Measure:
    """A measure of one sum over another; n counts the other unless told."""
    return Measure(name=name, value=value, sums=(part, whole), kind=kind, n=n or whole, **more)


_rate, _share, _signed = (partial(_mean, kind) for kind in (Kind.RATE, Kind.MEAN, Kind.SIGNED))


def definitions(
    trials: int,
    parsers: str = "",
    judges: str = "",
    letters: int = 0,
    importance: float | None = None,
    probes: int = 0,
) -> list[Measure]:
    """All measures of a study with this number of trials, in the order in which they are written.

    `letters` is the largest number of options, `importance` what the importance of questions was divided by, `probes`
    how many probes of leakage there are: figures of different texts are never taken together.
    """
    votes = f"T={trials}"
    several = trials > 1
    found = [
        *_of_answers(parsers, judges),
        *_of_evidence(),
        *_of_retrieval(),
        *(_of_votes(trials, votes) if several else ()),
        *_of_shares(),
        *_of_words(),
        *_of_chains(parsers),
        *(_of_claims("verbal", "verbal", "verbal", importance)),
        *(_of_claims("votes", "voted", votes, importance) if several else ()),
        *(_of_claims("inf", "shared", "inf", importance)),
        _signed("mcs", of.mcs, "mcs", "mcs_of", about="choice", version="paired", needs="mcs_of", where="without"),
        *(_of_degradation("", votes) if several else ()),
        *_of_degradation("_inf", "inf"),
        *(_of_rivals(votes) if several else ()),
        *_of_rivals("inf"),
        *_of_options(letters),
        *_of_leakage("probe" if probes > 1 else ""),
        _kappa(judges),
    ]
    order = list(dict.fromkeys(measure.name for measure in found))
    return sorted(found, key=lambda measure: order.index(measure.name))


def _of_answers(parsers: str, judges: str) -> list[Measure]:
    read: dict[str, Any] = {"about": "choice", "version": parsers}
    return [
        _rate("accuracy", of.accuracy, "right_choice", "scored_choice", n="answers_choice", **read),
        _rate(
            "accuracy_parsed", of.accuracy_parsed, "right_choice", "parsed_choice", n="parsed_answers_choice", **read
        ),
        _rate("unparsed", of.unparsed, "unparsed", "scored", n="answers", version=parsers),
        _rate("unscored", of.unscored, "unscored", "marks", version=judges, needs="judged"),
        *(_rate(f"hit@{k}", of.hit, f"hit@{k}", f"hit@{k}_of", about="open", version=judges) for k in HITS),
    ]


def _of_evidence() -> list[Measure]:
    """CURE's evidence outcomes."""
    cells = ("grounded", "evidence_based_correct", "evidence_misled", "knowledge_based_correct", "hallucination")
    return [
        _rate("coverage", of.coverage, "covered", "covered_of", needs="covered_of"),
        *(_rate(name, of.evidence_outcome, name, "grounding_of", needs="grounding_of") for name in cells),
    ]


def _of_retrieval() -> list[Measure]:
    recall, precision, ndcg = ([f"{name}@{k}" for k in DEPTHS] for name in ("recall", "precision", "ndcg"))
    names = [*recall, *precision, "mrr", *ndcg, "map"]
    return [_share(name, of.retrieval_mean, name, "searches", needs="searches") for name in names]


def _of_votes(trials: int, version: str) -> list[Measure]:
    """Figures of T votes, counted or expected."""
    elected, voted = ({"about": about, "version": version} for about in ("elected", "voted"))
    invalid: dict[str, Any] = {
        "about": "voted",
        "version": f"invalid votes as an outcome, {version}",
        "needs": "certain_all",
    }
    shift = of.calibration_shift
    return [
        _rate("majority_accuracy", of.majority_accuracy, "majority", "elected", **elected),
        _share("confidence", of.confidence, "certainty", "certain", n="counted", **voted),
        _share("confidence", of.confidence, "certainty_all", "certain_all", beside=True, **invalid),
        _rate("confidence_missing", of.confidence_missing, "missing", "voted", **voted),
        _share("vote_share", of.vote_share, "agreement", "agreement_of", **elected),
        _signed("calibration_shift", shift, "shift", "certain", n="counted", **voted),
        *_companions("", "voted", version),
        _signed("calibration_shift", shift, "shift_all", "certain_all", beside=True, **invalid),
        *(
            _rate(f"worst@{k}", of.worst, f"worst@{k}", f"worst@{k}_of", about="choice", version=version)
            for k in WORST
            if k <= trials
        ),
    ]


def _companions(end: str, about: str, version: str) -> list[Measure]:
    """What stands beside the shift, since a shift of zero does not mean calibrated."""
    named = partial(_signed, "calibration_shift", of.calibration_shift)
    told: dict[str, Any] = {
        "share_shift": "vote share - majority accuracy",
        "calibrated_shift": "of a calibrated respondent",
    }
    return [
        named(
            f"{part}{end}",
            f"claims_certain{end}",
            about=about,
            version=f"{words}, {version}",
            beside=True,
            needs=f"claims_certain{end}",
        )
        for part, words in told.items()
    ]


def _of_shares() -> list[Measure]:
    """Figures of the probabilities themselves: those of ever more votes."""
    known: dict[str, Any] = {"about": "shared", "version": "inf"}
    return [
        _rate("majority_accuracy", of.majority_accuracy, "majority_inf", "shared", **known),
        _share("confidence", of.confidence, "certainty_inf", "certain_inf", **known),
        _rate("confidence_missing", of.confidence_missing, "missing_inf", "shared", **known),
        _share("vote_share", of.vote_share, "agreement_inf", "certain_inf", **known),
        _signed("calibration_shift", of.calibration_shift, "shift_inf", "certain_inf", **known),
        *_companions("_inf", "shared", "inf"),
        *(_share(f"worst@{k}", of.worst, f"worst@{k}_inf", "shared", **known) for k in WORST),
    ]


def _of_words() -> list[Measure]:
    """Figures of the numbers that candidates state."""
    told: dict[str, Any] = {"about": "verbal", "version": "verbal"}
    return [
        _share("confidence", of.stated_confidence, "stated", "stated_of", **told),
        _rate("confidence_missing", of.confidence_missing, "unstated", "statable", **told),
        _signed("calibration_shift", of.calibration_shift, "stated_shift", "stated_of", **told),
    ]


def _of_chains(parsers: str) -> list[Measure]:
    """X-PCR's accuracies by stage and grade, whose unweighted means joined.py adds, and complete chains."""
    by = partial(_rate, n="answers_choice", about="choice", version=parsers)
    told: dict[str, Any] = {
        "about": "choice",
        "version": "all questions of every stage",
        "needs": "chains",
        "not_by": OF_A_QUESTION,
    }
    return [
        by("swa", of.accuracy, "right_choice", "scored_choice", where="stage"),
        _rate("ccr", of.ccr, "chains_right", "chains", **told),
        by("esa", of.accuracy, "right_choice", "scored_choice", where="grade"),
    ]


def _of_claims(source: str, about: str, version: str, importance: float | None) -> list[Measure]:
    """What probability-like confidence is worth."""
    n, binned = f"claims:{source}", f"{BINS} bins, {version}"
    told: dict[str, Any] = {"about": about, "needs": n}
    scaled = "" if importance is None else f", importance / {importance:.6g}"
    weight = f"uas_weight:{source}"

    def ece(how: str, value: Formula, kind: Kind, *names: str) -> Measure:
        sums = (n, *(f"{name}:{source}:{b}" for name in names for b in range(BINS)))
        return Measure(name="ece", value=value, sums=sums, kind=kind, n=n, version=f"{how}, {binned}", **told)

    ranked = [f"{name}:{source}" for name in RANKED]
    kept = partial(_share, f"accuracy@{KEEP}", of.kept_accuracy, *ranked[4:])
    return [
        _signed(
            *("uas", of.uas, f"uas:{source}", weight),
            n=f"uas_of:{source}",
            about=about,
            version=f"{UAS}{scaled}, {version}",
            needs=weight,
        ),
        ece("plug-in", of.ece, Kind.COMPOSITE, "gap"),
        ece("debiased", of.ece_debiased, Kind.COMPOSITE, "in", "gap", "square"),
        ece("plug-in if calibrated", of.ece_null, Kind.REFERENCE, "noise"),
        _share("brier", of.brier, f"brier:{source}", n, version=version, **told),
        Measure(
            name="auroc", value=of.auroc, sums=tuple(ranked[:4]), kind=Kind.COMPOSITE, n=n, version=version, **told
        ),
        kept(version=version, **told),
    ]


def _of_degradation(end: str, version: str) -> list[Measure]:
    """Both conditions of intra-model DKE, each with its interval, and how often both hold."""
    rise, rise_of = f"rise{end}", f"rise_of{end}"
    told: dict[str, Any] = {"about": "choice", "needs": rise_of, "not_by": frozenset({"severity"}), "beside": True}
    matched = f"matched originals, {version}"
    both: dict[str, Any] = {
        "name": "dke_intra",
        "value": of.dke_intra,
        "sums": ("fall", "fall_of", rise, rise_of),
        "n": rise_of,
    }
    return [
        Measure(**both, kind=Kind.CONDITION, version=f"both hold, {matched}", **told),
        _signed("dke_intra", of.mcs, "fall", "fall_of", version=f"accuracy L0 - L2, {matched}", **told),
        _signed("dke_intra", of.mcs, rise, rise_of, version=f"shift L2 - L0, {matched}", **told),
        _joined("dke_intra", f"both hold, all originals, {version}"),
    ]


def _of_rivals(version: str) -> list[Measure]:
    """Inter-model DKE, and what stands beside it."""
    return [_joined("dke_inter", f"{name}, {version}" if name else version) for name in INTER]


def _joined(name: str, version: str) -> Measure:
    return Measure(name=name, value=of.ratio, sums=(), kind=Kind.JOINED, n="", version=version, needs="joined")


def _of_options(letters: int) -> list[Measure]:
    """ClinBench's test figures. The published ones cannot come from the formula that is stated for them."""
    n = "positive"
    told: dict[str, Any] = {"about": "choice", "needs": n, "version": "micro over options"}

    def macro(name: str, value: Formula, version: str, *sums: str) -> Measure:
        columns = tuple(f"{each}:{letter}" for each in sums for letter in range(letters))
        return Measure(
            **(told | {"name": name, "value": value, "sums": columns, "version": version}), kind=Kind.COMPOSITE, n=n
        )

    by_letter = [
        macro("sensitivity", of.sensitivity_by_letter, "macro by letter", "found", "gold"),
        macro("specificity", of.specificity_by_letter, "macro by letter", "found", "gold", "named", "there"),
        macro("specificity", of.precision_by_letter, "macro precision by letter", "found", "gold", "named"),
    ]
    return [
        _rate("sensitivity", of.sensitivity, "true_positive", n, **told),
        _share("specificity", of.specificity, "true_negative", "negative", n=n, **told),
        *(by_letter if letters else ()),
    ]


def _of_leakage(where: str) -> list[Measure]:
    endless: dict[str, Any] = {"kind": Kind.COMPOSITE, "range": (0.0, float("inf")), "where": where}

    def surprise(name: str, value: Formula, unit: str) -> Measure:
        texts = f"texts_{unit}"
        return Measure(name=name, value=value, sums=(f"surprise_{unit}", unit), n=texts, needs=texts, **endless)

    return [
        surprise("ppl", of.perplexity, "tokens"),
        surprise("bits_per_byte", of.bits_per_byte, "bytes"),
        *(
            _share(name, of.text_likeness, name, f"{name}_of", needs=f"{name}_of", where=where)
            for name in ("rouge_l", "eds")
        ),
    ]


def _kappa(judges: str) -> Measure:
    cells = ("both", "only_judge", "only_reader", "neither")
    told: dict[str, Any] = {"about": "open", "version": judges, "needs": "verdicts", "range": (-1.0, 1.0)}
    return Measure(name="kappa", value=cohen_kappa, sums=cells, kind=Kind.COMPOSITE, n="verdicts", **told)
