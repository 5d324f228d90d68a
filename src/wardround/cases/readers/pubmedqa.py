"""PubMedQA-L: ori_pqal.json, an object of records by PMID: QUESTION, CONTEXTS, LABELS, YEAR, final_decision ...

A case asks yes, no or maybe. The abstract without its conclusion (LONG_ANSWER, which tells the answer and is the
rationale that leakage is probed with) stands in `references`, so that `evidence = reference` shows it: `wardround
literature build DIR/cases.jsonl` makes the index.
Where pubmedqa_test_ground_truth.json is beside it, its PMIDs are the split `test` and the others `dev`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wardround.cases.readers.tables.case_collector import Gathered, Place, given
from wardround.cases.readers.tables.json_file import Told, json_document, text
from wardround.core.errors import BadInput

FILE, TEST = "ori_pqal.json", "pubmedqa_test_ground_truth.json"
DECISIONS = ["yes", "no", "maybe"]


def read_pubmedqa(source: Path) -> Gathered:
    """The cases of ori_pqal.json, given as such or by its folder."""
    file = source / FILE if source.is_dir() else source
    records, key = _object(file), file.parent / TEST
    test = _object(key) if key.is_file() else None
    gathered = Gathered()
    for pmid, told in records.items():
        _take(Place(file, within=pmid), pmid, told, test, gathered)
    return gathered.or_refused(source)


def _object(file: Path) -> dict[str, Any]:
    told = json_document(file)
    if not isinstance(told, dict):
        raise BadInput(file, "should be an object of records by PMID")
    return told


def _take(place: Place, pmid: str, told: Any, test: dict[str, Any] | None, gathered: Gathered) -> None:
    field: str | None = None
    try:
        if not isinstance(told, dict):
            raise ValueError("should be an object")
        if not (pmid.isascii() and pmid.isdigit()):
            raise ValueError("is no PMID")
        field = "QUESTION"
        prompt = text(told, field)
        field = "final_decision"
        decision = text(told, field).strip().lower()
        if decision not in DECISIONS:
            raise ValueError(f"is {told[field]!r}; expected yes, no or maybe")
        gold = DECISIONS.index(decision)
        field = "CONTEXTS"
        abstract = _abstract(told)
    except ValueError as error:
        gathered.problems.append(place.problem(field, str(error)))
        return
    question = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": DECISIONS, "gold": gold}
    case = {
        "id": f"pubmedqa-{pmid}",
        "split": None if test is None else "test" if pmid in test else "dev",
        "origin": given({"name": "pubmedqa", "published": told.get("YEAR")}),
        "references": [{"pmid": pmid, "title": prompt, "abstract": abstract}],
        "questions": [given(question | {"rationale": told.get("LONG_ANSWER")})],
    }
    gathered.take(place, given(case), {})


def _abstract(told: Told) -> str:
    """The parts of the abstract, each behind its label, one a line."""
    contexts, labels = told.get("CONTEXTS"), told.get("LABELS")
    if not isinstance(contexts, list) or not contexts or not all(isinstance(each, str) for each in contexts):
        raise ValueError("should be the parts of the abstract")
    if not isinstance(labels, list) or len(labels) != len(contexts):
        labels = [""] * len(contexts)
    parts = zip(labels, contexts, strict=True)
    return "\n".join(f"{label}: {part.strip()}" if label else part.strip() for label, part in parts)
