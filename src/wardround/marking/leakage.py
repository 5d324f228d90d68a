"""Marks of leakage probes: the log-likelihood of a text, or the similarity of a written one.

They are not answers to a question: they have no outcome, and measures of answers leave them out.
"""

from typing import Any

import polars as pl
from rapidfuzz.distance import LCSseq, Levenshtein

from wardround.asking.masking import WORD_PATTERN, without_words
from wardround.asking.probes import Probes, asks_logprob
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.marking.parser.clean import clean_reply

MIN_WORDS = 4  # of a reference that are not in the stem
LEAKAGE_SCHEMA: dict[str, Any] = {
    "logprob": pl.Float64,
    "tokens": pl.Int32,
    "bytes": pl.Int32,
    "text_case": pl.String,  # the case and the question whose text it is
    "text_question": pl.String,
    "rouge_l": pl.Float64,
    "eds": pl.Float64,
    "rouge_l_masked": pl.Float64,  # of the words that are not in the stem
    "eds_masked": pl.Float64,
}


def probe_mark(
    answer: Answer, case: Case, question: Question, condition: Condition, probes: Probes
) -> dict[str, Any] | None:
    """The mark of a probe, whose `rule` is the kind of its text; None if refused or without a log-likelihood."""
    if answer.refused_for is not None:
        return None
    owner, about = probes.text_owner(case, question, condition)
    rule = {"rule": probes.text_kind(case, question, condition), "text_case": owner.id, "text_question": about.id}
    if not asks_logprob(condition.probe):
        written, text = clean_reply(answer.text), probes.text(case, question, condition)
        similarity = {"rouge_l": rouge_l(written, text), "eds": eds(written, text)}
        copyable = probes.copyable_words(case, question, condition)
        return rule | similarity | _masked_similarity(written, text, copyable)
    return None if answer.text_logprob is None else rule | answer.text_logprob._asdict()


def _masked_similarity(written: str, text: str, copyable: frozenset[str]) -> dict[str, float]:
    """The similarity without words that both may have copied; nothing if the reference has hardly any others."""
    kept, reference = without_words(written, copyable), without_words(text, copyable)
    if len(reference.split()) < MIN_WORDS:
        return {}
    return {"rouge_l_masked": rouge_l(kept, reference), "eds_masked": eds(kept, reference)}


def rouge_l(text: str, reference: str) -> float:
    """F1 of the longest common subsequence of lower-case words (docs/protocols.md 4.4); 0 if one has no words."""
    words, reference_words = (WORD_PATTERN.findall(content.lower()) for content in (text, reference))
    common = LCSseq.similarity(words, reference_words)
    return 2 * common / (len(words) + len(reference_words)) if common else 0.0


def eds(text: str, reference: str) -> float:
    """1 - Levenshtein distance / longer length, over characters; 1 for two empty texts."""
    longer = max(len(text), len(reference))
    return 1 - Levenshtein.distance(text, reference) / longer if longer else 1.0
