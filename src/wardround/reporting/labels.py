"""Titles and meanings of measures, their versions, slice keys and their values, as readers see them."""

from collections.abc import Mapping

from wardround.measuring.measures.catalogue import RECORDS, find_record
from wardround.measuring.measures.record import SIGNED_FRACTION

CONFIDENCE = (
    "confidence",
    "vote_share",
    "calibration_shift",
    "ece",
    "brier",
    "auroc",
    "accuracy@80",
    "confidence_missing",
    "dke_intra",
    "dke_inter",
)
SIGNED = frozenset(record.name for record in RECORDS if record.unit == SIGNED_FRACTION)

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
VARIANT_TEXTS: Mapping[str, tuple[str, str]] = {
    "plug-in": ("", ""),
    "debiased": ("debiased", "The same, with the bias from noise in each bin removed."),
    "plug-in if calibrated": ("by chance", "The value of a calibrated candidate with the same confidences."),
    "vote share - majority accuracy": ("of votes", "Vote share minus the accuracy of the majority vote."),
    "of a calibrated respondent": ("if calibrated", "The shift of one that is right as often as its votes agree."),
    "invalid votes as an outcome": ("unparsed counted", "Unparsed votes count as an outcome of their own."),
    "both hold, matched originals": ("both hold", "Share of resamples; each question compared with its own original."),
    "both hold, all originals": ("both hold, as in the paper", "Share of resamples; compared with all originals."),
    "accuracy L0 - L2, matched originals": ("fall in accuracy", "From the original to the worst level."),
    "shift L2 - L0, matched originals": ("rise in shift", "From the original to the worst level."),
    "Spearman(accuracy, shift)": (
        "rank correlation of accuracy and shift",
        "Times 100. Coupled: the shift contains the accuracy.",
    ),
    "Spearman(accuracy, C)": ("rank correlation of accuracy and confidence", "Times 100. Not coupled."),
    "cross-fitted share": ("cross-fitted", "Accuracy from one half of the cases, shift from the other."),
    "share by permutation": ("by chance", "With permuted confidences: the value that the coupling alone gives."),
}


def measure_title(measure: str) -> str:
    """The title of a measure; an unknown measure's name in words."""
    record, k = find_record(measure), measure.partition("@")[2]
    if record is None:
        return measure.replace("_", " ")
    if not record.depths:
        return record.label
    return record.label.replace("@k", f"@{k}") if "@" in record.label else f"{record.label} (k = {k})"


def measure_meaning(measure: str) -> str:
    record, k = find_record(measure), measure.partition("@")[2]
    among_first = "first" if k == "1" else f"among the first {k}"
    return record.meaning.replace("among the first k", among_first).replace(" k ", f" {k} ") if record else ""


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


def version_parts(version: str | None) -> tuple[str, str]:
    """A version such as `debiased, 10 bins, T=3` as variant (`debiased, 10 bins`) and source of confidence (`T=3`).

    A source is a number of votes, `inf` (log-probabilities) or `verbal` (a stated number).
    """
    variant, comma, source = (version or "").rpartition(", ")
    is_source = source in ("verbal", "inf") or source.startswith("T=")
    return (variant, source) if comma and is_source else ("", version or "")


def variant_text(variant: str) -> tuple[str, str] | None:
    """The addition to a measure's title, and the meaning that replaces its own; None for an unknown variant."""
    return VARIANT_TEXTS.get(variant.removesuffix(", 10 bins"))


def source_title(method: str, source: str) -> str:
    """How confidence was obtained; log-probabilities give the expectation of that many votes."""
    if source == "verbal":
        return METHOD_TITLES["verbal"]
    if source == "inf":
        return f"{METHOD_TITLES['logprobs']}, as in the limit of many votes"
    if source.startswith("T="):
        votes = f"{source[2:]} votes"
        return f"{METHOD_TITLES['logprobs']}, as expected from {votes}" if method == "logprobs" else f"By {votes}"
    return ", ".join(filter(None, [METHOD_TITLES.get(method, ""), f"version {source}" if source else ""]))
