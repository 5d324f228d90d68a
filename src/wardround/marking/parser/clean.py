"""What a reply says: outside its reasoning, in plain characters, without markup."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 32_000  # characters; of a longer reply the beginning and the end are read

_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad|reflection"
_REASONING = re.compile(
    rf"<({_TAGS})>.*?(?:</\1>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z)|◁think▷.*?(?:◁/think▷|\Z)", re.S | re.I
)
_UNOPENED = re.compile(rf"\A.*(?:</(?:{_TAGS})>|\[/THINK\]|◁/think▷)", re.S | re.I)
_CHANNEL = "<|channel|>"
_FINAL = "<|channel|>final<|message|>"
_TOKENS = re.compile(r"<\|\w{1,20}\|>|</?s>|\[/?INST\]")  # that end or part turns, where a server leaves them in
_STRUCK = re.compile(r"~~[^~\n]*~~")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|textrm|textit|mathrm|mathbf|mathit|mathbb)\s*\{([^{}]*)\}")
_LATEX_MATHS = re.compile(r"\\[()\[\]]|\$")
_SPACES = re.compile(r"[ \t\r]{2,}|[\t\r]")
_PRIVATE = re.compile(r"[\ue000-\uf8ff]")  # named.py writes options' texts as these
_PLAIN = {"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "。": ". ", "İ": "I"}  # İ has no one small letter


def spoken(reply: str) -> str:
    """The reply without reasoning and markup, in NFKC. Line breaks stay."""
    if len(reply) > LONGEST:
        reply = f"{reply[: LONGEST // 4]}\n{reply[-3 * LONGEST // 4 :]}"
    if "<" in reply or "[" in reply or "◁" in reply:
        reply = _TOKENS.sub(" ", _without_reasoning(reply))
    if not reply.isascii():
        reply = unicodedata.normalize("NFKC", _PRIVATE.sub(" ", reply))
        for fancy, plain in _PLAIN.items():
            reply = reply.replace(fancy, plain)
    if "~~" in reply:
        reply = _STRUCK.sub(" ", reply)
    said = reply.replace("*", "").replace("`", "").replace("__", "")
    if "\\" in said or "$" in said:
        said = _LATEX_MATHS.sub(" ", _LATEX_TEXT.sub(r"\1", said))
    if "  " in said or "\t" in said or "\r" in said:
        said = _SPACES.sub(" ", said)
    return said.strip()


def _without_reasoning(reply: str) -> str:
    if _CHANNEL in reply:
        return reply.rpartition(_FINAL)[2] if _FINAL in reply else ""
    return _UNOPENED.sub(" ", _REASONING.sub(" ", reply), count=1)
