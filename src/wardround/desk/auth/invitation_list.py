"""A list of people to invite, as CSV: name, role, and perhaps specialty and email."""

import csv
from collections.abc import Collection
from io import StringIO
from typing import NamedTuple

from wardround.cases.readers.clinbench import SPECIALTIES, specialty_named
from wardround.core.errors import WardroundError
from wardround.desk.auth.accounts import MAX_NAME, ROLES

MAX_INVITED = 500
COLUMNS = ("name", "role", "specialty", "email")


class Invited(NamedTuple):
    """One person of the list."""

    name: str
    role: str
    specialty: str
    email: str


def parse_invitation_list(text: str, used_names: Collection[str]) -> list[Invited]:
    """The people of a CSV; all of them, or WardroundError that names the line."""
    rows = csv.DictReader(StringIO(text.lstrip("\ufeff")), skipinitialspace=True)
    header = [name.strip().lower() for name in rows.fieldnames or []]
    if not {"name", "role"} <= set(header):
        raise WardroundError("the first line names the columns: name, role and perhaps specialty, email")
    rows.fieldnames = header
    people: list[Invited] = []
    known = {name.casefold() for name in used_names}
    for row in rows:
        fields = {key: " ".join((row.get(key) or "").split()) for key in COLUMNS}
        if not any(fields.values()):
            continue
        line = f"line {rows.line_num}"
        person = _check(Invited(**fields), line)
        if person.name.casefold() in known:
            raise WardroundError(f"{line}: the name {person.name!r} is taken, or listed twice")
        known.add(person.name.casefold())
        people.append(person)
    if not people:
        raise WardroundError("the list names nobody")
    if len(people) > MAX_INVITED:
        raise WardroundError(f"the list has {len(people)} people; at most {MAX_INVITED} are invited at once")
    return people


def parse_specialty_list(text: str) -> str:
    """Specialties of ClinBench's list, separated by `;`, in their usual spelling; WardroundError for any other."""
    names = [specialty_named(name.strip()) for name in text.split(";") if name.strip()]
    for name in names:
        if name not in SPECIALTIES.values():
            raise WardroundError(f"{name!r} is not a specialty of the list: {', '.join(SPECIALTIES.values())}")
    return "; ".join(dict.fromkeys(names))


def _check(person: Invited, line: str) -> Invited:
    if not 0 < len(person.name) <= MAX_NAME or not person.name.isprintable():
        raise WardroundError(f"{line}: a name has 1 to {MAX_NAME} letters, digits and signs")
    if person.role.lower() not in ROLES:
        raise WardroundError(f"{line}: there is no role {person.role!r}; there are {', '.join(ROLES)}")
    try:
        specialty = parse_specialty_list(person.specialty)
    except WardroundError as error:
        raise WardroundError(f"{line}: {error}") from None
    return person._replace(role=person.role.lower(), specialty=specialty)
