"""MedQA: lines with question, options (by letter), answer (its text), answer_idx (its letter) and meta_info.

A folder `questions/US` has train.jsonl, dev.jsonl and test.jsonl, and the same with four options below
4_options/phrases_no_exclude_*.jsonl. They are the same questions: read one file, or a folder of one kind.
"""

from pathlib import Path

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.choices import index_of_letter
from wardround.cases.readers.tables.json_file import JsonObject, jsonl_records, required_text
from wardround.cases.readers.tables.option_lists import parse_options
from wardround.cases.readers.tables.source_files import find_files_by_suffix, split_in_name
from wardround.core.case import drop_empty
from wardround.core.text import fold

READ = {"question", "options", "answer", "answer_idx", "meta_info"}
NAMES = {"questions[0]": "options"}


def read_medqa(source: Path) -> CaseCollector:
    """The cases of one .jsonl file, or of a folder of them. A case is numbered by its line."""
    cases = CaseCollector()
    for file in find_files_by_suffix(source, ".jsonl"):
        for place, record in jsonl_records(file, cases.problems):
            _add(place, record, cases)
    return cases.require_cases(source)


def _add(place: RecordPlace, record: JsonObject, cases: CaseCollector) -> None:
    field = "question"
    try:
        prompt = required_text(record, field)
        field = "options"
        options = parse_options(record.get(field))
        field = "answer_idx"
        gold = index_of_letter(options, required_text(record, field))
        field = "answer"
        right = list(options.values())[gold]
        if record.get(field) is not None and fold(str(record[field])) != fold(right):
            raise ValueError(f"is {record[field]!r}, but answer_idx names {right!r}"[:300])
    except ValueError as error:
        cases.problems.append(place.problem(field, str(error)))
        return
    question = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": list(options.values()), "gold": gold}
    extra = {key: value for key, value in record.items() if key not in READ}
    split = split_in_name(place.file)
    case = {
        "id": f"medqa-{split or place.file.stem}-{place.line}",
        "split": split,
        "tags": [str(record["meta_info"])] if record.get("meta_info") else None,
        "origin": {"name": "medqa"},
        "questions": [question | {f"source_{key}" if key in question else key: extra[key] for key in extra}],
    }
    cases.add(place, drop_empty(case), NAMES)
