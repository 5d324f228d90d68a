"""A model as second reader: the option chosen by a reply that the parser could not read. It never overrides the parser.

All of it is our choice: the prompt, temperature 0, one request for each distinct reply, and that whatever is not one
letter counts as "none". It is asked for the default parser only: the papers' parsers define what counts as an answer.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wardround.asking.options import option_order
from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.candidates.registry import make_candidate
from wardround.core.ask import Answer, Ask, Identity, Message, Sampling
from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.study import ReaderSettings, Study
from wardround.core.text import LETTERS
from wardround.marking.judges.judge import answer_key, is_probe, scored_answers
from wardround.marking.judges.judged_text import as_data
from wardround.marking.judges.model_calls import ModelCalls
from wardround.marking.judges.model_judge import judge_name
from wardround.marking.parser.choice import parse_choice
from wardround.marking.parser.clean import clean_reply
from wardround.running.stored_run import ANSWER_PLACE, FewerAnswers, StoredRun
from wardround.running.used_answers import scan_used

PROMPT, KIND = "reader", "option"
RULE = "reader"  # in marks
READ_MODE = "strict"  # the parser whose unread replies it reads
READING_TOKENS = 64
MAX_REPLY_CHARACTERS = 12_000  # of a longer reply the beginning and the end are shown
_LETTER = re.compile(r"[\s\"'(\[]*([A-Za-z])[\s\"')\].]*")


class UnreadReply(NamedTuple):
    """A reply that the parser could not read, with the options in the order shown. A question to the reader."""

    options: tuple[str, ...]
    reply: str

    def request(self, identity: Identity, sampling: Sampling, prompts: Prompts) -> Request:
        """The request to a reader of this identity; the reply is data in it, and cannot close its tags."""
        listed = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, self.options, strict=False))
        slots = {"options": as_data(listed), "reply": as_data(_shorten(self.reply))}
        choices = [*LETTERS[: len(self.options)], "none"]
        question = Question(id=KIND, kind="choice", prompt="", options=choices, gold=len(self.options))
        case = Case(id=blake(slots).hex()[:16], questions=[question])
        ask = Ask(identity, sampling, (Message("user", (prompts.fill(PROMPT, KIND, slots),)),))
        return Request(ask, case, question, Condition(), tuple(range(len(choices))), (0,))


@dataclass(frozen=True)
class ModelReadings:
    """The readings of a reader: the place of the option that each unread reply chooses, or None."""

    places: Mapping[UnreadReply, int | None] = field(default_factory=dict)

    def place(self, reply: str, options: Iterable[str]) -> int | None:
        """The place in the order shown; None without a reading."""
        return self.places.get(UnreadReply(tuple(options), clean_reply(reply))) if self.places else None


@dataclass
class ReaderCalls(ModelCalls):
    """The calls of one reader over the answers of one run; stored readings are not asked for again."""

    role = PROMPT

    settings: ReaderSettings

    def read_run(self, run: StoredRun, parser: str) -> ModelReadings:
        """The readings of all choice answers of a run that the parser could not read."""
        unread = list_unread(run) if parser == READ_MODE else {}
        replies = list(dict.fromkeys(unread.values()))
        sampling = self.settings.sampling(READING_TOKENS)
        answers = self._answers(replies, sampling, "readings")
        readings = ModelReadings(dict(zip(replies, map(parse_place, replies, answers), strict=True)))
        self.prompts.fill(PROMPT, KIND, {})  # so that its hash is known even without a reply
        self.summary = {
            "name": judge_name(self.identity, sampling, self.prompts.hashes[f"{PROMPT}/{KIND}"]),
            "unread": len(unread),  # answers; `asked` counts distinct replies
            "read": sum(readings.places[reply] is not None for reply in unread.values()),
        }
        if self.why and (run.manifest.get("reader") or {}).get("name") == self.summary["name"]:
            _refuse_fewer_readings(run.folder, unread, readings, self.why)
        return readings

    def manifest(self) -> dict[str, Any]:
        """The manifest entry: the reader, its readings, cost and failures."""
        warnings = self.examined_warnings()
        if self.why:
            warnings.append(f"{self.why}: answers that it did not read stay unparsed")
        return self.model_manifest() | {"warnings": warnings}


def check_reader_settings(settings: ReaderSettings, study: Study, base_folder: Path) -> None:
    """Refuses a reader that cannot be asked, before anything is spent."""
    if settings.provider == "simulated":
        raise WardroundError("reader: the provider 'simulated' reads no replies; name a model")
    make_candidate(settings, folder=base_folder, offline=study.offline)


def list_unread(run: StoredRun) -> dict[tuple[Any, ...], UnreadReply]:
    """The choice answers that the parser could not read and that say something, by the key of their mark."""
    conditions = {condition.json: condition for condition in run.study.all_conditions}
    unread = {}
    for row, case, question in scored_answers(scan_used(run.folder), run.cases):
        if question.kind != "choice" or is_probe(row["condition"]):
            continue
        answer, condition = run.store.get(answer_key(row)), conditions[row["condition"]]
        if answer is None or answer.refused_for is not None or not (reply := clean_reply(answer.text)):
            continue
        if condition.confidence == "logprobs" and answer.first_token is not None:
            continue  # read by its log-probabilities
        order = option_order(case, question, condition, row["trial"], run.study.seed)
        options = tuple(question.choices[index] for index in order)
        if len(options) <= len(LETTERS) and parse_choice(answer.text, options, READ_MODE).option is None:
            unread[tuple(row[name] for name in ANSWER_PLACE)] = UnreadReply(options, reply)
    return unread


def parse_place(unread: UnreadReply, answer: Answer | None) -> int | None:
    """The place of the letter that the reader gave; None for "none" and for everything else."""
    letter = _LETTER.fullmatch(clean_reply(answer.text)) if answer is not None else None
    place = LETTERS.index(letter[1].upper()) if letter else len(unread.options)
    return place if place < len(unread.options) else None


def _shorten(reply: str) -> str:
    """A reply cut in its middle to the length that a reader is shown."""
    if len(reply) <= MAX_REPLY_CHARACTERS:
        return reply
    return f"{reply[: MAX_REPLY_CHARACTERS // 4]}\n[...]\n{reply[-3 * MAX_REPLY_CHARACTERS // 4 :]}"


def _refuse_fewer_readings(
    folder: Path, unread: Mapping[tuple[Any, ...], UnreadReply], readings: ModelReadings, why: str
) -> None:
    """Refuses to replace earlier readings by none, because of what keeps the reader from answering now."""
    marks = folder / "marks.parquet"
    if not marks.exists():
        return
    earlier = pl.scan_parquet(marks).filter(pl.col("rule") == RULE).select(ANSWER_PLACE).collect()
    lost = sum(key in unread and readings.places[unread[key]] is None for key in earlier.iter_rows())
    if lost:
        raise FewerAnswers(
            f"{folder}: {why}; {lost:,} of its earlier readings are not in the store: nothing is changed; "
            "name the right store by --answers PATH"
        )
