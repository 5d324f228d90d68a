"""A setting that an API does not take is `refused`, as the strict imitations of the APIs show."""

from __future__ import annotations

from pathlib import Path

import pytest
from anthropic_api import AnthropicApi
from exam_study import write_cases, write_study
from openai_api import OpenAIApi

from wardround.preflight import check_study


@pytest.mark.parametrize(
    ("provider", "api", "path"), [("anthropic", AnthropicApi, ""), ("openai", OpenAIApi, "/v1")]
)  # Anthropic's API version 2026-10-21; a reasoning model of OpenAI's
def test_an_api_without_temperature_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, api: type[AnthropicApi], path: str
) -> None:
    monkeypatch.setenv("EXAM_KEY_OF_TEST", api.key)
    write_cases(tmp_path / "cases", 2)
    with api(takes_sampling=False) as server:
        settings = {"provider": provider, "base_url": server.url + path, "api_key_env": "EXAM_KEY_OF_TEST"}
        study = write_study(tmp_path, candidate=settings, sampling={"temperature": 0.5, "max_tokens": 50})
        result = check_study(study, runs=tmp_path / "runs", note=lambda line: None)
    (candidate,) = result.summary["candidates"]
    verdicts = {verdict["setting"]: verdict["verdict"] for verdict in candidate["settings"]}
    assert verdicts["temperature"] == "refused"
    assert result.ready, candidate["why"]
