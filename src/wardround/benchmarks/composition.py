"""What a case set holds, in the layout in which a paper tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from wardround.benchmarks.entry import Block, Entry
from wardround.benchmarks.facts import FACTS
from wardround.benchmarks.published import Published, load
from wardround.core.case import Case, Question
from wardround.marking.slices import slice_values
from wardround.reporting.table import Cell, Column, Row, Table

CLEAN = "L0"
NATURAL = {"grade": ["R", "A", "S"]}


def composed(cases: Sequence[Case] | Any, name: str, entry: Entry, *, published: bool = False) -> list[Table]:
    """The facts of the case set, then a table for each way in which the paper counts it."""
    held = list(cases)
    told = [pair for fact in entry.facts for pair in FACTS[fact](held)]
    facts = Table(
        f"{name}: {entry.title}",
        ("",),
        [Column("", unit="text")],
        [Row((key,), [Cell(said=text)]) for key, text in told],
    )
    return [facts, *(_block(held, name.partition("/")[0], block, published) for block in entry.blocks)]


def _block(held: Sequence[Case], benchmark: str, block: Block, published: bool) -> Table:
    paper = load(f"{benchmark}/{block.published}") if block.published else None
    counted: Counter[str] = Counter()
    groups: dict[str, str] = {}
    split: Counter[tuple[str, str]] = Counter()
    for told in _things(held, block.count):
        for value in _values(told, block.by):
            counted[value] += 1
            if block.within:
                groups.setdefault(value, next(iter(_values(told, block.within)), "") or _grouped(paper, value))
            if block.split:
                split.update((value, part) for part in _values(told, block.split))
    ordered = _in_order(counted, paper, published)
    totals: Counter[str] = Counter()
    for value in counted:
        totals[groups.get(value, "")] += counted[value]
    parts = _parts(block, split)
    columns = [Column("Count", unit="count")]
    columns += [Column(f"Share of its {block.within}")] if block.within else []
    columns += [Column("Share of all"), *(Column(f"{part}") for part in parts)]
    columns += [Column("Published count", unit="count"), Column("Published share")] if published and paper else []
    rows = []
    for value in ordered:
        many, whole = counted[value], counted.total()
        cells = [Cell(many)]
        if block.within:
            cells.append(_share(many, totals[groups.get(value, "")]))
        cells += [_share(many, whole), *(_share(split[value, part], many) for part in parts)]
        if published and paper:
            cells += _published(paper, block, value)
        labels = (value, groups.get(value) or _grouped(paper, value)) if block.within else (value,)
        rows.append(Row(labels, cells))
    labels = (block.by.capitalize(), block.within.capitalize()) if block.within else (block.by.capitalize(),)
    notes = [] if counted else [f"No {block.count} of this set tell their {block.by}."]
    notes += [f"Published: {paper.source}, {paper.about.title}."] if published and paper else []
    return Table(block.title, labels, columns, rows, notes)


def _things(held: Sequence[Case], count: str) -> Iterator[dict[str, Any]]:
    """What is counted, each as the values of its keys."""
    for case in held:
        extra = case.model_extra or {}
        if count == "cases":
            yield {**extra, "specialty": case.specialty, "split": case.split, "tag": sorted(set(case.tags))}
        elif count == "images":
            yield from ({"modality": image.modality} for image in case.images)
        else:
            yield from ({**extra, **_of_question(case, question)} for question in case.questions)


def _of_question(case: Case, question: Question) -> dict[str, Any]:
    types = [each.partition("@")[0] for each in question.degradations]
    levels = [each.partition("@")[2] for each in question.degradations] or [CLEAN]
    degraded = {"type": types, "severity": sorted(set(levels))}
    return {**(question.model_extra or {}), **degraded, **slice_values(case, question)}


def _values(told: dict[str, Any], key: str) -> list[str]:
    value = told.get(key)
    return [str(each) for each in (value if isinstance(value, list) else [value]) if each not in (None, "")]


def _grouped(paper: Published | None, value: str) -> str:
    """The larger group that the paper puts a value into: the column after the value's name."""
    if paper is None or value not in paper.labels:
        return ""
    return paper.cells[paper.labels.index(value)][paper.columns[paper.columns.index(paper.about.rows) + 1]]


def _in_order(counted: Counter[str], paper: Published | None, published: bool) -> list[str]:
    """As the paper has them; what it has not, by number. Its other values are named where it stands beside."""
    known = paper.labels if paper and counted else []
    first = [value for value in known if published or value in counted]
    return first + [value for value, _ in counted.most_common() if value not in known]


def _parts(block: Block, split: Counter[tuple[str, str]]) -> list[str]:
    found = {part for _, part in split}
    natural = NATURAL.get(block.split or "", [])
    return [part for part in natural if part in found] + sorted(found - set(natural))


def _share(many: int, whole: int) -> Cell:
    return Cell(many / whole) if whole else Cell()


def _published(paper: Published, block: Block, value: str) -> list[Cell]:
    assert block.column is not None
    if value not in paper.labels:
        return [Cell(), Cell()]
    counts = [many for many in paper.values(block.column) if many is not None]
    many = paper.value(value, block.column)
    return [Cell(many), Cell(many / sum(counts)) if many is not None else Cell()]
