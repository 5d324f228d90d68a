"""MedQA: lines with question, options (by letter), answer (its text), answer_idx (its letter) and meta_info.

A folder `questions/US` holds train.jsonl, dev.jsonl and test.jsonl, and the same with four options below
4_options/phrases_no_exclude_*.jsonl. They are the same questions: read one file, or a folder of one kind.
"""

from __future__ import annotations

from pathlib import Path

from wardround.cases.readers.medq_deg.released import split_of
from wardround.cases.readers.tables.case_collector import Gathered, Place, files_of, given
from wardround.cases.readers.tables.choices import by_letter, plain
from wardround.cases.readers.tables.json_file import Told, jsonl_records, text
from wardround.cases.readers.tables.option_lists import options_of

READ = {"question", "options", "answer", "answer_idx", "meta_info"}
NAMES = {"questions[0]": "options"}


def read_medqa(source: Path) -> Gathered:
    """The cases of one of its .jsonl files, or of a folder of them. The line is the number of a case."""
    gathered = Gathered()
    for file in files_of(source, ".jsonl"):
        for line, told in jsonl_records(file, gathered.problems):
            _take(Place(file, line), told, gathered)
    return gathered.or_refused(source)


def _take(place: Place, told: Told, gathered: Gathered) -> None:
    field = "question"
    try:
        prompt = text(told, field)
        field = "options"
        options = options_of(told.get(field))
        field = "answer_idx"
        gold = by_letter(options, text(told, field))
        field = "answer"
        if told.get(field) is not None and plain(str(told[field])) != plain(list(options.values())[gold]):
            raise ValueError(f"is {told[field]!r}, but answer_idx names {list(options.values())[gold]!r}"[:300])
    except ValueError as error:
        gathered.problems.append(place.problem(field, str(error)))
        return
    more = {key: value for key, value in told.items() if key not in READ}
    asked = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": list(options.values()), "gold": gold}
    split = split_of(place.file)
    case = {
        "id": f"medqa-{split or place.file.stem}-{place.line}",
        "split": split,
        "tags": [str(told["meta_info"])] if told.get("meta_info") else None,
        "origin": {"name": "medqa"},
        "questions": [{**asked, **{f"source_{key}" if key in asked else key: value for key, value in more.items()}}],
    }
    gathered.take(place, given(case), NAMES)
