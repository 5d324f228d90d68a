"""The step `options`: distractors of the same attribute, so that a text is right as often as chance would have it.

The right answers of a stage or task are each other's distractors (distractors/assign.py). If none of them fits, a text
of the schema is used that is right nowhere in the set: it could be recognized, so it is counted. Grades are not drawn:
every SG offers the whole scale of the set (severity.py), each grade as often right as in the table.
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
from wardround.building.sources.ophthalmic.severity import set_scale

STEP = "options"
MIN_OPTIONS = 2
OFFERED_WHOLE = "SG"  # its options are all texts of their kind


def options_step(tables: EyeTables, all_lesions: bool) -> Step:
    """Adds `items` with options; a case without items is rejected."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        scale = set_scale(records, tables.schema_)
        items_by_case = {
            record["id"]: [
                *chain_items(record, tables, scale, all_lesions, build),
                *cross_modal_items(record, tables, build),
            ]
            for record in records
        }
        unfair: Counter[str] = Counter()
        for name in (*STAGES, *TASKS):
            all_items = (item for items in items_by_case.values() for item in items)
            items = [item for item in all_items if name in (item.get("stage"), item.get("task"))]
            unfair[name] = _add_options(name, items, build)
        if counts := ", ".join(f"{count} at {name}" for name, count in unfair.items() if count):
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
    if name == OFFERED_WHOLE:
        distractors, unfair = [item["fitting"] for item in items], 0
    else:
        distractors, unfair = _fair_distractors(name, items, build)
    balance = OptionBalancer(build.random_stream("places", name))
    for item, texts in zip(items, distractors, strict=True):
        options = balance.place_gold(item["gold"], texts)
        item["options"], item["gold"] = options.options if len(options.options) >= MIN_OPTIONS else [], options.gold
        item.pop("near", None)
        del item["fitting"]
    return unfair


def _fair_distractors(name: str, items: list[EyeItem], build: Build) -> tuple[list[list[str]], int]:
    """The distractors of each item, and how many of them are unfair."""
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
    preferences, nears = Preferences(), [frozenset(item.get("near", ())) for item in items]
    for near in nears:
        preferences.add([(number_by_text[text], 1.0) for text in near if text in number_by_text])
    apply_preferences(table, preferences, difficulty=1.0)
    random, distractors = build.random_stream("filled", name), list[list[str]]()
    for question, item in enumerate(items):
        texts = [pool[text_number] for text_number in table.distractors(question)]
        unused, near = [text for text in item["fitting"] if text not in texts], nears[question]
        others = [*(text for text in unused if text in near), *(text for text in unused if text not in near)]
        others = others[: 2 * DISTRACTORS]
        distractors.append(texts + random.sample(others, min(DISTRACTORS - len(texts), len(others))))
    return distractors, unfair


def _drop_dead_links(items: list[EyeItem]) -> list[EyeItem]:
    """The items without links to items that have no options."""
    ids = {item["id"] for item in items}
    for item in items:
        if "given" in item:
            item["given"] = [id for id in item["given"] if id in ids]
    return items
