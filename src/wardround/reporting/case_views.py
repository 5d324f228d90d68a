"""The contents of the case pages, from the run folder, its cases and the answer store."""

from collections.abc import Iterator
from math import exp
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from wardround.asking.render import Renderer
from wardround.core.ask import ImagePart
from wardround.core.canonical import canonical_json
from wardround.core.case import Case, Question
from wardround.core.errors import BadInput, WardroundError
from wardround.core.evidence import NO_EVIDENCE, Evidence
from wardround.degrade.recipe import render_degraded
from wardround.marking.slice_values import SLICE_SCHEMA
from wardround.reporting.case_pages import AskView, CaseView, PromptPart, TrialView
from wardround.reporting.numbers import percent
from wardround.running.store import AnswerKey
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import RunEvidence

MAX_CACHED_IMAGES = 64
QuestionKey = tuple[str, str, int, str]  # candidate, condition, trial, question


class ImageParts(Protocol):
    """How a page shows an image as sent: embedded, or by the address of a file."""

    def part(self, image: ImagePart) -> PromptPart: ...


class CaseViews:
    """Makes the views of a run's cases, one at a time."""

    def __init__(self, run: StoredRun, images: ImageParts | None = None) -> None:
        """`images` makes the part of a page that shows an image; by default the image itself, as a data URI."""
        self._cases, self._store, self._evidence = run.cases, run.store, RunEvidence(run.folder)
        self._images = images or SentImages()
        self._renderer = Renderer(run.study, run.cases, run.prompts, fingerprint=lambda path: "")
        self._conditions = {condition.json: condition for condition in run.study.all_conditions}
        sees = {entry["name"]: entry["sees"] for entry in run.manifest.get("candidates", [])}  # as found in the run
        self._candidates = {
            candidate.name: candidate.model_copy(update={"sees": sees[candidate.name]})
            for candidate in run.study.candidates
        }

    def make_views(self, marks: pl.DataFrame, turns: pl.DataFrame) -> Iterator[CaseView]:
        """One view per case that has marks, in the order of the case set."""
        marks = marks.join(turns, on=["candidate", "case", "question", "condition", "trial", "ask"], how="left")
        marks_by_case = marks.partition_by("case", as_dict=True)
        for case in self._cases:
            if (case.id,) in marks_by_case:
                yield self._case_view(case, marks_by_case[case.id,])

    def _case_view(self, case: Case, marks: pl.DataFrame) -> CaseView:
        facts: dict[str, Any] = {"specialty": case.specialty, "split": case.split, "cluster": case.cluster}
        if case.patient:
            facts |= {"age": case.patient.age, "sex": case.patient.sex}
        groups = marks.partition_by("candidate", "question", "condition", maintain_order=True)
        return CaseView(
            case.id,
            tuple(self.make_ask_view(case, group, marks) for group in groups),
            case.history or "",
            {name: str(value) for name, value in facts.items() if value is not None},
        )

    def make_ask_view(self, case: Case, group: pl.DataFrame, marks: pl.DataFrame) -> AskView:
        """One question to one candidate under one condition: `group` are its marks, `marks` all of the case's."""
        rows = group.sort("trial").to_dicts()
        first = rows[0]
        question = next(question for question in case.questions if question.id == first["question"])
        condition, candidate = self._conditions[first["condition"]], self._candidates[first["candidate"]]
        evidence = self._evidence.of_answer(first) or NO_EVIDENCE
        in_prompt = NO_EVIDENCE if condition.evidence == "agent" else evidence
        carried = self.carried_texts(case, question, first, marks)
        rendered = self._renderer.render(
            case, question, condition, candidate, candidate.identity, first["trial"], carried, in_prompt
        )
        prompt = [
            PromptPart(part) if isinstance(part, str) else self._images.part(part)
            for message in rendered.ask.messages
            for part in message.parts
        ]
        prompt += map(PromptPart, _search_texts(evidence, with_documents=condition.evidence == "agent"))
        return AskView(
            candidate=candidate.name,
            question=question.id,
            condition=condition.values,
            prompt=tuple(prompt),
            gold=question.gold,
            trials=tuple(self._trial_view(row) for row in rows),
            options=tuple(question.options or ()),
            order=rendered.order,
            slices={
                key: (value,) if isinstance(value, str) else tuple(value)
                for key in SLICE_SCHEMA
                if (value := first[key])
            },
        )

    def carried_texts(self, case: Case, question: Question, row: dict[str, Any], marks: pl.DataFrame) -> dict[str, str]:
        """The texts carried to a question from earlier ones in the trial of a mark; `marks` are all of the case's."""
        options: dict[QuestionKey, int | None] = {
            (mark["candidate"], mark["condition"], mark["trial"], mark["question"]): mark["option"]
            for mark in marks.select("candidate", "condition", "trial", "question", "option").iter_rows(named=True)
        }
        instance = (row["candidate"], row["condition"], row["trial"])
        earlier_keys = {id: (*instance, id) for id in question.given}
        own_answers = {
            earlier.id: earlier.choices[option] if (option := options[earlier_keys[earlier.id]]) is not None else None
            for earlier in case.questions
            if earlier.options and earlier_keys.get(earlier.id) in options
        }
        return self._renderer.carried_texts(case, question, self._conditions[row["condition"]], own_answers)

    def _trial_view(self, row: dict[str, Any]) -> TrialView:
        answer = self._store.get(AnswerKey(bytes.fromhex(row["ask"]), row["trial"], row["turn"] or 0))
        if answer is None:
            raise WardroundError(
                f"{self._store.location}: lacks the answer of {row['candidate']} to {row['case']} / {row['question']}; "
                "name the right store by --answers PATH"
            )
        text = answer.text
        if row["shares"] is not None:
            text = _first_token_text(answer.first_token or ())
        return TrialView(
            row["trial"],
            text,
            row["outcome"] or "probe",
            row["option"],
            answer.reasoning,
            answer.finish,
            row["confidence"],
            row["rule"],
            tuple(map(_criterion_text, row.get("criteria") or ())),
        )


def _search_texts(evidence: Evidence, with_documents: bool) -> Iterator[str]:
    """The queries and, if they are not in the prompt, the documents that the candidate saw."""
    if evidence.queries:
        yield "\n".join(["Searched for:", *(f"{n}. {query}" for n, query in enumerate(evidence.queries, 1))])
    if with_documents and evidence.documents:
        documents = (f"PMID {document.pmid}. {document.title}\n{document.text}" for document in evidence.documents)
        yield "\n\n".join(["Documents found:", *documents])


def _criterion_text(verdict: dict[str, Any]) -> str:
    words = {True: "met", False: "not met", None: "no verdict"}[verdict["met"]]
    return f"{verdict['points']:+g} {verdict['id']}: {words}"


def _first_token_text(first_token: tuple[tuple[str, float], ...]) -> str:
    """The most probable first tokens with their probabilities, as the server returned them."""
    return ", ".join(f"{token!r} {percent(exp(logprob))}%" for token, logprob in first_token[:8])


class SentImages:
    """Images as sent, as data URIs; the latest are cached, because conditions share them."""

    def __init__(self) -> None:
        self._cache: dict[str, PromptPart] = {}

    def part(self, image: ImagePart) -> PromptPart:
        key = canonical_json([image.path, image.named])
        if key not in self._cache:
            if len(self._cache) >= MAX_CACHED_IMAGES:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = self._render(image)
        return self._cache[key]

    def _render(self, image: ImagePart) -> PromptPart:
        name = Path(image.path).name
        try:
            encoded = render_degraded(image.path, image.frame, image.recipe)
        except BadInput as error:
            return PromptPart(f"{name}: {error.problem.message}")
        return PromptPart(name, f"data:{encoded.media_type};base64,{encoded.base64.decode()}")
