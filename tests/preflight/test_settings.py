"""`wardround check` finds out which settings of a study a server honours, ignores or refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exam_study import bodies, case, write_cases, write_study
from PIL import Image
from settings_server import SettingsServer

from wardround.preflight import check_study
from wardround.running.settings.uses import SettingUses

SAMPLING = {"temperature": 0.7, "max_tokens": 100, "stop": ["##"]}


def check(tmp_path: Path, server: SettingsServer, **study: Any) -> dict[str, Any]:
    """What a check says of the one candidate; the setting `images` shows two of them in every case."""
    folder = write_cases(tmp_path / "cases", [case(n, images=_images(study.pop("images", 0))) for n in range(2)])
    for name in ("1.png", "2.png"):
        Image.new("RGB", (64, 64), "grey").save(folder / name)
    file = write_study(tmp_path, server.url, **{"sampling": SAMPLING, "top": {"trials": 3}} | study)
    (candidate,) = check_study(file, runs=tmp_path / "runs", note=lambda line: None).summary["candidates"]
    return candidate


def _images(count: int) -> list[dict[str, str]]:
    return [{"path": f"{number + 1}.png", "modality": "CT"} for number in range(count)]


def verdicts(candidate: dict[str, Any]) -> dict[str, str]:
    return {verdict["setting"]: verdict["verdict"] for verdict in candidate["settings"]}


IMAGES = {"images": 2}
SEED = {"candidate": {"send_seed": True}}
REASONING = {"conditions": {"reasoning": ["on", "off"]}}
TABLE = [  # setting, what the server does with it, other settings of the study, verdict
    ("temperature", {}, {}, "honoured"),
    ("temperature", {"temperature": "always 0"}, {}, "ignored"),
    ("temperature", {"temperature": "always 1"}, {}, "ignored"),
    ("temperature", {"temperature": "refused"}, {}, "refused"),
    ("temperature", {"temperature": "always 1"}, {"sampling": {"temperature": 0}}, "ignored"),
    ("temperature", {"temperature": "always 0"}, {"sampling": {"temperature": 0}}, "honoured"),  # by chance, but so
    ("n", {}, {}, "honoured"),
    ("n", {"n": "ignored"}, {}, "ignored"),
    ("n", {"n": "copies"}, {}, "ignored"),
    ("n", {"n": "refused"}, {}, "refused"),
    ("temperature", {"n": "copies"}, {}, "honoured"),
    ("seed", {}, SEED, "honoured"),
    ("seed", {"seed": "ignored"}, SEED, "ignored"),
    ("seed", {"seed": "refused"}, SEED, "refused"),
    ("seed", {"temperature": "always 0"}, SEED, "unknown"),
    ("stop", {}, {}, "honoured"),
    ("stop", {"stop": "ignored"}, {}, "ignored"),
    ("max_tokens", {}, {}, "honoured"),
    ("max_tokens", {"max_tokens": "ignored"}, {}, "ignored"),
    ("reasoning = on", {}, REASONING, "honoured"),
    ("reasoning = on", {"reasoning": "hidden"}, REASONING, "honoured"),
    ("reasoning = on", {"reasoning": "never"}, REASONING, "ignored"),
    ("reasoning = on", {"reasoning": "refused"}, REASONING, "refused"),
    ("reasoning = off", {}, REASONING, "honoured"),
    ("reasoning = off", {"reasoning": "always"}, REASONING, "ignored"),
    ("reasoning = off", {"reasoning": "never"}, REASONING, "honoured"),
    ("image seen", {}, IMAGES, "honoured"),
    ("image seen", {"images": "ignored"}, IMAGES, "ignored"),
    ("image order", {}, IMAGES, "honoured"),
    ("image order", {"order": "ignored"}, IMAGES, "ignored"),
    ("image resolution", {}, IMAGES, "honoured"),
    ("image resolution", {"resolution": "ignored"}, IMAGES, "ignored"),
    ("model", {}, {}, "honoured"),
    ("model", {"model": "another"}, {}, "unknown"),
]


@pytest.mark.parametrize(("setting", "treatment", "study", "verdict"), TABLE)
def test_a_setting_gets_the_verdict_that_the_server_deserves(
    tmp_path: Path, setting: str, treatment: dict[str, str], study: dict[str, Any], verdict: str
) -> None:
    with SettingsServer(**treatment) as server:
        candidate = check(tmp_path, server, **study)
    assert verdicts(candidate)[setting] == verdict, candidate["settings"]


@pytest.mark.parametrize("verdict", ["honoured", "ignored"])
def test_system_text_is_read_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str) -> None:
    """No prompt of ours has one: the study is made to look as if it had."""
    uses_of = SettingUses.of
    monkeypatch.setattr(SettingUses, "of", lambda *arguments: replace(uses_of(*arguments), has_system_text=True))
    with SettingsServer(system=verdict) as server:
        candidate = check(tmp_path, server)
    assert verdicts(candidate)["system text"] == verdict


def test_only_settings_that_the_study_uses_are_probed(tmp_path: Path) -> None:
    with SettingsServer() as server:
        candidate = check(tmp_path, server, sampling={}, top={"trials": 1})
        calls = server.calls
    assert (verdicts(candidate), candidate["probe_calls"]) == ({"model": "honoured"}, 0)
    assert calls == 2  # the two questions


def test_probes_are_counted_and_no_reply_to_them_is_stored(tmp_path: Path) -> None:
    with SettingsServer() as server:
        candidate = check(tmp_path, server)
    assert {body["text"] for body in bodies(tmp_path / "answers.sqlite")} == {"A"}
    assert candidate["probe_calls"] == 1 + 3 + 1 + 1  # n and temperature 1 in one request, temperature 0, stop, limit


def test_an_ignored_setting_makes_a_candidate_not_ready(tmp_path: Path) -> None:
    with SettingsServer(stop="ignored") as server:
        candidate = check(tmp_path, server)
    assert not candidate["answers"]
    assert "stop is ignored (the reply goes on after '##'" in candidate["why"]
    assert "--accept-ignored" in candidate["why"]


def test_a_server_that_reports_no_tokens_is_not_accused(tmp_path: Path) -> None:
    with SettingsServer(reasoning="never", reports_usage=False) as server:
        candidate = check(tmp_path, server, **REASONING)
    assert verdicts(candidate)["reasoning = on"] == "unknown"


def test_a_candidate_that_follows_no_probe_is_not_accused(tmp_path: Path) -> None:
    """A model that writes `A` to whatever it is asked: most verdicts are unknown, none is `ignored`."""

    class Parrot(SettingsServer):
        def _text(self, body: dict[str, Any], images: list[Image.Image]) -> str:
            return "A"

    with Parrot() as server:
        candidate = check(tmp_path, server, images=2)
    assert "ignored" not in verdicts(candidate).values()
    assert verdicts(candidate)["temperature"] == "unknown"
