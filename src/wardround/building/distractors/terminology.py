"""The step `terminology`: a model writes the names of a question's diagnoses in one style, the right one among them.

CURE states that a model standardised terminologies. Our choices: the style (in the prompt), and that a new name is used
only if the names matcher calls it the same disease. Every change is kept in terminology.jsonl, used or not; those that
are not used are in the review queue of the same name.
"""

import re
from collections.abc import Callable

from wardround.building.distractors.options import clean_name
from wardround.building.pipeline.pipeline import Build, Record, Step, model_step
from wardround.building.text.redact import find_revealed_name
from wardround.core.names import Synonyms, content_words, same_disease

ROLE = "standardiser"
STEP = "terminology"
DIFF = "terminology.jsonl"
DECIDE = "The name was not changed. To use the new one, edit the options and the open question."
_NUMBERED = re.compile(r"^\s*(\d{1,2})\s*[.):]\s*(.+)$")


def terminology_step(synonyms: Synonyms, shown_text: Callable[[Record], str]) -> Step:
    """Renames `diagnosis` and `candidates` of a record. `shown_text`: what a candidate will read of its case."""

    def slots(record: Record, build: Build) -> dict[str, str]:
        lines = (f"{number}. {name}" for number, name in enumerate(_names(record), start=1))
        return {"names": "\n".join(lines)}

    def read(record: Record, reply: str, build: Build) -> Record:
        names = _names(record)
        new_names = parse_numbered_names(reply)
        renamed = [
            _rename(record, number, name, new_names.get(number, ""), build)
            for number, name in enumerate(names, start=1)
        ]
        gold, *candidates = renamed
        return record | {
            "diagnosis": gold,
            "names": list(dict.fromkeys([gold, *record["names"]])),
            "candidates": candidates,
        }

    def _rename(record: Record, number: int, before: str, after: str, build: Build) -> str:
        """The name to be used; a change is recorded, and one that is not used is put into the queue."""
        if not content_words(after) or after == before:
            return before
        reason = None
        if not same_disease(after, [before], synonyms):
            reason = "the new name may be another disease"
        elif number == 1 and find_revealed_name(shown_text(record), [after]):
            reason = "the case contains the new name of its diagnosis"
        settings = build.models.settings[ROLE]
        change = {"before": before, "after": after, "model": settings.model or settings.provider}
        role = "gold" if number == 1 else "differential"
        line = {"case": record["id"], "name": role, **change, "used": reason is None}
        build.side_files.setdefault(DIFF, []).append(line)
        if reason:
            build.queue(STEP, {"id": record["id"], "reason": reason, "decide": DECIDE, **change})
        return before if reason else after

    return model_step(STEP, ROLE, STEP, slots, read, max_tokens=512)


def parse_numbered_names(reply: str) -> dict[int, str]:
    """The names of a numbered list by their numbers."""
    lines = filter(None, map(_NUMBERED.match, reply.splitlines()))
    return {int(line[1]): clean_name(line[2]) for line in lines}


def _names(record: Record) -> list[str]:
    return [record["diagnosis"], *record["candidates"]]
