"""Cleaning of a reply: no reasoning, no markup, plain characters."""

import re
import unicodedata

MAX_CHARACTERS = 32_000  # of a longer reply the beginning and the end are read

_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad|reflection"
_REASONING = re.compile(
    rf"<({_TAGS})>.*?(?:</\1>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z)|◁think▷.*?(?:◁/think▷|\Z)", re.S | re.I
)
_UNOPENED = re.compile(rf"\A.*(?:</(?:{_TAGS})>|\[/THINK\]|◁/think▷)", re.S | re.I)
_CHANNEL = "<|channel|>"
_FINAL = "<|channel|>final<|message|>"
_TOKENS = re.compile(r"<\|\w{1,20}\|>|</?s>|\[/?INST\]")  # ends of turns that a server left in
_STRUCK = re.compile(r"~~[^~\n]*~~")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|textrm|textit|mathrm|mathbf|mathit|mathbb)\s*\{([^{}]*)\}")
_LATEX_MATHS = re.compile(r"\\[()\[\]]|\$")
_SPACES = re.compile(r"[ \t\r]{2,}|[\t\r]")
_PRIVATE = re.compile(r"[\ue000-\uf8ff]")  # option_text.py writes option texts as these
# the lower case of İ has two characters
_PLAIN = {"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "。": ". ", "İ": "I"}


def clean_reply(reply: str) -> str:
    """The reply without reasoning and markup, in NFKC. Line breaks are kept."""
    if len(reply) > MAX_CHARACTERS:
        reply = f"{reply[: MAX_CHARACTERS // 4]}\n{reply[-3 * MAX_CHARACTERS // 4 :]}"
    if "<" in reply or "[" in reply or "◁" in reply:
        reply = _TOKENS.sub(" ", _without_reasoning(reply))
    if not reply.isascii():
        reply = unicodedata.normalize("NFKC", _PRIVATE.sub(" ", reply))
        for fancy, plain in _PLAIN.items():
            reply = reply.replace(fancy, plain)
    if "~~" in reply:
        reply = _STRUCK.sub(" ", reply)
    text = reply.replace("*", "").replace("`", "").replace("__", "")
    if "\\" in text or "$" in text:
        text = _LATEX_MATHS.sub(" ", _LATEX_TEXT.sub(r"\1", text))
    if "  " in text or "\t" in text or "\r" in text:
        text = _SPACES.sub(" ", text)
    return text.strip()


def _without_reasoning(reply: str) -> str:
    if _CHANNEL in reply:
        return reply.rpartition(_FINAL)[2] if _FINAL in reply else ""
    return _UNOPENED.sub(" ", _REASONING.sub(" ", reply), count=1)
