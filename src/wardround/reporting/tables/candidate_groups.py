"""Groups of candidates in a table: their headings, and the mean over the candidates of each group and over all."""

from collections.abc import Mapping
from dataclasses import replace

from wardround.core.canonical import canonical_json
from wardround.measuring.comparing.candidate_means import CandidateMeans, ChangeSlot, FigureSlot
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.measured import ColumnSpec, RunLines
from wardround.reporting.tables.table import Cell, Table, TableRow

AVERAGE = "Avg."
ALL_CANDIDATES = "All candidates"
Place = tuple[int, int]  # row and column of an average


def candidate_groups(run: RunFiles, headings: Mapping[str, str]) -> dict[str, str]:
    """The heading of each candidate that has a group; `headings` has the paper's for a group's name."""
    return {
        candidate.name: group_heading(candidate.group, headings)
        for candidate in run.study.candidates
        if candidate.group is not None
    }


def group_heading(group: str, headings: Mapping[str, str]) -> str:
    """The heading that stands for a group, whatever its case."""
    known = {name.casefold(): heading for name, heading in headings.items()}
    known |= {heading.casefold(): heading for heading in headings.values()}
    return known.get(group.casefold(), group)


def add_averages(
    table: Table, specs: list[ColumnSpec], run: RunFiles, groups: Mapping[str, str], *, over_all: bool = False
) -> Table:
    """The table with its rows under the headings of their groups, each with an average; then the average of all.

    Every candidate weighs the same. Those that do not see and people are in no average. Without groups it is unchanged,
    unless `over_all` asks for the average of all.
    """
    if not (groups or (over_all and len(run.candidates) > 1)) or table.labels[:1] != ("Candidate",):
        return table
    rows = [replace(row, group=groups.get(row.labels[0], "")) for row in table.rows]
    averaged = [row for row in rows if row.labels[0] not in run.text_only | run.people]
    members: list[tuple[TableRow, list[TableRow]]] = []
    for heading in [*dict.fromkeys(groups.values()), ALL_CANDIDATES]:
        own = [row for row in averaged if heading in (row.group, ALL_CANDIDATES)]
        for others in dict.fromkeys(row.labels[1:] for row in own):
            average = TableRow((AVERAGE, *others), [], group=heading, is_average=True)
            members.append((average, [row for row in own if row.labels[1:] == others]))
    cells = _average_cells([parts for _, parts in members], table, specs, run)
    averages = [replace(average, cells=row) for (average, _), row in zip(members, cells, strict=True)]
    note = f"{AVERAGE}: the mean over candidates, each with the same weight; brackets are over the same resamples."
    note += _without_brackets(table, [row for (_, parts), row in zip(members, cells, strict=True) if len(parts) > 1])
    left_out = [row.labels[0] for row in rows if row not in averaged]
    note += f" Left out: {', '.join(dict.fromkeys(left_out))}." if left_out else ""
    return arrange(replace(table, rows=[*rows, *averages], notes=[*table.notes, note]))


def _without_brackets(table: Table, averages: list[list[Cell]]) -> str:
    """The columns in which an average has no interval, and why; empty if there are none."""
    headings = [
        f"{column.over} {column.heading}".strip()
        for place, column in enumerate(table.columns)
        if column.unit != "count" and any(row[place].value is not None and row[place].low is None for row in averages)
    ]
    if not headings:
        return ""
    return (
        " An average has brackets only if every candidate has them and the measure is one whose mean can be "
        f"resampled (ECE and AUROC are not). It has none in: {', '.join(dict.fromkeys(headings))}."
    )


def arrange(table: Table) -> Table:
    """The rows of a group under each other: the run's, their average, the paper's, its average. All candidates last."""
    groups = list(dict.fromkeys(row.group for row in table.rows))
    order = sorted(groups, key=lambda group: (group != "", group == ALL_CANDIDATES))

    def place(row: TableRow) -> tuple[int, bool, bool]:
        return order.index(row.group), row.published, row.is_average

    return replace(table, rows=sorted(table.rows, key=place))


def group_published(table: Table, groups: Mapping[str, str], headings: Mapping[str, str]) -> Table:
    """Published rows under the headings of their groups; `groups` has the paper's group of each row."""
    rows = [
        replace(
            row,
            group=group_heading(groups.get(row.labels[0], ""), headings),
            is_average=row.labels[0].startswith(AVERAGE),
        )
        if row.published
        else row
        for row in table.rows
    ]
    return arrange(replace(table, rows=rows))


def _average_cells(
    members: list[list[TableRow]], table: Table, specs: list[ColumnSpec], run: RunFiles
) -> list[list[Cell]]:
    """The average in every column, for each list of rows."""
    lines, places = RunLines(run), {row.labels: number for number, row in enumerate(table.rows)}
    keys = [label.lower() for label in table.labels[1:]]
    figures: dict[Place, list[FigureSlot]] = {}
    changes: dict[Place, list[ChangeSlot]] = {}
    cells: dict[Place, Cell] = {}
    for number, rows in enumerate(members):
        for column, spec in enumerate(specs):
            own = [table.rows[places[row.labels]].cells[column] for row in rows]
            values = [cell.value for cell in own if cell.value is not None]
            if len(own) == 1 or len(values) < len(own):
                cells[number, column] = own[0] if len(own) == 1 else Cell()
                continue
            counts = [cell.n for cell in own if cell.n is not None]
            cells[number, column] = Cell(sum(values) / len(values), n=sum(counts) if len(counts) == len(own) else None)
            if any(cell.low is None for cell in own):
                continue
            for row in rows:
                row_slice = dict(zip(keys, row.labels[1:], strict=True))
                _add_slots(lines, spec, row.labels[0], row_slice, (number, column), figures, changes)
    if figures or changes:
        means = CandidateMeans.from_marks(run.marks, run.study)
        for place, mean in (means.of_figures(figures) | means.of_changes(changes)).items():
            cells[place] = Cell(mean.value, mean.low, mean.high, mean.n, mean.clusters)
    return [[cells[number, column] for column in range(len(specs))] for number in range(len(members))]


def _add_slots(
    lines: RunLines,
    spec: ColumnSpec,
    candidate: str,
    row_slice: Mapping[str, str],
    place: Place,
    figures: dict[Place, list[FigureSlot]],
    changes: dict[Place, list[ChangeSlot]],
) -> None:
    """Adds the line behind a candidate's cell; a change that is not paired has none."""
    if spec.minus:
        change = lines.find_change(spec, candidate) if spec.paired and not row_slice else None
        if change is not None:
            slice = canonical_json(dict(change.slice))
            changes.setdefault(place, []).append(ChangeSlot(change.measure, change.a, change.b, slice))
        return
    line = lines.find(spec, candidate, {**row_slice, **spec.slice})
    if line is not None:
        slot = FigureSlot(line.measure, canonical_json(dict(line.slice)), candidate)
        figures.setdefault(place, []).append(slot)
