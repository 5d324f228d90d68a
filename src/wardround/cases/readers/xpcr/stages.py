"""Which stage builds on which: IQA -> AL -> LC -> DD -> SG -> CD, and CD also on DD."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.cases.readers.tables.json_file import Told

EDGES = {"IQA": (), "AL": ("IQA",), "LC": ("AL",), "DD": ("LC",), "SG": ("DD",), "CD": ("DD", "SG")}


def chained(questions: Sequence[Told], names: Sequence[object]) -> list[Told]:
    """The questions with `chain` and `given`. A chain is what rows name so, else all stages about the same images.

    A chain has two stages or more. Several questions of one stage are all given to the next; a stage that is not
    there is passed over. Both are our choice.
    """
    groups: dict[str, list[int]] = {}
    for number, (question, name) in enumerate(zip(questions, names, strict=True)):
        if "stage" in question:
            groups.setdefault(f"named {name}" if name not in (None, "") else str(question.get("images")), []).append(
                number
            )
    made = [dict(question) for question in questions]
    for place, members in enumerate(groups.values(), start=1):
        stages: dict[str, list[str]] = {}
        for number in members:
            stages.setdefault(made[number]["stage"], []).append(made[number]["id"])
        if len(stages) < 2:
            continue
        name = names[members[0]]
        for number in members:
            before = _before(made[number]["stage"], stages)
            made[number]["chain"] = f"c{place}" if name in (None, "") else str(name)
            if before:
                made[number]["given"] = before
    return made


def _before(stage: str, there: dict[str, list[str]]) -> list[str]:
    """The ids of the questions that a stage builds on."""
    found: list[str] = []
    for parent in EDGES[stage]:
        found += there[parent] if parent in there else _before(parent, there)
    return list(dict.fromkeys(found))
