"""The step `options`: distractors of the same attribute, so that a text is right as often as chance would have it.

The right answers of a stage or task are each other's distractors (distractors/assign.py). If none of them fits, a text
of the schema is used that is right nowhere in the set: it could be recognized, so it is counted. Grades are those of
the disease's own scale, named by their rank so that they do not tell the disease; of a scale of up to four all are
offered, as often right as in the table.
"""

from collections import Counter
from collections.abc import Iterator

from wardround.building.distractors.assign import Preferences, apply_preferences, assign_distractors
from wardround.building.distractors.options import OptionBalancer
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step
from wardround.building.sources.ophthalmic.chains import chain_items
from wardround.building.sources.ophthalmic.cross_modal import cross_modal_items
from wardround.building.sources.ophthalmic.items import DISTRACTORS, EyeItem
from wardround.building.sources.ophthalmic.schema import STAGES, TASKS, EyeTables

STEP = "options"
MIN_OPTIONS = 2


def options_step(tables: EyeTables, all_lesions: bool) -> Step:
    """Adds `items` with options; a case without items is rejected."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        items_by_case = {
            record["id"]: [*chain_items(record, tables, all_lesions, build), *cross_modal_items(record, tables, build)]
            for record in records
        }
        unfair: Counter[str] = Counter()
        for name in (*STAGES, *TASKS):
            all_items = (item for items in items_by_case.values() for item in items)
            items = [item for item in all_items if name in (item.get("stage"), item.get("task"))]
            unfair[name] = _add_options(name, items, build)
        if counts := ", ".join(f"{count} at {name}" for name, count in unfair.items() if count and name != "SG"):
            build.note(f"distractors that are right nowhere in this set, or offered more often than is fair: {counts}")
        for record in records:
            items = _drop_dead_links([item for item in items_by_case[record["id"]] if item["options"]])
            if items:
                yield record | {"items": items}
            else:
                build.reject(record, STEP, "nothing can be asked of it")

    return all_records_step(STEP, change)


def _add_options(name: str, items: list[EyeItem], build: Build) -> int:
    """Gives each item its options; returns the number of unfair distractors."""
    pool = sorted({item["gold"] for item in items})
    number_by_text = {text: number for number, text in enumerate(pool)}
    fitting = [frozenset(number_by_text[text] for text in item["fitting"] if text in number_by_text) for item in items]
    table, unfair = assign_distractors(
        [number_by_text[item["gold"]] for item in items],
        DISTRACTORS,
        lambda one, other: one != other,
        build.random_stream(STEP, name),
        lambda question, text_number: text_number in fitting[question],
    )
    preferences = Preferences()
    for item in items:
        near: dict[str, float] = item.pop("near", {})
        item["fitting"].sort(key=lambda text: -near.get(text, 0.0))
        preferences.add([(number_by_text[text], weight) for text, weight in near.items() if text in number_by_text])
    apply_preferences(table, preferences, difficulty=1.0)
    random, balance = build.random_stream("filled", name), OptionBalancer(build.random_stream("places", name))
    for question, item in enumerate(items):
        texts = [pool[text_number] for text_number in table.distractors(question)]
        others = [text for text in item.pop("fitting") if text not in texts][: 2 * DISTRACTORS]
        texts += random.sample(others, min(DISTRACTORS - len(texts), len(others)))
        options = balance.place_gold(item["gold"], texts)
        item["options"], item["gold"] = options.options if len(options.options) >= MIN_OPTIONS else [], options.gold
    return unfair


def _drop_dead_links(items: list[EyeItem]) -> list[EyeItem]:
    """The items without links to items that have no options."""
    ids = {item["id"] for item in items}
    for item in items:
        if "given" in item:
            item["given"] = [id for id in item["given"] if id in ids]
    return items
