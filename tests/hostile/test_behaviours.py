"""Each behaviour of the hostile server has the outcome that docs/runs.md says, for every provider that speaks HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import behaviours_table
import pytest
from behaviours import BEHAVIOURS
from exam_study import examine
from hostile_server import HostileServer, Stage, answers_plainly
from hostile_study import (
    KEY,
    TOLERANCE,
    TOLERANCE_OF_ESTIMATE,
    Results,
    check_always,
    check_secrets,
    write_hostile_study,
)
from short_waits import shorten
from wires import WIRES


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTILE_KEY", KEY)
    shorten(monkeypatch.setattr)


PAIRS = [
    pytest.param(provider, name, id=f"{provider}: {name}")
    for provider in WIRES
    for name, behaviour in BEHAVIOURS.items()
    if not behaviour.providers or provider in behaviour.providers
]


@pytest.mark.parametrize(("provider", "name"), PAIRS)
def test_a_behaviour_has_its_outcome(server: HostileServer, tmp_path: Path, provider: str, name: str) -> None:
    behaviour = BEHAVIOURS[name]
    stage = Stage(f"{provider}-{name.replace(' ', '-')}", WIRES[provider], behaviour.behave)
    study = write_hostile_study(tmp_path, server.open(stage), behaviour, provider)
    notes: list[str] = []

    results = Results(tmp_path, examine(study, notes=notes))

    assert results.observed(behaviour.expected) == behaviour.expected
    tolerance = TOLERANCE_OF_ESTIMATE if behaviour.expected.estimates else TOLERANCE
    check_always(results, stage, tolerance)
    check_secrets(tmp_path, notes)
    if behaviour.check is not None:
        behaviour.check(stage)

    # a second start, when the server is well: exactly the missing Asks are asked
    before, was_complete = stage.calls, results.manifest["status"] == "complete"
    stage.behave = answers_plainly
    missing = results.entry["asks"] - len(results.stored())
    again = len(results.stored("sentinels"))
    results = Results(tmp_path, examine(study, notes=notes))
    assert results.manifest["status"] == "complete"
    check_always(results, stage, tolerance)
    new = stage.calls - before - (len(results.stored("sentinels")) - again)
    assert new == (0 if was_complete else missing)


def test_the_table_of_the_docs_has_every_behaviour() -> None:
    assert len(BEHAVIOURS) >= 40
    assert behaviours_table.PAGE.read_text(encoding="utf-8") == behaviours_table.page(), (
        "run tests/hostile/behaviours_table.py"
    )
