"""Unread replies: the shapes of those that the parser could not read, and what helps."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from wardround.asking.reasoning import split_reasoning
from wardround.core.ask import Answer
from wardround.running.store import AnswerKey, AnswerStore

MAX_SHARE = 0.5  # of unparsed choice answers: above it a run ends with a warning
SAMPLE = 400
EXAMPLE = 60  # characters
CANNOT = r"can(?:no|['’])t|can not|unable to|not able to|do(?:n['’]t| not)|did(?:n['’]t| not)"
PICTURE = r"(?:image|picture|photo|attachment)s?"
NO_IMAGE = re.compile(
    rf"(?:{CANNOT})\s+(?:\w+\s+){{0,2}}"
    r"(?:see|view|access|process|open|receive|interpret|analy[sz]e|access to|ability to \w+)"
    rf"\s+(?:(?:the|any|an|your|this|that|these|attached|provided|uploaded|actual|medical)\s+){{0,3}}{PICTURE}\b"
    rf"|\bno (?:\w+ )?{PICTURE} (?:is|was|were|are|has|have|provided|attached|included|shared|uploaded|visible|here)\b"
    rf"|{PICTURE} (?:is|was|were|are)(?: not|n['’]t) (?:provided|attached|included|shared|uploaded|visible|available)"
    r"|\btext-(?:only|based) (?:\w+ )?(?:model|assistant|ai)",
    re.I,
)
REFUSAL = re.compile(
    rf"\bas an ai\b|\bi(?:['’]m| am) sorry|\bi (?:{CANNOT}) (?:help|assist|provide|answer|give|diagnos|comply|offer)",
    re.I,
)
# shapes that mean the same whatever the words are
CUT, EMPTY, JSON, NO_IMAGE_SHAPE, REFUSAL_SHAPE = (
    "cut by length",
    "empty",
    "JSON",
    "says that it sees no image",
    "a refusal in words",
)
ADVICE = {
    CUT: "give a larger `max_tokens`, or none",
    EMPTY: "give a larger `max_tokens` if the model reasons, and see whether the server returns text at all",
    JSON: "use a prompt that asks for the letter alone, and no response format in `extra_body`",
    NO_IMAGE_SHAPE: "say `sees = false`, or name a model that sees",
    REFUSAL_SHAPE: "use another prompt",
}
OTHER_ADVICE = "use another prompt, or another parser (`wardround mark --parser MODE`)"


class UnreadShape(NamedTuple):
    """The commonest shape of unread replies: how many have it, and how one of them starts."""

    name: str
    replies: int
    example: str

    @property
    def advice(self) -> str:
        return ADVICE.get(self.name, OTHER_ADVICE)

    def __str__(self) -> str:
        example = f", such as {self.example!r}" if self.example else ""
        return f"{self.name} ({self.replies:,}{example}); {self.advice}"


def shape_of(answer: Answer) -> str:
    """What an unread reply looks like."""
    text = answer.text.strip()
    if answer.finish == "length" or split_reasoning(text).is_cut_off:
        return CUT
    if not text:
        return EMPTY
    if text.removeprefix("```json").lstrip()[:1] in ("{", "["):
        return JSON
    if NO_IMAGE.search(text):
        return NO_IMAGE_SHAPE
    if REFUSAL.search(text):
        return REFUSAL_SHAPE
    return f"starts with {' '.join(text.split()[:3])[:EXAMPLE]!r}"


def commonest_shape(answers: Sequence[Answer]) -> UnreadShape:
    """Of at least one unread reply."""
    shapes = [shape_of(answer) for answer in answers]
    ((name, count),) = Counter(shapes).most_common(1)
    text = " ".join(answers[shapes.index(name)].text.split())
    return UnreadShape(name, count, text if len(text) <= EXAMPLE else f"{text[:EXAMPLE]}…")


def unread_warnings(marks: pl.LazyFrame, store: AnswerStore) -> list[str]:
    """A warning for each candidate most of whose choice answers could not be read."""
    read = marks.filter(pl.col("k").is_not_null(), pl.col("outcome").is_in(["right", "wrong", "unparsed"]))
    is_unparsed = pl.col("outcome") == "unparsed"
    counts = (
        read.group_by("candidate", maintain_order=True).agg(pl.len(), is_unparsed.sum().alias("unparsed")).collect()
    )
    warnings = []
    for candidate, total, unparsed in counts.iter_rows():
        if unparsed <= MAX_SHARE * total:
            continue
        rows = read.filter(is_unparsed, pl.col("candidate") == candidate).select("ask", "trial")
        sample = rows.gather_every(max(1, unparsed // SAMPLE)).collect()
        if answers := list(_stored(sample.iter_rows(), store)):
            what = f"{unparsed:,} of {total:,} choice answers could not be read"
            among = f" of {len(answers):,} looked at" if len(answers) < unparsed else ""
            warnings.append(f"{candidate}: {what}; the commonest shape{among}: {commonest_shape(answers)}")
    return warnings


def _stored(rows: Iterable[tuple[str, int]], store: AnswerStore) -> Iterable[Answer]:
    for ask, trial in rows:
        if (answer := store.get(AnswerKey(bytes.fromhex(ask), trial, 0))) is not None:
            yield answer
