"""The searches of an agent step by step: its protocol is run again on stored answers and results. Calls nobody."""

from __future__ import annotations

import random
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wardround.asking.agent import parse_text_call, parse_tool_call, run_agent
from wardround.asking.render import Renderer, Turn, estimated_tokens
from wardround.core.ask import Answer, Identity, Message
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.evidence import NO_EVIDENCE, Document, Evidence, parse_documents
from wardround.core.random import seeded
from wardround.core.study import CandidateSettings
from wardround.core.study_tables.literature import Literature
from wardround.running.images import Fingerprints
from wardround.running.store import AnswerKey
from wardround.running.stored_run import StoredRun
from wardround.running.tools import result_key

MODES = ("calls", "text")


class MissingTurn(Exception):
    """The store lacks an answer or a result: the search cannot be followed."""


class AgentReplay:
    """Follows the agents of one run."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run
        self.renderer = Renderer(run.study, run.cases, run.prompts, Fingerprints(run.store).read)
        entries = {entry["name"]: entry for entry in run.manifest.get("candidates", [])}
        self._candidates: dict[str, tuple[CandidateSettings, Identity]] = {}
        for settings in run.study.candidates:
            entry = entries.get(settings.name, {})
            self._candidates[settings.name] = (
                settings.model_copy(update={"sees": entry.get("sees", settings.sees)}),
                replace(settings.identity, revision=entry.get("revision", settings.revision)),
            )

    def steps(
        self, case: Case, question: Question, row: Mapping[str, Any], carried: Mapping[str, str]
    ) -> list[dict[str, Any]] | None:
        """The turns before the answer of a mark; None if the condition has no agent or the store lacks a turn."""
        conditions = (condition for condition in self.run.study.all_conditions if condition.json == row["condition"])
        condition = next(conditions, None)
        if condition is None or condition.evidence != "agent" or self.run.study.literature is None:
            return None
        settings, identity = self._candidates[row["candidate"]]
        for mode in MODES:
            examiner = StoredExaminer(self, settings, identity, row["trial"], case, condition, mode, carried)
            try:
                _run_at_once(run_agent(question, {}, examiner))
            except (MissingTurn, WardroundError):
                continue
            if examiner.last_ask.hex() == row["ask"]:
                return examiner.steps()
        return None


@dataclass
class StoredExaminer:
    """The Examiner of one trial that ended: what is not stored does not exist."""

    replay: AgentReplay
    settings: CandidateSettings
    identity: Identity
    trial: int
    case: Case
    condition: Condition
    search_mode: str
    carried: Mapping[str, str]
    last_ask: bytes = b""
    _transcript: Sequence[Message] = ()
    _turns: dict[bytes, int] = field(default_factory=dict)
    _documents: dict[tuple[str, str], tuple[Document, ...]] = field(default_factory=dict)

    @property
    def literature(self) -> Literature:
        literature = self.replay.run.study.literature
        assert literature is not None, "a run without literature is not replayed"
        return literature

    async def ask(
        self,
        question: Question,
        *,
        earlier_answers: Mapping[str, Answer] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        step: str | None = None,
        transcript: Sequence[Message] = (),
        tools: Sequence[dict[str, Any]] = (),
    ) -> Answer:
        turn = Turn(step or f"agent-{self.search_mode}", step is not None, tuple(transcript), tuple(tools))
        shown = NO_EVIDENCE if transcript else evidence
        place = self.case, question, self.condition, self.settings, self.identity, self.trial
        key = self.replay.renderer.render(*place, self.carried, shown, turn).ask.key
        number = self._turns.get(key, 0)
        self._turns[key] = number + 1
        self.last_ask, self._transcript = key, tuple(transcript)
        answer = self.replay.run.store.get(AnswerKey(key, self.trial, number))
        if answer is None:
            raise MissingTurn
        return answer

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        fingerprint = (self.replay.run.manifest.get("literature") or {}).get("fingerprint", "")
        stored = self.replay.run.store.result(result_key(tool, fingerprint, arguments))
        if stored is None:
            raise MissingTurn
        argument = arguments["query"] if tool == "search" else " ".join(arguments["pmids"])
        self._documents[tool, argument] = parse_documents(stored["result"])
        return stored["result"]

    def tokens(self, messages: Sequence[Message]) -> int:
        return estimated_tokens(messages)

    def random(self, name: str) -> random.Random:
        return seeded(name, self.replay.run.study.seed, self.case.id, self.condition.json, self.trial)

    def steps(self) -> list[dict[str, Any]]:
        """Each reply with its calls: the tool, what it was used for, and the articles or the words that came back."""
        role, steps = "tool" if self.search_mode == "calls" else "user", list[dict[str, Any]]()
        waiting: list[dict[str, Any]] = []
        for message in self._transcript:
            text = "".join(part for part in message.parts if isinstance(part, str))
            if message.role == role and waiting:
                self._add_result(waiting.pop(0), text)
                continue
            if role == "tool":
                calls = [parse_tool_call(call) for call in message.tool_calls]
            else:
                calls = [parse_text_call(text)]
            waiting = [{"tool": call.tool, "argument": call.argument} for call in calls]
            steps.append({"text": text, "calls": list(waiting)})
        return steps

    def _add_result(self, call: dict[str, Any], text: str) -> None:
        documents = self._documents.get((call["tool"], call["argument"]), ())
        shown = [document for document in documents if f"PMID {document.pmid}: " in text]
        call["hits"] = [{"pmid": document.pmid, "title": document.title} for document in shown]
        call["result"] = "" if shown else text


def _run_at_once(coroutine: Coroutine[Any, Any, Answer]) -> None:
    """Runs a coroutine that waits for nothing, whether or not this thread has an event loop."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise AssertionError("a replay waited for something")
