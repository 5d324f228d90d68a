"""Reasoning on and off: whether there is reasoning text, or more output tokens than the reply can have.

Tokens are at least one byte long, so more tokens than bytes are hidden reasoning; a few more mark the end of a reply.
"""

from collections.abc import Sequence
from typing import Literal

from wardround.running.settings.prober import Prober, ProbeReply
from wardround.running.settings.verdict import SettingVerdict, Verdict

QUESTION = "How many of the integers from 1 to 500 are divisible by none of 3, 5 and 7? Answer with the number alone."
REASONING_TOKENS = 2048
FRAME_TOKENS = 16  # that servers may count around a reply
REPLIES = 2
MAX_CALLS = REPLIES  # for on, and for off

Presence = Literal["present", "absent", "unclear"]


def reasoning_setting(is_on: bool) -> str:
    return f"reasoning = {'on' if is_on else 'off'}"


def presence(reply: ProbeReply) -> Presence:
    """Whether a reply has reasoning: in words, or in tokens that its text cannot account for."""
    if reply.reasoning.strip():
        return "present"
    if reply.tokens is None or not reply.text.strip():
        return "unclear"
    size = len(reply.text.encode())
    if reply.tokens > size + FRAME_TOKENS:
        return "present"
    return "absent" if reply.tokens <= size / 2 + FRAME_TOKENS else "unclear"


def reasoning_verdict(is_on: bool, replies: Sequence[ProbeReply], refusal: str | None = None) -> SettingVerdict:
    """An honest server always reasons on a hard question if it is told to, and never if it is told not to."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(reasoning_setting(is_on), "on" if is_on else "off", verdict, why)

    if refusal is not None:
        return result("refused", refusal)
    presences = [presence(reply) for reply in replies]
    if not presences:
        return result("unknown", "the probe was not answered")
    if "present" in presences:
        reply = replies[presences.index("present")]
        what = "reasoning text" if reply.reasoning else f"{reply.tokens} output tokens for {len(reply.text)} characters"
        return result("honoured" if is_on else "ignored", f"{what} came back")
    if len(presences) == REPLIES and set(presences) == {"absent"}:
        return result("ignored" if is_on else "honoured", f"{len(presences)} replies without reasoning")
    return result("unknown", "the server reports neither reasoning nor tokens that would show it")


async def probe_reasoning(prober: Prober, is_on: bool) -> SettingVerdict:
    sampling = prober.sampling(reasoning=is_on, max_tokens=REASONING_TOKENS)
    replies: tuple[ProbeReply, ...] = ()
    for _ in range(REPLIES):
        result = await prober.ask(QUESTION, sampling)
        if not result.replies:
            return reasoning_verdict(is_on, replies, result.refusal)
        replies += result.replies
        if presence(replies[-1]) == "present":
            break
    return reasoning_verdict(is_on, replies)
