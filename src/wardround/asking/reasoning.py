"""Reasoning inside a reply: the one table of its tags, and the split of a reply into reasoning and answer.

Every reader of replies uses it: parsers, judges, the agent's text calls, search queries and builders.
An unclosed block gives no answer: what stands in it was cut off before the answer.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# In angle brackets: <think>...</think>; <|think|>...<|/think|> and ◁think▷...◁/think▷ are the same.
TAG_NAMES = (
    *("think", "thinking", "thinking_process", "thought", "thoughts", "reasoning", "analysis", "scratchpad"),
    *("reflection", "self_reflection", "cot", "chain_of_thought", "inner_monologue", "deepthink", "deep_think"),
    *("seed:think", "seed:cot_budget_reflect", "longcat_think", "antml:thinking", "mm:think", "ant_thinking"),
    *("antthinking", "reason", "rationale", "internal_thoughts", "think_never_used_[0-9a-f]{4,40}"),
)
# Pairs of other shapes, as regular expressions. Whose model: MedGemma; OpenThinker; Command A; Mistral; Apertus; Gemma.
PAIRS = (
    (r"<unused94>", r"<unused95>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|start_thinking\|>", r"<\|end_thinking\|>"),
    (r"\[think\]", r"\[/think\]"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    (r"<\|channel>\s?thought", r"<channel\|>"),
)
# Pairs of words, only at the start of a reply: gpt-oss without its special tokens; HuatuoGPT-o1; models whose tags a
# server removed (Qwen); how Open WebUI folds reasoning; Granite.
OPENINGS = (
    (r"analysis(?=[A-Z\"'])", r"assistantfinal"),
    (
        r"(?:#{1,3} ?|\*\*)?Thinking(?: Process)?:?(?:\*\*)?:?[ \t]*\n",
        r"</think>|\n(?:#{1,3} ?|\*\*)(?:Final )?(?:Response|Answer|Diagnosis)\b:?(?:\*\*)?:?"
        r"|\n(?:Final )?(?:Response|Answer|Diagnosis):",
    ),
    (r"<details\b[^<>\n]{0,80}\breasoning\b[^<>\n]{0,80}>", r"</details>"),
    (r"<details>\s*<summary>\s*(?:[Tt]hinking|[Tt]houghts?|[Rr]easoning)\b", r"</details>"),
    (r"Here(?: is|'s) my thought process:", r"Here(?: is|'s) my response:"),
)
CHANNEL, FINAL_CHANNEL = "<|channel|>", "<|channel|>final<|message|>"  # gpt-oss

_ANSWER_MARK = re.compile(r"<\|(?:(?:begin|end)_of_solution|(?:start|end)_response|return)\|>", re.I)
_NAMES = "|".join(sorted(TAG_NAMES, key=len, reverse=True))
_TAG = rf"(?:<\|?|◁)(?P<tag_close>/)?\|?(?P<tag>{_NAMES})(?:\s[^<>\n]{{0,80}})?(?:\|?>|▷)"
_OTHER = "|".join(rf"(?P<open_{n}>{opener})|(?P<close_{n}>{closer})" for n, (opener, closer) in enumerate(PAIRS))
_MARKER = re.compile(f"{_TAG}|{_OTHER}", re.I)
_OPENINGS = [(re.compile(rf"\s*{opener}"), re.compile(closer)) for opener, closer in OPENINGS]
_FIRST_CHARACTER = re.compile(r"[<\[◁]")
_ANY_OPENING = re.compile(rf"\s*(?:{'|'.join(opener for opener, _ in OPENINGS)})")
_OPENING_CHARACTERS = "aHT#* \t\r\n\f\v"  # with which one of them, or the space before it, begins


class ReplyParts(NamedTuple):
    """A reply without its reasoning, that reasoning, and whether it was cut off inside the reasoning."""

    answer: str
    reasoning: str = ""
    is_cut_off: bool = False


class ReasoningTag(NamedTuple):
    """A tag that opens or closes reasoning: its name (the number of its pair, if it has no name) and its place."""

    name: str
    is_closing: bool
    start: int
    end: int


def without_reasoning(reply: str) -> str:
    """The reply without its reasoning and the marks around its answer; empty if a reasoning block is not closed."""
    if "<" not in reply and "[" not in reply and "◁" not in reply:  # no tag and no mark begins in another way
        may_open = reply[:1] in _OPENING_CHARACTERS or not reply.isascii()
        if not (may_open and _ANY_OPENING.match(reply)):
            return reply
    return _ANSWER_MARK.sub("", split_reasoning(reply).answer)


def split_reasoning(reply: str) -> ReplyParts:
    """The reasoning and the answer of a reply."""
    for opener, closer in _OPENINGS:
        if opening := opener.match(reply):
            *_, closing = [None, *closer.finditer(reply, opening.end())]
            if closing is None:
                return ReplyParts("", reply[opening.end() :].strip(), is_cut_off=True)
            return ReplyParts(reply[closing.end() :], reply[opening.end() : closing.start()].strip())
    if CHANNEL in reply:
        return _split_channels(reply)
    return _split_blocks(reply)


def _split_channels(reply: str) -> ReplyParts:
    before, marker, answer = reply.rpartition(FINAL_CHANNEL)
    reasoning = re.sub(r"<\|channel\|>\w+|<\|\w+\|>(?:assistant)?", " ", before if marker else reply).strip()
    return ReplyParts(answer if marker else "", reasoning, is_cut_off=not marker)


def _split_blocks(reply: str) -> ReplyParts:
    """A block lasts to the first closing tag of its name, else to the last of any name.

    All before a closing tag that nothing opened is reasoning: the prompt opened it.
    """
    kept: list[str] = []
    blocks: list[str] = []
    opener: ReasoningTag | None = None
    other_closer: ReasoningTag | None = None
    start = 0
    for tag in reasoning_tags(reply):
        if opener is None:
            part = reply[start : tag.start]
            if tag.is_closing:
                blocks.append(" ".join([*kept, part]))
                kept = []
            else:
                kept.append(part)
                opener, other_closer = tag, None
            start = tag.end
        elif tag.is_closing and tag.name == opener.name:
            blocks.append(reply[start : tag.start])
            opener, start = None, tag.end
        elif tag.is_closing:
            other_closer = tag
    if opener is not None:
        if other_closer is None:
            return ReplyParts("", _join([*blocks, reply[start:]]), is_cut_off=True)
        blocks.append(reply[start : other_closer.start])
        start = other_closer.end
    return ReplyParts(" ".join([*kept, reply[start:]]) if kept else reply[start:], _join(blocks))


def reasoning_tags(reply: str) -> Iterator[ReasoningTag]:
    for first in _FIRST_CHARACTER.finditer(reply):
        if marker := _MARKER.match(reply, first.start()):
            if marker["tag"]:
                yield ReasoningTag(marker["tag"].lower(), marker["tag_close"] is not None, *marker.span())
            else:
                kind = marker.lastgroup or ""
                yield ReasoningTag(kind.rpartition("_")[2], kind.startswith("close"), *marker.span())


def _join(blocks: list[str]) -> str:
    return "\n".join(block.strip() for block in blocks if block.strip())
