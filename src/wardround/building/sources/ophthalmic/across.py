"""What is asked across the modalities of one eye: correspondence, integration and selection, by the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.sources.ophthalmic.chains import other_lesions
from wardround.building.sources.ophthalmic.items import Item, all_named, named, side_of, worded
from wardround.building.sources.ophthalmic.schema import UNGRADABLE, Matrix, Tables

PAIRS = 2  # correspondences asked of one eye (our choice)


def across(record: Record, tables: Tables, build: Build) -> Iterator[Item]:
    """Correspondence, integration and selection, for each eye with one disease on several modalities."""
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
    record: Record, rows: Sequence[Record], number: int, tables: Tables, build: Build
) -> Iterator[Item]:
    pairs = [pair for pair in permutations(rows, 2) if pair[0]["modality"] != pair[1]["modality"]]
    build.drawn("pairs", record["id"], number).shuffle(pairs)
    asked: set[frozenset[str]] = set()
    for one, other in pairs:
        found = _counterpart(one, other, tables.matrix)
        if found is None or len(asked) == PAIRS or (pair := frozenset([one["modality"], other["modality"]])) in asked:
            continue
        asked.add(pair)
        finding, gold = found
        same = {row[other["modality"]] for row in tables.matrix.evidence if _shows(row, one, finding, other)}
        fitting = [name for name in other_lesions(other, other["modality"], tables.schema_, False) if name not in same]
        slots = {"image": named(one, tables.schema_)} | {"finding": finding, "other": named(other, tables.schema_)}
        id = f"correspondence-{number}{'ab'[len(asked) - 1]}"
        item = worded(id, "correspondence", other, slots, tables, build, record["id"])
        healthy = {name for each in tables.schema_.diseases.values() if each.healthy for name in each.lesions}
        yield item | {
            "task": "correspondence",
            "images": sorted({one["shows"], other["shows"]}),
            "gold": gold,
            "fitting": [name for name in fitting if name not in healthy],
        }


def _shows(row: dict[str, str], one: Record, finding: str, other: Record) -> bool:
    return row.get(one["modality"]) == finding and other["modality"] in row


def _counterpart(one: Record, other: Record, matrix: Matrix) -> tuple[str, str] | None:
    """A lesion of one image and the lesion of another that shows the same, if the table has both."""
    for row in matrix.evidence:
        finding, gold = row.get(one["modality"]), row.get(other["modality"])
        told = row["disease"] == one["disease"] and finding in one["lesions"] and gold in other["lesions"]
        if told and finding and gold and finding != gold:
            return finding, gold
    return None


def _integration(record: Record, rows: Sequence[Record], number: int, tables: Tables, build: Build) -> Item:
    schema = tables.schema_
    modalities = {row["modality"] for row in rows}
    slots = {"images": all_named(rows, schema), "side": side_of(rows[0])}
    item = worded(f"integration-{number}", "integration", rows[0], slots, tables, build, record["id"])
    fitting = [
        name
        for name, other in schema.diseases.items()
        if modalities & set(other.modalities) and schema.apart(rows[0]["disease"], name)
    ]
    shows = sorted({row["shows"] for row in rows})
    return item | {"task": "integration", "images": shows, "gold": rows[0]["disease"], "fitting": fitting}


def _selections(record: Record, rows: Sequence[Record], number: int, tables: Tables, build: Build) -> Iterator[Item]:
    """One question on what to do next, without the images that would answer it."""
    matrix = tables.matrix
    possible = [each for each in matrix.selection if rows[0]["disease"] in each.diseases]
    build.drawn("selection", record["id"], number).shuffle(possible)
    for each in possible:
        left = [row for row in rows if row["modality"] != matrix.examinations[each.next]]
        if not left:
            continue
        done = {row["modality"] for row in left}
        fitting = [
            name
            for name, modality in matrix.examinations.items()
            if name != each.next and name not in each.also and modality not in done
        ]
        slots = {"images": all_named(left, tables.schema_), "doubt": each.doubt}
        item = worded(f"selection-{number}", "selection", rows[0], slots, tables, build, record["id"])
        shows = sorted({row["shows"] for row in left})
        yield item | {"task": "selection", "images": shows, "gold": each.next, "fitting": fitting}
        return
