"""Specialty and rareness of a case: by tables, then by a model, then by people."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from wardround.building.pipeline.pipeline import Build, Step, asked, each
from wardround.building.pipeline.records import Record
from wardround.core.errors import BadInput
from wardround.marking.judges.lexical_judge import Synonyms, content, plain


@cache
def table() -> dict[str, list[str]]:
    """The beginnings of words of each specialty."""
    text = resources.files("wardround.building.sources.pmc").joinpath("specialties.toml").read_text(encoding="utf-8")
    return {name: [plain(word) for word in words] for name, words in tomllib.loads(text).items()}


def specialty_of(texts: Iterable[str]) -> str | None:
    """The specialty that the first text with any hit has most hits of; None for a tie."""
    for text in texts:
        told = plain(text)
        hits = {
            name: sum(bool(re.search(rf"\b{re.escape(word)}", told)) for word in words)
            for name, words in table().items()
        }
        most = max(hits.values())
        best = [name for name, many in hits.items() if many == most]
        if most:
            return best[0] if len(best) == 1 else None
    return None


def specialty_steps(build: Build) -> list[Step]:
    """By the table; what it leaves open by the extractor; what is still open goes to people and stays without one."""
    steps = [each("specialty", _by_table)]
    if build.writers.has("extractor"):
        steps.append(asked("specialty by model", "extractor", "specialty", _slots, _by_model, max_tokens=64))
    return [*steps, each("specialty for people", _to_people)]


def _by_table(record: Record, build: Build) -> Record:
    return record | {"specialty": specialty_of([record["diagnosis"], *record["subjects"]])}


def _slots(record: Record, build: Build) -> dict[str, str] | None:
    if record["specialty"]:
        return None
    return {"diagnosis": record["diagnosis"], "specialties": "\n".join(f"- {name}" for name in table())}


def _by_model(record: Record, answer: str, build: Build) -> Record:
    said = plain(answer)
    named = [name for name in table() if plain(name) in said]
    return record | {"specialty": named[0] if len(named) == 1 else None}


def _to_people(record: Record, build: Build) -> Record:
    if record["specialty"] is None:
        build.queue("specialty", {"id": record["id"], "diagnosis": record["diagnosis"], "choices": list(table())})
    return record


def rare_step(catalogue: Sequence[str], synonyms: Synonyms) -> Step:
    """Tags the cases whose diagnosis is in a catalogue of rare diseases, under any of its names."""
    rare = {frozenset(content(name)) for entry in catalogue for name in synonyms.of(entry)}

    def tagged(record: Record, build: Build) -> Record:
        return record | {"tags": ["rare"] if any(frozenset(content(name)) in rare for name in record["names"]) else []}

    return each("rare", tagged)


def read_catalogue(file: Path) -> list[str]:
    """The names of a catalogue: a CSV with a column `name`, or one name a line."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise BadInput(file, "there is no such catalogue") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    rows = list(csv.reader(lines))
    if rows and "name" in rows[0]:
        place = rows[0].index("name")
        names = [row[place].strip() for row in rows[1:] if len(row) > place]
    else:
        names = [line.strip() for line in lines]
    names = [name for name in names if content(name)]
    if not names:
        raise BadInput(file, "there is no name in it")
    return names
