"""The criteria of a review, by level, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wardround.building.review.items import PHYSICIAN, STUDENT

CRITERIA = {  # after ClinBench's two guidelines (tables 14 and 15), in our words
    STUDENT: {
        "complete": "Nothing that the answer needs is missing, compared with the source",
        "images": "What an image shows is either seen in it or told, and nothing was lost with the figures",
        "distinct": "No other option overlaps with the right one, and none is ambiguous",
        "answer": "The right answer is the one of the source",
    },
    PHYSICIAN: {
        "clarity": "Clarity: stem and options are clear and professionally worded",
        "rationality": "Clinical rationality: such a patient could come to you like this",
        "accuracy": "Factual accuracy: stem and right answer are medically true",
        "options": "Options: plausible, distinct, not overlapping, fairly difficult",
    },
}
WORDS = CRITERIA[STUDENT] | CRITERIA[PHYSICIAN]


def reasons(said: Mapping[str, Any]) -> list[str]:
    """Why, in words: criteria that are not fulfilled, and the comment."""
    lacking = [WORDS[name] for name, is_fine in said["criteria"].items() if not is_fine]
    return [f"not fulfilled: {each}" for each in lacking] + ([said["comment"]] if said["comment"] else [])
