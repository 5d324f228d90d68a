"""What the case pages show, put together from the run folder, its cases and the answer store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp
from pathlib import Path
from typing import Any

import polars as pl

from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.cases.set import CaseSet
from wardround.core.ask import ImagePart
from wardround.core.canonical import canonical_json
from wardround.core.case import Case
from wardround.core.errors import BadInput
from wardround.core.evidence import NO_EVIDENCE, Evidence
from wardround.core.study import CandidateSettings, Study
from wardround.degrade.recipe import render_degraded
from wardround.marking.slice_values import SLICE_SCHEMA
from wardround.reporting.case_pages import AskView, CaseView, Part, TrialView
from wardround.reporting.numbers import percent
from wardround.running.store import Row, Store
from wardround.running.used_answers import Shown

KEPT_IMAGES = 64
Asked = tuple[str, str, int, str]  # candidate, condition, trial, question


class Views:
    """Makes the views of one run's cases, one at a time."""

    def __init__(
        self,
        study: Study,
        prompts: Prompts,
        cases: CaseSet,
        store: Store,
        candidates: list[CandidateSettings],
        shown: Shown,
    ) -> None:
        self._cases, self._store, self._images, self._shown = cases, store, Images(), shown
        self._renderer = Renderer(study, cases, prompts, fingerprint=lambda path: "")
        self._candidates = {candidate.name: candidate for candidate in candidates}
        self._conditions = {condition.json: condition for condition in study.all_conditions}

    def all(self, marks: pl.DataFrame, turns: pl.DataFrame) -> Iterator[CaseView]:
        """One view per case that has marks, in the order of the case set."""
        marks = marks.join(turns, on=["candidate", "case", "question", "condition", "trial", "ask"], how="left")
        by_case = marks.partition_by("case", as_dict=True)
        for case in self._cases:
            if (case.id,) in by_case:
                yield self._case(case, by_case[case.id,])

    def _case(self, case: Case, marks: pl.DataFrame) -> CaseView:
        facts = {"specialty": case.specialty, "split": case.split, "cluster": case.cluster}
        if case.patient:
            facts |= {"age": case.patient.age and str(case.patient.age), "sex": case.patient.sex}
        groups = marks.partition_by("candidate", "question", "condition", maintain_order=True)
        answers = {
            (row["candidate"], row["condition"], row["trial"], row["question"]): row["option"]
            for row in marks.iter_rows(named=True)
        }
        return CaseView(
            case.id,
            tuple(self._ask(case, group, answers) for group in groups),
            case.history or "",
            {name: str(value) for name, value in facts.items() if value is not None},
        )

    def _ask(self, case: Case, group: pl.DataFrame, answers: Mapping[Asked, int | None]) -> AskView:
        rows = group.sort("trial").to_dicts()
        first = rows[0]
        question = next(each for each in case.questions if each.id == first["question"])
        condition, candidate = self._conditions[first["condition"]], self._candidates[first["candidate"]]
        evidence = self._shown.with_answer(first) or NO_EVIDENCE
        put = NO_EVIDENCE if condition.evidence == "agent" else evidence
        asked = (first["candidate"], first["condition"], first["trial"])
        before = {id: (*asked, id) for id in question.given}
        own = {
            each.id: each.choices[option] if (option := answers[before[each.id]]) is not None else None
            for each in case.questions
            if each.options and before.get(each.id) in answers
        }
        given = self._renderer.carried(case, question, condition, own)
        rendered = self._renderer.render(
            case, question, condition, candidate, candidate.identity, first["trial"], given, put
        )
        prompt = [
            Part(part) if isinstance(part, str) else self._images.part(part)
            for message in rendered.ask.messages
            for part in message.parts
        ]
        prompt += map(Part, _searched(evidence, whole=condition.evidence == "agent"))
        return AskView(
            candidate=candidate.name,
            question=question.id,
            condition=condition.values,
            prompt=tuple(prompt),
            gold=question.gold,
            trials=tuple(self._trial(row) for row in rows),
            options=tuple(question.options or ()),
            order=rendered.order,
            slices={key: _several(first[key]) for key in SLICE_SCHEMA if first[key]},
        )

    def _trial(self, row: dict[str, Any]) -> TrialView:
        answer = self._store.get(Row(bytes.fromhex(row["ask"]), row["trial"], row["turn"] or 0))
        text = answer.text if answer else ""
        if row["shares"] is not None and answer is not None:
            text = _told_shares(answer.first_token or ())
        return TrialView(
            row["trial"],
            text,
            row["outcome"] or "probe",
            row["option"],
            answer.reasoning if answer else None,
            answer.finish if answer else "",
            row["confidence"],
            row["rule"],
        )


def _searched(evidence: Evidence, whole: bool) -> Iterator[str]:
    """What was searched for; and, where it is not in the prompt, what the candidate was shown of it."""
    if evidence.queries:
        yield "\n".join(["Searched for:", *(f"{n}. {query}" for n, query in enumerate(evidence.queries, 1))])
    if whole and evidence.documents:
        listed = (f"PMID {each.pmid}. {each.title}\n{each.text}" for each in evidence.documents)
        yield "\n\n".join(["What its search showed:", *listed])


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _told_shares(first_token: tuple[tuple[str, float], ...]) -> str:
    """The likeliest first tokens with their probabilities, as the server gave them."""
    return ", ".join(f"{token!r} {percent(exp(logprob))}%" for token, logprob in first_token[:8])


class Images:
    """Images as they were sent, as data URIs; the latest are kept, since conditions share them."""

    def __init__(self) -> None:
        self._kept: dict[str, Part] = {}

    def part(self, image: ImagePart) -> Part:
        key = canonical_json([image.path, image.named])
        if key not in self._kept:
            if len(self._kept) >= KEPT_IMAGES:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._rendered(image)
        return self._kept[key]

    def _rendered(self, image: ImagePart) -> Part:
        name = Path(image.path).name
        try:
            encoded = render_degraded(image.path, image.frame, image.recipe)
        except BadInput as bad:
            return Part(f"{name}: {bad.problem.message}")
        return Part(name, f"data:{encoded.media_type};base64,{encoded.base64.decode()}")
