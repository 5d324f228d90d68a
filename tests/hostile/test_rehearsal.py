"""A rehearsal of an expensive study: hostile servers of every kind, kills, a revoked key, a quota that runs out.

It is started until it is complete. Then every Ask is answered once or has a stated outcome, and the bill is that of the
servers but for the calls that a kill kept from being committed.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from behaviours import BEHAVIOURS, Behaviour
from exam_study import case, start, wardround, write_cases, write_study
from hostile_server import Behave, Call, HostileServer, Stage
from hostile_study import KEY, TOLERANCE, check_bill, check_secrets, texts
from PIL import Image
from wires import WIRES

from wardround.core.ask import Answer

SEED, TRIALS, CONCURRENCY = 20_260, 2, 16
REHEARSED = [sys.executable, str(Path(__file__).with_name("rehearsal_run.py"))]
INCOMPLETE = 3
Mix = dict[int, Behaviour]  # patient -> how the server behaves when asked about them


def mix_of(patients: int, least_share: int) -> Mix:
    """The behaviours that are about single questions, each for its share of the patients, at least for one.

    Questions that are declined without a reason come in the first half: that they are not the last ones asked, after
    which nothing shows any more that the server answers others.
    """
    rehearsed = [item for item in BEHAVIOURS.values() if item.share >= least_share]
    rehearsed.sort(key=lambda item: "refused" not in item.expected.faults)
    wanted = [item for item in rehearsed for _ in range(max(1, item.share * patients // 10_000))]
    chosen = random.Random(SEED).sample(range(patients), len(wanted))
    declined = sum("refused" in item.expected.faults for item in wanted)
    early = sorted(chosen)[: len(chosen) // 2]
    first = random.Random(SEED).sample(early, declined)
    return dict(zip([*first, *(patient for patient in chosen if patient not in first)], wanted, strict=True))


@dataclass
class RehearsedServer:
    """What one candidate's server does: its mix, a field that it does not take, and a stop while it is closed."""

    mix: Mix
    refuses: Behave | None = None
    closes_at: int | None = None  # answers after which it refuses all calls
    reason: tuple[int, str, str] = (401, "This key was revoked", "invalid_api_key")
    behaved: Counter[str] = field(default_factory=Counter)

    def behave(self, call: Call) -> Any:
        if self.closes_at is not None and call.stage.answers >= self.closes_at:
            return call.error(*self.reason)
        if self.refuses is not None and (refusal := self.refuses(call)) is not None:
            return refusal
        behaviour = self.mix.get(call.patient)
        if behaviour is None:
            return call.answer()
        self.behaved[behaviour.name] += 1
        return behaviour.behave(call)


def refuses_n(call: Call) -> web.Response | None:
    return call.error(400, "Only one completion choice is allowed") if call.wanted > 1 else None


def refuses_top_k(call: Call) -> web.Response | None:
    message = "Unrecognized request argument supplied: top_k"
    return call.error(400, message, "unknown_parameter", param="top_k") if "top_k" in call.body else None


class Rehearsal:
    """A study of three candidates against three servers."""

    def __init__(self, folder: Path, server: HostileServer, patients: int, least_share: int, timeout: float) -> None:
        self.folder, self.server, self.patients = folder, server, patients
        self.mix = mix_of(patients, least_share)
        self.plans = {
            "revoked": RehearsedServer(self.mix, closes_at=patients),
            "spent": RehearsedServer(self.mix, refuses_n, closes_at=patients),
            "picky": RehearsedServer(self.mix, refuses_top_k),
        }
        self.plans["spent"].reason = (429, "You exceeded your current quota", "insufficient_quota")
        wire = WIRES["openai"]
        self.stages = {name: Stage(name, wire, plan.behave, lambda _: True) for name, plan in self.plans.items()}
        self.study = self._write(timeout)
        self.kills = 0

    def _write(self, timeout: float) -> Path:
        pictures = {"images": [{"path": "picture.png"}]}
        shown = {patient for patient, behaviour in self.mix.items() if behaviour.images}
        shown |= set(range(0, self.patients, 8)) - self.mix.keys()
        cases = (case(number, **(pictures if number in shown else {})) for number in range(self.patients))
        write_cases(self.folder / "cases", cases)
        Image.new("L", (16, 16), 128).save(self.folder / "cases" / "picture.png")
        own = {"api_key_env": "HOSTILE_KEY", "concurrency": CONCURRENCY, "timeout": timeout}
        first, *others = (
            {"name": name, "base_url": self.server.open(stage), "model": name, **own}
            for name, stage in self.stages.items()
        )
        more = [
            "\n".join(
                ["[[candidates]]", 'provider = "openai"', *(f"{key} = {json.dumps(v)}" for key, v in item.items())]
            )
            for item in others
        ]
        top = {"trials": TRIALS}
        return write_study(self.folder, candidate=first, top=top, more="\n".join(more), sampling={"top_k": 20})

    def kill_at(self, calls: int) -> None:
        """Starts the command, and kills it when the servers have got so many calls in all."""
        self.server.hold(calls + CONCURRENCY)
        process = start("run", self.study, cwd=self.folder, command=REHEARSED, HOSTILE_KEY=KEY)
        try:
            self.server.wait_for(lambda: self.server.passed >= calls, lambda: process.poll() is None)
        finally:
            process.kill()
            process.communicate()
            self.server.release()
        self.kills += 1

    def run(self) -> tuple[int, dict[str, Any]]:
        """A start that nobody kills: its exit code and its manifest."""
        ended = wardround("run", self.study, cwd=self.folder, command=REHEARSED, HOSTILE_KEY=KEY)
        assert "Traceback" not in ended.stderr, ended.stderr
        assert KEY not in ended.stdout + ended.stderr
        return ended.returncode, json.loads((self.folder / "runs" / "exam" / "manifest.json").read_bytes())

    def answers(self, candidate: str) -> list[Answer]:
        return self._bodies("select body from answers where candidate = ?", candidate)

    def _bodies(self, query: str, *values: str) -> list[Answer]:
        connection = sqlite3.connect(self.folder / "answers.sqlite")
        try:
            return [Answer.from_dict(orjson.loads(body)) for (body,) in connection.execute(query, values)]
        finally:
            connection.close()

    def check(self, manifest: dict[str, Any], tolerance: float) -> None:
        """What must hold of a complete run; the tolerance of the bill is for calls that kills cut off."""
        again = texts_of(self._bodies("select body from sentinels"))
        lost = 0
        for entry in manifest["candidates"]:
            stage, answers = self.stages[entry["name"]], self.answers(entry["name"])
            assert len(answers) == TRIALS * self.patients == entry["asks"]
            refused = Counter(answer.refused_for for answer in answers if answer.refused_for)
            assert refused == self.expected_refusals()
            answered = texts_of(answer for answer in answers if answer.model)  # not refused by an HTTP error
            given = texts(stage.replies)
            assert answered <= given
            lost += (given - answered).total()
            check_bill(entry, stage.ledger, tolerance)
            assert entry["duplicates"] == 0
        lost -= again.total()
        most = self.kills * len(self.stages) * CONCURRENCY * TRIALS
        assert 0 <= lost <= most
        print(f"{lost} answers were bought and not committed before one of {self.kills} kills (at most {most})")
        for name, stage in self.stages.items():
            entry = next(entry for entry in manifest["candidates"] if entry["name"] == name)
            share = (entry["tokens_in"] + entry["tokens_out"]) / stage.ledger.tokens - 1
            faults = sum(fault["times"] for fault in entry["fault_kinds"])
            print(f"{name}: {stage.calls:,} calls, {faults:,} faults, bill {share:+.2%}")
        check_secrets(self.folder, [])
        assert {name for plan in self.plans.values() for name in plan.behaved} == {
            behaviour.name for behaviour in self.mix.values()
        }

    def expected_refusals(self) -> Counter[str]:
        refusals: Counter[str] = Counter()
        for behaviour in self.mix.values():
            refusals.update({reason: TRIALS * count for reason, count in behaviour.expected.refused.items()})
        return refusals


def texts_of(answers: Iterator[Answer] | list[Answer]) -> Counter[str]:
    return Counter(answer.text for answer in answers)


@pytest.mark.slow
def test_a_small_rehearsal_of_400_asks_and_two_kills(tmp_path: Path) -> None:
    with HostileServer() as server:
        rehearsal = Rehearsal(tmp_path, server, patients=134, least_share=5, timeout=60.0)
        rehearsal.kill_at(100)
        rehearsal.kill_at(200)
        check_stops(rehearsal)
        rehearsal.plans["revoked"].closes_at = rehearsal.plans["spent"].closes_at = None
        code, manifest = rehearsal.run()
    assert (code, manifest["why"]) == (0, None)
    rehearsal.check(manifest, tolerance=2 * CONCURRENCY / 134)


@pytest.mark.slow
def test_a_rehearsal_of_20000_asks_ends_with_every_ask_answered_once_or_with_a_stated_outcome(tmp_path: Path) -> None:
    began, patients = time.monotonic(), 6667
    with HostileServer() as server:
        rehearsal = Rehearsal(tmp_path, server, patients, least_share=1, timeout=30.0)
        for number in range(1, 6):
            rehearsal.kill_at(2500 * number)
        check_stops(rehearsal)

        rehearsal.plans["revoked"].closes_at = None
        code, manifest = rehearsal.run()
        assert code == INCOMPLETE
        assert "You exceeded your current quota" in manifest["why"]

        rehearsal.plans["spent"].closes_at = None
        code, manifest = rehearsal.run()
        assert (code, manifest["why"]) == (0, None)
        calls = server.passed
        assert rehearsal.run()[0] == 0
        assert server.passed == calls  # nothing is asked any more
    rehearsal.check(manifest, TOLERANCE)
    print(f"{calls:,} calls, {time.monotonic() - began:.0f} s")


def check_stops(rehearsal: Rehearsal) -> None:
    """Runs until two candidates have stopped: each has its reason, and the third is complete."""
    code, manifest = rehearsal.run()
    assert code == INCOMPLETE
    why = {entry["name"]: entry["why"] or "" for entry in manifest["candidates"]}
    assert "This key was revoked" in why["revoked"]
    assert "You exceeded your current quota" in why["spent"]
    assert not why["picky"]
