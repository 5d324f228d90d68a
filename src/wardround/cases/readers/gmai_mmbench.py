"""GMAI-MMBench as VLMEvalKit has it: one TSV with base64 images and the columns of its lexical tree."""

from pathlib import Path

from wardround.cases.readers.medq_deg.released import read_tables
from wardround.cases.readers.tables.question_rows import QuestionRows


def read_gmai_mmbench(source: Path) -> QuestionRows:
    """The cases of GMAI-MMBench_VAL.tsv. The test parts were published without answers and cannot be read."""
    return read_tables(source, "gmai-mmbench", {"clinical vqa task": "label"})
