"""The default reading of a reply: what it claims to be the answer, if its claims agree.

A reply names options by letter or text. A name is a claim only where something says so: words before it ("the answer
is"), words after it ("is correct"), or its place (it opens the reply, or stands alone on the last line). Claims that
differ are read only where the later one is said to correct the earlier; otherwise nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wardround.asking.options import LETTERS
from wardround.marking import phrases
from wardround.marking.mentions import BOTH, DIFFER, LETTER, NO_SUCH, SEVERAL, TEXT, Mention, letter_option, mentions
from wardround.marking.named import Forms, forms_of, misspelt_text, whole_text, with_texts_marked, words

Verdict = tuple[int | None, str]

WINDOW = 160  # characters before an option that may say what it is
NEAR = 60  # of these, the ones that may hold a phrase without a subject
SHORT = 80  # characters of a reply that may be nothing but a misspelt option

_BARE = re.compile(r"(?:(?![\ue000-\uefff])[\W_])*([A-Za-z])(?:(?![\ue000-\uefff])[\W_])*")
_LETTERED = re.compile(r"\W*([A-Z])[.):]\s*([A-Z])\W*")
_KEYS = "final_?answer|correct_?answer|selected_?option|answer|choice|option|letter|prediction|response|text"
_JSON = re.compile(
    rf"[\"']?\b(?:{_KEYS})\b[\"']?\s*:\s*(?:[\[{{]\s*)?(?:[\"']?(?:letter|option|answer|text)[\"']?\s*:\s*)?"
    r"(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s\"',\[\]{}]+)|(\[[^\]\n]*\]?))",
    re.I,
)
_LIST = re.compile(r"\s*(?:,\s*[\"']|\])")
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}?")
_TAGGED = re.compile(r"<(?:final_?)?answer>([^<]*)", re.I)
_ANSWER_PREFIX = re.compile(r"\AA:\s*(?!\ue000)")
_STOP = re.compile(r"(?<!\d)(?<!\bans)[.!?;]\s|\n", re.I)
_LAST_STOP = re.compile(rf".*({_STOP.pattern})", re.I | re.S)
_LINE_START = re.compile(r"[\s\"'(\[{<#>|•→–—-]*(?:\d{1,2}[.):]\s*)?")
_LEADS = " \"'([{<#>|•→-"
_BREAKS = ("", ".", ",", ":", ";", "\n", "!", "?")
_NUMBERED = re.compile(r"\s*\d")


@dataclass(frozen=True, slots=True)
class Claim:
    """A mention that is said to be the answer."""

    mention: Mention
    rule: str


def read_strictly(said: str, options: Sequence[str]) -> Verdict:
    """The option that the reply chooses and the rule that found it; or None and why there is none."""
    said = _without_courtesies(said)
    if not said:
        return None, "empty"
    forms = forms_of(options)
    if bare := _BARE.fullmatch(said):
        option, how = letter_option(bare[1], options, forms)
        return option, how
    if forms.letters and (pair := _LETTERED.fullmatch(said)) and forms.letters.get(pair[2]) == LETTERS.find(pair[1]):
        return LETTERS.find(pair[1]), BOTH
    folds = words(said)
    option = whole_text(said, folds, forms)
    if option is not None:
        return option, TEXT
    if said[1:2] in (".", ")", ":") and forms.options.get(folds[1:]) == LETTERS.find(said[0]):
        return LETTERS.find(said[0]), BOTH
    marked = with_texts_marked(said, folds, forms)
    for finder in (_in_json, _in_box, _in_tag):
        values = list(finder(marked))
        if values:
            return _of_values(values, marked, options, forms, finder.__name__.removeprefix("_"))
    marked = _ANSWER_PREFIX.sub("", marked)
    claims = sorted(_claims(marked, options, forms), key=lambda claim: claim.mention.start)
    if not claims and len(said) <= SHORT:
        option = misspelt_text(folds, forms)
        return (None, "nothing to read") if option is None else (option, "misspelt text")
    return _agreed(claims, marked)


def _without_courtesies(said: str) -> str:
    """The reply without polite lines before and after what it says."""
    if opened := phrases.OPENS_POLITELY.match(said):
        said = said[opened.end() :]
    head, line, last = said.rpartition("\n")
    while line and phrases.CLOSES_POLITELY.fullmatch(last.strip()):
        said = head.rstrip()
        head, line, last = said.rpartition("\n")
    return said


# what is marked as the answer


def _in_json(said: str) -> Iterator[tuple[str, int, int]]:
    if "{" in said or '"' in said:
        for match in _JSON.finditer(said):
            value = next((group for group in match.groups() if group is not None), "")
            listed = "[" in match[0] and _LIST.match(said, match.end())
            several = listed is not None and listed and "," in listed[0]
            if "{" in said[: match.end()] or match[0].startswith('"'):
                yield ("several" if several else value), match.start(), match.end()


def _in_box(said: str) -> Iterator[tuple[str, int, int]]:
    if "boxed" in said:
        for match in _BOXED.finditer(said):
            yield match[1], match.start(), match.end()


def _in_tag(said: str) -> Iterator[tuple[str, int, int]]:
    if "answer>" in said.lower():
        for match in _TAGGED.finditer(said):
            yield match[1], match.start(), match.end()


def _of_values(
    values: list[tuple[str, int, int]], said: str, options: Sequence[str], forms: Forms, where: str
) -> Verdict:
    """The option that all marked values are, or that the last one is if it corrects the earlier."""
    rule = where.replace("_", " ")
    claims = []
    for value, start, end in values:
        option, _ = _of_value(value.strip(), options, forms)
        claims.append(Claim(Mention(start, end, option, SEVERAL if option is None else LETTER), rule))
    return _agreed(claims, said)


def _of_value(value: str, options: Sequence[str], forms: Forms) -> Verdict:
    """A short text that is an option and nothing else."""
    if bare := _BARE.fullmatch(value):
        return letter_option(bare[1], options, forms)
    found = mentions(value, options, forms)
    if len(found) == 1 and found[0].option is not None and len(value) - (found[0].end - found[0].start) <= 12:
        return found[0].option, found[0].how
    return None, "nothing to read"


# what is said to be the answer


def _claims(said: str, options: Sequence[str], forms: Forms) -> Iterator[Claim]:
    found = mentions(said, options, forms)
    if not found:
        return
    unclaimed = []
    rejected: Mention | None = None
    for mention in found:
        before = _before(said, mention.start)
        if _is_rejected(said, mention, before):
            rejected = mention
            continue
        heads_list = before.endswith(":") and _continues_list(said, mention, found)
        rule = None if heads_list else _said_rule(said, mention, before, rejected)
        if rule is None:
            unclaimed.append(mention)
        else:
            yield Claim(mention, rule)
    listed = _listed(said, unclaimed)
    for mention in unclaimed:
        rule = _placed_rule(said, mention, found, listed)
        if rule is None and _is_pointed(said, mention):
            others = {other.option for other in found if other.how == mention.how and other is not rejected}
            rule = "pointed to" if others == {mention.option} else None
        if rule is not None:
            yield Claim(mention, rule)


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
    if _goes_on(said, mention) and phrases.REJECTED.match(said, mention.end):
        return True
    return phrases.NOT.search(phrases.CLAUSE.split(before)[-1]) is not None


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
    if phrases.CHOSEN.search(near) and not said[mention.start].islower():
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


def _is_pointed(said: str, mention: Mention) -> bool:
    """Whether the first or last sentence points to an option."""
    if mention.how == TEXT and mention.start <= WINDOW and phrases.PREDICATE.search(said[: mention.start]):
        return True
    before = _before(said, mention.start)
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
        if mention.how == BOTH or (
            mention.how == LETTER and re.match(r"[.)] [A-Z\ue000-\uefff]", said[mention.end : mention.end + 3])
        ):
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


# whether claims agree

SAID = ("stated", "chosen", "judged", "corrected")


def _agreed(claims: list[Claim], said: str) -> Verdict:
    if any(claim.rule in SAID for claim in claims):
        claims = [claim for claim in claims if claim.rule != "pointed to"]
    if not claims:
        return None, "nothing to read"
    last = claims[-1]
    different = [
        claim for claim in claims[:-1] if claim.mention.option != last.mention.option or claim.mention.option is None
    ]
    if not different:
        return last.mention.option, last.rule if last.mention.option is not None else _why_none(last)
    earlier = different[-1]
    between = said[earlier.mention.start : last.mention.start]
    placed = any(claim.rule not in (*SAID, "in json", "in box", "in tag") for claim in different)
    corrected = phrases.CORRECTS.search(between) or (not placed and phrases.TURNS.search(said[: last.mention.start]))
    if last.rule in (*SAID, "in json", "in box", "in tag") and last.mention.option is not None and corrected:
        return last.mention.option, "corrected"
    return None, "several answers"


def _why_none(claim: Claim) -> str:
    return {DIFFER: "letter and text differ", NO_SUCH: "no such option"}.get(claim.mention.how, "several answers")
