"""`inspect`: Inspect AI's providers as candidates, beyond the contract that all providers share."""

from __future__ import annotations

import json
import logging
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from anthropic_api import AnthropicApi
from exam_study import wardround, write_cases, write_study
from imitation import Imitation
from openai_api import CompatibleApi, OpenAIApi
from test_contract import IMAGES, candidate, request, send

from wardround.candidates.candidate import Candidate, Unsupported
from wardround.candidates.registry import make_candidate
from wardround.core.ask import Message
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

needs_inspect = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", Imitation.key)


def made(provider: str, **fields: Any) -> Candidate:
    return make_candidate(CandidateSettings.model_validate({"name": "m", "provider": provider, **fields}))


@needs_inspect
def test_the_model_is_named_behind_the_provider_or_by_itself():
    from inspect_ai.model import ModelOutput, ModelUsage

    output = ModelOutput.from_content("mock", "<think>It enhances.</think>Answer: A", stop_reason="max_tokens")
    output.usage = ModelUsage(input_tokens=5, output_tokens=2)  # it would load a tokenizer from the network to count
    extra_body = {"args": {"custom_outputs": [output]}}
    by_provider = made("inspect:mockllm/model", extra_body=extra_body)
    by_model = made("inspect", model="mockllm/model", extra_body=extra_body)
    assert by_provider.identity == by_model.identity
    [reply] = send(by_provider, request())
    [answer] = reply.answers
    assert (answer.text, answer.reasoning, answer.finish) == ("Answer: A", "It enhances.", "length")
    assert (answer.model, reply.tokens_in, reply.tokens_out) == ("mock", 5, 2)


@needs_inspect
def test_an_answer_a_request_is_learnt():
    with AnthropicApi() as api:
        to = candidate("inspect:anthropic", api)
        [first, _] = send(to, request(trials=3), request(trials=2))
    assert (len(first.answers), to.supports_multiple) == (1, False)


@needs_inspect
def test_a_failed_request_is_sent_once_and_its_id_is_in_the_fault():
    with CompatibleApi("server error") as api:
        with pytest.raises(Exception, match=r"HTTP 500: .*request req_exam") as raised:
            send(candidate("inspect:openai-api", api), request())
        assert len(api.bodies) == 1, "the SDK asked again by itself"
    assert type(raised.value).__name__ == "Fault"


@needs_inspect
def test_nothing_is_kept_of_a_call():
    from inspect_ai.log import transcript

    with CompatibleApi() as api:
        before = len(transcript().events)
        send(candidate("inspect:openai-api", api), *[request(images=IMAGES)] * 3)
    assert len(transcript().events) == before


@needs_inspect
def test_prompts_are_cached_only_if_the_study_says_so():
    with AnthropicApi() as api:
        send(candidate("inspect:anthropic", api), request(images=IMAGES))
        assert "cache_control" not in json.dumps(api.bodies[-1])
        with pytest.raises(Exception, match="cache_control"):  # of the whole request: the imitation does not know it
            send(candidate("inspect:anthropic", api, cache_prompts=True), request(images=IMAGES))


@needs_inspect
def test_headers_and_settings_of_inspect_are_passed_on():
    with CompatibleApi() as api:
        extra_body = {"config": {"frequency_penalty": 0.5}, "args": {"client_timeout": 30}}
        to = candidate("inspect:openai-api", api, extra_body=extra_body, headers={"X-Ward": "7"})
        send(to, request(stop=("END",), top_k=-1, top_p=1.0))
    body = api.bodies[-1]
    assert (body["frequency_penalty"], body["stop"], body["top_p"]) == (0.5, ["END"], 1.0)
    assert api.headers[-1]["x-ward"] == "7"


@needs_inspect
def test_what_a_provider_warns_of_is_a_warning_of_the_run(capsys):
    """Google's provider does so for a model that always reasons."""
    from inspect_ai.model import ModelOutput, ModelUsage

    def answer(*_: Any) -> ModelOutput:
        logging.getLogger("inspect_ai.model._providers.google").warning("Thinking cannot be disabled for model m.")
        output = ModelOutput.from_content("mock", "Answer: A")
        output.usage = ModelUsage(input_tokens=5, output_tokens=2)
        return output

    asked, other = (made("inspect:mockllm/model", extra_body={"args": {"custom_outputs": answer}}) for _ in range(2))
    send(asked, request(reasoning=False), request(reasoning=False))
    assert asked.warnings == ["Inspect AI: Thinking cannot be disabled for model m."]
    assert other.warnings == []
    assert capsys.readouterr().err == ""


@needs_inspect
def test_a_log_likelihood_is_not_offered():
    scored = request(Message("user", ("Which?",)), Message("assistant", ("The lung.",)), max_tokens=0)
    with CompatibleApi() as api, pytest.raises(Unsupported, match="no log-likelihoods"):
        send(candidate("inspect:openai-api", api), scored)


@needs_inspect
@pytest.mark.parametrize(
    ("provider", "fields", "problem"),
    [
        ("inspect:nobody/model", {}, "Model API nobody of model 'nobody/model' not recognized"),
        ("inspect:openai-api/ward/model", {}, "No WARD_API_KEY defined in the environment"),
        ("inspect:openai-api/ward/model", {"api_key_env": "NOT_SET"}, "environment variable NOT_SET is not set"),
    ],
)
def test_what_inspect_cannot_open_is_one_line(provider, fields, problem):
    with pytest.raises(WardroundError, match=problem) as raised:
        send(made(provider, **fields), request())
    assert "\n" not in str(raised.value)
    assert "[bold]" not in str(raised.value)


@pytest.mark.parametrize(
    ("provider", "fields", "problem"),
    [
        ("inspect", {}, "expected the model's name with Inspect AI's provider"),
        ("inspect:model", {}, "expected the model's name with Inspect AI's provider"),
        ("inspect:openai/m", {"extra_body": {"temperature": 1}}, "extra_body.temperature is not known"),
        (
            "inspect:openai/m",
            {"extra_body": {"args": {"api_key": "abc"}}},
            "extra_body.args.api_key looks like a secret",
        ),
    ],
)
def test_settings_that_cannot_hold_are_refused(provider, fields, problem):
    with pytest.raises(WardroundError, match=problem):
        made(provider, **fields)


def test_an_offline_study_takes_no_provider_that_may_leave_this_machine():
    settings = CandidateSettings.model_validate({"name": "m", "provider": "inspect:openai/gpt"})
    with pytest.raises(WardroundError, match="offline"):
        make_candidate(settings, offline=True)
    make_candidate(settings.model_copy(update={"base_url": "http://127.0.0.1:9/v1"}), offline=True)


def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.model", None)
    with pytest.raises(WardroundError, match=r"pip install 'wardround\[inspect\]'"):
        send(made("inspect:mockllm/model"), request())


@needs_inspect
def test_a_study_is_checked_run_and_continued(tmp_path):
    write_cases(tmp_path / "cases", 4)
    with OpenAIApi() as api:
        hosted = {"name": "routed", "provider": "inspect", "base_url": f"{api.url}/v1"}
        write_study(
            tmp_path,
            top={"trials": 3},
            candidate=hosted | {"api_key_env": "EXAM_KEY", "model": "openai-api/exam/gpt-exam"},
        )
        checked = wardround("check", "study.toml", cwd=tmp_path, EXAM_KEY=Imitation.key)
        assert checked.returncode == 0, checked.stderr + checked.stdout
        asked = len(api.bodies)
        ended = wardround("run", "study.toml", cwd=tmp_path, EXAM_KEY=Imitation.key)
        assert ended.returncode == 0, ended.stderr
        bought = len(api.bodies) - asked
        wardround("run", "study.toml", cwd=tmp_path, EXAM_KEY=Imitation.key)
    assert bought in (4, 5)  # three votes a request, and perhaps a sentinel
    assert len(api.bodies) - asked == bought
    manifest = json.loads((tmp_path / "runs" / "exam" / "manifest.json").read_text())
    assert manifest["candidates"][0]["reported_models"] == ["gpt-exam-1"]
    assert manifest["candidates"][0]["tokens_in"] >= 400
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert Imitation.key.encode() not in written
