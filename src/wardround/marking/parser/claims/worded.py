# ruff: noqa: E501 (patterns)
"""Claims by words: what stands before or after an option says that it is, or is not, the answer."""

import re
from typing import NamedTuple

from wardround.marking.parser import phrases
from wardround.marking.parser.claims.surroundings import (
    LEADS,
    NEAR,
    SHORT,
    STOP,
    continues_list,
    has_predicate,
    is_second_best,
    line_before,
    text_before,
)
from wardround.marking.parser.mentions import BOTH, LETTER, TEXT, Mention

WORDED_RULES = ("stated", "chosen", "judged", "corrected")  # rules that read words
_BREAKS = ("", ".", ",", ":", ";", "\n", "!", "?")
_OPTION_LINE = re.compile(r"[ \t\-•#>|\d.]{0,8}(?:option|choice|answer) \(?")
_NOT_TO = re.compile(
    r" (?:not to|to (?:exclude|rule out|avoid|fear|miss|consider|worry))\b"
)  # "is the one not to miss"
# "surgery is preferred for local disease, radiotherapy for ..."
_DISTRIBUTED = re.compile(
    r" (?:for|in|if|when|to)\b[^.;\n\ue000-\uefff]*[,;] (?:and |while |whereas |but )?[\ue000-\uefff] (?:for|in|if|when|after|to)\b"
)
_OR = re.compile(r" or (?!so\b|rather\b|at least\b)[a-z]")  # "it must be pneumonia or a clot"
_SO = re.compile(r"\b(?:so|thus|hence|therefore),?\s*\Z")
_SAID_OF = re.compile(
    r"[)\]]?(?:(?:,| and| or)+ [^.,;\n]{1,60}?(?=[)\]]? would))?[)\]]? (?:(?:is|are|was|were) (?!(?:(?:very |most |more |by far |clearly |therefore |thus )*(?:likely|probable"
    r"|suspected|favou?red|indicated|needed|required|present|the|what|my|our|preferred|recommended|diagnosed|suggested"
    r"|supported|consistent"
    r"|compatible|shown|seen|confirmed|involved|affected|responsible|correct|right|best|given|started|appropriate|it)))\b"
    r"|(?:would be (?:of (?:low|little|no)|less|un\w+|in\w+|too|non-?diagnostic)|does|do|cannot|can't|lacks?|may|might|could|causes?|crosses|takes?)\b)"
)
_TRIED = re.compile(
    r"[)\]]? (?:not|has been|is (?:not|out|wrong|excluded|unlikely|contra-?indicated)|isn't|can't|cannot|won't)\b"
)
_SHARES_DENIAL = re.compile(
    r"[)\]]+ (?:and|or) (?:[^\s.,;]+ ){1,3}(?:are|were|do)(?:n't| not)\b"
)  # "X (B) and Y (D) aren't"
_ONLY = re.compile(r"(?:\A|[\s(\"'])only(?: the)?(?: option| statement| choice| answer| letter| diagnosis)?[ (\"']*\Z")
_ONLY_FITS = re.compile(
    r"[)\]\"']* ?(?:is (?:left|true|correct|right|accurate|valid|consistent|compatible|appropriate)|fits|holds|remains"
    r"|covers|matches|explains|accounts|satisfies|meets|works|applies|qualifies|makes sense|addresses|describes|lets|allows|fulfill?s|provides|offers)\b"
    r"(?! (?:only|partly|partially|some|part|if|when|in part)\b)"
)
_BRACKET_LEADS = ("(option ", "(choice ", "(answer ")
# "that separates PSGN from IgA nephropathy (option B)"
_SEPARATED = re.compile(
    r"\b(?:separat\w+|distinguish\w*|differentiat\w*|tells?|sets?) [^.;\n]{1,80} from [^.;,\n]{0,60}\((?:option|choice|answer) \Z"
)
_DENIED_ENTRY = re.compile(r"(?:\A|[\s,(])[a-j\ue000-\uefff]\)? no,\s*\Z")  # "A no, B no"
_APPOSED = re.compile(r"\b(?:option|choice|answer|diagnosis|candidate|possibility),[ (\"']*\Z")


class Claim(NamedTuple):
    """A mention that the reply names as its answer."""

    mention: Mention
    rule: str


def worded_claims(text: str, lower: str, mentions: list[Mention]) -> tuple[list[Claim], list[tuple[Mention, str]]]:
    """Mentions that words make claims; and those that no words make claims or reject, with the text before them."""
    claims, unclaimed = [], []
    rejected: Mention | None = None
    entries = set()
    if len(mentions) > 1:
        entries = {mention for mention in mentions if _OPTION_LINE.fullmatch(line_before(lower, mention.start))}
    is_list = len({mention.option for mention in entries}) > 1
    for mention in mentions:
        before = text_before(lower, mention.start)
        if _is_rejected(lower, mention, before):
            rejected = mention
            continue
        heads_list = before.endswith(":") and continues_list(text, mention, mentions)
        is_entry = is_list and mention in entries  # "- Option A: ..."
        rule = None if heads_list else _worded_rule(lower, mention, "" if is_entry else before, rejected)
        if rule is None or (rule == "chosen" and text[mention.start] in "ai"):  # "this is a"
            unclaimed.append((mention, before))
        elif is_distant(lower, mention, before):
            rejected = mention
        else:
            claims.append(Claim(mention, rule))
    return claims, unclaimed


def _is_rejected(text: str, mention: Mention, before: str) -> bool:
    """Whether an option is denied, asked about, or retracted."""
    if _continues(text, mention) and phrases.REJECTED.match(text, mention.end):
        return True
    if phrases.RETRACTED.match(text, mention.end) or _SHARES_DENIAL.match(text, mention.end):
        return True
    if phrases.NOT.search(before) and phrases.NOT.search(phrases.CLAUSE.split(before)[-1]):
        return True
    if "?" not in text or phrases.CONFIRMED.match(text, mention.end):
        return False
    stop = STOP.search(text, mention.end)
    return text[stop.start() if stop else len(text) - 1] == "?"


def is_distant(text: str, mention: Mention, before: str) -> bool:
    """Whether a sentence says what would be, what others think, or what the instructions were."""
    if not before:
        return False
    supposed = phrases.SUPPOSED.match(before)
    after = text[mention.end : mention.end + NEAR]
    if supposed is None and "would" in after:
        supposed = phrases.SUPPOSED.match(f"{before}_{after}")
    if supposed is not None:
        return not phrases.TURNS_BACK.search(before)
    distant = phrases.DISTANT.search(before)
    return distant is not None and not phrases.RETURNS.search(before, distant.end())


def _continues(text: str, mention: Mention) -> bool:
    """Whether words follow in the same clause."""
    return text[mention.end : mention.end + 1] not in _BREAKS


def _worded_rule(text: str, mention: Mention, before: str, rejected: Mention | None) -> str | None:
    """The rule by which the words around a mention make it a claim."""
    if _continues(text, mention) and (judged := phrases.JUDGED.match(text, mention.end)):
        return None if _NOT_TO.match(text, judged.end()) or _DISTRIBUTED.match(text, judged.end()) else "judged"
    if " " in text[mention.end : mention.end + 2] and phrases.CONCLUDED.match(text, mention.end):
        return "judged"
    if "?" in text and phrases.CONFIRMED.match(text, mention.end):
        return "judged"
    if (
        text[mention.end : mention.end + 1] == ","
        and _APPOSED.search(before)
        and phrases.JUDGED.match(text, mention.end + 1)
    ):
        return "judged"  # "the remaining option, C, is consistent with this"
    if not before.strip(LEADS):
        if not mention.start:
            return None
        is_after_no = phrases.CORRECTED.search(text[max(0, mention.start - SHORT) : mention.start])
        is_entry = text[mention.end : mention.end + 1] in (":", ")")
        is_entry = is_entry or has_predicate(text, mention)  # "Is it itchy? No. Chilblains are itchy."
        return "corrected" if is_after_no and not is_entry and "\n" not in is_after_no[0] else None
    near = before[-NEAR:]
    if before.endswith(_BRACKET_LEADS) and _SEPARATED.search(before):
        return None
    if phrases.STATED.search(before) or (phrases.ENDED.match(text, mention.end) and phrases.ADJACENT.search(near)):
        return None if is_second_best(before) else "stated"
    if (
        mention.kind == LETTER
        and text[mention.end : mention.end + 1] in (")", "]")
        and phrases.BRACKETED.search(before)
    ):
        return None if is_second_best(before) else "stated"  # "the diagnosis is a clot in the lung (A)"
    if phrases.CHOSEN.search(near):
        return None if _is_said_of(text, mention, near) or _OR.match(text, mention.end) else "chosen"
    if _is_the_only_one(text, mention, near):
        return "judged"
    if _DENIED_ENTRY.search(near):
        return None
    if phrases.CORRECTED.search(near) or (rejected is not None and phrases.BUT.search(near)):
        return "corrected"
    return None


def _is_said_of(text: str, mention: Mention, near: str) -> bool:
    """Whether a sentence that begins with "so" only says something of an option: "so warfarin is teratogenic"."""
    if mention.kind == LETTER and _SO.search(near) and _TRIED.match(text, mention.end):
        return True  # "so A has been tried"
    return (
        mention.kind in (TEXT, BOTH) and _SO.search(near) is not None and _SAID_OF.match(text, mention.end) is not None
    )


def _is_the_only_one(text: str, mention: Mention, near: str) -> bool:
    """Whether only this option fits: "only statement B holds"."""
    return "only" in near and _ONLY.search(near) is not None and _ONLY_FITS.match(text, mention.end) is not None
