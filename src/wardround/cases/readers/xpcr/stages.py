"""Which stage builds on which: IQA -> AL -> LC -> DD -> SG -> CD, and CD also on DD."""

from collections.abc import Mapping, Sequence
from typing import Any

from wardround.cases.readers.tables.json_file import JsonObject

PARENTS = {"IQA": (), "AL": ("IQA",), "LC": ("AL",), "DD": ("LC",), "SG": ("DD",), "CD": ("DD", "SG")}


def link_stages(questions: Sequence[JsonObject], chain_names: Sequence[object]) -> list[JsonObject]:
    """The questions with `chain` and `given`. Rows that name a chain are one; else all stages about the same images.

    A chain has at least two stages. All questions of one stage are given to the next; a stage that is missing is
    passed over. Both are our choice.
    """
    groups: dict[str, list[int]] = {}
    for index, (question, name) in enumerate(zip(questions, chain_names, strict=True)):
        if "stage" in question:
            key = f"named {name}" if name not in (None, "") else str(question.get("images"))
            groups.setdefault(key, []).append(index)
    linked = [dict(question) for question in questions]
    for number, members in enumerate(groups.values(), start=1):
        ids_by_stage: dict[str, list[str]] = {}
        for index in members:
            ids_by_stage.setdefault(linked[index]["stage"], []).append(linked[index]["id"])
        if len(ids_by_stage) < 2:
            continue
        name = chain_names[members[0]]
        for index in members:
            parents = parent_stages(linked[index]["stage"], ids_by_stage)
            linked[index]["chain"] = f"c{number}" if name in (None, "") else str(name)
            if parent_ids := list(dict.fromkeys(id for parent in parents for id in ids_by_stage[parent])):
                linked[index]["given"] = parent_ids
    return linked


def parent_stages(stage: str, asked: Mapping[str, Any]) -> list[str]:
    """The stages that a stage builds on; the parents of a parent that is not asked stand in for it."""
    parents: list[str] = []
    for parent in PARENTS[stage]:
        parents += [parent] if parent in asked else parent_stages(parent, asked)
    return list(dict.fromkeys(parents))
