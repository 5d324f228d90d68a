"""The step `options`: distractors of the same attribute, so that a text is right as often as chance would have it.

The right answers of a stage or task are each other's distractors (distractors/assign.py). If none of them fits, a text
of the schema is used that is right nowhere in the set: it could be recognized, so it is counted. Grades are not drawn:
every SG offers the whole scale of the set (severity.py), each grade as often right as in the table.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from wardround.building.distractors.assign import Preferences, apply_preferences, assign_distractors
from wardround.building.distractors.options import OptionBalancer
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step
from wardround.building.sources.ophthalmic.chains import chain_items
from wardround.building.sources.ophthalmic.cross_modal import cross_modal_items
from wardround.building.sources.ophthalmic.items import DISTRACTORS, EyeItem
from wardround.building.sources.ophthalmic.neighbours import ORDER, item_name, offered_beside
from wardround.building.sources.ophthalmic.schema import EyeSchema, EyeTables
from wardround.building.sources.ophthalmic.severity import set_scale

STEP = "options"
MIN_OPTIONS = 2
NEAR, OFFERED_BESIDE, TWIN = 1.0, 3.0, 4.0  # weights of preferences
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
        for name in ORDER:
            unfair[name] = _add_options(name, list(items_by_case.values()), tables.schema_, build)
        if counts := ", ".join(f"{count} at {name}" for name, count in unfair.items() if count):
            build.note(f"distractors that are right nowhere in this set, or offered more often than is fair: {counts}")
        for record in records:
            items = _drop_dead_links([item for item in items_by_case[record["id"]] if item["options"]])
            if items:
                yield record | {"items": items}
            else:
                build.reject(record, STEP, "nothing can be asked of it")

    return all_records_step(STEP, change)


def _add_options(name: str, cases: Sequence[list[EyeItem]], schema: EyeSchema, build: Build) -> int:
    """Gives each item of a stage or task its options; returns the number of unfair distractors."""
    asked = [(case, item) for case, items in enumerate(cases) for item in items if item_name(item) == name]
    items = [item for _, item in asked]
    if name == OFFERED_WHOLE:
        distractors, unfair = [item["fitting"] for item in items], 0
    else:
        pool = {item["gold"] for item in items}
        weights = [_preferred(item, offered_beside(item, cases[case], schema, pool)) for case, item in asked]
        first: dict[tuple[int, str], int] = {}
        twins = [first.setdefault((case, item["gold"]), number) for number, (case, item) in enumerate(asked)]
        distractors, unfair = _fair_distractors(name, items, weights, twins, build)
    balance = OptionBalancer(build.random_stream("places", name))
    for item, texts in zip(items, distractors, strict=True):
        options = balance.place_gold(item["gold"], texts)
        item["options"], item["gold"] = options.options if len(options.options) >= MIN_OPTIONS else [], options.gold
        item.pop("near", None)
        del item["fitting"]
    return unfair


def _preferred(item: EyeItem, with_neighbours: Iterable[str]) -> dict[str, float]:
    """The texts that an item prefers as distractors, by weight."""
    return dict.fromkeys(item.get("near", ()), NEAR) | dict.fromkeys(with_neighbours, OFFERED_BESIDE)


def _fair_distractors(
    name: str, items: list[EyeItem], weights: list[dict[str, float]], twins: list[int], build: Build
) -> tuple[list[list[str]], int]:
    """The distractors of each item, and how many of them are unfair.

    `twins`: for each item the first of its case with the same answer, whose distractors it prefers most.
    """
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
    own = [
        {number_by_text[text]: weight for text, weight in preferred.items() if text in number_by_text}
        for preferred in weights
    ]
    apply_preferences(table, _as_preferences(own), difficulty=1.0)
    if has_twins := {twin for item, twin in enumerate(twins) if item != twin}:
        shared = [dict.fromkeys(table.distractors(twin), TWIN) if twin in has_twins else {} for twin in twins]
        both = [preferred | as_twin for preferred, as_twin in zip(own, shared, strict=True)]
        apply_preferences(table, _as_preferences(both), difficulty=1.0)
    random, distractors = build.random_stream("filled", name), list[list[str]]()
    for question, item in enumerate(items):
        texts = [pool[text_number] for text_number in table.distractors(question)]
        preferred = weights[question]
        unused = [(-preferred.get(text, 0.0), random.random(), text) for text in item["fitting"] if text not in texts]
        distractors.append(texts + [text for *_, text in sorted(unused)[: DISTRACTORS - len(texts)]])
    return distractors, unfair


def _as_preferences(weights: Iterable[dict[int, float]]) -> Preferences:
    """The weights of texts that each question prefers, one question after another."""
    preferences = Preferences()
    for weight_by_text in weights:
        preferences.add(list(weight_by_text.items()))
    return preferences


def _drop_dead_links(items: list[EyeItem]) -> list[EyeItem]:
    """The items without links to items that have no options."""
    ids = {item["id"] for item in items}
    for item in items:
        if "given" in item:
            item["given"] = [id for id in item["given"] if id in ids]
    return items
