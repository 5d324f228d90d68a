"""Providers from plug-ins: `wardround.providers`."""

from __future__ import annotations

import pytest
from exam_study import examine, write_cases, write_study

from wardround import plugins
from wardround.candidates.candidate import OfflineCandidate, Reply, Request
from wardround.candidates.openai import OpenAI
from wardround.candidates.registry import make_candidate
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings


class AlwaysB(OfflineCandidate):
    """A provider that a plug-in may offer."""

    async def answer(self, request: Request) -> Reply:
        return Reply([Answer("B")] * len(request.trials))


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets after each test what it registered."""
    monkeypatch.setattr(plugins, "_from_files", {})


def settings(provider: str) -> CandidateSettings:
    return CandidateSettings(name="c", provider=provider, base_url="http://127.0.0.1:9/v1")


def test_a_study_can_name_the_provider_of_a_plugin(tmp_path):
    plugins.register("providers", "always-b", AlwaysB)
    write_cases(tmp_path / "cases", 3)
    study = write_study(tmp_path, candidate={"provider": "always-b"})
    manifest = examine(study)
    assert manifest["status"] == "complete"
    assert manifest["candidates"][0]["provider"] == "always-b"


def test_a_plugin_with_the_name_of_a_built_in_is_refused():
    plugins.register("providers", "openai", AlwaysB)
    with pytest.raises(WardroundError, match=r"^plug-in .*: 'openai' in wardround\.providers is a built-in name$"):
        make_candidate(settings("random"))


def test_an_unknown_provider_is_refused_with_the_names_of_plugins():
    plugins.register("providers", "always-b", AlwaysB)
    with pytest.raises(WardroundError, match=r"unknown provider 'always-c'; there are openai, .*, always-b$"):
        make_candidate(settings("always-c"))


def test_an_offline_study_takes_only_plugins_that_work_offline():
    plugins.register("providers", "always-b", AlwaysB)
    plugins.register("providers", "cloud", OpenAI)
    assert isinstance(make_candidate(settings("always-b"), offline=True), AlwaysB)
    assert isinstance(make_candidate(settings("cloud")), OpenAI)
    with pytest.raises(WardroundError, match="the study is offline; the plug-in lacks works_offline = True"):
        make_candidate(settings("cloud"), offline=True)
