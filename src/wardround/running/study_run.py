"""StudyRun: one start of a run. It replays the study from stored answers, then asks for the missing ones."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from wardround.asking.prompts import Prompts
from wardround.asking.protocols import DEFAULT, PROTOCOLS
from wardround.asking.render import Renderer
from wardround.asking.units import select_questions
from wardround.asking.unused_prompts import find_unused
from wardround.candidates.candidate import Candidate, CandidateUnavailable
from wardround.candidates.registry import make_candidate, refuse_remote
from wardround.cases.rare_collection import rare_collection
from wardround.cases.set import CaseSet
from wardround.cases.validation import find_problems
from wardround.core.errors import BadInput, WardroundError
from wardround.core.files import write_file
from wardround.core.interrupt import on_interrupt
from wardround.core.study import Study
from wardround.running.batching.batch_asking import BatchAsking, batch_refusal, batched_candidates
from wardround.running.batching.planned_searches import make_planned_searches
from wardround.running.budget import BudgetTracker, bill
from wardround.running.caller import Caller
from wardround.running.candidate_run import CandidateRun
from wardround.running.context import ReplyReader, RunContext, refuse_other_addresses
from wardround.running.images import Fingerprints, ImageEncoder
from wardround.running.inputs.changes import InputChanges, find_changes
from wardround.running.inputs.hashes import CASE_HASHES, write_case_hashes, write_image_hashes
from wardround.running.inputs.run_paths import RunPaths, cases_folder
from wardround.running.pacing.minute_limits import limits_by_name
from wardround.running.parquet import ROWS, write_in_parts
from wardround.running.plan import CandidateOutcome, ask_incomplete, replay
from wardround.running.progress import PROGRESS_FILE, SECONDS_BETWEEN_FILES, CandidateProgress, Progress
from wardround.running.run_folder import UNFINISHED, RunFolder
from wardround.running.run_manifest import RunManifest, now
from wardround.running.server_sentinel import ask_at_end, ask_at_start
from wardround.running.settings.before_run import prove_before_run
from wardround.running.settings.uses import SettingUses
from wardround.running.settings.verdict import merge_verdicts
from wardround.running.settings.watch import watch
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.store.batches import BatchRecords
from wardround.running.stored_run import hash_answers, used_keys
from wardround.running.tools import Tools
from wardround.running.trials import cancel_pending
from wardround.running.used_answers import FILE as USED
from wardround.running.used_answers import TOOL_RESULTS, UsedAnswers, asks_of, read_used, write_keys

if TYPE_CHECKING:
    from wardround.running.literature_tools import LiteratureTools

MAX_LISTED_PROBLEMS = 20  # the manifest lists them all
OBJECTS_OF_CALLS = 20_000  # between two looks for cycles while calls are made: what failed calls leave is freed soon


class StudyRun:
    """One start of one run."""

    def __init__(
        self,
        study: Study,
        paths: RunPaths,
        reader: ReplyReader,
        *,
        protocol: str = DEFAULT,
        strict: bool = False,
        batch: bool = False,
        detach: bool = False,
        note: Callable[[str], None] = print,
    ) -> None:
        self.study, self.paths, self.note = study, paths, note
        self._detach = detach
        self.cases = CaseSet.open(cases_folder(study, paths.study, note), strict=strict)
        if strict and (problem := next(find_problems(self.cases), None)):
            raise WardroundError(str(problem))
        self.prompts = Prompts.of_study(study, paths.study.parent)
        self.folder = RunFolder(paths.runs / study.name)
        self._reader, self._protocol = reader, PROTOCOLS[protocol]
        self._candidates: list[Candidate] = [
            make_candidate(settings, folder=paths.study.parent, offline=study.offline) for settings in study.candidates
        ]
        if study.offline:
            for marking_model in filter(None, (study.judge, study.reader)):
                refuse_remote(marking_model)
        self._batched = batched_candidates(self._candidates, study, batch, note)
        if detach and not self._batched:
            raise WardroundError("--detach: no candidate of the study is asked by batches")
        searches = set(study.conditions.get("evidence", ["none"])) != {"none"}
        literature = _open_literature(study, paths, self.cases) if searches else None
        self.store = AnswerStore(paths.answers, keeps_bodies=True)  # for their hash, and to be watched
        self._tools = (
            Tools(self.store, literature.tools, literature.batch_tools) if literature else Tools(self.store, {})
        )
        self.budget = BudgetTracker.of_study(study, self.store)
        self._used = UsedAnswers(self.folder.path)
        self._fingerprints = Fingerprints(self.store)
        self._encoder = ImageEncoder(hashes=self._fingerprints.known)
        self.candidate_runs: list[CandidateRun] = []
        self.manifest = RunManifest(
            study,
            paths,
            self.cases,
            self.prompts,
            self.folder,
            literature,
            self.budget,
            self._used,
            self.candidate_runs,
        )
        self.interrupted = False
        self._progress_due = 0.0

    async def plan(self) -> list[CandidateRun]:
        """Prepares the candidates and replays the study from stored answers; calls nobody."""
        fingerprints = self._fingerprints
        fingerprints.load(os.path.abspath(self.cases.folder))
        renderer = Renderer(self.study, self.cases, self.prompts, fingerprints)
        minute_limits = limits_by_name([candidate.settings for candidate in self._candidates])
        for number, candidate in enumerate(self._candidates):
            await candidate.prepare(self.cases)
            limits = minute_limits[candidate.settings.name]
            caller = Caller(self.study.name, candidate, self.store, self._encoder, self.budget, limits)
            context = RunContext(
                self.study,
                renderer,
                fingerprints,
                self.store,
                caller,
                self._reader,
                self._tools,
                partial(self._used.add, number),
                self._protocol,
            )
            await make_planned_searches(context, self.cases, self.note)
            with self.store.snapshot():
                is_batched = candidate.settings.name in self._batched
                plan = await replay(context, self.cases)
                self.candidate_runs.append(CandidateRun(context, plan, is_batched=is_batched))
            refuse_other_addresses(candidate.settings, context.addresses)
            fingerprints.save()
        if all(run.plan.is_empty for run in self.candidate_runs):
            raise BadInput(self.paths.study, f"questions = {self.study.questions}: no case has such a question")
        if self.prompts.named_path is not None:
            self._check_prompt_files(self.prompts.named_path)
        return self.candidate_runs

    def _check_prompt_files(self, folder: Path) -> None:
        """Warns of files in the study's folder of prompts that nothing uses; if all are such, they are refused."""
        kinds: set[str] = set()
        for case in self.cases:
            questions = select_questions(case, self.study)
            is_chain = any(question.given for question in questions)  # its earlier questions may be asked as well
            kinds.update(question.kind for question in (case.questions if is_chain else questions))
        if unused := find_unused(self.study, folder, kinds, self.prompts.hashes.keys()):
            self.note(f"warning: {folder}: no prompt of this study uses {', '.join(unused)}")

    def input_changes(self) -> InputChanges:
        """What changed in cases, images and prompts since the folder's last run; known after `plan`."""
        severities: str | None = (self.manifest.severities or {}).get("hash")
        return find_changes(
            self.folder.path,
            self.folder.manifest,
            self.cases,
            sha256=lambda file: self._fingerprints.known[file].sha256,
            prompts=self.prompts.hashes,
            severities=severities,
        )

    def why_amend(self) -> str | None:
        """Why `run` needs --amend: the folder is bound to another study or other cases; known after `plan`."""
        try:
            self.folder.bind(self.study, amend=False)
            self.folder.bind_inputs(self.input_changes(), False, self.announce())
        except WardroundError as refusal:
            return str(refusal)
        return None

    def announce(self) -> str:
        """How many answers are stored, how many are new, and the estimated cost of these."""
        counts = [run.plan.count for run in self.candidate_runs]
        stored, missing = sum(count.stored for count in counts), sum(count.missing for count in counts)
        cost = sum(run.price_of_missing for run in self.candidate_runs)
        about = f", about {cost:.2f} USD" if cost else ""
        if saving := sum(run.saving_of_missing for run in self.candidate_runs):
            about += f" by batches, which saves about {saving:.2f} USD"
        return f"stored {stored:,} of {stored + missing:,}; {missing:,} new{about}"

    async def run(
        self,
        *,
        amend: bool = False,
        accept_ignored: bool = False,
        quiet: bool = False,
        notes: Sequence[str] = (),
        named_study: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Asks for the missing answers, and writes used.parquet and manifest.json. Returns the manifest."""
        self.folder.lock()
        amendments = self.folder.bind(self.study, amend)
        before, started = self.folder.manifest, now()
        await self.plan()
        if not amend and any(run.plan.count.missing for run in self.candidate_runs):
            self._refuse_lost_answers()
        for run in self.candidate_runs:
            if run.plan.count.missing:
                await run.context.caller.candidate.check_access()
        amendments = [*amendments, *self.folder.bind_inputs(self.input_changes(), amend, self.announce())]
        accept_ignored = accept_ignored or bool(before.get("accepted_ignored"))
        await prove_before_run(self.candidate_runs, self.folder, self.note, accept_ignored=accept_ignored)
        is_amended = amendments != before.get("amendments", [])
        is_outdated = self.folder.has_used and (is_amended or "outdated" in before)
        self.folder.write("study.toml", self.paths.study_text or self.paths.study.read_bytes())
        entries = {entry["name"]: entry for entry in before.get("candidates", [])}
        for run in self.candidate_runs:
            entry = entries.get(run.name, {})
            run.seconds_before, run.busy_before = entry.get("seconds", 0.0), entry.get("busy_seconds", 0.0)
            run.estimate = run.expected_bill() if is_amended else entry.get("estimate") or run.expected_bill()
        for problem in self.cases.problems[:MAX_LISTED_PROBLEMS]:
            self.note(f"skipped: {problem}")
        self.note(self.announce())
        lasting = {
            "started": before.get("started", started),
            "amendments": amendments,
            "sentinel": before.get("sentinel", {}),
            "server_sentinel": before.get("server_sentinel", {}),
            "notes": list(notes) or before.get("notes", []),
            "marking": before.get("marking"),
            **({"accepted_ignored": True} if accept_ignored else {}),
        }
        if named_study := named_study or before.get("named_study"):
            lasting["named_study"] = named_study
        # binds a run that is killed later
        unfinished = UNFINISHED | ({"outdated": True} if is_outdated else {})
        self.folder.write_manifest(self.manifest.to_dict(interrupted=self.interrupted) | lasting | unfinished)
        if not self._has_case_hashes(before):
            write_case_hashes(self.folder.path, self.cases)
        write_image_hashes(self.folder.path, self.cases, self._fingerprints.known)
        hashed = len(self._fingerprints.known)
        server_sentinels = await ask_at_start(self.candidate_runs, self.cases, self.note)
        await self._ask_with_progress(quiet)
        for skipped in self.manifest.skipped.values():
            self.note(f"skipped: {skipped}")
        lasting["sentinel"] = await self._ask_sentinels()
        lasting["server_sentinel"] = await ask_at_end(server_sentinels, lasting["server_sentinel"])
        await self.store.flush()  # faults are counted with the next commit
        self._write_used()
        for run in self.candidate_runs:
            uses = SettingUses.of(run.context, run.plan.hardest)
            run.verdicts = merge_verdicts(run.verdicts, watch(run.context, uses, self.folder.path))
        manifest = self.manifest.to_dict(interrupted=self.interrupted) | lasting
        manifest["answers_hash"] = self._used.answers_hash or hash_answers(self.folder.path, self.store)
        if len(self._fingerprints.known) > hashed:
            write_image_hashes(self.folder.path, self.cases, self._fingerprints.known)
        for number, entry in enumerate(manifest["candidates"]):
            entry["in_all"] = self._total_spent(number, entry)
        self.folder.write_manifest(manifest)
        if manifest["status"] == "complete":
            (self.folder.path / PROGRESS_FILE).unlink(missing_ok=True)
        return manifest

    def _has_case_hashes(self, before: Mapping[str, Any]) -> bool:
        """Whether the folder has the hashes of these cases from a run that ended."""
        if before.get("status") != "complete" or not (self.folder.path / CASE_HASHES).exists():
            return False
        return (before["cases"]["hash"], before["cases"]["cases"]) == (self.cases.hash, len(self.cases))

    def _refuse_lost_answers(self) -> None:
        """Refuses a store that is not the run's own: what the run used would be bought again."""
        if not self.folder.has_used:
            return
        lost: set[AnswerKey] = set()
        for part in read_used(self.folder.path).iter_slices(ROWS):
            keys = list(used_keys(part))
            lost.update(key for key, body in zip(keys, self.store.bodies(keys), strict=True) if body is None)
        if lost := lost - self.store.dropped_keys() if lost else lost:
            raise WardroundError(
                f"{self.folder.path}: this run used {len(lost):,} answers that are not in {self.store.location}; "
                "name its own store by --answers PATH, or buy them again by `wardround run STUDY --amend`"
            )

    async def _ask_with_progress(self, quiet: bool) -> None:
        if not any(run.plan.count.missing for run in self.candidate_runs):
            return
        lanes = [
            CandidateProgress(
                run.plan.count.stored + run.plan.count.missing,
                self._used.counts[number],
                run.context.caller.tally,
            )
            for number, run in enumerate(self.candidate_runs)
        ]
        progress = Progress(lanes, quiet)
        asking = asyncio.ensure_future(self._ask_all())
        with on_interrupt(partial(self._interrupt, asking)), rare_collection(OBJECTS_OF_CALLS):
            while not asking.done():
                await asyncio.wait([asking], timeout=0.2)
                for number, lane in enumerate(lanes):
                    lane.new = self._used.counts[number] - lane.stored
                progress.show(last=asking.done())
                self._write_progress(progress, last=asking.done())
            await asking

    def _write_progress(self, progress: Progress, *, last: bool) -> None:
        """What `wardround view` shows of this run, and what it needs to stop and resume it."""
        if not last and time.monotonic() < self._progress_due:
            return
        self._progress_due = time.monotonic() + SECONDS_BETWEEN_FILES
        answers = self.paths.answers
        start = {
            "process": os.getpid(),
            "study": None if self.paths.study_text else str(self.paths.study.absolute()),
            "answers_store": str(answers.absolute()) if isinstance(answers, Path) else answers.url,
            "directory": str(Path().absolute()),
        }
        figures = progress.to_dict([run.name for run in self.candidate_runs])
        write_file(self.folder.path / PROGRESS_FILE, orjson.dumps(start | figures))

    async def _ask_all(self) -> None:
        async def ask(run: CandidateRun) -> None:
            if self._uses_batches(run):
                run.outcome = await self._ask_by_batches(run)
            if not run.outcome.is_waiting and not run.outcome.unavailable:
                run.outcome = await ask_incomplete(run.context, self.cases, run.plan)

        try:
            async with asyncio.TaskGroup() as group:
                for run in self.candidate_runs:
                    group.create_task(ask(run))
        except* WardroundError as failures:
            raise first_failure(failures) from None

    def _uses_batches(self, run: CandidateRun) -> bool:
        """Whether it is to be asked by batches, or was: these are then collected."""
        settings, context = run.context.caller.settings, run.context
        records = BatchRecords(context.store, self.study.name, run.name, settings.address)
        return run.name in self._batched or (
            records.has_own_open() and batch_refusal(context.caller.candidate, self.study) is None
        )

    async def _ask_by_batches(self, run: CandidateRun) -> CandidateOutcome:
        asking = BatchAsking(run.context, self.cases, run.plan, self.folder.path / "batches", self.note)
        try:
            under_way, held_back = await asking.run(detach=self._detach)
            return CandidateOutcome(under_way=under_way, held_back=held_back, user_task=asking.user_task)
        except CandidateUnavailable as unavailable:
            return CandidateOutcome(unavailable=str(unavailable))

    def _interrupt(self, asking: asyncio.Future[None]) -> None:
        """First time: calls under way are finished. Second time: stop now."""
        if self.interrupted:
            asking.cancel()
            return
        self.interrupted = True
        self.note("stopping when the calls under way are answered; press Ctrl-C again to stop now")
        for run in self.candidate_runs:
            run.context.caller.stop()

    async def _ask_sentinels(self) -> dict[str, Any]:
        """Repeats the sentinels, once per run, of every candidate with a server that is not being stopped."""
        results: dict[str, Any] = self.folder.manifest.get("sentinel", {})
        for run in self.candidate_runs:
            caller = run.context.caller
            can_ask = caller.settings.base_url is not None and not caller.is_ending and not self.budget.reached
            if can_ask and run.context.sentinels.samples and run.name not in results:
                try:
                    results[run.name] = await run.context.sentinels.ask_again(run.context)
                except Exception as failure:  # of whatever kind: the answers are there, and the report must be written
                    results[run.name] = {"asked_again": 0, "failed": f"{type(failure).__name__}: {failure}"}
        return results

    def _write_used(self) -> None:
        names = [candidate.name for candidate in self.study.candidates]
        conditions = [condition.json for condition in self.study.all_conditions]
        self._used.write_evidence(self.folder.path, names, self.cases.ids, conditions)
        write_in_parts(self.folder.path / USED, self._used.tables(names, self.cases.ids, conditions))
        write_keys(self.folder.path / TOOL_RESULTS, self._tools.used)

    def _total_spent(self, number: int, entry: dict[str, Any]) -> dict[str, Any]:
        """What all answers of a candidate took, including those that other runs bought."""
        if entry["bought"] >= self._used.counts[number]:
            return {name: entry[name] for name in ("calls", "bought", "tokens_in", "tokens_out", "cost")}
        spent = self.store.spent_on(asks_of(self.folder.path, entry["name"]))
        settings = self.candidate_runs[number].context.caller.settings
        return {
            "calls": spent.calls,
            "bought": spent.answers - spent.duplicates,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "cost": bill(settings, spent),
        }

    async def close(self, *, keeps_lock: bool = False) -> None:
        """With `keeps_lock` nobody else may write to the folder until `folder.unlock` is called."""
        await cancel_pending()
        await self.store.flush()
        for candidate in self._candidates:
            await candidate.close()
        self._encoder.close()
        self.store.close()
        if not keeps_lock:
            self.folder.unlock()


def _open_literature(study: Study, paths: RunPaths, cases: CaseSet) -> LiteratureTools:
    from wardround.running.literature_tools import LiteratureTools  # on demand: it loads numba

    return LiteratureTools(study, paths.study, cases)


def first_failure(failures: BaseExceptionGroup[WardroundError]) -> WardroundError:
    first = failures.exceptions[0]
    return first_failure(first) if isinstance(first, BaseExceptionGroup) else first
