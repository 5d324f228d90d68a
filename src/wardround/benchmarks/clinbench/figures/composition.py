"""Tables 1, 2 and 7 and Figure 6: a case set beside those of the paper, its specialties, and what it cost to build.

The papers' judgements (saturated, clinical setting) are not computed: `clinbench/fig1` measures how well case sets tell
candidates apart.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import altair as alt

from wardround.benchmarks.engine.benchmark import benchmarks
from wardround.benchmarks.engine.drawing import write_table_files
from wardround.benchmarks.engine.published import PublishedTable, published_table
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.cases.readers.clinbench import SPECIALTIES, specialty_named
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.core.errors import BadInput
from wardround.reporting.figures.table_figure import COLOURS, ROW
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

FUNNEL = "funnel.csv"
TEXT, MULTIMODAL = "text", "multimodal"
JUDGED = [Column(name, over="In the paper's judgement", unit="text") for name in ("saturated", "clinical setting")]
RARE = Column("Rare diseases", unit="text")
LENGTH_NOTE = (
    "Words are those of the stem and the question, split at spaces, without options; the paper does not say how it "
    "counts."
)
JUDGED_NOTE = "Saturated and clinical setting are judgements that a case set does not show; only the paper's are given."


class ShownQuestion(NamedTuple):
    """A choice question with the stem and the images of one telling."""

    case: Case
    words: int
    options: int
    images: int


def table1(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """Questions told in text: number, length, options; the paper's rows below."""
    questions = shown_questions(cases, TEXT)
    own = [_count(questions), _mean(questions, "words"), _mean(questions, "options"), Cell(), Cell(), _has_rare(cases)]
    columns = [Column("Questions", unit="count"), _mean_column("Words"), _mean_column("Options"), *JUDGED, RARE]
    names = ("size", "avg_lens", "avg_options", "saturation", "real_scenario", "rare_diseases")
    title = "The case set beside text benchmarks"
    return _beside_published(cases, folder, title, columns, own, _published("table1"), names)


def table2(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """Questions told with images: number, images, length; the paper's rows below."""
    questions = shown_questions(cases, MULTIMODAL)
    images = sum({question.case.id: question.images for question in questions}.values())
    own = [_count(questions), Cell(images), _mean(questions, "images"), _mean(questions, "words")]
    own += [Cell(), Cell(), _has_rare(cases)]
    columns = [Column("Questions", unit="count"), Column("Images", unit="count"), _mean_column("Images, a question")]
    columns += [_mean_column("Words"), *JUDGED, RARE]
    names = ("size", "images", "image_rate", "avg_lens", "saturation", "real_scenario", "rare_diseases")
    title = "The case set beside multimodal benchmarks"
    return _beside_published(cases, folder, title, columns, own, _published("table2"), names)


def table7(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """What models cost in the build of the case set, by step, from its funnel.csv; the paper's rows below."""
    rows = [
        TableRow((step["step"],), [Cell(float(step[name])) for name in ("calls", "tokens", "money")])
        for step in _model_steps(cases.file.parent / FUNNEL)
    ]
    totals = [Cell(sum(row.cells[place].value or 0.0 for row in rows)) for place in range(3)]
    rows = [TableRow(("This set (total)",), totals), *rows]
    published = _published("table7")
    rows += [
        TableRow((label,), [Cell(), Cell(), Cell(published.value(label, "api_usd"))], published=True)
        for label in published.labels
    ]
    columns = [Column("Calls", unit="count"), Column("Tokens", unit="count")]
    columns.append(Column("USD", unit="fraction", decimals=2))
    notes = ["Money is computed from price_in and price_out of the models; a model without prices costs nothing here."]
    notes.append(f"Published rows: {published.source}, Table 7; of which models and steps is not said.")
    table = Table("What models cost in the build of the case set", ("Step",), columns, rows, notes)
    return [table], _write(table, folder)


def fig6(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """Cases by specialty, told in text and with images, as a table and as bars."""
    counts = {telling: _by_specialty(cases, telling) for telling in (TEXT, MULTIMODAL)}
    present = set().union(*counts.values())
    names = [name for name in SPECIALTIES.values() if name in present]
    names += sorted(present - set(names))
    columns = [Column(label, unit="count") for label in ("Told in text", "Told with images")]
    rows = [TableRow((name,), [Cell(counts[telling][name]) for telling in counts]) for name in names]
    notes = ["The paper's figure prints no numbers in its text; it says that each specialty has at least 50 questions."]
    if small := [name for name in names if 0 < max(counts[telling][name] for telling in counts) < 50]:
        notes.append(f"Fewer than 50: {', '.join(small)}.")
    table = Table("Cases by specialty", ("Specialty",), columns, rows, notes)
    files = _write(table, folder)
    return [table], [*files, *write_chart(_bars(table), folder, "figure", note)]


def shown_questions(cases: CaseSet, telling: str) -> list[ShownQuestion]:
    """The choice questions of the cases that have this telling; a case without tellings is told as it is."""
    questions = []
    for case in cases:
        stem = _stem(case, telling)
        if stem is None:
            continue
        history, images = stem
        for question in case.questions:
            if question.options and not question.degradations:
                words = len(f"{history} {question.prompt}".split())
                questions.append(ShownQuestion(case, words, len(question.options), images))
    return questions


def _stem(case: Case, telling: str) -> tuple[str, int] | None:
    if telling in case.tellings:
        own = case.tellings[telling]
        images = len(case.images) if own.images is None else len(own.images)
        return own.history or case.history or "", images if telling == MULTIMODAL else 0
    if case.tellings or bool(case.images) != (telling == MULTIMODAL):
        return None
    return case.history or "", len(case.images)


def _by_specialty(cases: CaseSet, telling: str) -> Counter[str]:
    by_case = {question.case.id: question.case for question in shown_questions(cases, telling)}
    return Counter(specialty_named(case.specialty) if case.specialty else "none" for case in by_case.values())


def _model_steps(file: Path) -> list[dict[str, str]]:
    """The steps of a funnel in which models were called."""
    if not file.is_file():
        raise BadInput(file, "is missing: what a set cost is known only of sets that `wardround build` made")
    with file.open(encoding="utf-8", newline="") as lines:
        return [step for step in csv.DictReader(lines) if int(step.get("calls") or 0)]


def _beside_published(
    cases: CaseSet,
    folder: Path,
    title: str,
    columns: list[Column],
    own: list[Cell],
    published: PublishedTable,
    names: Sequence[str],
) -> SectionOutput:
    rows = [TableRow((f"{cases.file.parent.name} (this set)",), own)]
    for label, printed in zip(published.labels, published.cells, strict=True):
        cells = [_published_cell(printed[name], column) for name, column in zip(names, columns, strict=True)]
        rows.append(TableRow((label,), cells, published=True))
    notes = [LENGTH_NOTE, JUDGED_NOTE, f"Published rows: {published.source}, {published.name.partition('/')[2]}."]
    table = Table(title, ("Case set",), columns, rows, notes)
    return [table], _write(table, folder)


def _published_cell(printed: str, column: Column) -> Cell:
    if not printed:
        return Cell()
    return Cell(text=printed) if column.unit == "text" else Cell(float(printed))


def _published(table: str) -> PublishedTable:
    return published_table(benchmarks()["clinbench"], table)


def _count(questions: Sequence[ShownQuestion]) -> Cell:
    return Cell(len(questions))


def _mean(questions: Sequence[ShownQuestion], name: str) -> Cell:
    return Cell(sum(getattr(question, name) for question in questions) / len(questions)) if questions else Cell()


def _mean_column(heading: str) -> Column:
    return Column(heading, over="Mean", unit="fraction", decimals=1)


def _has_rare(cases: CaseSet) -> Cell:
    return Cell(text="yes" if any("rare" in case.tags for case in cases) else "no")


def _write(table: Table, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return write_table_files(table, folder, "table")


def _bars(table: Table) -> alt.Chart | None:
    points = [
        {"specialty": row.labels[0], "telling": column.heading, "cases": cell.value}
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.value
    ]
    if not points:
        return None
    order = [row.labels[0] for row in table.rows]
    tellings = [column.heading for column in table.columns]
    chart: alt.Chart = (
        alt.Chart(alt.Data(values=points), title=alt.Title(table.title, anchor="start"))
        .mark_bar()
        .encode(
            alt.X("cases:Q", title="Cases"),
            alt.Y("specialty:N", sort=order, title=None, axis=alt.Axis(labelLimit=300)),
            alt.YOffset("telling:N", sort=tellings),
            alt.Color("telling:N", sort=tellings, title=None, scale=alt.Scale(domain=tellings, range=COLOURS[:2])),
        )
        .properties(width=420, height=alt.Step(ROW // 2 + 2, **{"for": "offset"}))
    )
    return chart
