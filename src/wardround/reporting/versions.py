"""What readers call versions of measures: how confidence was obtained, and what sets a variant apart."""

from __future__ import annotations

from collections.abc import Mapping

METHODS: Mapping[str, str] = {
    "verbal": "As the candidate states it",
    "votes": "By votes",
    "logprobs": "By log-probabilities",
}
VARIANTS: Mapping[str, tuple[str, str]] = {
    "plug-in": ("", ""),
    "debiased": ("debiased", "The same, less what the noise in each bin adds."),
    "plug-in if calibrated": ("by chance", "What a calibrated candidate with these confidences would show."),
    "vote share - majority accuracy": ("of votes", "Vote share minus the accuracy of the majority vote."),
    "of a calibrated respondent": ("if calibrated", "The shift of one who is right as often as its votes agree."),
    "invalid votes as an outcome": ("unparsed counted", "With unparsed votes as one more outcome."),
    "both hold, matched originals": ("both hold", "Share of resamples; each record against its own original."),
    "both hold, all originals": ("both hold, as in the paper", "Share of resamples; against all originals."),
    "accuracy L0 - L2, matched originals": ("fall in accuracy", "From the original to the worst level."),
    "shift L2 - L0, matched originals": ("rise in shift", "From the original to the worst level."),
    "Spearman(accuracy, shift)": (
        "rank correlation of accuracy and shift",
        "In hundredths; coupled: the shift contains the accuracy.",
    ),
    "Spearman(accuracy, C)": ("rank correlation of accuracy and confidence", "In hundredths; not coupled."),
    "cross-fitted share": ("cross-fitted", "Accuracy from one half of the cases, shift from the other."),
    "share by permutation": ("by chance", "With confidences dealt out at random: what the coupling alone gives."),
}


def version_parts(version: str | None) -> tuple[str, str]:
    """A version as what sets it apart and the way of confidence: `debiased, 10 bins` and `T=3`."""
    apart, comma, way = (version or "").rpartition(", ")
    return (apart, way) if comma and is_way(way) else ("", version or "")


def is_way(text: str) -> bool:
    return text in ("verbal", "inf") or text.startswith("T=")


def variant_words(apart: str) -> tuple[str, str] | None:
    """What is added to a measure's title, and the meaning that takes the place of its own; None if not known."""
    return VARIANTS.get(apart.removesuffix(", 10 bins"))


def way_words(method: str, way: str) -> str:
    """How confidence was obtained, as a title; log-probabilities give what so many votes would."""
    if way == "verbal":
        return METHODS["verbal"]
    if way == "inf":
        return f"{METHODS['logprobs']}, as endlessly many votes would give it"
    if way.startswith("T="):
        votes = f"{way[2:]} votes"
        return f"{METHODS['logprobs']}, as {votes} would give it" if method == "logprobs" else f"By {votes}"
    return ", ".join(filter(None, [METHODS.get(method, method), f"version {way}" if way else ""]))
