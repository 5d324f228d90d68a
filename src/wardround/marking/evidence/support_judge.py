"""A model as judge of support: whether documents support a diagnosis, asked once for each distinct pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wardround.core.ask import Answer
from wardround.marking.evidence.grounding import document_texts, is_supported, tested_names
from wardround.marking.judges.judge import Judge, scored_answers
from wardround.marking.judges.model_judge import YES_OR_NO, JudgeQuestion, parse_verdict, shorten
from wardround.marking.marks import AnswerMarker
from wardround.marking.model_reader import ModelReadings
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import RunEvidence, scan_used

MAX_DOCUMENT_CHARACTERS = 24_000


class SupportPair(NamedTuple):
    """A diagnosis by all its names, and documents that may support it."""

    names: tuple[str, ...]
    documents: tuple[str, ...]


@dataclass
class JudgedSupport:
    """The support test of a judge: its verdict on each pair. Without documents no diagnosis is supported."""

    verdicts: Mapping[SupportPair, bool | None]

    def __call__(self, names: Sequence[str], documents: Sequence[str]) -> bool | None:
        return self.verdicts.get(SupportPair(tuple(names), tuple(documents))) if documents else False


def support_pairs(
    run: StoredRun, run_evidence: RunEvidence, judge: Judge, parser: str, readings: ModelReadings | None = None
) -> list[SupportPair]:
    """The distinct pairs that a judge must be asked about before the answers of a run can be marked."""
    marker = AnswerMarker(run.cases, run.store, run.study, parser, judge, readings)
    pairs: dict[SupportPair, None] = {}
    for row, case, question in scored_answers(scan_used(run.folder), run.cases):
        evidence = run_evidence.of_answer(row)
        documents = tuple(document_texts(evidence)) if evidence is not None else ()
        if documents and (marked := marker.mark(row, case, question)) is not None:
            for names in tested_names(question, *marked, marker.synonyms).values():
                pairs[SupportPair(tuple(names), documents)] = None
    return list(pairs)


def support_question(pair: SupportPair) -> JudgeQuestion:
    """Whether the documents support the diagnosis; the first name is the one it was given."""
    names, documents = pair
    listed = "\n".join(f"[{number}] {' '.join(document.split())}" for number, document in enumerate(documents, 1))
    diagnosis = f"{names[0]} (also: {'; '.join(names[1:])})" if len(names) > 1 else names[0]
    slots = {"diagnosis": shorten(diagnosis), "documents": listed[:MAX_DOCUMENT_CHARACTERS]}
    gold = 0 if is_supported(names, documents) else 1
    return JudgeQuestion("support", slots, ["yes", "no"], gold)


def parse_support(answer: Answer | None) -> bool | None:
    """Whether the judge said yes; None without a readable verdict."""
    return None if answer is None else parse_verdict(answer.text, YES_OR_NO)
