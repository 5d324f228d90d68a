"""Titles and meanings of measures, their variants, slice keys and their values, as readers see them."""

from collections.abc import Mapping

from wardround.measuring.engine.measure import LIMIT, STATED, STATED_OPEN, measure_name
from wardround.measuring.measures.catalogue import find_measure, find_record
from wardround.measuring.measures.record import SIGNED_FRACTION

CONFIDENCE = (
    "confidence",
    "vote_share",
    "calibration_shift",
    "ece",
    "brier",
    "auroc",
    "accuracy@80",
    "aurc",
    "coverage@risk10",
    "confidence_missing",
    "dke_intra",
    "dke_inter",
)
SLICES: Mapping[str, str] = {
    "inputs": "Inputs shown",
    "telling": "Presentation of the case",
    "evidence": "Evidence",
    "degradation": "Image degradation",
    "without": "Modality left out",
    "carry": "Earlier answers carried over",
    "confidence": "Source of confidence",
    "images": "Images",
    "stem": "Question stem",
    "options": "Option order",
    "reasoning": "Reasoning",
    "prompt": "Prompt",
    "age_band": "Age",
    "tag": "Tag",
    "grade": "Grade",
    "kind": "Question type",
    "type": "Degradation type",
    "severity": "Degradation severity",
    "category": "Degradation category",
}
VALUES: Mapping[tuple[str, str], str] = {
    ("images", "as-is"): "the case's own images",
    ("images", "blank"): "a blank image instead",
    ("images", "swapped"): "another case's image of the same modality",
    ("images", "none"): "omitted; the text still refers to them",
    ("inputs", "all"): "everything in the case",
    ("stem", "full"): "the whole question",
    ("stem", "options-only"): "only the options",
    ("confidence", "none"): "not elicited",
    ("confidence", "verbal"): "the candidate states a number",
    ("confidence", "votes"): "repeated answers are counted",
    ("confidence", "logprobs"): "the candidate's own probabilities",
    ("options", "rotated"): "a different order in every trial",
    ("evidence", "none"): "no literature",
    ("evidence", "reference"): "the abstracts that the case cites",
    ("evidence", "reference-masked"): "the abstracts that the case cites, diagnosis masked",
    ("evidence", "reference-shuffled"): "the abstracts that another case cites",
    ("evidence", "rag"): "the results of one search",
    ("evidence", "agent"): "the candidate searches on its own",
}
METHOD_TITLES: Mapping[str, str] = {
    "verbal": "As stated by the candidate",
    "votes": "By votes",
    "logprobs": "By log-probabilities",
}
SOURCE_TITLES: Mapping[str, str] = {
    STATED: "stated",
    STATED_OPEN: "stated with open answers",
    LIMIT: "in the limit of many votes",
}
VARIANT_TEXTS: Mapping[str, tuple[str, str]] = {  # the addition to a title, and a meaning that replaces the measure's
    "accuracy_if_unparsed_right": ("best case", "If every unparsed or refused answer that counts were right."),
    "ece_debiased": ("debiased", "The same, with the bias from noise in each bin removed."),
    "ece_if_calibrated": ("by chance", "The value of a calibrated candidate with the same confidences."),
    "calibration_shift_of_vote_share": ("of votes", "Vote share minus the accuracy of the majority vote."),
    "calibration_shift_if_calibrated": (
        "if calibrated",
        "The shift of one that is right as often as its votes agree.",
    ),
    "calibration_shift_unparsed_counted": ("unparsed counted", "Unparsed votes count as an outcome of their own."),
    "confidence_unparsed_counted": ("unparsed counted", "Unparsed votes count as an outcome of their own."),
    "calibration_shift_all_items": ("as in the paper", "Over all questions; an unparsed vote is for no option."),
    "confidence_all_items": ("as in the paper", "Over all questions; an unparsed vote is for no option."),
    "dke_intra": ("both hold", "Share of resamples; each question compared with its own original."),
    "dke_intra_all_originals": ("both hold, as in the paper", "Share of resamples; compared with all originals."),
    "dke_intra_fall_in_accuracy": ("fall in accuracy", "From the original to the worst level."),
    "dke_intra_rise_in_shift": ("rise in shift", "From the original to the worst level."),
    "dke_inter_spearman_shift": (
        "rank correlation of accuracy and shift",
        "Times 100. Coupled: the shift contains the accuracy.",
    ),
    "dke_inter_spearman_confidence": ("rank correlation of accuracy and confidence", "Times 100. Not coupled."),
    "dke_inter_cross_fitted": ("cross-fitted", "Accuracy from one half of the cases, shift from the other."),
    "dke_inter_by_chance": ("by chance", "With permuted confidences: the value that the coupling alone gives."),
    "sensitivity_by_letter": ("mean over letters", "By the position of an option in the case's own order."),
    "specificity_by_letter": ("mean over letters", "The same for wrong options."),
}


def measure_title(measure: str) -> str:
    """The title of a measure, with its variant and source of confidence; an unknown measure's name in words."""
    return ", ".join(filter(None, (title_without_source(measure), SOURCE_TITLES.get(measure_source(measure), ""))))


def title_without_source(measure: str) -> str:
    """The title of a measure with its variant, for a table that says where the confidence is from."""
    record, (base, variant) = find_record(measure), _base_and_variant(measure)
    if record is None:
        return measure.replace("_", " ")
    label, k = record.label, base.partition("@")[2]
    if record.depths:
        label = label.replace("@k", f"@{k}") if "@" in label else f"{label} (k = {k})"
    addition, _ = VARIANT_TEXTS.get(variant, (variant.removeprefix(base).replace("_", " ").strip(), ""))
    return ", ".join(filter(None, (label, addition)))


def measure_meaning(measure: str) -> str:
    record, (base, variant) = find_record(measure), _base_and_variant(measure)
    if record is None:
        return ""
    k = base.partition("@")[2]
    among_first = "first" if k == "1" else f"among the first {k}"
    meaning = VARIANT_TEXTS.get(variant, ("", ""))[1] or record.meaning
    return meaning.replace("among the first k", among_first).replace(" k ", f" {k} ")


def measure_base(measure: str) -> str:
    """The measure that this is a variant of, or itself."""
    return _base_and_variant(measure)[0]


def measure_source(measure: str) -> str:
    """Where the confidence of a measure is from, as its name ends; empty: votes, or the measure has no confidence."""
    known = find_measure(measure)
    return known.source if known else ""


def is_signed(measure: str) -> bool:
    record = find_record(measure)
    return record is not None and record.unit == SIGNED_FRACTION


def _base_and_variant(measure: str) -> tuple[str, str]:
    """The measure, and its variant from votes, such as `ece` and `ece_debiased` of `ece_debiased_stated`."""
    known = find_measure(measure)
    return (known.base, measure_name(known.base, known.variant)) if known else (measure, measure)


def slice_title(key: str) -> str:
    return SLICES.get(key, key.replace("_", " ").capitalize())


def value_meaning(key: str, value: str) -> str:
    if key == "evidence":
        if value.startswith("rag@"):
            return f"the results of the search {value.removeprefix('rag@')}"
        if value.startswith("reference+"):
            return f"the abstracts that the case cites, among {value.removeprefix('reference+')} random ones"
    return "unweighted mean of the rows above" if value == "mean" else VALUES.get((key, value), "")


def slice_words(slice: Mapping[str, str]) -> str:
    """A slice as a phrase: inputs history, specialty neuro."""
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in slice.items())


def source_title(method: str, source: str, trials: int) -> str:
    """How confidence was obtained; log-probabilities give the expectation of that many votes."""
    if source == STATED:
        return METHOD_TITLES["verbal"]
    if source == STATED_OPEN:
        return f"{METHOD_TITLES['verbal']}, open answers"
    if source == LIMIT:
        return f"{METHOD_TITLES['logprobs']}, as in the limit of many votes"
    if trials < 2:
        return METHOD_TITLES.get(method, "")
    votes = f"{trials} votes"
    return f"{METHOD_TITLES['logprobs']}, as expected from {votes}" if method == "logprobs" else f"By {votes}"
