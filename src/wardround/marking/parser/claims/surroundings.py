"""The text around an option: its line, its sentence, and what follows it."""

import re

from wardround.marking.parser import phrases
from wardround.marking.parser.mentions import BOTH, DIFFER, LETTER, TEXT, Mention

WINDOW = 240  # characters before an option that may make it a claim
SHORT = 24  # characters before an option that ends the reply, or follows a correction
NEAR = 60  # of these, the ones that may contain a phrase without a subject
# its first character comes first: the search skips all others
STOP = re.compile(
    r"[.!?;\n](?:(?<=\n)|(?<!\d[.!?;])(?<!\bans[.!?;])(?<!\bi\.e[.!?;])(?<!\be\.g[.!?;])(?<!\bvs[.!?;])\s)"
)
LINE_START = re.compile(
    r"[\s\"'(\[{<#>|•→➡➜▸➤👉✅✔☑\ufe0f–—-]*(?:\d{1,2}[.):]\s*)?(?:(?i:option|choice|answer|antwort|opci[oó]n|r[eé]ponse)\s\(?)?"
)
LEADS = " \"'([{<#>|•→➡➜▸➤👉✅✔☑\ufe0f-"
PHRASE_BREAK = re.compile(r"[,;]| but ")


def line_before(text: str, start: int) -> str:
    return text[text.rfind("\n", 0, start) + 1 : start]


def text_before(text: str, start: int) -> str:
    """The sentence up to an option; if the option opens a line, the heading above it."""
    window = text[max(0, start - WINDOW) : start]
    *_, stop = [None, *STOP.finditer(window)]
    before = window[stop.end() :] if stop else window
    if stop is None or before.strip(LEADS) or "\n" not in stop[0]:
        return before
    above = next((line.strip() for line in reversed(window.splitlines()) if re.search(r"\w", line)), "")
    if above.endswith(":"):
        return above
    is_heading = above[:1] in "#|" or phrases.HEADING.fullmatch(above)
    return f"{above.strip('# ')}:" if len(above.split()) <= 4 and is_heading else before


def is_second_best(before: str) -> bool:
    """Whether what is named is not the answer: "the worst option is"."""
    return phrases.WRONG.search(PHRASE_BREAK.split(before)[-1]) is not None


def has_predicate(text: str, mention: Mention) -> bool:
    """Whether a verb follows: a sentence about an option, not an entry of a list."""
    return mention.kind in (LETTER, TEXT) and re.match(r" [a-z]", text[mention.end : mention.end + 2]) is not None


def continues_list(text: str, mention: Mention, mentions: list[Mention]) -> bool:
    """Whether the next line begins with another option, or a later line is only another option."""
    next_line = text.find("\n", mention.end) + 1
    if not next_line:
        return False
    lead = LINE_START.match(text, next_line)
    for other in mentions:
        if other.start < next_line or other.option == mention.option or has_predicate(text, other):
            continue
        if lead and other.start == lead.end():
            return True
        is_alone = LINE_START.fullmatch(text, text.rfind("\n", 0, other.start) + 1, other.start)
        if is_alone and other.kind in (BOTH, DIFFER) and phrases.LINE_ENDED.match(text, other.end):
            return True
    return False
