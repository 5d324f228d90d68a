"""PubMedQA-L: ori_pqal.json, an object of records by PMID: QUESTION, CONTEXTS, LABELS, YEAR, final_decision ...

A case asks yes, no or maybe. `references` has the abstract without its conclusion, so that `evidence = reference` shows
it: `wardround literature build DIR/cases.jsonl` makes the index. The conclusion (LONG_ANSWER) gives the answer away; it
is the rationale of the leakage probes. If pubmedqa_test_ground_truth.json is in the same folder, its PMIDs are the
split `test` and the others `dev`.

The Hub has the same records as Parquet (qiaojin/PubMedQA, pqa_labeled, looked up on 2026-11-18): pubid, question,
context (contexts, labels, meshes), long_answer, final_decision; they have no test key and no year.
"""

from pathlib import Path
from typing import Any

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.json_file import JsonObject, read_json, required_text
from wardround.cases.readers.tables.row_files import read_rows
from wardround.core.case import drop_empty
from wardround.core.errors import BadInput

FILE, TEST = "ori_pqal.json", "pubmedqa_test_ground_truth.json"
DECISIONS = ["yes", "no", "maybe"]
PARQUET_COLUMNS = {"pubid", "question", "context", "long_answer", "final_decision"}


def read_pubmedqa(source: Path) -> CaseCollector:
    """The cases of ori_pqal.json, or of the folder that has it; or of Parquet files."""
    if tables := _parquet_files(source):
        return _read_parquet(tables).require_cases(source)
    file = source / FILE if source.is_dir() else source
    records, test_file = _read_object(file), file.parent / TEST
    test = _read_object(test_file) if test_file.is_file() else None
    cases = CaseCollector()
    for pmid, record in records.items():
        _add(RecordPlace(file, within=pmid), pmid, record, test, cases)
    return cases.require_cases(source)


def _parquet_files(source: Path) -> list[Path]:
    if source.is_dir() and not (source / FILE).is_file():
        return sorted(source.rglob("*.parquet"))
    return [source] if source.suffix == ".parquet" else []


def _read_parquet(files: list[Path]) -> CaseCollector:
    cases = CaseCollector()
    for file in files:
        for place, row in read_rows(file, cases.problems, PARQUET_COLUMNS.__contains__):
            context_cell = row.get("context")
            context: JsonObject = context_cell if isinstance(context_cell, dict) else {}
            record = {
                "QUESTION": row.get("question"),
                "CONTEXTS": context.get("contexts"),
                "LABELS": context.get("labels"),
                "LONG_ANSWER": row.get("long_answer"),
                "final_decision": row.get("final_decision"),
            }
            _add(place, str(row.get("pubid")), record, None, cases)
    return cases


def _read_object(file: Path) -> JsonObject:
    document = read_json(file)
    if not isinstance(document, dict):
        raise BadInput(file, "should be an object of records by PMID")
    return document


def _add(place: RecordPlace, pmid: str, record: Any, test: JsonObject | None, cases: CaseCollector) -> None:
    field: str | None = None
    try:
        if not isinstance(record, dict):
            raise ValueError("should be an object")
        if not (pmid.isascii() and pmid.isdigit()):
            raise ValueError("is not a PMID")
        field = "QUESTION"
        prompt = required_text(record, field)
        field = "final_decision"
        decision = required_text(record, field).strip().lower()
        if decision not in DECISIONS:
            raise ValueError(f"is {record[field]!r}; expected yes, no or maybe")
        gold = DECISIONS.index(decision)
        field = "CONTEXTS"
        abstract = _abstract(record)
    except ValueError as error:
        cases.problems.append(place.problem(field, str(error)))
        return
    question = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": DECISIONS, "gold": gold}
    case = {
        "id": f"pubmedqa-{pmid}",
        "split": None if test is None else "test" if pmid in test else "dev",
        "origin": drop_empty({"name": "pubmedqa", "published": record.get("YEAR")}),
        "references": [{"pmid": pmid, "title": prompt, "abstract": abstract}],
        "questions": [drop_empty(question | {"rationale": record.get("LONG_ANSWER")})],
    }
    cases.add(place, drop_empty(case), {})


def _abstract(record: JsonObject) -> str:
    """The parts of the abstract, each after its label, one per line."""
    contexts, labels = record.get("CONTEXTS"), record.get("LABELS")
    if not isinstance(contexts, list) or not contexts or not all(isinstance(part, str) for part in contexts):
        raise ValueError("should be the parts of the abstract")
    if not isinstance(labels, list) or len(labels) != len(contexts):
        labels = [""] * len(contexts)
    parts = zip(labels, contexts, strict=True)
    return "\n".join(f"{label}: {part.strip()}" if label else part.strip() for label, part in parts)
