"""The page of one question as data: what was shown, every reply and its mark, evidence, and linked questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

import polars as pl

from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.errors import WardroundError
from wardround.core.evidence import Evidence
from wardround.core.names import NO_SYNONYMS
from wardround.marking.evidence.document import split_sentences
from wardround.marking.evidence.grounding import diagnosis_names, is_supported
from wardround.marking.judges.judge import DiagnosisPair, judged_diagnoses, read_verdicts
from wardround.marking.judges.rubric_judge import shown_answer
from wardround.marking.judges.stored_words import JudgeWords
from wardround.marking.parser.choice import STRICT
from wardround.marking.parser.passage import read_passage
from wardround.reporting.answer_records import axis_values
from wardround.reporting.case_pages import AskView, PromptPart, changed_axes
from wardround.reporting.case_views import CaseViews, ImageParts
from wardround.running.store import AnswerKey
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import RunEvidence, scan_used
from wardround.view.agent_steps import AgentReplay
from wardround.view.run_list import ShownRun

KEY = ("candidate", "case", "question", "condition", "trial", "ask")


class OpenedRun(NamedTuple):
    """What the pages of a run are made of."""

    stored: StoredRun
    views: CaseViews
    evidence: RunEvidence
    verdicts: pl.DataFrame
    judge_words: JudgeWords
    agents: AgentReplay


@dataclass
class RunPages:
    """Makes the pages of one run's questions; opens its cases and answers when the first is wanted."""

    run: ShownRun
    images: ImageParts
    problem: str = ""  # why replies and images cannot be shown
    _opened: OpenedRun | None = None
    _lock: Lock = field(default_factory=Lock)

    def open(self) -> StoredRun | None:
        """The stored run; None, with `problem`, if its cases or answers are not there."""
        if self._opened is None and not self.problem:
            try:
                stored = StoredRun.open(self.run.folder)
                self._opened = OpenedRun(
                    stored,
                    CaseViews(stored, self.images),
                    RunEvidence(self.run.folder),
                    read_verdicts(self.run.folder),
                    JudgeWords(stored),
                    AgentReplay(stored),
                )
            except WardroundError as error:
                self.problem = str(error)
        return self._opened.stored if self._opened else None

    def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened.stored.store.close()
                self._opened = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One thread at a time reads the answer store."""
        with self._lock:
            yield

    def case(self, id: str) -> Case | None:
        with self._lock:
            stored = self.open()
            try:
                return stored.cases.case(stored.cases.index_of(id)) if stored else None
            except (KeyError, WardroundError):
                return None

    def page(self, case_id: str, question_id: str) -> dict[str, Any]:
        """The asks about a question, and its text; without the case set or the store, the marks alone."""
        marks = pl.scan_parquet(self.run.marks).filter(pl.col("case") == case_id).collect()
        own = marks.filter((pl.col("question") == question_id) & pl.col("outcome").is_not_null())
        case = self.case(case_id)
        question = next((q for q in case.questions if q.id == question_id), None) if case else None
        page: dict[str, Any] = {"run": self.run.name, "problem": self.problem, "prompts": [], "asks": []}
        if case is None or question is None:
            page["asks"] = [_marked_only(group) for group in _groups(own)]
            return page
        page |= _question_fields(case, question)
        with self._lock:
            assert self._opened is not None
            stored, views, evidence, verdicts, judge_words, agents = self._opened
            turns = scan_used(self.run.folder).filter(pl.col("case") == case_id).select(*KEY, "turn").collect()
            marks = marks.join(turns, on=KEY, how="left", maintain_order="left")
            own = own.join(turns, on=KEY, how="left", maintain_order="left")
            verdicts = verdicts.filter((pl.col("case") == case_id) & (pl.col("question") == question_id))
            said = pl.Series("said", list(_judge_replies(verdicts, judge_words)), pl.String)
            verdicts = verdicts.with_columns(said)
            mode = str(stored.manifest.get("parser") or STRICT)
            prompts: dict[tuple[PromptPart, ...], int] = {}
            for group in _groups(own):
                try:
                    view = views.make_ask_view(case, group, marks)
                except (WardroundError, KeyError) as error:
                    page["asks"].append(_marked_only(group) | {"problem": str(error)})
                    continue
                number = prompts.setdefault(view.prompt, len(prompts))
                trials = list(_trials(view, group, question, evidence, verdicts, mode))
                for trial, row in zip(trials, group.sort("trial").to_dicts(), strict=True):
                    if row.get("criteria"):
                        trial["criteria"] = list(_criteria(case, question, row, stored, judge_words))
                    if trial["evidence"] is not None:
                        carried = views.carried_texts(case, question, row, marks)
                        trial["evidence"]["steps"] = agents.steps(case, question, row, carried)
                page["asks"].append(
                    {
                        "candidate": view.candidate,
                        "condition": changed_axes(view.condition),
                        "prompt": number,
                        "options": [[letter, own_index] for letter, own_index, _ in view.lettered_options],
                        "trials": trials,
                    }
                )
            page["prompts"] = [list(_parts(prompt)) for prompt in prompts]
        return page


def _groups(marks: pl.DataFrame) -> list[pl.DataFrame]:
    return marks.partition_by("candidate", "condition", maintain_order=True)


def _question_fields(case: Case, question: Question) -> dict[str, Any]:
    facts: dict[str, Any] = {"specialty": case.specialty, "split": case.split, "cluster": case.cluster}
    if case.patient:
        facts |= {"age": case.patient.age, "sex": case.patient.sex}
    facts |= {name: getattr(question, name) for name in ("stage", "skill", "grade", "task")}
    facts |= {"tags": ", ".join(case.tags) or None}
    return {
        "facts": {name: str(value) for name, value in facts.items() if value is not None},
        "history": case.history or "",
        "findings": case.findings or "",
        "text": question.prompt,
        "options": list(question.options or ()),
        "gold": question.gold,
        "accept": list(question.accept),
        "criteria": [{"text": item.text, "points": item.points, "axis": item.axis} for item in question.criteria],
        "conversation": [{"role": said.role, "content": said.content} for said in question.conversation],
        "modalities": [image.modality or "" for image in case.images],
    }


def _parts(prompt: tuple[PromptPart, ...]) -> Iterator[dict[str, str]]:
    for part in prompt:
        yield {"text": part.text} | ({"image": part.image} if part.image else {})


def _marked_only(group: pl.DataFrame) -> dict[str, Any]:
    """An ask of which only the marks are known."""
    rows = group.sort("trial").to_dicts()
    trials = [
        {name: row[name] for name in ("trial", "outcome", "option", "confidence", "rule")} | {"text": None}
        for row in rows
    ]
    condition = changed_axes(axis_values(rows[0]["condition"]))
    return {"candidate": rows[0]["candidate"], "condition": condition, "prompt": None, "options": [], "trials": trials}


def _trials(
    view: AskView,
    group: pl.DataFrame,
    question: Question,
    run_evidence: RunEvidence,
    verdicts: pl.DataFrame,
    mode: str,
) -> Iterator[dict[str, Any]]:
    """Each reply with its mark, the passage that was read, the verdicts on its diagnoses, and its evidence."""
    rows = {row["trial"]: row for row in group.to_dicts()}
    shown = [text for _, _, text in view.lettered_options]
    for trial in view.trials:
        row = rows[trial.trial]
        place = pl.col("candidate") == row["candidate"], pl.col("condition") == row["condition"]
        judged = verdicts.filter(*place, pl.col("trial") == trial.trial).sort("rank")
        evidence = run_evidence.of_answer(row)
        yield {
            "trial": trial.trial,
            "text": trial.text,
            "reasoning": trial.reasoning or "",
            "outcome": trial.outcome,
            "option": trial.option,
            "confidence": trial.confidence,
            "rule": trial.rule,
            "finish": trial.finish,
            "passage": _passage(trial.text, question, shown, row, mode),
            "judge": row.get("judge"),
            "error_class": row.get("error_class"),
            "grounded": row.get("grounded"),
            "verdicts": judged.select("diagnosis", "same", "judge", "flag", "said").to_dicts(),
            "evidence": None if evidence is None else _evidence(evidence, question, trial.text, row),
        }


def _judge_replies(verdicts: pl.DataFrame, words: JudgeWords) -> Iterator[str | None]:
    """What the judge wrote about each row."""
    for judge, gold, accept, diagnosis in verdicts.select("judge", "gold", "accept", "diagnosis").iter_rows():
        yield words.of_pair(judge, DiagnosisPair(gold, tuple(accept), diagnosis))


def _criteria(
    case: Case, question: Question, row: Mapping[str, Any], stored: StoredRun, words: JudgeWords
) -> Iterator[dict[str, Any]]:
    """The criteria of a rubric answer with the judge's verdicts and words."""
    answer = stored.store.get(AnswerKey(bytes.fromhex(row["ask"]), row["trial"], row["turn"] or 0))
    condition = next(condition for condition in stored.study.all_conditions if condition.json == row["condition"])
    criteria = {criterion.id: criterion for criterion in question.criteria}
    texts = [criterion.text for criterion in question.criteria]
    said: list[str | None] = [None] * len(texts)
    if answer is not None:
        said = words.of_criteria(row["judge"], shown_answer(case, question, condition, answer), texts)
    said_by_id = dict(zip(criteria, said, strict=True))
    for verdict in row["criteria"]:
        criterion = criteria.get(verdict["id"])
        yield verdict | {"text": criterion.text if criterion else verdict["id"], "said": said_by_id.get(verdict["id"])}


def _passage(text: str, question: Question, shown: list[str], row: Mapping[str, Any], mode: str) -> list[int] | None:
    """Start and end of what was read; of an open answer, of its first diagnosis."""
    if question.kind == "rubric":
        return None
    if question.kind == "choice":
        passage = read_passage(text, shown, mode) if row.get("shares") is None else None
        return list(passage) if passage else None
    first = next(iter(judged_diagnoses(text)), "")
    start = text.casefold().find(first.casefold()) if first else -1
    return [start, start + len(first)] if start >= 0 else None


def _evidence(evidence: Evidence, question: Question, text: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The searches and the documents, with the sentences that alone support the first diagnosis."""
    names = diagnosis_names(question, Answer(text), dict(row), NO_SYNONYMS)
    return {
        "queries": list(evidence.queries),
        "hits": list(evidence.hits),
        "ended": evidence.ended or "",
        "documents": [
            {
                "pmid": document.pmid,
                "title": document.title,
                "sentences": [
                    {"text": sentence, "supports": bool(names) and is_supported(names, [sentence])}
                    for sentence in split_sentences(document.text)
                ],
            }
            for document in evidence.documents
        ],
    }
