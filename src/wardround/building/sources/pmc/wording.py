"""Translating and rephrasing by a model. What stood there before and after is kept as a diff for people."""

from __future__ import annotations

import difflib
from typing import Any

from wardround.building.pipeline.pipeline import Build, Reject, Step, asked, each
from wardround.building.pipeline.records import Record
from wardround.building.sources.pmc.article import is_english, marks_in
from wardround.building.sources.pmc.plain import sections_of
from wardround.marking.judges.lexical_judge import tokens

LEAST_KEPT, MOST_KEPT = 0.5, 2.0  # words after rephrasing, of those before


def translate_steps(build: Build, skipped: bool) -> list[Step]:
    """Articles that are not in English become English by the writer; without one they are left out."""
    if skipped or not build.writers.has("writer"):
        return [each("translate", _english_only)]
    return [asked("translate", "writer", "translate", _foreign, _translated, max_tokens=16_384)]


def _english_only(record: Record, build: Build) -> Record:
    if not is_english(record):
        raise Reject("not in English")
    return record


def _foreign(record: Record, build: Build) -> dict[str, str] | None:
    return None if is_english(record) else {"article": as_markdown(record["sections"])}


def as_markdown(sections: list[dict[str, Any]]) -> str:
    """Sections as text, figures still as marks."""
    blocks = []
    for section in sections:
        blocks += [f"# {title}" for title in section["titles"][-1:]]
        blocks += section["paragraphs"]
    return "\n\n".join(blocks)


def _translated(record: Record, answer: str, build: Build) -> Record:
    before = as_markdown(record["sections"])
    after = [{**section} for section in sections_of(answer, {})]
    if not is_english({"sections": after}) or not after:
        raise Reject("the translation is not English")
    if lost := sorted(set(marks_in(before)) - set(marks_in(answer))):
        raise Reject("the translation lost a figure", lost[0])
    build.queue("translate", {"id": record["id"], "diff": diff(before, answer)})
    return record | {"sections": after}


def rephrase_step(telling: str) -> Step:
    """The writer tells the stem in other words."""

    def slots(record: Record, build: Build) -> dict[str, str] | None:
        return {"stem": record["tellings"][telling]} if telling in record["tellings"] else None

    def read(record: Record, answer: str, build: Build) -> Record:
        before, after = record["tellings"][telling], answer.strip()
        item = {"id": record["id"], "telling": telling, "diff": diff(before, after)}
        share = len(tokens(after)) / len(tokens(before))
        lost = [f"Figure {n}" for n in range(1, 30) if f"Figure {n}" in before and f"Figure {n}" not in after]
        if not LEAST_KEPT <= share <= MOST_KEPT or lost:
            build.queue("rephrase", item | {"reason": "lost something: the first wording stays"})
            return record
        build.queue("rephrase", item | {"reason": "changed"})
        return record | {"tellings": record["tellings"] | {telling: after}}

    return asked(f"rephrase {telling}", "writer", "rephrase", slots, read, max_tokens=4_096)


def diff(before: str, after: str) -> str:
    """Line by line, as `diff -u` writes it."""
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm=""))
