"""One contract for all providers: what is asked for, what is made of each reply, on strict imitations of each API."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
import pytest
from anthropic_api import AnthropicApi, BedrockApi, VertexClaudeApi
from exam_study import write_cases, write_study
from gemini_api import GeminiApi, VertexGeminiApi
from imitation import PLAN, QUERY, Imitation
from openai_api import AzureApi, CompatibleApi, OpenAIApi
from responses_api import ResponsesApi

from wardround.asking.agent import TOOLS
from wardround.candidates.candidate import (
    Candidate,
    Fault,
    QuestionRefused,
    RateLimited,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
    Unsupported,
)
from wardround.candidates.registry import make_candidate
from wardround.cases.encoded_image import EncodedImage
from wardround.core.ask import Ask, Identity, ImagePart, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.pipeline import run_study

CASE = Case.model_validate(
    {"id": "c", "questions": [{"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}]}
)
IMAGES = tuple(
    EncodedImage(base64.b64encode(data), "image/png", name, 8, 8)
    for name, data in (("first", b"1" * 30), ("second", b"2" * 30))
)
SYSTEM = Message("system", ("You are examined.",))


DOCUMENT = Path(__file__).parents[3] / "docs" / "candidates.md"
# row of the table in docs/candidates.md -> the test that shows it
BEHAVIOURS = {
    "text, model name, tokens": "test_a_text_is_answered_with_model_and_tokens",
    "images in order, before the text": "test_images_arrive_in_order_and_before_the_text",
    "several votes in one request": "test_votes",
    "log-probabilities of the first token": "test_logprobs_of_the_first_token",
    "reasoning on and off, kept apart": "test_reasoning_is_kept_apart_from_the_answer",
    "tool calls of an agent": "test_a_tool_is_called_and_its_result_returned",
    "system text": "test_system_text_is_sent_as_such",
    "cut and declined answers": "test_a_cut_and_a_declined_answer_are_told_apart",
    "rate limit, quota, too long, image too large": "test_a_failure_means_what_it_says",
    "overload": "test_an_overloaded_server_is_asked_again",
    "no reply in time": "test_a_reply_that_does_not_come_is_a_fault",
    "refused key; secrets in no message": "test_a_refused_key_ends_the_candidate_and_is_in_no_message",
    "unknown field": "test_a_field_that_the_api_does_not_know_is_reported",
}


@dataclass(frozen=True)
class ComputedHere:
    """A provider without a server: the folder of its tests, and for each behaviour the test and what the table says."""

    folder: str
    shown: dict[str, tuple[str, str]]  # other behaviours are not offered


COMPUTED_HERE = {
    "transformers": ComputedHere(
        "hugging_face",
        {
            "text, model name, tokens": ("test_images_votes_and_log_probabilities_are_answered", "yes"),
            "images in order, before the text": ("test_images_reach_the_model_in_their_order", "yes"),
            "several votes in one request": (
                "test_one_prefill_for_all_votes_gives_the_votes_of_separate_prefills",
                "yes",
            ),
            "log-probabilities of the first token": ("test_log_probabilities_are_those_of_one_forward_pass", "yes"),
            "reasoning on and off, kept apart": ("test_reasoning_that_the_prompt_opens_is_kept_apart", "yes"),
            "tool calls of an agent": ("test_an_agent_searches_by_lines_of_text", "as text"),
            "system text": ("test_a_system_text_is_a_message_of_its_own", "yes"),
            "cut and declined answers": ("test_a_text_ends_where_the_context_does", "cut"),
            "rate limit, quota, too long, image too large": (
                "test_a_prompt_beyond_the_context_is_refused_as_too_long",
                "too long",
            ),
            "overload": ("test_out_of_memory_lowers_the_batch_and_changes_no_answer", "memory"),
            "unknown field": ("test_settings_that_cannot_hold_are_refused_in_one_line", "yes"),
        },
    ),
    "classifier": ComputedHere(
        "image_classifier",
        {
            "text, model name, tokens": ("test_class_probabilities_become_answer_confidence_and_logprobs", "letter"),
            "images in order, before the text": (
                "test_probabilities_are_those_among_the_options_shown_and_the_mean_of_all_images",
                "their mean",
            ),
            "several votes in one request": ("test_votes_follow_the_probabilities_at_the_studys_temperature", "yes"),
            "log-probabilities of the first token": (
                "test_class_probabilities_become_answer_confidence_and_logprobs",
                "yes",
            ),
            "unknown field": ("test_a_wrong_description_is_refused_in_one_line", "yes"),
        },
    ),
}


@dataclass(frozen=True)
class Provider:
    """A provider, the API that it speaks, and the settings by which its candidate reaches an imitation of it."""

    api: Callable[..., Imitation]
    path: str
    settings: dict[str, Any]
    missing: frozenset[str] = frozenset()  # tests of BEHAVIOURS that its API does not offer
    unknown_field: dict[str, Any] = field(default_factory=lambda: {"wardround_test": 1})  # an extra_body that sends one


NO_VOTES = frozenset({"test_votes"})
CLAUDE = NO_VOTES | {"test_logprobs_of_the_first_token"}
IN_CONFIG = {"config": {"extra_body": {"wardround_test": 1}}}
UNSTREAMED = {"args": {"streaming": False}}
VERTEX = "/v1/projects/ward/locations/europe-west1"
PROVIDERS = {
    "openai": Provider(OpenAIApi, "/v1", {"model": "gpt-exam", "api_key_env": "EXAM_KEY"}),
    "openai:azure": Provider(
        AzureApi,
        "/openai/deployments/ward-gpt?api-version=2025-04-01-preview",
        {"model": "ward-gpt", "api_key_env": "EXAM_KEY"},
    ),
    "openai:responses": Provider(
        ResponsesApi, "/v1", {"model": "gpt-exam", "api_key_env": "EXAM_KEY"}, missing=NO_VOTES
    ),
    "anthropic": Provider(AnthropicApi, "", {"model": "claude-exam", "api_key_env": "EXAM_KEY"}, missing=CLAUDE),
    "anthropic:bedrock": Provider(BedrockApi, "", {"model": "eu.anthropic.claude-exam-1-v1:0"}, missing=CLAUDE),
    "anthropic:vertex": Provider(
        VertexClaudeApi,
        VERTEX,
        {"model": "claude-exam@20261001", "token_command": ["echo", "token-1"]},
        missing=CLAUDE,
    ),
    "gemini": Provider(GeminiApi, "/v1beta", {"model": "gemini-exam", "api_key_env": "EXAM_KEY"}),
    "gemini:vertex": Provider(VertexGeminiApi, VERTEX, {"model": "gemini-exam", "token_command": ["echo", "token-1"]}),
    # Inspect AI's providers, by Inspect AI
    "inspect:openai-api": Provider(
        CompatibleApi, "/v1", {"model": "openai-api/exam/gpt-exam", "api_key_env": "EXAM_KEY"}, unknown_field=IN_CONFIG
    ),
    "inspect:anthropic": Provider(
        AnthropicApi,
        "",
        {"model": "anthropic/claude-exam", "api_key_env": "EXAM_KEY", "extra_body": UNSTREAMED},
        missing=CLAUDE | {"test_a_field_that_the_api_does_not_know_is_reported"},
    ),
}


@pytest.fixture(autouse=True)
def _credentials(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", Imitation.key)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", BedrockApi.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", BedrockApi.secret_key)
    monkeypatch.setenv("AWS_REGION", BedrockApi.region)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)


@pytest.fixture(params=PROVIDERS)
def name(request: pytest.FixtureRequest) -> str:
    if request.param == "anthropic:bedrock":
        pytest.importorskip("botocore")
    if request.param.startswith("inspect") and find_spec("inspect_ai") is None:
        pytest.skip("inspect_ai is not installed (make test-inspect)")
    return str(request.param)


def candidate(name: str, api: Imitation, **fields: Any) -> Candidate:
    provider = PROVIDERS[name]
    settings = {"name": "hosted", "provider": name, "base_url": api.url + provider.path, **provider.settings, **fields}
    return make_candidate(CandidateSettings.model_validate(settings))


def request(
    *messages: Message, trials: int = 1, images: tuple[EncodedImage, ...] = (), tools: bool = False, **sampling: Any
) -> Request:
    parts = (*(ImagePart(image.sha256, image.sha256, ()) for image in images), "Which?")
    ask = Ask(
        Identity("x"),
        Sampling(**{"max_tokens": 64} | sampling),
        (*(messages or (Message("user", parts),)),),
        TOOLS if tools else (),
    )
    return Request(ask, CASE, CASE.questions[0], Condition(), (0, 1), tuple(range(trials)), 0, images)


def send(to: Candidate, *requests: Request) -> list[Reply]:
    """The replies; a request is sent again after a RequestAdapted."""

    async def answer(request: Request) -> Reply:
        while True:
            try:
                return await to.answer(request)
            except RequestAdapted:
                continue

    async def send_all() -> list[Reply]:
        await to.prepare(None)  # type: ignore[arg-type]
        try:
            return [await answer(request) for request in requests]
        finally:
            await to.close()

    return asyncio.run(send_all())


def contract_table() -> str:
    """The table of docs/candidates.md: providers x behaviours."""
    names = [*PROVIDERS, *COMPUTED_HERE]
    lines = [f"| | {' | '.join(f'`{name}`' for name in names)} |", "|---" * (len(names) + 1) + "|"]
    for behaviour, test in BEHAVIOURS.items():
        cells = ["not offered" if test in provider.missing else "yes" for provider in PROVIDERS.values()]
        cells += [provider.shown.get(behaviour, ("", "not offered"))[1] for provider in COMPUTED_HERE.values()]
        lines.append(f"| {behaviour} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_documented_table_is_that_of_these_tests():
    assert all(test in globals() for test in BEHAVIOURS.values())
    for provider in COMPUTED_HERE.values():
        folder = Path(__file__).parents[1] / provider.folder
        written = "".join(file.read_text() for file in folder.glob("test_*.py"))
        assert provider.shown.keys() <= BEHAVIOURS.keys()
        assert all(f"def {test}(" in written for test, _ in provider.shown.values())
    assert contract_table() in DOCUMENT.read_text()


def test_a_text_is_answered_with_model_and_tokens(name):
    with PROVIDERS[name].api() as api:
        [reply] = send(candidate(name, api), request())
    [answer] = reply.answers
    assert (answer.text, answer.finish, answer.reasoning) == ("Answer: A", "stop", None)
    assert str(answer.model).endswith("exam-1")
    assert reply.tokens_in == 100
    assert reply.tokens_out in (9, 12)


def test_images_arrive_in_order_and_before_the_text(name):
    with PROVIDERS[name].api() as api:
        [reply] = send(candidate(name, api), request(images=IMAGES))
    sent = orjson.dumps(api.bodies[-1])
    places = [sent.index(image.base64) for image in IMAGES]
    assert places == sorted(places)
    assert places[-1] < sent.index(b"Which?")
    assert reply.answers[0].images == ("first", "second")


def test_votes(name):
    with PROVIDERS[name].api() as api:
        [reply] = send(candidate(name, api), request(trials=3))
    assert len(reply.answers) == (1 if "test_votes" in PROVIDERS[name].missing else 3)


def test_logprobs_of_the_first_token(name):
    with PROVIDERS[name].api() as api:
        to = candidate(name, api)
        if "test_logprobs_of_the_first_token" not in PROVIDERS[name].missing:
            [reply] = send(to, request(logprobs=20))
            assert reply.answers[0].first_token == tuple(PLAN)
        elif name.startswith("inspect"):  # it does not say so beforehand: the first reply is without them
            [first, second] = send(to, *[request(logprobs=20)] * 2)
            assert (first.answers[0].first_token, second.was_sent) == (None, False)
        else:
            with pytest.raises(Unsupported, match="no log-probabilities"):
                send(to, request(logprobs=20))


@pytest.mark.parametrize("is_on", [True, False])
def test_reasoning_is_kept_apart_from_the_answer(name, is_on):
    with PROVIDERS[name].api() as api:
        [reply] = send(candidate(name, api), request(reasoning=is_on))
    assert reply.answers[0].text == "Answer: A"
    assert reply.answers[0].reasoning == ("It enhances." if is_on else None)


def test_a_tool_is_called_and_its_result_returned(name):
    asked = Message("user", ("Which?",))
    with PROVIDERS[name].api("calls a tool") as api:
        to = candidate(name, api)
        [reply] = send(to, request(asked, tools=True, reasoning=True))
        [call] = reply.answers[0].tool_calls
        assert call["function"]["name"] == "search"
        assert orjson.loads(call["function"]["arguments"]) == QUERY
        assert reply.answers[0].finish == "tool_calls"
        turn = Message("assistant", (reply.answers[0].text,), (call,))
        result = Message("tool", ("One article.",), tool_call_id=call["id"])
        [reply] = send(to, request(asked, turn, result, tools=True, reasoning=True))
    assert reply.answers[0].text == "Answer: A"


def test_system_text_is_sent_as_such(name):
    with PROVIDERS[name].api() as api:
        send(candidate(name, api), request(SYSTEM, Message("user", ("Which?",))))
    body = api.bodies[-1]
    fields = ("system", "systemInstruction", "instructions")
    sent = next((body[field] for field in fields if field in body), None) or body["messages"][0]
    assert "examined" in str(sent)


@pytest.mark.parametrize(
    ("behaviour", "finish"), [("cut", "length"), ("declined", {"declined", "content_filter", "stop"})]
)
def test_a_cut_and_a_declined_answer_are_told_apart(name, behaviour, finish):
    with PROVIDERS[name].api(behaviour) as api:
        [reply] = send(candidate(name, api), request())
    [answer] = reply.answers
    assert answer.finish in finish
    assert (answer.refused_for is not None) == (behaviour == "declined")


@pytest.mark.parametrize("name", ["openai", "openai:azure", "openai:responses", "gemini"])
def test_a_filtered_question_has_that_as_its_outcome(name):
    with PROVIDERS[name].api("filtered") as api:
        try:
            [reply] = send(candidate(name, api), request())
            finish = reply.answers[0].finish
        except QuestionRefused as refused:
            finish = refused.finish
    assert finish == "content_filter"


@pytest.mark.parametrize(
    ("behaviour", "error", "field", "value"),
    [
        ("rate limit", RateLimited, "retry_after", 7.0),
        ("out of credit", Fault, "kind", "quota"),
        ("server error", Fault, "kind", "HTTP 500"),
        ("broken body", Fault, "kind", "not JSON"),
        ("too long", QuestionRefused, "finish", "too_long"),
        ("image too large", QuestionRefused, "finish", "image_too_large"),
    ],
)
def test_a_failure_means_what_it_says(name, behaviour, error, field, value):
    with PROVIDERS[name].api(behaviour) as api, pytest.raises(error) as raised:
        send(candidate(name, api), request(images=IMAGES))
    assert getattr(raised.value, field) == value


def test_an_overloaded_server_is_asked_again(name):
    with PROVIDERS[name].api("overloaded") as api, pytest.raises(Fault) as raised:
        send(candidate(name, api), request())
    assert raised.value.stops_after is None


def test_a_reply_that_does_not_come_is_a_fault(name):
    with PROVIDERS[name].api("no reply") as api, pytest.raises(Fault) as raised:
        send(candidate(name, api, timeout=0.2), request())
    assert raised.value.kind == "no reply in time"


def test_a_refused_key_ends_the_candidate_and_is_in_no_message(name, monkeypatch):
    secret = "wrong-key-9876543210"
    monkeypatch.setenv("EXAM_KEY", secret)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    fields = {"token_command": ["echo", secret]} if name.endswith("vertex") else {}
    with PROVIDERS[name].api() as api, pytest.raises((Fault, RequestRejected)) as raised:
        send(candidate(name, api, **fields), request())
    assert secret not in str(raised.value)
    if isinstance(raised.value, Fault):
        assert raised.value.stops_after == 3


def test_a_field_that_the_api_does_not_know_is_reported(name):
    if "test_a_field_that_the_api_does_not_know_is_reported" in PROVIDERS[name].missing:
        pytest.skip("Inspect AI passes no further fields on to it")
    with PROVIDERS[name].api() as api, pytest.raises(RequestRejected, match="wardround_test"):
        send(candidate(name, api, extra_body=PROVIDERS[name].unknown_field), request())


@pytest.mark.parametrize("name", ["openai", "openai:responses", "anthropic"])
def test_a_model_that_takes_no_temperature_answers_without_it_and_the_run_says_so(name):
    with PROVIDERS[name].api(takes_sampling=False) as api:
        to = candidate(name, api)
        [reply] = send(to, request(temperature=0.5))
    assert reply.answers[0].text == "Answer: A"
    assert "the server takes no temperature: its own default holds" in to.warnings


def test_the_new_version_of_anthropics_api_takes_no_temperature():
    with AnthropicApi() as api:
        to = candidate("anthropic", api, headers={"Anthropic-Version": "2026-10-21"})
        send(to, request(temperature=1.0, top_p=0.9))
    assert api.headers[-1]["anthropic-version"] == "2026-10-21"
    assert "temperature" not in api.bodies[-1]
    assert len(to.warnings) == 2


def test_an_older_claude_thinks_by_a_budget_on_top_of_the_answers_tokens():
    with AnthropicApi(thinks_by="enabled") as api:
        [reply] = send(candidate("anthropic", api), request(reasoning=True))
    assert reply.answers[0].reasoning == "It enhances."
    assert api.bodies[-1]["max_tokens"] == 64 + api.bodies[-1]["thinking"]["budget_tokens"]


def test_a_token_is_renewed_when_the_server_refuses_it(tmp_path):
    counter = tmp_path / "calls"
    script = f'echo x >> "{counter}"; echo token-$(wc -l < "{counter}" | tr -d " ")'
    with VertexClaudeApi() as api:
        api.tokens = ("token-2",)
        to = candidate("anthropic:vertex", api, token_command=["sh", "-c", script])
        [first, second] = send(to, request(), request())
    assert first.answers[0].text == second.answers[0].text == "Answer: A"
    assert counter.read_text().count("x") == 2


def test_a_token_command_that_fails_writes_no_run(tmp_path):
    write_cases(tmp_path / "cases", 2)
    failing = {
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "token_command": ["sh", "-c", "echo no login >&2; exit 1"],
    }
    study = write_study(tmp_path, candidate={"name": "hosted", "provider": "openai"} | failing)
    with pytest.raises(WardroundError, match="'hosted': token_command: 'sh' gave no token: no login"):
        run_study(study, runs=tmp_path / "runs", quiet=True)
    assert not list((tmp_path / "runs").rglob("manifest.json"))


def test_the_providers_behind_a_router_are_in_the_manifest_and_warned_of(tmp_path):
    write_cases(tmp_path / "cases", 4)
    with OpenAIApi(router="Together") as api:
        hosted = {"name": "routed", "provider": "openai", "base_url": f"{api.url}/v1", "model": "gpt-exam"}
        study = write_study(tmp_path, candidate=hosted | {"api_key_env": "EXAM_KEY"})
        run_study(study, runs=tmp_path / "runs", quiet=True, answers=tmp_path / "answers.sqlite")
        manifest = orjson.loads(next((tmp_path / "runs").rglob("manifest.json")).read_bytes())
    assert manifest["candidates"][0]["reported_providers"] == ["Together"]


def cached_blocks(case: Case, images: tuple[EncodedImage, ...], text: str) -> list[tuple[str | None, bool]]:
    """The text of each block that is sent, and whether the server is asked to keep everything up to it."""
    parts = (*(ImagePart(image.sha256, image.sha256, ()) for image in images), text)
    asked = request(Message("user", parts), images=images)
    with AnthropicApi() as api:
        send(candidate("anthropic", api, cache_prompts=True), replace(asked, question=case.questions[0]))
    blocks = api.bodies[-1]["messages"][0]["content"]
    return [(block.get("text"), "cache_control" in block) for block in blocks]


def test_what_the_questions_of_a_case_share_is_cached():
    """The images alone, for chains whose earlier answers differ; and all that stands before the question."""
    question = {"id": "q", "kind": "choice", "prompt": "Which organ?", "options": ["x", "y"], "gold": 0}
    case = Case.model_validate({"id": "c", "questions": [question]})
    prompt = "History: cough. Question: Which organ? A. x B. y"
    shared, asked = "History: cough. Question: ", "Which organ? A. x B. y"
    assert cached_blocks(case, (), prompt) == [(shared, True), (asked, False)]
    assert cached_blocks(case, IMAGES, prompt) == [(None, False), (None, True), (shared, True), (asked, False)]
    assert cached_blocks(case, IMAGES, "Which organ?") == [(None, False), (None, True), ("Which organ?", False)]
    assert cached_blocks(case, (), "Another wording?") == [("Another wording?", False)]


@pytest.mark.parametrize("name", [name for name in PROVIDERS if not name.startswith(("gemini", "inspect"))])
def test_the_providers_id_of_a_failed_request_is_in_the_fault(name):
    if name == "anthropic:bedrock":
        pytest.importorskip("botocore")
    with PROVIDERS[name].api("server error") as api, pytest.raises(Fault, match=r"\(request req_exam\)"):
        send(candidate(name, api), request())


@pytest.mark.parametrize("name", ["anthropic", "anthropic:vertex", "gemini"])
def test_an_image_beyond_the_apis_own_limit_is_the_outcome_of_its_question(name):
    """5 MB an image at Anthropic, 20 MB a request at Google; the imitations count what arrives."""
    data = b"0" * (21 if name == "gemini" else 6) * 2**20
    large = EncodedImage(base64.b64encode(data), "image/png", "large", 8, 8)
    with PROVIDERS[name].api() as api, pytest.raises(QuestionRefused) as refused:
        send(candidate(name, api), request(images=(large,)))
    assert refused.value.finish == "image_too_large"


def test_a_switch_of_reasoning_that_a_model_does_not_take_is_not_an_outcome_of_the_question():
    with GeminiApi(always_thinks=True) as api, pytest.raises(Unsupported, match="reasoning = off"):
        send(candidate("gemini", api), request(reasoning=False))


@pytest.mark.parametrize(("is_on", "level"), [(True, "high"), (False, "minimal")])
def test_a_gemini_that_takes_no_budget_thinks_by_a_level(is_on, level):
    with GeminiApi(thinks_by="thinkingLevel") as api:
        to = candidate("gemini", api)
        [reply] = send(to, request(reasoning=is_on))
    assert api.bodies[-1]["generationConfig"]["thinkingConfig"]["thinkingLevel"] == level
    assert reply.answers[0].reasoning == ("It enhances." if is_on else None)
    assert "the model takes no thinking budget" in to.warnings[0]


@pytest.mark.parametrize(("behaviour", "reason"), [("filtered", "SAFETY"), ("declined", "PROHIBITED_CONTENT")])
def test_the_reason_of_a_safety_block_is_stored(behaviour, reason):
    with GeminiApi(behaviour) as api:
        [reply] = send(candidate("gemini", api), request())
    assert (reply.answers[0].finish, reply.answers[0].refusal) == ("content_filter", reason)


def test_safety_settings_are_sent():
    settings = [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "threshold": "BLOCK_NONE"}]
    with GeminiApi() as api:
        send(candidate("gemini", api, extra_body={"safetySettings": settings}), request())
    assert api.bodies[-1]["safetySettings"] == settings


def test_one_candidate_a_request_is_learnt():
    with GeminiApi(max_candidates=1) as api:
        to = candidate("gemini", api)
        [reply] = send(to, request(trials=4))
    assert len(reply.answers) == 1
    assert not to.supports_multiple


@pytest.mark.parametrize("name", ["openai", "openai:responses"])
def test_a_model_that_always_reasons_is_asked_for_the_least(name):
    with PROVIDERS[name].api(efforts=("minimal", "low", "medium", "high")) as api:
        to = candidate(name, api)
        send(to, request(reasoning=False))
    body = api.bodies[-1]
    assert (body.get("reasoning_effort") or body["reasoning"]["effort"]) == "minimal"
    assert (
        "the model takes no reasoning effort 'none': 'minimal' is sent, with which it may still reason" in to.warnings
    )


@pytest.mark.parametrize("name", ["openai", "openai:responses"])
def test_a_model_that_reasons_only_at_high_effort_has_no_off(name):
    with PROVIDERS[name].api(efforts=("high",)) as api:
        [reply] = send(candidate(name, api), request(reasoning=True))
        assert reply.answers[0].reasoning == "It enhances."
        with pytest.raises(Unsupported, match="reasoning = off"):
            send(candidate(name, api), request(reasoning=False))


@pytest.mark.parametrize(
    ("name", "refusing"),
    [
        ("openai", {"takes_logprobs": False}),
        ("openai:responses", {"takes_sampling": False}),
        ("gemini", {"has_logprobs": False}),
    ],
)
def test_a_request_for_logprobs_is_not_bought_from_a_model_without_them(name, refusing):
    with PROVIDERS[name].api(**refusing) as api:
        [first, second] = send(candidate(name, api), *[request(logprobs=20, top_k=-1)] * 2)
    assert api.replied == 0
    assert not first.was_sent
    assert not second.was_sent
    assert first.answers[0].first_token is None


def test_the_provider_behind_a_router_is_pinned_and_recorded():
    pinned = {"order": ["together"], "allow_fallbacks": False}
    with OpenAIApi(router="Together") as api:
        [reply] = send(candidate("openai", api, extra_body={"provider": pinned}), request(reasoning=True))
    assert api.bodies[-1]["provider"] == pinned
    assert (reply.answers[0].provider, reply.answers[0].reasoning) == ("Together", "It enhances.")


def test_an_answer_in_parts_is_read_whole():
    with OpenAIApi("answers in parts") as api:
        [reply] = send(candidate("openai", api), request())
    assert reply.answers[0].text == "Answer: A"


def test_reasoning_without_a_summary_is_asked_for_without_one():
    with ResponsesApi(takes_summary=False) as api:
        [reply] = send(candidate("openai:responses", api), request(reasoning=True))
    assert (reply.answers[0].text, reply.answers[0].reasoning) == ("Answer: A", None)
    assert api.bodies[-1]["reasoning"] == {"effort": "medium"}


def test_a_failed_response_is_a_fault():
    with ResponsesApi("failed") as api, pytest.raises(Fault, match="failed to generate"):
        send(candidate("openai:responses", api), request())


def test_what_the_responses_api_does_not_have_is_warned_of():
    with ResponsesApi() as api:
        to = candidate("openai:responses", api)
        send(to, request(stop=("END",), top_k=20))
    assert [warning.split(":")[0] for warning in to.warnings] == [
        "the Responses API takes no stop",
        "the Responses API takes no top_k",
    ]


def test_the_responses_api_on_azure_takes_its_key_in_a_header_of_its_own():
    with ResponsesApi(key_header="api-key") as api:
        settings = {"name": "hosted", "provider": "openai:responses", "base_url": f"{api.url}/v1", "model": "ward-gpt"}
        to = make_candidate(CandidateSettings.model_validate(settings | {"headers": {"api-key": "$EXAM_KEY"}}))
        [reply] = send(to, request())
    assert reply.answers[0].text == "Answer: A"


def test_a_whole_study_is_run_and_continued_at_a_hosted_model(tmp_path):
    write_cases(tmp_path / "cases", 4)
    with AnthropicApi() as api:
        hosted = {"name": "claude", "provider": "anthropic", "base_url": api.url, "model": "claude-exam"}
        study = write_study(tmp_path, top={"trials": 2}, candidate=hosted | {"api_key_env": "EXAM_KEY"})
        first = run_study(study, runs=tmp_path / "runs", quiet=True)
        asked = len(api.bodies)
        second = run_study(study, runs=tmp_path / "runs", quiet=True)
    assert asked == len(api.bodies) == 4 * 2 + 1  # and one sentinel
    assert first.exit_code == second.exit_code == 0
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert Imitation.key.encode() not in written
