"""Translation and rephrasing by a model. The change goes to a review queue as a diff."""

import difflib
from typing import Any

from wardround.building.pipeline.pipeline import Build, Record, Reject, Step, model_step, record_step
from wardround.building.sources.pmc.article import find_marks, is_english
from wardround.building.sources.pmc.plain_text import split_sections
from wardround.core.names import normalized_words

MIN_RATIO, MAX_RATIO = 0.5, 2.0  # of the words after rephrasing to those before


def translate_steps(build: Build, skipped: bool) -> list[Step]:
    """The writer translates articles that are not in English; without a writer they are rejected."""
    if skipped or not build.models.has("writer"):
        return [record_step("translate", _require_english)]
    return [model_step("translate", "writer", "translate", _translate_slots, _read_translation, max_tokens=16_384)]


def _require_english(record: Record, build: Build) -> Record:
    if not is_english(record):
        raise Reject("not in English")
    return record


def _translate_slots(record: Record, build: Build) -> dict[str, str] | None:
    return None if is_english(record) else {"article": as_markdown(record["sections"])}


def as_markdown(sections: list[dict[str, Any]]) -> str:
    """Sections as Markdown, with the marks of figures."""
    blocks = []
    for section in sections:
        blocks += [f"# {title}" for title in section["titles"][-1:]]
        blocks += section["paragraphs"]
    return "\n\n".join(blocks)


def _read_translation(record: Record, answer: str, build: Build) -> Record:
    before = as_markdown(record["sections"])
    after = [{**section} for section in split_sections(answer, {})]
    if not is_english({"sections": after}) or not after:
        raise Reject("the translation is not English")
    if lost := sorted(set(find_marks(before)) - set(find_marks(answer))):
        raise Reject("the translation lost a figure", lost[0])
    build.queue("translate", {"id": record["id"], "diff": diff(before, answer)})
    return record | {"sections": after}


def rephrase_step(telling: str) -> Step:
    """The writer rephrases the stem."""

    def slots(record: Record, build: Build) -> dict[str, str] | None:
        return {"stem": record["tellings"][telling]} if telling in record["tellings"] else None

    def read(record: Record, answer: str, build: Build) -> Record:
        before, after = record["tellings"][telling], answer.strip()
        item = {"id": record["id"], "telling": telling, "diff": diff(before, after)}
        share = len(normalized_words(after)) / len(normalized_words(before))
        lost = [f"Figure {n}" for n in range(1, 30) if f"Figure {n}" in before and f"Figure {n}" not in after]
        if not MIN_RATIO <= share <= MAX_RATIO or lost:
            build.queue("rephrase", item | {"reason": "lost something: the first wording stays"})
            return record
        build.queue("rephrase", item | {"reason": "changed"})
        return record | {"tellings": record["tellings"] | {telling: after}}

    return model_step(f"rephrase {telling}", "writer", "rephrase", slots, read, max_tokens=4_096)


def diff(before: str, after: str) -> str:
    """A unified diff, line by line."""
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm=""))
