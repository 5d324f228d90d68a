"""Claims: options that a reply says to be its answer, by words before or after them or by their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from wardround.marking.parser import phrases
from wardround.marking.parser.mentions import BOTH, DIFFER, LETTER, NO_SUCH, SEVERAL, TEXT, Mention, mentions
from wardround.marking.parser.option_text import Forms

WINDOW = 160  # characters before an option that may say what it is
NEAR = 60  # of these, the ones that may hold a phrase without a subject
SAID = ("stated", "chosen", "judged", "corrected")  # the rules that go by words

_STOP = re.compile(r"(?<!\d)(?<!\bans)[.!?;]\s|\n")
_LAST_STOP = re.compile(rf".*({_STOP.pattern})", re.S)
_LINE_START = re.compile(r"[\s\"'(\[{<#>|•→–—-]*(?:\d{1,2}[.):]\s*)?")
_LEADS = " \"'([{<#>|•→-"
_BREAKS = ("", ".", ",", ":", ";", "\n", "!", "?")
_NUMBERED = re.compile(r"\s*\d")
_ENTRY = re.compile(r"[.)] [A-Z\ue000-\uefff]|\) [a-z]|[\"']? ?[:=] ?(?:[\d.]|true|false|null)")  # "A) no", "A: 10%"


class Claim(NamedTuple):
    """A mention that is said to be the answer."""

    mention: Mention
    rule: str


def claims_of(said: str, options: Sequence[str], forms: Forms) -> list[Claim]:
    """What the reply claims, in order."""
    claims, unclaimed = [], []
    found = mentions(said, options, forms)
    rejected: Mention | None = None
    small = said.lower()
    for mention in found:
        before = _before(small, mention.start)
        if _is_rejected(small, mention, before):
            rejected = mention
            continue
        heads_list = before.endswith(":") and _continues_list(said, mention, found)
        rule = None if heads_list else _said_rule(small, mention, before, rejected)
        if rule == "chosen" and said[mention.start].islower():
            rule = None  # "this is a"
        if rule is None:
            unclaimed.append((mention, before))
        else:
            claims.append(Claim(mention, rule))
    is_said = bool(claims)
    listed = len(unclaimed) > 1 and _listed(said, [mention for mention, _ in unclaimed])
    for mention, before in unclaimed:
        rule = _placed_rule(small, mention, found, listed)
        if rule is None and not is_said and _is_pointed(small, mention, before):
            others = {other.option for other in found if other.how == mention.how and other is not rejected}
            rule = "pointed to" if others == {mention.option} else None
        if rule is not None:
            claims.append(Claim(mention, rule))
    return sorted(claims, key=lambda claim: claim.mention.start)


def _before(said: str, start: int) -> str:
    """The sentence up to an option; where the option opens a line, the heading above it."""
    window = said[max(0, start - WINDOW) : start]
    stop = _LAST_STOP.match(window)
    before = window[stop.end() :] if stop else window
    if stop is None or before.strip(_LEADS) or "\n" not in stop[1]:
        return before
    above = next((line.strip() for line in reversed(window.splitlines()) if re.search(r"\w", line)), "")
    if above.endswith(":"):
        return above
    return f"{above.strip('# ')}:" if len(above.split()) <= 4 and above[:1] in "#|" else before


def _is_rejected(said: str, mention: Mention, before: str) -> bool:
    """Whether an option is denied, only supposed, asked about, or taken back."""
    if _goes_on(said, mention) and phrases.REJECTED.match(said, mention.end):
        return True
    if phrases.UNDONE.match(said, mention.end):
        return True
    if before and (phrases.NOT.search(phrases.CLAUSE.split(before)[-1]) or phrases.SUPPOSED.match(before)):
        return True
    if "?" not in said:
        return False
    stop = _STOP.search(said, mention.end)
    return said[stop.start() if stop else len(said) - 1] == "?"


def _goes_on(said: str, mention: Mention) -> bool:
    """Whether words follow in the same breath."""
    return said[mention.end : mention.end + 1] not in _BREAKS


def _said_rule(said: str, mention: Mention, before: str, rejected: Mention | None) -> str | None:
    """The rule by which the words around a mention make it the answer."""
    if _goes_on(said, mention) and phrases.JUDGED.match(said, mention.end):
        return "judged"
    if not before.strip(_LEADS):
        return None
    near = before[-NEAR:]
    if phrases.STATED.search(before) or (phrases.ENDED.match(said, mention.end) and phrases.ADJACENT.search(near)):
        return None if phrases.WRONG.search(before) else "stated"
    if phrases.CHOSEN.search(near):
        return "chosen"
    if phrases.CORRECTED.search(near) or (rejected is not None and phrases.BUT.search(near)):
        return "corrected"
    return None


def _placed_rule(said: str, mention: Mention, found: list[Mention], listed: bool) -> str | None:
    """The rule by which the place of a mention makes it the answer."""
    line_start = said.rfind("\n", 0, mention.start) + 1
    lead = said[line_start : mention.start]
    if not _LINE_START.fullmatch(lead):
        closing = mention.how == BOTH and len(found) == 1 and not said[mention.end :].strip(" .)]}\"'")
        return "at the end" if closing else None
    ended = (phrases.LINE_ENDED if mention.how == LETTER else phrases.ENDED).match(said, mention.end)
    if not said[:line_start].strip() and not _NUMBERED.match(lead):
        if listed and not (ended and not _continues_list(said, mention, found)):
            return None
        if mention.how == LETTER and phrases.HEDGES.search(said):
            return None
        opens = mention.how in (BOTH, DIFFER, SEVERAL) or phrases.REASONED.match(said, mention.end)
        return "opening" if opens else None
    if _NUMBERED.match(lead) or (listed and not said[:line_start].endswith("\n\n")):
        return None
    if ended and not said[mention.end :].strip(" .)]}\"'!\n"):
        return "last line"
    if listed:
        return None
    return "own line" if mention.how == BOTH and mention.option else None


def _is_pointed(said: str, mention: Mention, before: str) -> bool:
    """Whether the first or last sentence points to an option."""
    if mention.how == TEXT and mention.start <= WINDOW and phrases.PREDICATE.search(said[: mention.start]):
        return True
    if not before.strip(_LEADS) or not phrases.POINTED.search(before[-NEAR:]):
        return False
    first = not _STOP.search(said, 0, mention.start)
    last = not _STOP.search(said.rstrip(), mention.end)
    return first or last


def _listed(said: str, found: list[Mention]) -> bool:
    """Whether the reply goes through the options, line by line or in a sentence."""
    lines = set()
    named = set()
    for mention in found:
        if mention.how not in (LETTER, TEXT, BOTH, DIFFER, NO_SUCH):
            continue
        lead = said[said.rfind("\n", 0, mention.start) + 1 : mention.start]
        follows = said[mention.end : mention.end + 1]
        if _LINE_START.fullmatch(lead) and (not follows or follows in ".):,\n -–") and not _predicated(said, mention):
            lines.add(said[mention.start : mention.end] if mention.option is None else mention.option)
        if mention.how == BOTH or (mention.how == LETTER and _ENTRY.match(said, mention.end)):
            named.add(mention.option)
    return len(lines) > 1 or len(named) > 1


def _predicated(said: str, mention: Mention) -> bool:
    """Whether a verb follows: a sentence about an option, not an entry of a list."""
    return mention.how in (LETTER, TEXT) and re.match(r" [a-z]", said[mention.end : mention.end + 2]) is not None


def _continues_list(said: str, mention: Mention, found: list[Mention]) -> bool:
    """Whether the next line begins with another option, or a later line is nothing but another option."""
    rest = said.find("\n", mention.end) + 1
    if not rest:
        return False
    lead = _LINE_START.match(said, rest)
    for other in found:
        if other.start < rest or other.option == mention.option or _predicated(said, other):
            continue
        if lead and other.start == lead.end():
            return True
        alone = _LINE_START.fullmatch(said, said.rfind("\n", 0, other.start) + 1, other.start)
        if alone and other.how in (BOTH, DIFFER) and phrases.LINE_ENDED.match(said, other.end):
            return True
    return False
