"""Items about several modalities of one eye: correspondence, integration and selection, from the matrix."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.sources.ophthalmic.chains import other_lesions
from wardround.building.sources.ophthalmic.items import EyeItem, image_name, image_names, make_item, side_phrase
from wardround.building.sources.ophthalmic.schema import UNGRADABLE, EvidenceMatrix, EyeTables

MAX_PAIRS = 2  # correspondence items of one eye (our choice)


def cross_modal_items(record: Record, tables: EyeTables, build: Build) -> Iterator[EyeItem]:
    """The items of each eye that has one disease on several modalities."""
    eyes: dict[tuple[str, str], list[Record]] = {}
    for row in record["rows"]:
        if row["quality"] != UNGRADABLE:
            eyes.setdefault((row["eye"], row["disease"]), []).append(row)
    several = [rows for rows in eyes.values() if len({row["modality"] for row in rows}) > 1]
    for number, rows in enumerate(several, start=1):
        yield from _correspondences(record, rows, number, tables, build)
        yield _integration(record, rows, number, tables, build)
        yield from _selections(record, rows, number, tables, build)


def _correspondences(
    record: Record, rows: Sequence[Record], number: int, tables: EyeTables, build: Build
) -> Iterator[EyeItem]:
    pairs = [pair for pair in permutations(rows, 2) if pair[0]["modality"] != pair[1]["modality"]]
    build.random_stream("pairs", record["id"], number).shuffle(pairs)
    asked_pairs: set[frozenset[str]] = set()
    for one, other in pairs:
        counterpart = _counterpart(one, other, tables.matrix)
        pair = frozenset([one["modality"], other["modality"]])
        if counterpart is None or len(asked_pairs) == MAX_PAIRS or pair in asked_pairs:
            continue
        asked_pairs.add(pair)
        finding, gold = counterpart
        equivalents = {row[other["modality"]] for row in tables.matrix.evidence if _shows(row, one, finding, other)}
        lesions = other_lesions(other, other["modality"], tables.schema_, False)
        names = {"image": image_name(one, tables.schema_), "other": image_name(other, tables.schema_)}
        id = f"correspondence-{number}{'ab'[len(asked_pairs) - 1]}"
        item = make_item(id, "correspondence", other, names | {"finding": finding}, tables, build, record["id"])
        diseases = tables.schema_.diseases.values()
        wrong = equivalents | {name for disease in diseases if disease.healthy for name in disease.lesions}
        yield item | {
            "task": "correspondence",
            "images": sorted({one["shows"], other["shows"]}),
            "gold": gold,
            "fitting": [name for name in lesions if name not in wrong],
        }


def _shows(row: dict[str, str], one: Record, finding: str, other: Record) -> bool:
    return row.get(one["modality"]) == finding and other["modality"] in row


def _counterpart(one: Record, other: Record, matrix: EvidenceMatrix) -> tuple[str, str] | None:
    """A lesion of one image and the equivalent lesion of another, if the table has both."""
    for row in matrix.evidence:
        finding, gold = row.get(one["modality"]), row.get(other["modality"])
        labelled = row["disease"] == one["disease"] and finding in one["lesions"] and gold in other["lesions"]
        if labelled and finding and gold and finding != gold:
            return finding, gold
    return None


def _integration(record: Record, rows: Sequence[Record], number: int, tables: EyeTables, build: Build) -> EyeItem:
    schema = tables.schema_
    modalities = {row["modality"] for row in rows}
    slots = {"images": image_names(rows, schema), "side": side_phrase(rows[0])}
    item = make_item(f"integration-{number}", "integration", rows[0], slots, tables, build, record["id"])
    fitting = [
        name
        for name, other in schema.diseases.items()
        if modalities & set(other.modalities)
        and schema.can_be_options(rows[0]["disease"], name)
        and name not in rows[0]["other_diseases"]
    ]
    shows = sorted({row["shows"] for row in rows})
    return item | {"task": "integration", "images": shows, "gold": rows[0]["disease"], "fitting": fitting}


def _selections(
    record: Record, rows: Sequence[Record], number: int, tables: EyeTables, build: Build
) -> Iterator[EyeItem]:
    """One item on the next examination, without the images that would answer it."""
    matrix = tables.matrix
    possible = [examination for examination in matrix.selection if rows[0]["disease"] in examination.diseases]
    build.random_stream("selection", record["id"], number).shuffle(possible)
    for examination in possible:
        remaining = [row for row in rows if row["modality"] != matrix.examinations[examination.next]]
        if not remaining:
            continue
        modalities = {row["modality"] for row in remaining}
        fitting = [
            name
            for name, modality in matrix.examinations.items()
            if name != examination.next and name not in examination.also and modality not in modalities
        ]
        slots = {"images": image_names(remaining, tables.schema_), "doubt": examination.doubt}
        item = make_item(f"selection-{number}", "selection", rows[0], slots, tables, build, record["id"])
        shows = sorted({row["shows"] for row in remaining})
        yield item | {"task": "selection", "images": shows, "gold": examination.next, "fitting": fitting}
        return
