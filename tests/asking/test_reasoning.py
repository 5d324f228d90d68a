"""Reasoning in replies: whatever tags it has, it is never the answer, for any reader of replies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wardround import asking
from wardround.asking.agent import parse_text_call
from wardround.asking.evidence import parse_query
from wardround.asking.reasoning import split_reasoning, without_reasoning
from wardround.marking.judges.model_judge import SAME_OR_NOT, parse_verdict
from wardround.marking.parser.choice import parse_choice
from wardround.marking.parser.open import ranked_diagnoses

OPTIONS = ["Asthma", "Bronchitis", "Croup"]
# opener and closer as models write them
PAIRS = [
    ("<think>", "</think>"),
    ("<THINK>\n", "\n</THINK>\n"),
    ('<think type="slow">', "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<analysis>", "</analysis>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reflection>", "</reflection>"),
    ("<cot>", "</cot>"),
    ("<chain_of_thought>", "</chain_of_thought>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<|think|>", "<|/think|>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|begin_of_thought|>\n", "\n<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysis", "assistantfinal"),
    ("## Thinking\n\n", "\n\n## Final Response\n\n"),
    ("Here is my thought process: ", "\n\nHere is my response: "),
    ("<|thinking|>", "</|thinking|>"),
    ("<think_never_used_51bce0c785ca2f68081bfa7d91973934>", "</think_never_used_51bce0c785ca2f68081bfa7d91973934>"),
    ("<antThinking>", "</antThinking>"),
    ("<reason>", "</reason>"),
    ("<rationale>", "</rationale>"),
    ("Thinking Process:\n\n1. ", "\n</think>\n\n"),
    ("**Thinking:**\n", "\n\n**Final Answer:** "),
    ("### Thinking\n", "\n### Answer\n"),
    ('<details type="reasoning" done="true" duration="3">\n<summary>Thought</summary>\n', "\n</details>\n"),
    ("<details><summary>Thinking</summary>\n", "\n</details>\n"),
    ("<think>", "</thinking>"),
]
THOUGHT = "It is A, asthma. The answer is A."


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_reasoning_is_not_the_answer(opener: str, closer: str) -> None:
    def reply(thought: str, answer: str) -> str:
        return f"{opener}{thought}{closer}{answer}"

    assert without_reasoning(reply(THOUGHT, "B")).strip().endswith("B")
    assert THOUGHT in split_reasoning(reply(THOUGHT, "B")).reasoning
    assert parse_choice(reply(THOUGHT, "B"), OPTIONS).option == 1
    assert ranked_diagnoses(reply("The final diagnosis is asthma.", "Bronchitis")) == ["Bronchitis"]
    assert parse_verdict(reply("Verdict: same", "Verdict: different"), SAME_OR_NOT) is False
    assert parse_text_call(reply("Let me plan.\nSEARCH: asthma\n", "\nREAD: 123")).tool == "read"
    assert parse_query(reply("Maybe asthma?\n", "\nbronchitis in adults")) == "bronchitis in adults"


@pytest.mark.parametrize("opener", [opener for opener, _ in PAIRS])
def test_unclosed_reasoning_gives_no_answer(opener: str) -> None:
    reply = f"{opener}{THOUGHT} Final answer: A"
    assert split_reasoning(reply).is_cut_off
    assert without_reasoning(reply) == ""
    assert parse_choice(reply, OPTIONS).option is None
    assert ranked_diagnoses(reply) == []
    assert parse_query(reply) == ""


@pytest.mark.parametrize("closer", ["</think>", "</thought>", "[/THINK]", "<unused95>", "<|end_of_thought|>"])
def test_all_before_a_closing_tag_that_nothing_opened_is_reasoning(closer: str) -> None:
    parts = split_reasoning(f"{THOUGHT}\n{closer}\nB")
    assert (parts.answer.strip(), parts.reasoning, parts.is_cut_off) == ("B", THOUGHT, False)


@pytest.mark.parametrize(
    "reply",
    [
        "B",
        "p < 0.05 and x > 3, so B",
        "Analysis: it is B",
        "[1] says B",
        "<answer>B</answer>",
        "analysis of the case: B",
        "## Thinking about it: B",
        "Thinking of asthma, B",
        "B\n<details><summary>Why</summary>It wheezes.</details>",
    ],
)
def test_a_reply_without_reasoning_is_unchanged(reply: str) -> None:
    assert split_reasoning(reply) == (reply, "", False)


def test_an_answer_before_a_closed_block_is_kept() -> None:
    assert parse_choice(f"B\n<think>{THOUGHT}</think>", OPTIONS).option == 1


@pytest.mark.parametrize("opener", ["<think>", "<cot>", "<unused94>thought", "<|begin_of_thought|>", "[THINK]"])
def test_an_answer_before_an_unclosed_block_is_not_final(opener: str) -> None:
    assert parse_choice(f"B\n{opener}But is it? {THOUGHT}", OPTIONS).option is None


def test_several_blocks_and_blocks_in_blocks_are_removed() -> None:
    reply = "<think>A<analysis>A</analysis>A</think>B<reflection>A?</reflection>"
    assert without_reasoning(reply).split() == ["B"]


@pytest.mark.parametrize("piece", ["<", "<think>", "</think>", "[", "<|channel|>", "<think", "<unused94>", "analysis"])
def test_a_hostile_reply_of_200_kb_is_split(piece: str) -> None:
    assert len(without_reasoning(piece * (200_000 // len(piece)))) <= 200_000


def test_no_other_module_has_tags_of_reasoning() -> None:
    """One table: whoever reads replies uses it."""
    package = Path(str(asking.__file__)).parents[1]
    tag = re.compile(r"</?(?:think|\(\?:think)|\[/?THINK|◁/?think|end_of_thought|<\|channel\|>")
    files = [path for path in package.rglob("*.py") if tag.search(path.read_text(encoding="utf-8"))]
    assert [path.name for path in files] == ["reasoning.py"]
