"""`wardround run` proves vital settings before it asks, refuses ignored ones, and labels what is run all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exam_study import wardround, write_cases, write_study
from settings_server import SettingsServer

from wardround.reporting.run_files import read_run
from wardround.reporting.tables.measured import ColumnSpec, measured_table

VOTES = {"top": {"trials": 3}, "sampling": {"temperature": 0.7}}
REASONING = {"conditions": {"reasoning": ["on", "off"]}}


def manifest(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "runs" / "exam" / "manifest.json").read_text())


def verdicts(tmp_path: Path) -> dict[str, str]:
    (entry,) = manifest(tmp_path)["candidates"]
    return {verdict["setting"]: verdict["verdict"] for verdict in entry["settings_taken"]}


def write(tmp_path: Path, server: SettingsServer, **study: Any) -> None:
    write_cases(tmp_path / "cases", 8)
    write_study(tmp_path, server.url, **study)


@pytest.mark.parametrize(
    ("treatment", "study", "setting"),
    [
        ({"reasoning": "never"}, REASONING, "reasoning = on"),
        ({"reasoning": "always"}, REASONING, "reasoning = off"),
        ({"temperature": "always 0"}, VOTES, "temperature"),
        ({"n": "copies"}, VOTES, "n"),
    ],
)
def test_a_condition_whose_setting_is_ignored_is_refused(
    tmp_path: Path, treatment: dict[str, str], study: dict[str, Any], setting: str
) -> None:
    with SettingsServer(**treatment) as server:
        write(tmp_path, server, **study)
        ended = wardround("run", "study.toml", cwd=tmp_path)
        asked = [body for body in server.bodies if "patient" in json.dumps(body)]
    assert ended.returncode == 1
    assert f"candidate 'server': {setting} is ignored" in ended.stderr
    assert asked == []
    assert not (tmp_path / "runs" / "exam" / "manifest.json").exists()


def test_probes_are_announced_and_a_second_start_asks_none(tmp_path: Path) -> None:
    with SettingsServer() as server:
        write(tmp_path, server, **VOTES, budget={"requests": 7})
        first = wardround("run", "study.toml", cwd=tmp_path)
        probes = sum("random number" in json.dumps(body) for body in server.bodies)
        write(tmp_path, server, **VOTES, budget={"requests": 100})
        second = wardround("run", "study.toml", cwd=tmp_path)
        all_probes = sum("random number" in json.dumps(body) for body in server.bodies)
    assert "server: at most 11 calls to see whether the server honours temperature, n" in first.stderr
    assert (first.returncode, second.returncode) == (3, 0)
    assert probes == all_probes == 4  # one request for four at temperature 1, three at 0
    assert verdicts(tmp_path) == {"temperature": "honoured", "n": "honoured", "model": "honoured"}


def test_a_run_uses_what_the_check_found(tmp_path: Path) -> None:
    with SettingsServer() as server:
        write(tmp_path, server, **VOTES)
        assert wardround("check", "study.toml", cwd=tmp_path).returncode == 0
        before = server.calls
        assert wardround("run", "study.toml", cwd=tmp_path).returncode == 0
        probes = [body for body in server.bodies[before:] if "random number" in json.dumps(body)]
    assert probes == []
    assert verdicts(tmp_path)["temperature"] == "honoured"


def test_a_mended_server_is_probed_again(tmp_path: Path) -> None:
    with SettingsServer(reasoning="never") as server:
        write(tmp_path, server, **REASONING)
        assert wardround("run", "study.toml", cwd=tmp_path).returncode == 1
        server.treatment = {}
        assert wardround("run", "study.toml", cwd=tmp_path).returncode == 0
    assert verdicts(tmp_path)["reasoning = on"] == "honoured"


def test_an_accepted_setting_is_named_in_every_section_with_figures(tmp_path: Path) -> None:
    with SettingsServer(reasoning="never") as server:
        write(tmp_path, server, **REASONING)
        ended = wardround("run", "study.toml", "--accept-ignored", cwd=tmp_path)
        again = wardround("run", "study.toml", cwd=tmp_path)  # what was accepted stays so
    assert (ended.returncode, again.returncode) == (0, 0)
    assert "warning: server: reasoning = on ignored: 2 replies without reasoning" in ended.stderr
    assert manifest(tmp_path)["accepted_ignored"] is True
    sections = (tmp_path / "runs" / "exam" / "report.html").read_text().split("<section ")[1:]
    unlabelled = {part.split('"')[1] for part in sections if "server: reasoning = on ignored" not in part}
    assert unlabelled - {"asked", "reading", "manifest", "settings"} == set()
    assert len(sections) > 6
    (shown,) = (part for part in sections if part.startswith('id="settings"'))
    assert "ignored" in shown
    assert "2 replies without reasoning" in shown


def test_a_refused_temperature_is_named_beside_the_figures(tmp_path: Path) -> None:
    with SettingsServer(temperature="refused") as server:
        write(tmp_path, server, **VOTES)
        ended = wardround("run", "study.toml", cwd=tmp_path)
    assert ended.returncode == 0
    assert verdicts(tmp_path)["temperature"] == "refused"
    run = read_run(tmp_path / "runs" / "exam")
    table, _ = measured_table(run, "A table", ("candidate",), [ColumnSpec("Accuracy", "accuracy")])
    assert [row.printed_labels for row in table.rows] == [("server (temperature refused)",)]
    assert "server: temperature refused (asked for: 0.7" in table.notes[-1]
    report = (tmp_path / "runs" / "exam" / "report.html").read_text()
    assert "server: temperature refused (asked for: 0.7; the API takes none: the server" in report


def test_answers_that_go_on_after_a_stop_sequence_are_found_at_the_end(tmp_path: Path) -> None:
    """No probe of `run` is about it: the run's own answers show it."""
    with SettingsServer(stop="ignored") as server:
        server._text = lambda body, images: "A. That is## what I mean"
        write(tmp_path, server, sampling={"stop": ["##"]})
        ended = wardround("run", "study.toml", cwd=tmp_path)
    assert ended.returncode == 0
    assert verdicts(tmp_path)["stop"] == "ignored"
    assert "warning: server: stop ignored: 8 of 8 answers go on after a stop sequence" in ended.stderr
