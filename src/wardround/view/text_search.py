"""Search in histories, questions and replies: which rows contain a phrase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event, Lock

import polars as pl

from wardround.running.stored_run import used_keys
from wardround.running.used_answers import scan_used
from wardround.view.question_page import RunPages

PART = 2_000  # replies that are read while pages wait for the store
NOTED_REPLIES = 100_000  # progress is told after so many


class StoppedReading(Exception):
    """The explorer was closed while texts were read."""


class TextSearch:
    """The texts of all rows, in lower case, read when the first phrase is searched for."""

    def __init__(self, rows: pl.DataFrame, pages: Sequence[RunPages]) -> None:
        self._rows, self._pages = rows.select("row", "case", "question"), pages
        self._cases: pl.DataFrame | None = None
        self._questions: pl.DataFrame | None = None
        self._replies: pl.DataFrame | None = None
        self._lock, self._stopped = Lock(), Event()

    def prepare(self, note: Callable[[str], None] = lambda line: None) -> None:
        """Reads all texts, once; who comes meanwhile waits. `note` gets the progress of a large run."""
        with self._lock:
            if self._replies is None:
                self._read(note)
                note("search: all texts are read")

    def stop(self) -> None:
        """Ends `prepare` in another thread soon, by StoppedReading."""
        self._stopped.set()

    def find(self, phrase: str) -> list[int]:
        """The numbers of the rows, rising."""
        phrase = phrase.strip().lower()
        self.prepare()
        assert self._cases is not None
        assert self._questions is not None
        assert self._replies is not None
        contains = pl.col("text").str.contains(phrase, literal=True)
        cases = self._cases.filter(contains | pl.col("case").str.to_lowercase().str.contains(phrase, literal=True))
        parts = [
            self._rows.join(cases, on="case", how="semi")["row"],
            self._questions.filter(contains)["row"],
            self._replies.filter(contains)["row"],
        ]
        return pl.concat(parts).unique().sort().to_list()

    def texts(self, first: int, last: int) -> list[str]:
        """All text of some rows, for a search without a server."""
        self.prepare()
        assert self._cases is not None
        assert self._questions is not None
        assert self._replies is not None
        own = self._rows.filter(pl.col("row").is_between(first, last, closed="left"))
        replies = self._replies.filter(pl.col("row").is_between(first, last, closed="left"))
        joined = (
            own.join(self._cases, on="case", how="left", maintain_order="left")
            .join(self._questions.rename({"text": "asked"}), on="row", how="left", maintain_order="left")
            .join(replies.group_by("row").agg(pl.col("text").str.join("\n").alias("said")), on="row", how="left")
            .sort("row")
        )
        parts = [pl.col(name).fill_null("") for name in ("case", "text", "asked", "said")]
        return joined.select(pl.concat_str(parts, separator="\n").str.to_lowercase().alias("all"))["all"].to_list()

    def _read(self, note: Callable[[str], None]) -> None:
        cases: list[tuple[str, str]] = []
        questions: list[tuple[int, str]] = []
        for (case_id,), group in self._rows.group_by("case", maintain_order=True):
            if self._stopped.is_set():
                raise StoppedReading
            case = next((case for page in self._pages if (case := page.case(str(case_id)))), None)
            if case is None:
                continue
            cases.append((case.id, "\n".join(filter(None, (case.history, case.findings))).lower()))
            by_id = {question.id: question for question in case.questions}
            for row, question_id in group.select("row", "question").iter_rows():
                if question := by_id.get(question_id):
                    questions.append((row, "\n".join([question.prompt, *(question.options or ())]).lower()))
        self._cases = pl.DataFrame(cases, schema={"case": pl.String, "text": pl.String}, orient="row")
        texts = {"row": pl.UInt32, "text": pl.String}
        self._questions = pl.DataFrame(questions, schema=texts, orient="row")
        parts = [pl.DataFrame(schema=texts), *(part for page in self._pages for part in self._run_replies(page, note))]
        self._replies = pl.concat(parts).unique(maintain_order=True)

    def _run_replies(self, page: RunPages, note: Callable[[str], None]) -> Iterator[pl.DataFrame]:
        stored = page.open()
        if stored is None:
            return
        used = scan_used(page.run.folder).select("case", "question", "ask", "trial", "turn").collect()
        for number, part in enumerate(used.iter_slices(PART)):
            if self._stopped.is_set():
                raise StoppedReading
            if number and number * PART % NOTED_REPLIES == 0:
                note(f"search: {number * PART:,} of {len(used):,} replies of {page.run.name} read")
            with page.reading():
                answers = [stored.store.get(key) for key in used_keys(part)]
            said = [
                "\n".join(filter(None, (answer.text, answer.reasoning))).lower() if answer else "" for answer in answers
            ]
            table = part.select("case", "question").with_columns(pl.Series("text", said, pl.String))
            known = table.join(self._rows, on=("case", "question"), how="inner").select("row", "text")
            yield known.filter(pl.col("text") != "").unique(maintain_order=True)
