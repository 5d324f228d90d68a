"""A readable history from the fields of a phenopacket, in one of several wordings."""

import random
import re
from collections.abc import Sequence
from typing import Any

from wardround.building.pipeline.pipeline import Record
from wardround.building.sources.phenopackets.onset import describe_duration

MAX_EXCLUDED = 15  # features that were looked for and not found; of more, so many are drawn (our choice)
OPENINGS = (
    "{who} is referred for evaluation.",
    "{who} is seen in the outpatient clinic.",
    "{who} is presented at the ward round.",
    "Your opinion is sought on {who_low}.",
)
LOOKING_BACK = ("The records of {who_low} are reviewed.", "The records of {who_low} are before you.")
UNBORN = ("{who} is examined before birth.", "Prenatal findings are discussed in {who_low}.")
BEGINNINGS = (
    "The first signs appeared {when}.",
    "It began {when}.",
    "What led here was first noticed {when}.",
)
FINDINGS = (
    "The findings are {list}.",
    "The work-up shows {list}.",
    "On record are {list}.",
    "Noted so far: {list}.",
)
LATER = (
    "First noted {when}: {list}.",
    "Dating from {when_from}: {list}.",
    "Recorded {when}: {list}.",
)
ABSENT = (
    "Looked for and not found: {list}.",
    "There is no {alternatives}.",
    "Examination did not show {alternatives}.",
    "Absent: {list}.",
)
ENDED = ("The patient has died.", "The patient has since died.")
# first words of HPO labels that are proper names
PROPER_NAMES = frozenset(
    [
        *("Achilles", "Aschoff", "Babinski", "Barrett", "Bell", "Brushfield", "Budd", "Burkitt", "Chiari", "Coombs"),
        *("Crohn", "Cushing", "Descemet", "Ewing", "Fallot", "Gottron", "Gowers", "Graves", "Hashimoto", "Heinz"),
        *("Hirschsprung", "Hodgkin", "Horner", "Kaposi", "Lisch", "Madelung", "Marcus", "Meckel", "Osler", "Parkinson"),
        *("Peters", "Purkinje", "Rathke", "Raynaud", "Romberg", "Schwann", "Sjogren", "Sprengel", "Tinel", "Virchow"),
        *("Wilms", "Wormian"),
    ]
)
_FIRST_WORD = re.compile(r"[^\W\d_]+")


def write_history(record: Record, numbers: random.Random) -> str:
    """The history of a record; `numbers` chooses the wording."""
    groups: dict[str | None, list[str]] = {}
    for feature in record["present"]:
        groups.setdefault(feature["onset"], []).append(describe_feature(feature))
    who = describe_patient(record)
    openings = UNBORN if record["gestation"] else LOOKING_BACK if record["dead"] else OPENINGS
    parts = [numbers.choice(openings).format(who=who[0].upper() + who[1:], who_low=who)]
    if record["onset"]:
        parts.append(numbers.choice(BEGINNINGS).format(when=record["onset"]))
    findings, later = numbers.choice(FINDINGS), numbers.choice(LATER)
    for when, labels in sorted(groups.items(), key=lambda group: group[0] is not None):
        parts.append(findings.format(list=join_items(labels)) if when is None else _later(later, when, labels))
    excluded = [describe_feature(feature) for feature in draw_items(record["excluded"], MAX_EXCLUDED, numbers)]
    if excluded:
        alternatives = join_items(excluded, "or")
        parts.append(numbers.choice(ABSENT).format(list=join_items(excluded), alternatives=alternatives))
    if record["dead"]:
        parts.append(numbers.choice(ENDED))
    return " ".join(parts)


def _later(wording: str, when: str, labels: Sequence[str]) -> str:
    since = when.removeprefix("at ") if when.startswith("at ") else None
    if "{when_from}" in wording and since is None:
        wording = LATER[0]
    return wording.format(when=when, when_from=since, list=join_items(labels))


def describe_patient(record: Record) -> str:
    """`a 4-year-old boy`, `a male fetus at 16 weeks of gestation`, `a patient`."""
    sex = {"M": 0, "F": 1}.get(record["sex"], 2)
    if record["gestation"]:
        return f"a {('male ', 'female ', '')[sex]}fetus {record['gestation']}"
    if record["years"] is None:
        return f"a {('male ', 'female ', '')[sex]}patient"
    age = describe_duration(record["age"])
    if not age:
        return f"a newborn {('boy', 'girl', 'child')[sex]}"
    person = (("boy", "girl", "child"), ("man", "woman", "person"))[record["years"] >= 18][sex]
    if " and " in age:
        return f"a {person} aged {age}"
    number, unit = age.split()
    return f"{'an' if re.match(r'8|11$|18$', number) else 'a'} {number}-{unit.rstrip('s')}-old {person}"


def describe_feature(feature: dict[str, Any]) -> str:
    """A feature as part of a sentence: `mild ataxia (episodic)`."""
    label = lower_first_letter(feature["label"])
    if isinstance(feature["severity"], str) and feature["severity"].strip():
        label = f"{feature['severity'].strip().lower()} {label}"
    return f"{label} ({', '.join(map(lower_first_letter, feature['modifiers']))})" if feature["modifiers"] else label


def lower_first_letter(label: str) -> str:
    """A label with a small first letter, unless it begins with a name or an abbreviation."""
    first = _FIRST_WORD.match(label)
    if first is None or first[0] in PROPER_NAMES or not first[0][1:].islower() or re.match(r"\w+-[A-Z]", label):
        return label
    return label[0].lower() + label[1:]


def join_items(items: Sequence[str], word: str = "and") -> str:
    """`a, b and c`; with semicolons if an item has a comma or the word itself."""
    if len(items) == 1:
        return items[0]
    if any("," in item or f" {word} " in item for item in items):
        return f"{'; '.join(items[:-1])}; {word} {items[-1]}"
    return f"{', '.join(items[:-1])} {word} {items[-1]}"


def draw_items(items: Sequence[Any], max_count: int, numbers: random.Random) -> list[Any]:
    """At most `max_count` of the items, in their order."""
    if len(items) <= max_count:
        return list(items)
    return [items[index] for index in sorted(numbers.sample(range(len(items)), max_count))]
