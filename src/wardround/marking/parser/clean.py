"""Cleaning of a reply: no reasoning, no markup, plain characters."""

import re
import unicodedata

from wardround.asking.reasoning import without_reasoning

MAX_CHARACTERS = 32_000  # of a longer reply the beginning and the end are read

_BOX = re.compile(r"<\|begin_of_box\|>(.*?)(?:<\|end_of_box\|>|\Z)", re.S)  # GLM's \boxed{}
_TOKENS = re.compile(r"<\|\w{1,20}\|>|</?s>|</?(?:start|end)_of_turn>|<eos>|\[/?INST\]")  # a server left these in
_STRUCK = re.compile(r"~~[^~\n]*~~")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|textrm|textit|mathrm|mathbf|mathit|mathbb)\s*\{([^{}]*)\}")
_LATEX_MATHS = re.compile(r"\\[()\[\] ,;]|\$|\\(?=[%&#_])")
_SPACES = re.compile(r"[ \t\r]{2,}|[\t\r]")
_PRIVATE = re.compile(r"[\ue000-\uf8ff]")  # option_text.py writes option texts as these
# the lower case of İ has two characters
_PLAIN = {"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "。": ". ", "।": ". ", "−": "-", "İ": "I"}


def clean_reply(reply: str) -> str:
    """The reply without reasoning and markup, in NFKC. Line breaks are kept."""
    text = plain_reply(reply).replace("*", "").replace("`", "").replace("__", "")
    if "  " in text or "\t" in text or "\r" in text:
        text = _SPACES.sub(" ", text)
    return text.strip()


def plain_reply(reply: str) -> str:
    """The reply without reasoning, struck-out text and LaTeX, in NFKC. Its markup and indents are kept."""
    reply = without_reasoning(reply)
    if len(reply) > MAX_CHARACTERS:
        reply = f"{reply[: MAX_CHARACTERS // 4]}\n{reply[-3 * MAX_CHARACTERS // 4 :]}"
    if "<" in reply or "[" in reply:
        reply = _TOKENS.sub(" ", _BOX.sub(r"\\boxed{\1}", reply))
    if not reply.isascii():
        reply = unicodedata.normalize("NFKC", _PRIVATE.sub(" ", reply))
        for fancy, plain in _PLAIN.items():
            reply = reply.replace(fancy, plain)
    if "~~" in reply:
        reply = _STRUCK.sub(" ", reply)
    if "\\" in reply or "$" in reply:
        reply = _LATEX_MATHS.sub(" ", _LATEX_TEXT.sub(r"\1", reply))
    return reply
