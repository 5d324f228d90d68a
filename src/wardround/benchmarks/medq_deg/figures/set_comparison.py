"""Table 1: a case set beside other sets of degraded medical images; its own row is counted."""

from pathlib import Path

from wardround.asking.degradation import parse_degradation
from wardround.benchmarks.engine.published import load_published
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.cases.set import CaseSet
from wardround.degrade.modalities import parse_modality
from wardround.reporting.numbers import count
from wardround.reporting.tables.table import NO_VALUE, Cell, Column, Table, TableRow

COLUMNS = {
    "publication": "Publication",
    "total": "Questions",
    "modalities": "Modalities",
    "capabilities": "Capabilities",
    "degradations": "Types of degradation",
}


def table1(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """The published rows, then that of the case set."""
    published = load_published("medq-deg/table1")
    rows = [
        TableRow((row["benchmark"],), [Cell(text=row[name] or NO_VALUE) for name in COLUMNS], published=True)
        for row in published.cells
    ]
    own = TableRow((cases.file.parent.name,), [Cell(text=text) for text in count_set(cases)])
    columns = [Column(heading, unit="text") for heading in COLUMNS.values()]
    notes = [f"Published rows are those of {published.source}, Table 1; {NO_VALUE}: not reported there."]
    return [Table("The case set beside others", ("Set",), columns, [own, *rows], notes)], []


def count_set(cases: CaseSet) -> list[str]:
    """What the table says of a case set: questions, modalities, skills (else capabilities) and types."""
    questions, modalities, types = 0, set[str](), set[str]()
    skills, capabilities = set[str](), set[str]()
    for case in cases:
        modalities |= {parse_modality(image.modality) or image.modality for image in case.images if image.modality}
        degradations = [name for image in case.images for name in image.degradations]
        for question in case.questions:
            questions += 1
            degradations += question.degradations
            skills |= {question.skill} if question.skill else set()
            capabilities |= {question.capability} if question.capability else set()
        types |= {parse_degradation(name)[0] for name in degradations if not name.startswith("real@")}
    numbers = [count(questions), str(len(modalities)), str(len(skills or capabilities) or NO_VALUE), str(len(types))]
    return ["this case set", *numbers]
