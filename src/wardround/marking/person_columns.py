"""What a mark carries of the person who answered: who it was, and whether the case is of their specialty."""

from __future__ import annotations

from typing import Any

import polars as pl

from wardround.cases.readers.clinbench import specialty_named
from wardround.core.ask import Answer
from wardround.core.case import Case

PEOPLE_SCHEMA: dict[str, Any] = {"person": pl.String, "in_specialty": pl.String}
IN, OUT = "yes", "no"


def person_marks(answer: Answer, case: Case) -> dict[str, str | None]:
    """Who answered, and whether the case is of one of their specialties; unknown where either is not told."""
    if answer.person is None:
        return {}
    own = {_plain(each) for each in str(answer.person.get("specialty", "")).split(";") if each.strip()}
    known = bool(own) and bool(case.specialty)
    within = _plain(case.specialty or "") in own
    return {"person": answer.person["person"], "in_specialty": (IN if within else OUT) if known else None}


def _plain(specialty: str) -> str:
    return specialty_named(specialty).casefold()
