"""A study is run: replayed through what is stored, then asked for what is not."""

from __future__ import annotations

import asyncio
import platform
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from wardround import __version__
from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.candidates.candidate import Candidate, Gone, Rejected, Request
from wardround.candidates.registry import make_candidate, refuse_elsewhere
from wardround.cases.set import CaseSet
from wardround.cases.validation import problems_of
from wardround.core.ask import Answer
from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import Study
from wardround.degrade.severities import profile_named
from wardround.running.budget import Purse, price
from wardround.running.caller import Caller
from wardround.running.candidate_run import Seated
from wardround.running.context import Reader, Room
from wardround.running.images import Fingerprints, Imagery
from wardround.running.interrupt import heard_by
from wardround.running.library import Library
from wardround.running.parquet import write_in_parts
from wardround.running.plan import Plan, examine, replay
from wardround.running.progress import Lane, Progress
from wardround.running.run_folder import RunFolder
from wardround.running.sentinel import Sentinels
from wardround.running.store import Store
from wardround.running.tools import Tools
from wardround.running.trials import abandon
from wardround.running.used_answers import FILE as USED
from wardround.running.used_answers import UsedRows, asks_of

MOST_PROBLEMS_TOLD = 20  # on the way; the manifest has them all
UNFINISHED = {"status": "incomplete", "why": "it was stopped before its end"}
PACKAGES = ("aiohttp", "numpy", "orjson", "pillow", "polars", "pydicom", "scipy")


@dataclass(frozen=True)
class Places:
    """Where things are: the study's file, the folder of runs and the answer store."""

    study: Path
    runs: Path
    answers: Path

    @classmethod
    def given(cls, study: Path, runs: Path | None, answers: Path | None) -> Places:
        """With a folder of runs the store is beside it, unless another is named."""
        runs = runs or Path("runs")
        return cls(study, runs, answers or runs.absolute().parent / "answers.sqlite")


class Examination:
    """One start of one run."""

    def __init__(
        self, study: Study, places: Places, reader: Reader, *, strict: bool = False, note: Callable[[str], None] = print
    ) -> None:
        self.study, self.places, self.note = study, places, note
        self.cases = CaseSet.open(cases_folder(study, places.study), strict=strict)
        if strict:
            refuse_problems(self.cases)
        self.prompts = Prompts(places.study.parent)
        self.folder = RunFolder(places.runs / study.name)
        self._reader = reader
        self._candidates: list[Candidate] = [make_candidate(each, offline=study.offline) for each in study.candidates]
        if study.offline and study.judge is not None:
            refuse_elsewhere(study.judge)
        searches = set(study.conditions.get("evidence", ["none"])) != {"none"}
        self._library = Library(study, places.study, self.cases) if searches else None
        self.store = Store(places.answers)
        self._imagery = Imagery()
        self.purse = Purse(study.budget)
        self._used = UsedRows()
        self._seated: list[Seated] = []
        self._read = self._unread = 0
        self.interrupted = False

    async def plan(self) -> list[Seated]:
        """Prepares the candidates and replays them through stored answers; calls nobody."""
        fingerprints = Fingerprints(self.store)
        renderer = Renderer(self.study, self.cases, self.prompts, fingerprints)
        tools = Tools(self.store, self._library.tools if self._library else {})
        for number, candidate in enumerate(self._candidates):
            await candidate.prepare(self.cases)
            caller = Caller(self.study.name, candidate, self.store, self._imagery, self.purse)
            room = Room(
                self.study,
                renderer,
                fingerprints,
                self.store,
                caller,
                self._reader,
                use=partial(self._used.add, number),
                answered=partial(self._answered, number),
                stored=partial(self._stored, number),
                tools=tools,
            )
            self._seated.append(Seated(room, Plan(), Sentinels(), set()))
            with self.store.looked_up_often():
                self._seated[-1].plan = await replay(room, self.cases)
            fingerprints.remember()
        if all(seated.plan.empty for seated in self._seated):
            raise BadInput(self.places.study, f"questions = {self.study.questions}: no case has such a question")
        return self._seated

    def _answered(self, number: int, request: Request, answer: Answer) -> None:
        """Hears of a new answer: for the unparsed rate so far, the sentinels and the models' names."""
        self._stored(number, answer)
        if request.on_the_way or request.condition.probe != "none":
            return
        self._seated[number].sentinels.see(request, answer)
        if request.question.kind == "choice" and answer.first_token is None:
            self._read += 1
            self._unread += self._reader.text(answer, request.question, request.order) is None

    def _stored(self, number: int, answer: Answer) -> None:
        if answer.model is not None:
            self._seated[number].models.add(answer.model)

    def announce(self) -> str:
        """What is stored, what is new and what that may cost, before anything is spent."""
        found = [seated.plan.found for seated in self._seated]
        stored, missing = sum(each.stored for each in found), sum(each.missing for each in found)
        cost = sum(
            price(seated.room.caller.settings, seated.plan.found.tokens_in, seated.plan.found.tokens_out)
            for seated in self._seated
        )
        about = f", about {cost:.2f} USD" if cost else ""
        return f"stored {stored:,} of {stored + missing:,}; {missing:,} new{about}"

    async def run(self, *, amend: bool = False, quiet: bool = False, notes: Sequence[str] = ()) -> dict[str, Any]:
        """Asks what is missing, and writes used.parquet and manifest.json. Returns the manifest."""
        self.folder.lock()
        amendments = self.folder.bind(self.study, amend)
        before, started = self.folder.manifest, now()
        self.folder.write("study.toml", self.places.study.read_bytes())
        await self.plan()
        seconds = {told["name"]: told.get("seconds", 0.0) for told in before.get("candidates", [])}
        for seated in self._seated:
            seated.seconds_before = seconds.get(seated.name, 0.0)
        for problem in self.cases.problems[:MOST_PROBLEMS_TOLD]:
            self.note(f"skipped: {problem}")
        self.note(self.announce())
        kept = {
            "started": before.get("started", started),
            "amendments": amendments,
            "sentinel": before.get("sentinel", {}),
            "notes": list(notes) or before.get("notes", []),
        }
        self.folder.write_manifest(self._manifest() | kept | UNFINISHED)  # a run that is killed is bound all the same
        await self._ask_all(quiet)
        for skipped in self._skipped().values():
            self.note(f"skipped: {skipped}")
        kept["sentinel"] = await self._ask_again()
        manifest = self._manifest() | kept
        self._write_used()
        for number, told in enumerate(manifest["candidates"]):
            told["in_all"] = self._in_all(number, told)
        self.folder.write_manifest(manifest)
        return manifest

    async def _ask_all(self, quiet: bool) -> None:
        if not any(seated.plan.found.missing for seated in self._seated):
            return
        lanes = [
            Lane(
                seated.plan.found.stored + seated.plan.found.missing,
                self._used.counts[number],
                seated.room.caller.tally,
            )
            for number, seated in enumerate(self._seated)
        ]
        progress = Progress(lanes, quiet)
        asking = asyncio.ensure_future(self._examine_all())
        with heard_by(partial(self._interrupt, asking)):
            while not asking.done():
                await asyncio.wait([asking], timeout=0.2)
                progress.read, progress.unread = self._read, self._unread
                for number, lane in enumerate(lanes):
                    lane.done = self._used.counts[number] - lane.stored
                progress.show(last=asking.done())
            await asking

    async def _examine_all(self) -> None:
        async def one(seated: Seated) -> None:
            seated.outcome = await examine(seated.room, self.cases, seated.plan)

        try:
            async with asyncio.TaskGroup() as group:
                for seated in self._seated:
                    group.create_task(one(seated))
        except* WardroundError as failures:
            raise first_of(failures) from None

    def _interrupt(self, asking: asyncio.Future[None]) -> None:
        """Once: finish what is in flight. Twice: stop now."""
        if self.interrupted:
            asking.cancel()
            return
        self.interrupted = True
        self.note("stopping: calls under way are finished; press Ctrl-C again to stop now")
        for seated in self._seated:
            seated.room.caller.stop()

    async def _ask_again(self) -> dict[str, Any]:
        """The sentinels, once per run, where a server answered anew and the run is whole."""
        told: dict[str, Any] = self.folder.manifest.get("sentinel", {})
        for seated in self._seated:
            caller = seated.room.caller
            name, served = caller.settings.name, caller.settings.base_url is not None
            if name in told or not served or not seated.sentinels.kept or caller.ending or self.purse.reached:
                continue
            try:
                told[name] = await seated.sentinels.ask_again(
                    self.study.name, caller.candidate, self.store, self._imagery, self._reader, self.purse
                )
            except (Gone, Rejected) as failure:
                told[name] = {"asked_again": 0, "failed": str(failure)}
        return told

    def _write_used(self) -> None:
        names = [candidate.name for candidate in self.study.candidates]
        conditions = [condition.json for condition in self.study.all_conditions]
        self._used.write_evidence(self.folder.path, names, self.cases.ids, conditions)
        write_in_parts(self.folder.path / USED, self._used.tables(names, self.cases.ids, conditions))

    def _in_all(self, number: int, told: dict[str, Any]) -> dict[str, Any]:
        """What all answers of a candidate took, those included that other runs had bought before."""
        calls, answers, tokens_in, tokens_out = (told[name] for name in ("calls", "bought", "tokens_in", "tokens_out"))
        if answers < self._used.counts[number]:
            calls, answers, tokens_in, tokens_out = self.store.paid_by_all(asks_of(self.folder.path, told["name"]))
        cost = price(self._seated[number].room.caller.settings, tokens_in, tokens_out)
        return {"calls": calls, "bought": answers, "tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost}

    def _manifest(self) -> dict[str, Any]:
        why = self._why_incomplete()
        inapplicable: Counter[str] = Counter()
        for seated in self._seated:
            inapplicable += seated.plan.inapplicable + seated.outcome.unable
        return {
            "wardround": __version__,
            "study": {
                "name": self.study.name,
                "hash": self.study.hash,
                "folder": str(self.places.study.parent.absolute()),
            },
            "status": "incomplete" if why else "complete",
            "why": why,
            "finished": now(),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "cases": {
                "path": str(self.study.cases),
                "folder": str(self.cases.folder.absolute()),
                "file": str(self.cases.file.absolute()),
                "hash": self.cases.hash,
                "cases": len(self.cases),
                "questions": self.cases.question_count,
                "skipped": [str(problem) for problem in self.cases.problems] + list(self._skipped().values()),
            },
            "exploratory": self.folder.changed_since_frozen(self.decided),
            "prompts": dict(sorted(self.prompts.hashes.items())),
            "severities": self._severities(),
            "literature": self._library and self._library.manifest(),
            "candidates": [
                seated.told() | {"cut": self._used.cuts[number], "missing": len(self._used.missing[number])}
                for number, seated in enumerate(self._seated)
            ],
            "inapplicable": dict(inapplicable.most_common()),
            "warnings": self._warnings(),
        }

    @property
    def decided(self) -> dict[str, str]:
        """What `check --freeze` fixes before the first answer: the study, its cases and its comparisons."""
        families = {name: family.model_dump() for name, family in self.study.comparisons.items()}
        return {"study": self.study.hash, "cases": self.cases.hash, "comparisons": blake(families).hex()}

    def _skipped(self) -> dict[str, str]:
        """The cases that could not be asked because something is wrong with them, with what that is."""
        skipped: dict[str, str] = {}
        for seated in self._seated:
            skipped |= seated.plan.skipped | seated.outcome.skipped
        return skipped

    def _why_incomplete(self) -> str | None:
        if self.interrupted:
            return "it was interrupted"
        if self.purse.reached and any(seated.outcome.stopped for seated in self._seated):
            return self.purse.reached
        return next((why for seated in self._seated if (why := seated.why_incomplete)), None)

    def _severities(self) -> dict[str, Any] | None:
        """The severity table that images were degraded by; None where none were."""
        if set(self.study.conditions.get("degradation", ["none"])) <= {"none", "stored"}:
            return None
        profile = profile_named(self.study.severities, self.prompts.folder)
        return {"profile": profile.name, "version": profile.version, "hash": profile.hash}

    def _warnings(self) -> list[str]:
        named, left_out = Counter[str](), Counter[str]()
        for seated in self._seated:
            named |= seated.plan.named
            left_out |= seated.plan.left_out
        told = [
            f"without = {modality}: {many:,} of {left_out[modality]:,} questions asked so still name it in their text"
            for modality, many in named.items()
            if many
        ]
        return told + [line for seated in self._seated for line in seated.warnings]

    async def close(self) -> None:
        await abandon()
        await self.store.settled()
        for candidate in self._candidates:
            await candidate.close()
        self._imagery.close()
        self.store.close()
        self.folder.unlock()


def cases_folder(study: Study, study_file: Path) -> Path:
    """The case set that a study names: beside the study file, or from here."""
    beside = study_file.parent / study.cases
    return beside if beside.exists() else Path(study.cases)


def refuse_problems(cases: CaseSet) -> None:
    """Decodes every image before anything is asked; the first that cannot be used fails the set."""
    for problem in problems_of(cases):
        raise WardroundError(str(problem))


def first_of(failures: BaseExceptionGroup[WardroundError]) -> WardroundError:
    first = failures.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


def now() -> str:
    return datetime.fromtimestamp(int(time.time()), UTC).isoformat()
