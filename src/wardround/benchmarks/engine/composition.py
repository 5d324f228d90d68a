"""The composition of a case set, in the layout of the paper's table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wardround.asking.degradation import CLEAN_LEVEL, degradation_labels
from wardround.benchmarks.engine.named_study import CountTable, NamedStudy
from wardround.benchmarks.engine.published import PublishedTable, published_table
from wardround.benchmarks.engine.set_statistics import FACTS
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.degrade import category_of
from wardround.marking.slice_values import slice_values
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

VALUE_ORDER = {"grade": ["R", "A", "S"]}
ASKED_OF_ALL = ("skill", "capability")  # what every question should have: shares are of all, with or without


@dataclass(frozen=True)
class CompositionCounts:
    """Counts by value, the larger group of each value, and counts by value and the value of another key."""

    by_value: Counter[str]
    groups: dict[str, str]
    split: Counter[tuple[str, str]]
    without: Counter[str]  # records without a value, by the label that they have instead

    @property
    def by_group(self) -> Counter[str]:
        totals: Counter[str] = Counter()
        for value, count in self.by_value.items():
            totals[self.groups.get(value, "")] += count
        return totals


def composition_tables(cases: Iterable[Case], study: NamedStudy, *, published: bool = False) -> list[Table]:
    """The statistics of the case set, then a table for each way in which the paper counts it."""
    all_cases = list(cases)
    statistics = [statistic for fact in study.definition.facts for statistic in FACTS[fact](all_cases)]
    tables = [_fact_table(study, statistics, study.published if published else None)]
    for layout in study.definition.blocks:
        paper = published_table(study.benchmark, layout.published) if layout.published else None
        tables.append(_table(_count(all_cases, layout, paper), layout, paper, published))
    return tables


def _fact_table(study: NamedStudy, statistics: Sequence[tuple[str, str]], paper: PublishedTable | None) -> Table:
    """The statistics of the case set, with the paper's beside them where it prints them under the same label."""
    columns, notes = [Column("Figure", unit="text")], list(study.definition.choices)
    figures: dict[str, str] = {}
    if paper is not None:
        columns.append(Column("Published", unit="text"))
        (column,) = [name for name in paper.columns if name != paper.info.rows]
        figures = {row[paper.info.rows]: row[column] for row in paper.cells}
        notes += [f"Published: {paper.source}, {paper.info.title}.", *(note.note for note in paper.notes)]
    rows = [TableRow((label,), [Cell(text=value)]) for label, value in statistics]
    if paper is not None:
        rows = [replace(row, cells=[*row.cells, Cell(text=figures.get(row.labels[0], ""))]) for row in rows]
    return Table(study.label, ("Fact",), columns, rows, notes)


def _count(cases: Sequence[Case], layout: CountTable, paper: PublishedTable | None) -> CompositionCounts:
    counts = CompositionCounts(Counter(), {}, Counter(), Counter())
    for record in _records(cases, layout.count):
        if layout.by in ASKED_OF_ALL and not _values(record, layout.by):
            counts.without[str(record.get("label") or record.get("capability") or "no label")] += 1
        for value in _values(record, layout.by):
            counts.by_value[value] += 1
            if layout.within:
                group = category_of(value) if layout.by == "type" else next(iter(_values(record, layout.within)), "")
                counts.groups.setdefault(value, group or _published_group(paper, value))
            if layout.split:
                counts.split.update((value, part) for part in _values(record, layout.split))
    return counts


def _table(counts: CompositionCounts, layout: CountTable, paper: PublishedTable | None, published: bool) -> Table:
    shown_paper = paper if published else None
    parts, totals, total = (
        _parts(layout, counts.split),
        counts.by_group,
        counts.by_value.total() + counts.without.total(),
    )
    columns = [Column("Count", unit="count")]
    columns += [Column(f"Share of its {layout.within}")] if layout.within else []
    columns += [Column("Share of all"), *(Column(part) for part in parts)]
    if shown_paper:
        columns += [] if _has_shares(shown_paper) else [Column("Published count", unit="count")]
        columns += [Column("Published share")]
    rows = []
    for value in _ordered_values(counts.by_value, paper, published):
        count, group = counts.by_value[value], counts.groups.get(value) or _published_group(paper, value)
        cells = [Cell(count)]
        cells += [_share(count, totals[counts.groups.get(value, "")])] if layout.within else []
        cells += [_share(count, total), *(_share(counts.split[value, part], count) for part in parts)]
        cells += _published_cells(shown_paper, layout, value) if shown_paper else []
        rows.append(TableRow((value, group) if layout.within else (value,), cells))
    labels = tuple(key.capitalize() for key in (layout.by, layout.within) if key)
    notes = [] if rows else [f"The {layout.count} of this set have no {layout.by}."]
    if rows and counts.without:
        labels_without = ", ".join(f"{label} ({count:,})" for label, count in counts.without.most_common())
        notes.append(
            f"{counts.without.total():,} of {total:,} {layout.count} have no {layout.by}; by their label: "
            f"{labels_without}. "
            "Shares of all include them."
        )
    if shown_paper:
        notes += [f"Published: {shown_paper.source}, {shown_paper.info.title}."]
        notes += [note.note for note in shown_paper.notes if _has_shares(shown_paper)]
    return Table(layout.title, labels, columns, rows, notes)


def _records(cases: Sequence[Case], unit: str) -> Iterator[dict[str, Any]]:
    """The cases, images or questions, each as its values by key."""
    for case in cases:
        extra = case.model_extra or {}
        if unit == "cases":
            yield {**extra, "specialty": case.specialty, "split": case.split, "tag": sorted(set(case.tags))}
        elif unit == "images":
            yield from ({"modality": image.modality} for image in case.images)
        else:
            yield from ({**extra, **_question_record(case, question)} for question in case.questions)


def _question_record(case: Case, question: Question) -> dict[str, Any]:
    """Type and severity are those of the degradation, whatever else the set calls by these names."""
    labels = degradation_labels(case, question, Condition(degradation="assigned"))
    types, levels = ([label.partition("@")[part] for label in labels] for part in (0, 2))
    record = {**(question.model_extra or {}), **slice_values(case, question)}
    return {**record, "type": types, "severity": sorted(set(levels)) or [CLEAN_LEVEL]}


def _values(record: dict[str, Any], key: str) -> list[str]:
    value = record.get(key)
    return [str(item) for item in (value if isinstance(value, list) else [value]) if item not in (None, "")]


def _published_group(paper: PublishedTable | None, value: str) -> str:
    """The larger group that the paper puts a value into: the column after the value's name."""
    if paper is None or value not in paper.labels:
        return ""
    return paper.cells[paper.labels.index(value)][paper.columns[paper.columns.index(paper.info.rows) + 1]]


def _ordered_values(counts: Counter[str], paper: PublishedTable | None, published: bool) -> list[str]:
    """In the paper's order, then by count. The paper's values that the set lacks are listed if `published`."""
    known = paper.labels if paper and counts else []
    first = [value for value in known if published or value in counts]
    return first + [value for value, _ in counts.most_common() if value not in known]


def _parts(layout: CountTable, split: Counter[tuple[str, str]]) -> list[str]:
    present = {part for _, part in split}
    ordered = VALUE_ORDER.get(layout.split or "", [])
    return [part for part in ordered if part in present] + sorted(present - set(ordered))


def _share(count: int, total: int) -> Cell:
    return Cell(count / total) if total else Cell()


def _has_shares(paper: PublishedTable) -> bool:
    """Whether the paper prints shares without counts."""
    return paper.info.unit == "percent"


def _published_cells(paper: PublishedTable, layout: CountTable, value: str) -> list[Cell]:
    assert layout.column is not None
    if _has_shares(paper):
        share = paper.value(value, layout.column) if value in paper.labels else None
        return [Cell() if share is None else Cell(share / 100)]
    if value not in paper.labels:
        return [Cell(), Cell()]
    counts = [count for count in paper.values(layout.column) if count is not None]
    count = paper.value(value, layout.column)
    return [Cell(count), Cell(count / sum(counts)) if count is not None else Cell()]
