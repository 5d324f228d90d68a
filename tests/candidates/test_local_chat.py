"""An Ask as llama.cpp takes it, and a completion as an Answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loaded_model import LoadedModel, make_request

from wardround.candidates.candidate import Request
from wardround.candidates.local.chat import NEUTRAL_FIELDS, answer_of, first_token_of, prompt_of
from wardround.candidates.request_body import sampling_fields
from wardround.core.ask import Message, Sampling

CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"words": "cough"}'}}
TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Searches the literature.",
        "parameters": {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]},
    },
}


def conversation(**sampling: Any) -> Request:
    request = make_request("What is it?", **sampling)
    messages = (
        *request.ask.messages,
        Message("assistant", (), tool_calls=(CALL,)),
        Message("tool", ("Nothing was found.",), tool_call_id="1"),
    )
    return replace(request, ask=replace(request.ask, messages=messages, tools=(TOOL,)))


def test_tools_reasoning_and_extra_body_are_part_of_the_prompt() -> None:
    prompt = prompt_of(conversation(reasoning=False), {"min_p": 0.1})
    assert prompt == {
        "messages": [
            {"role": "user", "content": "What is it?"},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "content": "Nothing was found.", "tool_call_id": "1"},
        ],
        "tools": [TOOL],
        "chat_template_kwargs": {"enable_thinking": False},
        "min_p": 0.1,
    }


def test_only_what_the_study_gives_replaces_the_plain_draw() -> None:
    assert sampling_fields(Sampling()) == {}
    fields = sampling_fields(Sampling(temperature=0.0, top_k=5, stop=("END",)))
    assert fields == {"temperature": 0.0, "top_k": 5, "stop": ["END"]}
    assert (NEUTRAL_FIELDS | fields)["top_p"] == 1.0


def test_reasoning_and_tool_calls_reach_the_answer() -> None:
    message = {"role": "assistant", "content": None, "reasoning_content": "A cough.", "tool_calls": [CALL]}
    completion = {"model": "m", "choices": [{"finish_reason": "tool_calls", "message": message}]}
    answer = answer_of(completion, None, ())
    assert (answer.text, answer.finish, answer.reasoning) == ("", "tool_calls", "A cough.")
    assert answer.tool_calls == (CALL,)


def test_llama_cpp_takes_a_conversation_with_tools_and_reasoning() -> None:
    model = LoadedModel()
    try:
        [answer] = model.answers(conversation(reasoning=True, max_tokens=4))
    finally:
        model.close()
    assert answer.text or answer.reasoning or answer.tool_calls


def test_a_completion_without_log_probabilities_has_no_first_token() -> None:
    assert first_token_of({"choices": [{"message": {"content": ""}}]}) is None
    assert first_token_of({"choices": [{"logprobs": {"content": []}}]}) is None
