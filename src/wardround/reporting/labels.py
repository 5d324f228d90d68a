"""What readers call things: measures, slice keys and their values, each in a few plain words."""

from __future__ import annotations

from collections.abc import Mapping

MEASURES: Mapping[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", "Share of choice questions answered right. An unparsed answer counts as not right."),
    "accuracy_parsed": (
        "Accuracy when parsed",
        "Share right among the answers in which a choice could be read.",
    ),
    "majority_accuracy": ("Majority vote", "Share right when the most frequent answer of all trials counts."),
    "unparsed": ("Unparsed", "Share of answers in which no choice could be read."),
    "unscored": (
        "Unscored",
        "Share of answers that the judge could not mark. They are left out of every score.",
    ),
    "hit@k": ("hit@k", "Share of open answers that name the right diagnosis among the first k."),
    "worst@k": ("Right every time", "Share of questions answered right in all of k trials."),
    "confidence": (
        "Confidence",
        "By votes and log-probabilities: 1 minus the normalised entropy, which is not a probability. "
        "Verbal: the mean of the stated numbers.",
    ),
    "vote_share": ("Vote share", "Mean share of the trials that agree with the most frequent answer."),
    "confidence_missing": (
        "No confidence",
        "Share of questions with too few valid answers for a confidence.",
    ),
    "calibration_shift": (
        "Calibration shift",
        "Confidence minus accuracy: above zero is over-confident. Zero does not prove good calibration.",
    ),
    "ece": (
        "Expected calibration error",
        "Mean gap between confidence and accuracy; biased upward in small samples.",
    ),
    "brier": ("Brier score", "Mean squared gap between confidence and outcome; lower is better."),
    "auroc": (
        "AUROC of confidence",
        "How well confidence tells right from wrong; 50 is no better than a coin.",
    ),
    "accuracy@80": (
        "Accuracy at 80% coverage",
        "Share right if the candidate may abstain from the fifth of which it is least sure.",
    ),
    "dke_intra": ("Over-confidence under degradation", "Accuracy falls while confidence does not."),
    "dke_inter": ("Over-confidence across candidates", "The weaker the candidate, the more over-confident."),
    "swa": ("Stage-weighted accuracy", "Accuracy over the stages of a chain, weighted by stage."),
    "ccr": ("Complete chains", "Share of chains in which every stage is right."),
    "uas": ("Uncertainty-aware score", "Rewards honest uncertainty and punishes confident errors."),
    "esa": ("Accuracy by grade", "Accuracy over the grades of difficulty, and their unweighted mean."),
    "mcs": ("What a modality adds", "Accuracy with all images minus accuracy without one modality, same questions."),
    "coverage": ("Evidence covers the truth", "Share of asks whose documents contain the true diagnosis."),
    "grounded": ("Grounded", "Share of answers that the documents supplied support."),
    "evidence_based_correct": ("Right by evidence", "Share right and supported by the documents."),
    "knowledge_based_correct": ("Right by knowledge", "Share right without support in the documents."),
    "evidence_misled": ("Misled by evidence", "Share wrong, and supported by the documents."),
    "hallucination": ("Hallucinated", "Share wrong without support in the documents."),
    "recall@k": ("recall@k", "Share of the cited documents among the first k found."),
    "precision@k": ("precision@k", "Share of the first k found that the case cites."),
    "ndcg@k": ("nDCG@k", "How far up the cited documents stand among the first k found."),
    "mrr": ("MRR", "Mean of 1 over the rank of the first cited document."),
    "map": ("MAP", "Mean over cited documents of the precision at their rank."),
    "sensitivity": ("Sensitivity", "Each option as a yes/no test: share of right options that were chosen."),
    "specificity": ("Specificity", "Each option as a yes/no test: share of wrong options that were not chosen."),
    "rouge_l": ("ROUGE-L", "Likeness of the generated text to the reference: longest common subsequence."),
    "eds": ("Edit similarity", "1 minus the edit distance to the reference, over the longer length."),
    "kappa": ("Kappa", "Agreement of the judge with a reader beyond chance."),
    "ppl": ("Perplexity", "How surprised the candidate is by the text; not a percentage."),
    "bits_per_byte": ("Bits per byte", "Surprise per byte of text, comparable between candidates."),
}
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
SIGNED = frozenset({"uas", "mcs", "calibration_shift", "kappa"})

SLICES: Mapping[str, str] = {
    "inputs": "What was shown",
    "telling": "How the case was told",
    "evidence": "Which literature was given",
    "degradation": "How the images were degraded",
    "without": "Which modality was left out",
    "carry": "What earlier stages carried over",
    "confidence": "How confidence was obtained",
    "images": "What became of the images",
    "stem": "How much of the question was shown",
    "options": "In which order the options stood",
    "reasoning": "Whether reasoning was on",
    "prompt": "Which prompt was used",
    "age_band": "Age",
    "tag": "Tag",
    "grade": "Grade",
    "kind": "Kind of question",
    "type": "Type of degradation",
    "severity": "Severity of degradation",
    "category": "Category of degradation",
}
VALUES: Mapping[tuple[str, str], str] = {
    ("images", "as-is"): "as the case has them",
    ("images", "blank"): "an empty image instead",
    ("images", "swapped"): "another case's image of the same modality",
    ("images", "none"): "left out; the text still refers to them",
    ("inputs", "all"): "all that the case has",
    ("stem", "full"): "the whole question",
    ("stem", "options-only"): "only the options",
    ("confidence", "none"): "not asked for",
    ("confidence", "verbal"): "the candidate states a number",
    ("confidence", "votes"): "repeated answers are counted",
    ("confidence", "logprobs"): "the candidate's own probabilities",
    ("options", "rotated"): "another order in every trial",
    ("evidence", "none"): "no literature is given",
    ("evidence", "reference"): "the abstracts that the case cites",
    ("evidence", "reference-masked"): "the abstracts that the case cites, with the diagnosis blanked",
    ("evidence", "reference-shuffled"): "the abstracts that another case cites",
    ("evidence", "rag"): "what one search finds",
    ("evidence", "agent"): "the candidate searches by itself",
}


def _words(measure: str) -> tuple[str, str] | None:
    name, _, k = measure.partition("@")
    return MEASURES.get(measure) or MEASURES.get(f"{name}@k" if k else name)


def measure_title(measure: str) -> str:
    """accuracy is Accuracy; what has no title of its own is its name in words."""
    known, k = _words(measure), measure.partition("@")[2]
    if known is None:
        return measure.replace("_", " ")
    title = known[0]
    if k and measure not in MEASURES:
        return title.replace("@k", f"@{k}") if "@" in title else f"{title} (k = {k})"
    return title


def measure_meaning(measure: str) -> str:
    known, k = _words(measure), measure.partition("@")[2]
    meaning = known[1] if known else ""
    return meaning.replace("among the first k", "first" if k == "1" else f"among the first {k}").replace(
        " k ", f" {k} "
    )


def slice_title(key: str) -> str:
    return SLICES.get(key, key.replace("_", " ").capitalize())


def value_meaning(key: str, value: str) -> str:
    if key == "evidence":
        if value.startswith("rag@"):
            return f"what the search {value.removeprefix('rag@')} finds"
        if value.startswith("reference+"):
            return f"the abstracts that the case cites, among {value.removeprefix('reference+')} drawn ones"
    return "unweighted mean of the rows above" if value == "mean" else VALUES.get((key, value), "")


def slice_words(slice: Mapping[str, str]) -> str:
    """A slice as a short phrase: inputs history, specialty neuro."""
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in slice.items())
