"""The specialty of a case, and whether it is rare: by tables, then by a model, then by people."""

import csv
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from wardround.building.pipeline.pipeline import Build, Record, Step, model_step, record_step
from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.names import Synonyms, content_words
from wardround.core.text import fold_accents


@cache
def specialty_words() -> dict[str, list[str]]:
    """The word beginnings of each specialty."""
    text = resources.files("wardround.building.sources.pmc").joinpath("specialties.toml").read_text(encoding="utf-8")
    return {name: [fold_accents(word) for word in words] for name, words in tomllib.loads(text).items()}


def specialty_of(texts: Iterable[str]) -> str | None:
    """The specialty with most hits in the first text that has any; None for a tie."""
    for text in texts:
        folded = fold_accents(text)
        hits = {
            name: sum(bool(re.search(rf"\b{re.escape(word)}", folded)) for word in words)
            for name, words in specialty_words().items()
        }
        max_hits = max(hits.values())
        best = [name for name, count in hits.items() if count == max_hits]
        if max_hits:
            return best[0] if len(best) == 1 else None
    return None


def specialty_steps(build: Build) -> list[Step]:
    """By the table, else by the extractor; a case without a specialty goes to review."""
    steps = [record_step("specialty", _by_table)]
    if build.models.has("extractor"):
        steps.append(model_step("specialty by model", "extractor", "specialty", _slots, _by_model, max_tokens=64))
    return [*steps, record_step("specialty for people", _queue_for_review)]


def _by_table(record: Record, build: Build) -> Record:
    return record | {"specialty": specialty_of([record["diagnosis"], *record["subjects"]])}


def _slots(record: Record, build: Build) -> dict[str, str] | None:
    if record["specialty"]:
        return None
    return {"diagnosis": record["diagnosis"], "specialties": "\n".join(f"- {name}" for name in specialty_words())}


def _by_model(record: Record, answer: str, build: Build) -> Record:
    reply = fold_accents(answer)
    names = [name for name in specialty_words() if fold_accents(name) in reply]
    return record | {"specialty": names[0] if len(names) == 1 else None}


def _queue_for_review(record: Record, build: Build) -> Record:
    if record["specialty"] is None:
        choices = list(specialty_words())
        build.queue("specialty", {"id": record["id"], "diagnosis": record["diagnosis"], "choices": choices})
    return record


def rare_step(catalogue: Sequence[str], synonyms: Synonyms) -> Step:
    """Tags the cases whose diagnosis is in a catalogue of rare diseases, by any of its names."""
    rare = {frozenset(content_words(name)) for entry in catalogue for name in synonyms.names_of(entry)}

    def tag(record: Record, build: Build) -> Record:
        is_rare = any(frozenset(content_words(name)) in rare for name in record["names"])
        return record | {"tags": ["rare"] if is_rare else []}

    return record_step("rare", tag)


def read_catalogue(file: Path) -> list[str]:
    """The names of a catalogue: a CSV with a column `name`, or one name per line."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise BadInput(file, "there is no such catalogue") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, describe_unreadable(error)) from None
    rows = list(csv.reader(lines))
    if rows and "name" in rows[0]:
        column = rows[0].index("name")
        names = [row[column].strip() for row in rows[1:] if len(row) > column]
    else:
        names = [line.strip() for line in lines]
    names = [name for name in names if content_words(name)]
    if not names:
        raise BadInput(file, "contains no disease names; expected one per line, or a CSV column `name`")
    return names
