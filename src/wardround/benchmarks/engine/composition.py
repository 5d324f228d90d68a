"""What a case set holds, in the layout in which a paper tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wardround.benchmarks.engine.named_study import Block, Entry
from wardround.benchmarks.engine.published import Published, load
from wardround.benchmarks.engine.set_statistics import FACTS
from wardround.core.case import Case, Question
from wardround.marking.slice_values import slice_values
from wardround.reporting.tables.table import Cell, Column, Row, Table

CLEAN = "L0"
NATURAL = {"grade": ["R", "A", "S"]}


@dataclass(frozen=True)
class Counted:
    """How many there are of each value, the larger group of each, and how many of each value of another key."""

    by_value: Counter[str]
    groups: dict[str, str]
    split: Counter[tuple[str, str]]

    @property
    def by_group(self) -> Counter[str]:
        totals: Counter[str] = Counter()
        for value, many in self.by_value.items():
            totals[self.groups.get(value, "")] += many
        return totals


def composed(cases: Iterable[Case], name: str, entry: Entry, *, published: bool = False) -> list[Table]:
    """The facts of the case set, then a table for each way in which the paper counts it."""
    held, benchmark = list(cases), name.partition("/")[0]
    told = [pair for fact in entry.facts for pair in FACTS[fact](held)]
    rows = [Row((fact,), [Cell(said=text)]) for fact, text in told]
    tables = [Table(f"{name}: {entry.title}", ("Fact",), [Column("Figure", unit="text")], rows)]
    for block in entry.blocks:
        paper = load(f"{benchmark}/{block.published}") if block.published else None
        tables.append(_table(_counted(held, block, paper), block, paper, published))
    return tables


def _counted(held: Sequence[Case], block: Block, paper: Published | None) -> Counted:
    counted = Counted(Counter(), {}, Counter())
    for told in _things(held, block.count):
        for value in _values(told, block.by):
            counted.by_value[value] += 1
            if block.within:
                own = next(iter(_values(told, block.within)), "")
                counted.groups.setdefault(value, own or _grouped(paper, value))
            if block.split:
                counted.split.update((value, part) for part in _values(told, block.split))
    return counted


def _table(counted: Counted, block: Block, paper: Published | None, published: bool) -> Table:
    beside = paper if published else None
    parts, totals, whole = _parts(block, counted.split), counted.by_group, counted.by_value.total()
    columns = [Column("Count", unit="count")]
    columns += [Column(f"Share of its {block.within}")] if block.within else []
    columns += [Column("Share of all"), *(Column(part) for part in parts)]
    columns += [Column("Published count", unit="count"), Column("Published share")] if beside else []
    rows = []
    for value in _in_order(counted.by_value, paper, published):
        many, group = counted.by_value[value], counted.groups.get(value) or _grouped(paper, value)
        cells = [Cell(many)]
        cells += [_share(many, totals[counted.groups.get(value, "")])] if block.within else []
        cells += [_share(many, whole), *(_share(counted.split[value, part], many) for part in parts)]
        cells += _published(beside, block, value) if beside else []
        rows.append(Row((value, group) if block.within else (value,), cells))
    labels = tuple(key.capitalize() for key in (block.by, block.within) if key)
    notes = [] if rows else [f"No {block.count} of this set tell their {block.by}."]
    notes += [f"Published: {beside.source}, {beside.about.title}."] if beside else []
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
    told = {**(question.model_extra or {}), **slice_values(case, question)}
    degraded = {"type": types, "severity": sorted(set(levels))}
    return {**told, **{key: values for key, values in degraded.items() if not told.get(key)}}


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
