"""Duplicate questions: by their images (building/duplicates/fingerprint.py) and their words. Rules: our choice.

Two questions about the same image are the same if they have the same answer and the words of their prompts overlap by
at least 0.8 (Jaccard). The first, by case and question id, is kept. The very same question about the very same pixels
with two answers is a contradiction: nobody can say which is right, so neither is kept.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wardround.core.text import fold_nfkc

MIN_SIMILARITY = 0.8


@dataclass(frozen=True, slots=True)
class PoolQuestion:
    """One question of the pool with the fields that duplicates are found by; `images` are exact hashes."""

    case_id: str
    question_id: str
    prompt: str
    options: frozenset[str]
    answer: str
    images: tuple[str, ...]
    modalities: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.case_id, self.question_id


def find_contradictions(questions: Iterable[PoolQuestion]) -> dict[tuple[str, str], str]:
    """The questions that another one contradicts, each with the other."""
    groups: defaultdict[object, list[PoolQuestion]] = defaultdict(list)
    for question in questions:
        groups[question.images, fold_nfkc(question.prompt), question.options].append(question)
    return {
        question.key: f"{other.case_id} / {other.question_id} has another answer to it"
        for group in groups.values()
        for question in group
        if (other := next((other for other in group if other.answer != question.answer), None))
    }


def find_repetitions(questions: Iterable[PoolQuestion], image_groups: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The questions that repeat one that is kept, each with that one."""
    kept: defaultdict[object, list[tuple[PoolQuestion, frozenset[str]]]] = defaultdict(list)
    repetitions: dict[tuple[str, str], str] = {}
    for question in sorted(questions, key=lambda question: question.key):
        words = frozenset(re.findall(r"\w+", fold_nfkc(question.prompt)))
        group = kept[tuple(sorted(image_groups[image] for image in question.images)), question.answer]
        first = next((other for other, others in group if word_overlap(words, others) >= MIN_SIMILARITY), None)
        if first is None:
            group.append((question, words))
        else:
            repetitions[question.key] = f"repeats {first.case_id} / {first.question_id}"
    return repetitions


def word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets of words."""
    return len(one & other) / len(one | other) if one or other else 1.0
