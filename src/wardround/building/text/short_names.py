"""Short and everyday names of diseases: `HCC`, `heart attack`. The table is that of the parser of replies."""

import tomllib
from functools import lru_cache
from importlib import resources

from wardround.building.text.diagnosis_core import OTHER_ABBREVIATIONS
from wardround.core.names import content_words, one_meaning

MIN_LETTERS = 4  # of a name in small letters


@lru_cache(1)
def _names_by_meaning() -> dict[frozenset[str], list[str]]:
    table = resources.files("wardround.marking.parser").joinpath("option_words.toml").read_text(encoding="utf-8")
    names: dict[frozenset[str], list[str]] = {}
    for short, full in tomllib.loads(table)["names"].items():
        is_usable = short not in OTHER_ABBREVIATIONS if short.isupper() else len(short) >= MIN_LETTERS
        if is_usable and len(content_words(full)) > (0 if short.isupper() else 1):
            names.setdefault(_meaning(full), []).append(short)
    return names


def short_names(name: str) -> list[str]:
    """What else people write for a disease of this name."""
    return _names_by_meaning().get(_meaning(name), [])


def _meaning(name: str) -> frozenset[str]:
    return frozenset(map(one_meaning, content_words(name)))
