"""The step `options`: distractors of the same attribute, each text as often right as chance would have it.

The right answers of a stage or task are dealt to each other as distractors (see dealing.py). Where none of them fits, a
text of the schema that is right nowhere in the set stands in; people who know the set could tell it, and it is counted.
Grades are those of the disease's own scale: of a scale of up to four all are offered, as often right as in the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from wardround.building.distractors.assign import Wishes, deal, serve
from wardround.building.distractors.options import Balance
from wardround.building.pipeline.pipeline import Build, Step, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.sources.ophthalmic.across import across
from wardround.building.sources.ophthalmic.chains import chains
from wardround.building.sources.ophthalmic.items import DISTRACTORS, Item
from wardround.building.sources.ophthalmic.schema import STAGES, TASKS, Tables

STEP = "options"
FEWEST = 2  # options of a question


def with_questions(tables: Tables, all_lesions: bool) -> Step:
    """Adds `items` with options; a case of which nothing can be asked is left out."""

    def change(records: Spool, build: Build) -> Iterator[Record]:
        cases = [
            (record["id"], [*chains(record, tables, all_lesions, build), *across(record, tables, build)])
            for record in records
        ]
        unfair: Counter[str] = Counter()
        for name in (*STAGES, *TASKS):
            items = [item for _, asked in cases for item in asked if name in (item.get("stage"), item.get("task"))]
            unfair[name] = _deal(name, items, build)
        told = ", ".join(f"{many} at {name}" for name, many in unfair.items() if many and name != "SG")
        if told:
            build.note(f"distractors that are right nowhere in this set, or offered more often than is fair: {told}")
        asked = dict(cases)
        for record in records:
            items = _linked([item for item in asked[record["id"]] if item["options"]])
            if items:
                yield record | {"items": items}
            else:
                build.reject(record, STEP, "nothing can be asked of it")

    return whole(STEP, change)


def _deal(name: str, items: list[Item], build: Build) -> int:
    """Gives each item its options; how many distractors are not fair ones."""
    pool = sorted({item["gold"] for item in items})
    number = {text: place for place, text in enumerate(pool)}
    fitting = [frozenset(number[text] for text in item["fitting"] if text in number) for item in items]
    table, unfair = deal(
        [number[item["gold"]] for item in items],
        DISTRACTORS,
        lambda one, other: one != other,
        build.drawn(STEP, name),
        lambda question, card: card in fitting[question],
    )
    wishes = Wishes()
    for item in items:
        near = frozenset(item.pop("near", ()))
        item["fitting"].sort(key=lambda text: text not in near)
        wishes.add([(number[text], 1.0) for text in near if text in number])
    serve(table, wishes, difficulty=1.0)
    numbers, balance = build.drawn("filled", name), Balance(build.drawn("places", name))
    for question, item in enumerate(items):
        hand = [pool[card] for card in table.hand(question)]
        others = [text for text in item.pop("fitting") if text not in hand][: 2 * DISTRACTORS]
        hand += numbers.sample(others, min(DISTRACTORS - len(hand), len(others)))
        placed = balance.placed(item["gold"], hand)
        item["options"], item["gold"] = placed.options if len(placed.options) >= FEWEST else [], placed.gold
    return unfair


def _linked(items: list[Item]) -> list[Item]:
    """The items without links to such as could not be asked."""
    there = {item["id"] for item in items}
    for item in items:
        if "given" in item:
            item["given"] = [id for id in item["given"] if id in there]
    return items
