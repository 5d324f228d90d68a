"""Studies against the hostile server, what came of them, and what must hold whatever the server did."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
from behaviours import Behaviour, Expected
from exam_study import case, write_cases, write_study
from hostile_server import Ledger, Stage
from PIL import Image

from wardround.core.ask import NO_LOGPROBS, Answer

KEY = "sk-hostile-4f9a1c77e2b05d38"
TOLERANCE = 0.02  # of the bill
TOLERANCE_OF_ESTIMATE = 0.15


def write_hostile_study(folder: Path, url: str, behaviour: Behaviour, provider: str) -> Path:
    """The study of a behaviour: one candidate, one call at a time unless the behaviour says otherwise."""
    images = {"images": [{"path": "picture.png"}]} if behaviour.images else {}
    write_cases(folder / "cases", [case(number, **images) for number in range(behaviour.cases)])
    if behaviour.images:
        Image.new("L", (16, 16), 128).save(folder / "cases" / "picture.png")
    own = {"provider": provider, "api_key_env": "HOSTILE_KEY", "concurrency": 1}
    study = {**behaviour.study, "candidate": own | behaviour.study.get("candidate", {})}
    return write_study(folder, url, **study)


class Results:
    """What a start of a study left: its manifest, and its store."""

    def __init__(self, folder: Path, manifest: dict[str, Any], candidate: int = 0) -> None:
        self.folder, self.manifest = folder, manifest
        self.entry: dict[str, Any] = manifest["candidates"][candidate]

    def stored(self, table: str = "answers") -> list[Answer]:
        connection = sqlite3.connect(self.folder / "answers.sqlite")
        try:
            rows = connection.execute(f"select body from {table}").fetchall()
        finally:
            connection.close()
        return [Answer.from_dict(orjson.loads(body)) for (body,) in rows]

    def observed(self, expected: Expected) -> Expected:
        """What came of it. Of messages, what was expected of them if they say so, and else all of them."""
        answers = self.stored()
        refused = Counter(answer.refused_for for answer in answers if answer.refused_for)
        why, warnings = self.manifest["why"] or "", "; ".join(self.manifest["warnings"])
        stopped = why if why and "answers failed:" not in why else None
        return Expected(
            answered=len(answers) - refused.total(),
            refused=dict(refused),
            failed=self.entry["failed"],
            faults=frozenset(fault["kind"] for fault in self.entry["fault_kinds"]),
            adapted=tuple(self.entry["adaptations"]),
            stops=expected.stops if stopped and expected.stops and expected.stops in stopped else stopped,
            warns=expected.warns if expected.warns and expected.warns in warnings else warnings or None,
            estimates=self.entry["tokens_estimated"] > 0,
        )


def check_always(results: Results, stage: Stage, tolerance: float = TOLERANCE) -> None:
    """Nothing is stored that was not answered, nothing is lost or bought twice, and the bill is the server's."""
    answers, again = results.stored(), results.stored("sentinels")
    by_server = [answer for answer in answers if not is_unpaid(answer)]
    assert Counter(answer.text for answer in [*by_server, *again]) == texts(stage.replies)
    assert results.entry["calls"] == stage.ledger.calls + sum(map(is_unpaid, answers))
    check_bill(results.entry, stage.ledger, tolerance)
    entry = results.entry
    assert entry["stored"] + entry["new"] == len(answers)
    planned = entry["asks"] if not entry["adaptations"] else max(entry["asks"], len(answers))
    if results.manifest["status"] == "complete":
        assert len(answers) == planned
    else:
        assert len(answers) + entry["failed"] <= planned
        assert results.manifest["why"]


def texts(replies: Counter[tuple[int, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (_, text), times in replies.items():
        counts[text] += times
    return counts


def is_unpaid(answer: Answer) -> bool:
    """A refusal by an HTTP error, or an Ask for log-probabilities that was not sent: stored, but not charged."""
    return answer.finish == NO_LOGPROBS or (bool(answer.refused_for) and not answer.model)


def check_bill(entry: dict[str, Any], ledger: Ledger, tolerance: float = TOLERANCE) -> None:
    billed = entry["tokens_in"] + entry["tokens_out"]
    assert abs(billed - ledger.tokens) <= tolerance * ledger.tokens, (billed, ledger)
    if tolerance == TOLERANCE:
        assert abs(entry["tokens_out"] - ledger.tokens_out) <= tolerance * ledger.tokens_out, (entry, ledger)


def check_secrets(folder: Path, notes: list[str]) -> None:
    """The key, which the server repeats in its errors, is in no file and no message."""
    part = KEY.removeprefix("sk-hostile-").encode()
    assert not any(part in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert part.decode() not in "\n".join(notes)
