"""Claims: options that a reply names as its answer, by the words around them or by their place."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from wardround.marking.parser import phrases
from wardround.marking.parser.mentions import BOTH, DIFFER, LETTER, NO_SUCH, SEVERAL, TEXT, Mention, find_mentions
from wardround.marking.parser.option_text import OptionForms

WINDOW = 160  # characters before an option that may make it a claim
NEAR = 60  # of these, the ones that may contain a phrase without a subject
WORDED_RULES = ("stated", "chosen", "judged", "corrected")  # rules that read words

_STOP = re.compile(r"(?<!\d)(?<!\bans)[.!?;]\s|\n")
_LAST_STOP = re.compile(rf".*({_STOP.pattern})", re.S)
_LINE_START = re.compile(r"[\s\"'(\[{<#>|•→–—-]*(?:\d{1,2}[.):]\s*)?")
_LEADS = " \"'([{<#>|•→-"
_BREAKS = ("", ".", ",", ":", ";", "\n", "!", "?")
_NUMBERED = re.compile(r"\s*\d")
_ENTRY = re.compile(r"[.)] [A-Z\ue000-\uefff]|\) [a-z]|[\"']? ?[:=] ?(?:[\d.]|true|false|null)")  # "A) no", "A: 10%"


class Claim(NamedTuple):
    """A mention that the reply names as its answer."""

    mention: Mention
    rule: str


def find_claims(text: str, options: Sequence[str], forms: OptionForms) -> list[Claim]:
    """The claims of a reply, in order."""
    claims, unclaimed = [], []
    mentions = find_mentions(text, options, forms)
    rejected: Mention | None = None
    lower = text.lower()
    for mention in mentions:
        before = _text_before(lower, mention.start)
        if _is_rejected(lower, mention, before):
            rejected = mention
            continue
        heads_list = before.endswith(":") and _continues_list(text, mention, mentions)
        rule = None if heads_list else _worded_rule(lower, mention, before, rejected)
        if rule == "chosen" and text[mention.start].islower():
            rule = None  # "this is a"
        if rule is None:
            unclaimed.append((mention, before))
        else:
            claims.append(Claim(mention, rule))
    is_worded = bool(claims)
    is_list = len(unclaimed) > 1 and _is_list(text, [mention for mention, _ in unclaimed])
    for mention, before in unclaimed:
        rule = _position_rule(lower, mention, mentions, is_list)
        if rule is None and not is_worded and _is_pointed_to(lower, mention, before):
            others = {other.option for other in mentions if other.kind == mention.kind and other is not rejected}
            rule = "pointed to" if others == {mention.option} else None
        if rule is not None:
            claims.append(Claim(mention, rule))
    return sorted(claims, key=lambda claim: claim.mention.start)


def _text_before(text: str, start: int) -> str:
    """The sentence up to an option; if the option opens a line, the heading above it."""
    window = text[max(0, start - WINDOW) : start]
    stop = _LAST_STOP.match(window)
    before = window[stop.end() :] if stop else window
    if stop is None or before.strip(_LEADS) or "\n" not in stop[1]:
        return before
    above = next((line.strip() for line in reversed(window.splitlines()) if re.search(r"\w", line)), "")
    if above.endswith(":"):
        return above
    return f"{above.strip('# ')}:" if len(above.split()) <= 4 and above[:1] in "#|" else before


def _is_rejected(text: str, mention: Mention, before: str) -> bool:
    """Whether an option is denied, only supposed, asked about, or retracted."""
    if _continues(text, mention) and phrases.REJECTED.match(text, mention.end):
        return True
    if phrases.RETRACTED.match(text, mention.end):
        return True
    if before and (phrases.NOT.search(phrases.CLAUSE.split(before)[-1]) or phrases.SUPPOSED.match(before)):
        return True
    if "?" not in text:
        return False
    stop = _STOP.search(text, mention.end)
    return text[stop.start() if stop else len(text) - 1] == "?"


def _continues(text: str, mention: Mention) -> bool:
    """Whether words follow in the same clause."""
    return text[mention.end : mention.end + 1] not in _BREAKS


def _worded_rule(text: str, mention: Mention, before: str, rejected: Mention | None) -> str | None:
    """The rule by which the words around a mention make it a claim."""
    if _continues(text, mention) and phrases.JUDGED.match(text, mention.end):
        return "judged"
    if not before.strip(_LEADS):
        return None
    near = before[-NEAR:]
    if phrases.STATED.search(before) or (phrases.ENDED.match(text, mention.end) and phrases.ADJACENT.search(near)):
        return None if phrases.WRONG.search(before) else "stated"
    if phrases.CHOSEN.search(near):
        return "chosen"
    if phrases.CORRECTED.search(near) or (rejected is not None and phrases.BUT.search(near)):
        return "corrected"
    return None


def _position_rule(text: str, mention: Mention, mentions: list[Mention], is_list: bool) -> str | None:
    """The rule by which the place of a mention makes it a claim."""
    line_start = text.rfind("\n", 0, mention.start) + 1
    lead = text[line_start : mention.start]
    if not _LINE_START.fullmatch(lead):
        is_closing = mention.kind == BOTH and len(mentions) == 1 and not text[mention.end :].strip(" .)]}\"'")
        return "at the end" if is_closing else None
    is_ended = (phrases.LINE_ENDED if mention.kind == LETTER else phrases.ENDED).match(text, mention.end)
    if not text[:line_start].strip() and not _NUMBERED.match(lead):
        if is_list and not (is_ended and not _continues_list(text, mention, mentions)):
            return None
        if mention.kind == LETTER and phrases.HEDGES.search(text):
            return None
        is_opening = mention.kind in (BOTH, DIFFER, SEVERAL) or phrases.REASONED.match(text, mention.end)
        return "opening" if is_opening else None
    if _NUMBERED.match(lead) or (is_list and not text[:line_start].endswith("\n\n")):
        return None
    if is_ended and not text[mention.end :].strip(" .)]}\"'!\n"):
        return "last line"
    if is_list:
        return None
    return "own line" if mention.kind == BOTH and mention.option else None


def _is_pointed_to(text: str, mention: Mention, before: str) -> bool:
    """Whether the first or last sentence points to an option."""
    if mention.kind == TEXT and mention.start <= WINDOW and phrases.PREDICATE.search(text[: mention.start]):
        return True
    if not before.strip(_LEADS) or not phrases.POINTED.search(before[-NEAR:]):
        return False
    is_first = not _STOP.search(text, 0, mention.start)
    is_last = not _STOP.search(text.rstrip(), mention.end)
    return is_first or is_last


def _is_list(text: str, mentions: list[Mention]) -> bool:
    """Whether the reply lists the options, line by line or in a sentence."""
    line_options, named_options = set(), set()
    for mention in mentions:
        if mention.kind not in (LETTER, TEXT, BOTH, DIFFER, NO_SUCH):
            continue
        lead = text[text.rfind("\n", 0, mention.start) + 1 : mention.start]
        next_character = text[mention.end : mention.end + 1]
        if (
            _LINE_START.fullmatch(lead)
            and (not next_character or next_character in ".):,\n -–")
            and not _has_predicate(text, mention)
        ):
            line_options.add(text[mention.start : mention.end] if mention.option is None else mention.option)
        if mention.kind == BOTH or (mention.kind == LETTER and _ENTRY.match(text, mention.end)):
            named_options.add(mention.option)
    return len(line_options) > 1 or len(named_options) > 1


def _has_predicate(text: str, mention: Mention) -> bool:
    """Whether a verb follows: a sentence about an option, not an entry of a list."""
    return mention.kind in (LETTER, TEXT) and re.match(r" [a-z]", text[mention.end : mention.end + 2]) is not None


def _continues_list(text: str, mention: Mention, mentions: list[Mention]) -> bool:
    """Whether the next line begins with another option, or a later line is only another option."""
    next_line = text.find("\n", mention.end) + 1
    if not next_line:
        return False
    lead = _LINE_START.match(text, next_line)
    for other in mentions:
        if other.start < next_line or other.option == mention.option or _has_predicate(text, other):
            continue
        if lead and other.start == lead.end():
            return True
        is_alone = _LINE_START.fullmatch(text, text.rfind("\n", 0, other.start) + 1, other.start)
        if is_alone and other.kind in (BOTH, DIFFER) and phrases.LINE_ENDED.match(text, other.end):
            return True
    return False
