"""The explorer: the documents that pages are made of, whether a server sends them or an export writes them.

Documents are JSON objects by name: `table`, `rows/N` (a block of rows of the table), `question/ROW` and `diagnoses`.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import orjson

from wardround.cases.images.recipe import recipe_for
from wardround.core.ask import ImagePart
from wardround.core.errors import WardroundError
from wardround.marking.review_notes import read_notes
from wardround.view.diagnoses import diagnoses_document
from wardround.view.images import ImageAddresses
from wardround.view.question_page import RunPages
from wardround.view.run_list import find_runs
from wardround.view.table import QuestionTable, read_table
from wardround.view.text_search import StoppedReading, TextSearch

BLOCK = 100  # rows of the table in one document
SNIPPET = 220  # characters of a question in the table


class Explorer:
    """Runs, their table and the pages of their questions. Reads marks again when they were written again."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self.images = ImageAddresses()
        self._lock = Lock()
        self._state: tuple[Any, QuestionTable, list[RunPages], TextSearch] | None = None
        self._packed: tuple[QuestionTable, list[int], bytes] | None = None
        self.runs = find_runs(paths)

    def _current(self) -> tuple[Any, QuestionTable, list[RunPages], TextSearch]:
        with self._lock:
            runs = find_runs(self._paths)
            stamps = [(run.folder, run.marks.stat().st_mtime_ns if run.marks.is_file() else 0) for run in runs]
            if self._state is None or self._state[0] != stamps:
                self.close()
                self.runs, table = runs, read_table(runs)
                pages = [RunPages(run, self.images) for run in runs]
                self._state = stamps, table, pages, TextSearch(table.rows, pages)
            return self._state

    @property
    def table(self) -> QuestionTable:
        return self._current()[1]

    @property
    def pages(self) -> list[RunPages]:
        return self._current()[2]

    def close(self) -> None:
        """Ends the reading of texts and closes the answer stores."""
        if self._state is None:
            return
        self._state[3].stop()
        for page in self._state[2]:
            page.close()

    def table_document(self) -> dict[str, Any]:
        return self.table.to_json() | {"block": BLOCK, "notes": self._noted_rows()}

    def packed_table(self) -> bytes:
        """The table as compressed JSON, made once for the marks and notes as they are now."""
        table, noted = self.table, self._noted_rows()
        with self._lock:
            if self._packed is None or self._packed[0] is not table or self._packed[1] != noted:
                body = orjson.dumps(table.to_json() | {"block": BLOCK, "notes": noted})
                self._packed = table, noted, gzip.compress(body, 1)
            return self._packed[2]

    def rows_document(self, block: int) -> dict[str, Any]:
        """Snippet, options and thumbnail of each row of a block."""
        rows = self.table.rows.slice(block * BLOCK, BLOCK)
        return {"rows": [self._row(*place) for place in rows.select("case", "question").iter_rows()]}

    def _row(self, case_id: str, question_id: str) -> dict[str, Any]:
        for page in self.pages:
            case = page.case(case_id)
            question = next((q for q in case.questions if q.id == question_id), None) if case else None
            stored = page.open()
            if case is None or question is None or stored is None:
                continue
            shown = question.images if question.images is not None else range(len(case.images))
            image = next((case.images[number] for number in shown), None)
            key = None
            if image is not None:
                file = str(stored.cases.folder / image.path)
                key = self.images.part(ImagePart(file, "", recipe_for(image), image.frame)).image
            snippet = " ".join(f"{question.prompt} {case.history or ''}".split())
            return {
                "text": snippet[:SNIPPET],
                "thumb": key,
                "options": list(question.options or ()),
                "gold": question.gold,
            }
        return {"text": "", "thumb": None, "options": [], "gold": None}

    def question_document(self, row: int) -> dict[str, Any]:
        """The page of a question: one part for each run that has it."""
        rows = self.table.rows
        if not 0 <= row < len(rows):
            raise WardroundError(f"there is no question number {row}; there are {len(rows):,}")
        case, question = rows.row(row, named=True)["case"], rows.row(row, named=True)["question"]
        return {
            "case": case,
            "question": question,
            "runs": [page.page(case, question) for page in self.pages if page.run.marks.is_file()],
            "notes": [
                note.to_dict() | {"run": run.name}
                for run in self.runs
                for note in read_notes(run.folder)
                if (note.case, note.question) == (case, question)
            ],
        }

    def diagnoses_document(self) -> dict[str, Any]:
        return diagnoses_document(self.table)

    def prepare_search(self, note: Callable[[str], None] = lambda line: None) -> None:
        self._current()[3].prepare(note)

    @contextmanager
    def preparing_search(self, note: Callable[[str], None]) -> Iterator[None]:
        """Reads the texts for the search in a thread, which ends with the block."""
        search = self._current()[3]

        def prepare() -> None:
            with suppress(StoppedReading):
                search.prepare(note)

        thread = Thread(target=prepare, name="search")
        thread.start()
        try:
            yield
        finally:
            search.stop()
            thread.join()

    def search(self, phrase: str) -> list[int]:
        return self._current()[3].find(phrase)

    def search_texts(self, block: int) -> dict[str, Any]:
        return {"texts": self._current()[3].texts(block * BLOCK, (block + 1) * BLOCK)}

    def _noted_rows(self) -> list[int]:
        """The rows with a note or a flag."""
        noted = {(note.case, note.question) for run in self.runs for note in read_notes(run.folder)}
        if not noted:
            return []
        places = self.table.rows.select("row", "case", "question").iter_rows()
        return [row for row, case, question in places if (case, question) in noted]
