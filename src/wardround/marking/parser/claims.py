# ruff: noqa: E501 (patterns)
"""ClaimedMentions: options that a reply names as its answer, by the words around them or by their place."""

import re
from typing import NamedTuple

from wardround.marking.parser import phrases
from wardround.marking.parser.mentions import BOTH, DIFFER, LETTER, NO_SUCH, SEVERAL, TEXT, Mention

WINDOW = 240  # characters before an option that may make it a claim
MIN_LEAD_WORDS = 4  # of a sentence that ends with a colon and a letter, within a reply
SHORT = 24  # characters before an option that ends the reply, or follows a correction
NEAR = 60  # of these, the ones that may contain a phrase without a subject
WORDED_RULES = ("stated", "chosen", "judged", "corrected")  # rules that read words
PLACED_RULES = ("opening", "own line")  # rules that read the place at the beginning of a line

# its first character comes first: the search skips all others
_STOP = re.compile(
    r"[.!?;\n](?:(?<=\n)|(?<!\d[.!?;])(?<!\bans[.!?;])(?<!\bi\.e[.!?;])(?<!\be\.g[.!?;])(?<!\bvs[.!?;])\s)"
)
_LINE_START = re.compile(
    r"[\s\"'(\[{<#>|•→➡➜▸➤👉✅✔☑\ufe0f–—-]*(?:\d{1,2}[.):]\s*)?(?:(?i:option|choice|answer|antwort|opci[oó]n|r[eé]ponse)\s\(?)?"
)
_LEADS = " \"'([{<#>|•→➡➜▸➤👉✅✔☑\ufe0f-"
_BREAKS = ("", ".", ",", ":", ";", "\n", "!", "?")
_AFTER_STOP = re.compile(
    r"(?:[^\W\d]{3,}|\b(?!ii|iv|vi|ix)[a-z]{2}|[\ue000-\uefff]|\w \d+|[)\]%]|\b[A-Z](?=;))[.!?;…]+"
    r"\s+[→⇒∴➡➜▸✦👉✔✓✅☞➤▶=>\s-]*[\"'(\[]*\Z"
)
_AFTER_COLON = re.compile(
    r"(?<!type|rade|tage|lass|roup|ould)(?<!itis|amin|core|gory|evel|rsus)"  # "type: B" may not be the answer
    r"(?::|→|⇒|[-=>]>|\s[=–-]\s|—|\s(?=\())\s*[\"'(\[]*\Z",
    re.I,
)
_AFTER_SIGN = re.compile(
    r"(?<!type|rade|tage|lass|roup|ould)(?<!itis|amin|core|gory|evel|rsus|gure)"
    r"(?::|→|⇒|[-=>]>|\s=\s|[∴➡➜▸✦👉✔✓✅☞➤▶]\ufe0f?|\])\s*[\"'(\[]*\Z",
    re.I,
)
_NO_LABEL = re.compile(
    r"\b(?:differential|consider|exclude|discard\w*|distractors?|trap|out|other|cf|eg|e\.g|such as|like)\W*\Z"
)
GOES_THROUGH = re.compile(
    r"\b(?:each|in turn|one by one|first|thought|obvious|start\w*|begin\w*|look\w*|consider\w*|compare\w*|options?"
    r"|list\w*|exclud\w+|eliminat\w+|discard\w*|drop\w*|examples?|tempt\w+|mistake\w*)\b"
)
_COMPARES = re.compile(
    r"\A\W*(?:it|this)\b.*\b(?:mistaken for|confused with|mimics?|triggered by|than|unlike|follows?|preceded by"
    r"|distinguished from|similar to|resembles?|associated with)\b"
)
_DENIES_IT = re.compile(
    r"[)\]\"']*[.!]\s+(?:(?:It|This|That)\b(?! (?:is|can be|may be|was) (?:\w+ )?(?:mistaken for|confused with|triggered by)\b"
    r"|'s (?:\w+ )?(?:mistaken for|confused with)\b)|But|However|Yet|There (?:is|are|was) no|No|Not|Nothing|Without"
    r"|Though it|Although it)\b"
)
_APPOSITION = re.compile(r"[)\]\"']*, (?!(?:but|however|which (?:is|would)|or|and|while|if|so)\b)[a-z]")
_SENTENCE_ENDED = re.compile(r"[)\]\"']*[.!]\s+(?=[A-Z\ue000-\uefff])")
_TAIL = re.compile(
    r",? (?:then|it is(?:, then)?|indeed|for sure|i (?:think|guess|believe|suppose)|probably|imo|clearly|obviously"
    r"|in other words|no doubt|without (?:a )?doubt|definitely)(?=[.!]*\s*\Z)",
    re.I,
)
_NOT_ANOTHER = re.compile(r",? \(?(?:not|and not|rather than|instead of) [^.\n]{1,60}\Z")
_BRACKET_LAST = re.compile(r" \([^()\n]{2,30}\)(?=[.!]?\s*\Z)")
_OPTION_LINE = re.compile(r"[ \t\-•#>|\d.]{0,8}(?:option|choice|answer) \(?")
_NOT_TO = re.compile(
    r" (?:not to|to (?:exclude|rule out|avoid|fear|miss|consider|worry))\b"
)  # "is the one not to miss"
# "surgery is preferred for local disease, radiotherapy for ..."
_DISTRIBUTED = re.compile(
    r" (?:for|in|if|when|to)\b[^.;\n\ue000-\uefff]*[,;] (?:and |while |whereas |but )?[\ue000-\uefff] (?:for|in|if|when|after|to)\b"
)
_OR = re.compile(r" or (?!so\b|rather\b|at least\b)[a-z]")  # "it must be pneumonia or a clot"
_NOT_THE_CASE = re.compile(
    r"\b(?:slice|in the (?:general )?population|least|less|unlikely|wrong|previous|prior|earlier|other|another|family|mimics?|possibilit\w+|risk factors?"
    r"|worry|worried|dangerous|excluded?|feared)\b"
)
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
_STATEMENT_AFTER = re.compile(
    r"[)\]\"']* (?!(?:because|since|as|due|given|with|for|in|on|by|based|and|or|but|then|so|from|per|the|an?|it)\b)[a-z]"
)
_PHRASE_BREAK = re.compile(r"[,;]| but ")
_NUMBERED = re.compile(r"\s*\d")
_ENTRY = re.compile(r"[.)] [A-Z\ue000-\uefff]|\) [a-z]|[\"']? ?[:=(] ?(?:[\d.]|true|false|null)")  # "A) no", "A: 10%"

_ONLY = re.compile(r"(?:\A|[\s(\"'])only(?: the)?(?: option| statement| choice| answer| letter| diagnosis)?[ (\"']*\Z")
_ONLY_FITS = re.compile(
    r"[)\]\"']* ?(?:is (?:left|true|correct|right|accurate|valid|consistent|compatible|appropriate)|fits|holds|remains"
    r"|covers|matches|explains|accounts|satisfies|meets|works|applies|qualifies|makes sense|addresses|describes|lets|allows|fulfill?s|provides|offers)\b"
    r"(?! (?:only|partly|partially|some|part|if|when|in part)\b)"
)
_OVERALL = re.compile(
    r"\W*(?:(?:overall|(?:all )?taken together|therefore|thus|so|hence|altogether|in summary"
    r"|in (?:this|our) (?:case|patient)"
    r"|here|on balance|in sum)\b,? ?)?(?:(?:overall|everything|all (?:of )?(?:this|these|that)?|most|findings|favou?rs?"
    r"|(?:an? )?(?:textbook|classic|typical) (?:case|presentation|picture|example|features?)"
    r"|(?:the|this|these|our|all) (?:whole |entire |clinical |overall |full |above |combined |\w+ic )?"
    r"(?:picture|findings|features|evidence|clues?|signs|presentation|patient|history|combination|constellation|case|vignette"
    r"|pattern|man|woman|child|boy|girl|triad|data|diagnosis)|(?:he|she)|i|we)\b)"
)
_CONCLUDES = re.compile(
    r"\W*(?:so|thus|hence|therefore|overall|in (?:summary|conclusion|short|sum)|to (?:conclude|sum up)|altogether"
    r"|consequently|accordingly|conclusion)\b(?![^\n]*\b(?:not|except|exclud\w+|ruled? out|or)\b)"
)
_DENIED_ENTRY = re.compile(r"(?:\A|[\s,(])[a-j\ue000-\uefff]\)? no,\s*\Z")  # "A no, B no"
_APPOSED = re.compile(r"\b(?:option|choice|answer|diagnosis|candidate|possibility),[ (\"']*\Z")
_LINKED_LETTER = re.compile(r"\bthe (?:\w+[ -]){1,5}(?:is|are|was|would be)(?: therefore| thus| then)? [(\[\"']\Z")


class Claim(NamedTuple):
    """A mention that the reply names as its answer."""

    mention: Mention
    rule: str


class ClaimedMentions(NamedTuple):
    """The claims of a reply and the mentions that it does not reject, both in order."""

    claims: list[Claim]
    standing: list[Mention]


NO_CLAIMS = ClaimedMentions([], [])


def find_claims(text: str, mentions: list[Mention]) -> ClaimedMentions:
    """The claims among the options that a reply names."""
    lower = text.lower()
    claims, unclaimed = _worded_claims(text, lower, mentions)
    is_worded = bool(claims)
    if not is_worded:
        unclaimed = [(mention, before) for mention, before in unclaimed if not _is_distant(lower, mention, before)]
    standing = sorted([claim.mention for claim in claims] + [mention for mention, _ in unclaimed])
    is_list = len(unclaimed) > 1 and _is_list(text, [mention for mention, _ in unclaimed])
    for mention, before in unclaimed:
        rule = _position_rule(lower, mention, mentions, is_list)
        if rule is None and mention is mentions[-1] and _is_last_letter(text, lower, mention, mentions):
            rule = "at the end"
        if rule is None and mention is standing[-1] and not is_list and _closes_reply(text, mention, standing):
            rule = "at the end"
        if rule is None and not is_worded and not is_list and _is_own_sentence(text, lower, mention, mentions):
            rule = "own line"
        if rule is None and not is_worded and _is_pointed_to(lower, mention, before):
            first = (
                lower.rfind("\n", 0, mention.start) if "|" in text and mention is mentions[-1] else 0
            )  # under a table
            others = {other.option for other in standing if other.kind == mention.kind and other.start >= first}
            is_overall = mention is mentions[-1] and _sums_up(text, mention, before)
            rule = "pointed to" if others == {mention.option} or is_overall else None
        if rule is not None:
            claims.append(Claim(mention, rule))
    return ClaimedMentions(_without_statements(sorted(claims, key=lambda claim: claim.mention.start), text), standing)


def _without_statements(claims: list[Claim], text: str) -> list[Claim]:
    """Without options that only begin a sentence about them, if words or the end of the reply claim another.

    "Smith fracture (C) is the reverse, with volar displacement. Answer: B"
    """
    firm = {claim.mention.option for claim in claims if claim.rule not in PLACED_RULES}
    if not firm:
        return claims
    return [
        claim
        for claim in claims
        if claim.rule not in PLACED_RULES
        or claim.mention.option in firm
        or text[claim.mention.start].isascii()  # "B. Smith fracture is ..." begins with its answer
        or _STATEMENT_AFTER.match(text, claim.mention.end) is None
    ]


def _worded_claims(text: str, lower: str, mentions: list[Mention]) -> tuple[list[Claim], list[tuple[Mention, str]]]:
    """Mentions that words make claims; and those that no words make claims or reject, with the text before them."""
    claims, unclaimed = [], []
    rejected: Mention | None = None
    entries = set()
    if len(mentions) > 1:
        entries = {mention for mention in mentions if _OPTION_LINE.fullmatch(_line_before(lower, mention.start))}
    is_list = len({mention.option for mention in entries}) > 1
    for mention in mentions:
        before = text_before(lower, mention.start)
        if _is_rejected(lower, mention, before):
            rejected = mention
            continue
        heads_list = before.endswith(":") and _continues_list(text, mention, mentions)
        is_entry = is_list and mention in entries  # "- Option A: ..."
        rule = None if heads_list else _worded_rule(lower, mention, "" if is_entry else before, rejected)
        if rule is None or (rule == "chosen" and text[mention.start] in "ai"):  # "this is a"
            unclaimed.append((mention, before))
        elif _is_distant(lower, mention, before):
            rejected = mention
        else:
            claims.append(Claim(mention, rule))
    return claims, unclaimed


def _line_before(text: str, start: int) -> str:
    return text[text.rfind("\n", 0, start) + 1 : start]


def text_before(text: str, start: int) -> str:
    """The sentence up to an option; if the option opens a line, the heading above it."""
    window = text[max(0, start - WINDOW) : start]
    *_, stop = [None, *_STOP.finditer(window)]
    before = window[stop.end() :] if stop else window
    if stop is None or before.strip(_LEADS) or "\n" not in stop[0]:
        return before
    above = next((line.strip() for line in reversed(window.splitlines()) if re.search(r"\w", line)), "")
    if above.endswith(":"):
        return above
    is_heading = above[:1] in "#|" or phrases.HEADING.fullmatch(above)
    return f"{above.strip('# ')}:" if len(above.split()) <= 4 and is_heading else before


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
    stop = _STOP.search(text, mention.end)
    return text[stop.start() if stop else len(text) - 1] == "?"


def _is_distant(text: str, mention: Mention, before: str) -> bool:
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
    if not before.strip(_LEADS):
        if not mention.start:
            return None
        is_after_no = phrases.CORRECTED.search(text[max(0, mention.start - SHORT) : mention.start])
        is_entry = text[mention.end : mention.end + 1] in (":", ")")
        is_entry = is_entry or _has_predicate(text, mention)  # "Is it itchy? No. Chilblains are itchy."
        return "corrected" if is_after_no and not is_entry and "\n" not in is_after_no[0] else None
    near = before[-NEAR:]
    if phrases.STATED.search(before) or (phrases.ENDED.match(text, mention.end) and phrases.ADJACENT.search(near)):
        return None if _is_second_best(before) else "stated"
    if (
        mention.kind == LETTER
        and text[mention.end : mention.end + 1] in (")", "]")
        and phrases.BRACKETED.search(before)
    ):
        return None if _is_second_best(before) else "stated"  # "the diagnosis is a clot in the lung (A)"
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


def _is_second_best(before: str) -> bool:
    """Whether what is named is not the answer: "the worst option is"."""
    return phrases.WRONG.search(_PHRASE_BREAK.split(before)[-1]) is not None


def _position_rule(text: str, mention: Mention, mentions: list[Mention], is_list: bool) -> str | None:
    """The rule by which the place of a mention makes it a claim."""
    lead = _line_before(text, mention.start)
    line_start = mention.start - len(lead)
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


def _is_last_letter(text: str, lower: str, mention: Mention, mentions: list[Mention]) -> bool:
    """Whether a letter after a colon, an arrow or a sign ends the reply: "Bottom line: A."."""
    if mention.kind != LETTER or text[mention.end :].strip(" .!)]}\"'\n"):
        return False
    if text[mention.start].islower() and text[mention.start - 1 : mention.start] not in ("(", "["):
        return False
    lead = text[max(0, mention.start - SHORT) : mention.start]
    is_in_brackets = text[mention.end : mention.end + 1] == ")" and not lead.endswith("(")  # "(see figure: D)"
    if is_in_brackets or not _AFTER_SIGN.search(lead):
        return False
    before = text_before(lower, mention.start)
    if not _CONCLUDES.match(before) and any(_is_mapped(text, other) for other in mentions[:-1]):
        return False
    return _may_be_label(before)


def _is_own_sentence(text: str, lower: str, mention: Mention, mentions: list[Mention]) -> bool:
    """Whether a sentence within the reply is only a letter and its text, or ends with a letter after a colon.

    "... biconvex. (A) Subdural haematoma. An epidural collection ...": no other option may stand so.
    """
    is_apposed = mention.kind == BOTH and text[mention.start].isupper() and _APPOSITION.match(text, mention.end)
    if mention.kind not in (LETTER, BOTH) or not (is_apposed or _SENTENCE_ENDED.match(text, mention.end)):
        return False
    if mention.kind == LETTER and not text[mention.start : mention.end].isupper():
        return False
    lead = text[max(0, mention.start - SHORT) : mention.start]
    if mention.kind == LETTER and "\n" in lead.rstrip()[-2:] + lead[len(lead.rstrip()) :]:
        return False  # an entry of a list
    if not (_AFTER_SIGN.search(lead) or (mention.kind == BOTH and _AFTER_STOP.search(lead))):
        return False
    before = text_before(lower, mention.start)
    if mention.kind == LETTER and len(before.split()) < MIN_LEAD_WORDS:
        return False  # "My first thought: B."
    previous = before if before.strip(_LEADS) else lower[max(0, mention.start - NEAR) : mention.start]
    if GOES_THROUGH.search(previous) or _DENIES_IT.match(text, mention.end):
        return False
    others = [
        other
        for other in mentions
        if other.kind in (LETTER, BOTH, DIFFER) and other is not mention and not _is_compared(lower, mention, other)
    ]
    if any(other.option != mention.option and not _is_in_brackets(text, other) for other in others):
        return False
    return _may_be_label(before) and "?" not in text


def _is_compared(text: str, mention: Mention, other: Mention) -> bool:
    """Whether a later sentence only compares an option with another: "D. It is often mistaken for A"."""
    return other.start > mention.end and _COMPARES.search(text_before(text, other.start)) is not None


def _is_in_brackets(text: str, mention: Mention) -> bool:
    """Whether only brackets name an option: "follicular lesions (B and F)"."""
    opening, closing = text.rfind("(", 0, mention.start), text.find(")", mention.end)
    return opening >= 0 and closing >= 0 and ")" not in text[opening : mention.start]


def _is_mapped(text: str, mention: Mention) -> bool:
    """Whether an option is alone at the end of its line after an arrow or a colon: "needles → A"."""
    if not phrases.LINE_ENDED.match(text, mention.end):
        return False
    return _AFTER_SIGN.search(text[max(0, mention.start - SHORT) : mention.start]) is not None


def _may_be_label(before: str) -> bool:
    """Whether the words before an option and its colon may name the answer: not "also consider:"."""
    if _is_second_best(before) or phrases.DISTANT.search(before):
        return False
    clause = _PHRASE_BREAK.split(before)[-1]
    return not (phrases.NOT.search(clause) or _NO_LABEL.search(clause))


def _closes_reply(text: str, mention: Mention, standing: list[Mention]) -> bool:
    """Whether the reply ends with this option, alone in a sentence or after a colon or an arrow."""
    end = text[mention.end :]
    if "not" in end or "than" in end or "instead" in end:
        end = _NOT_ANOTHER.sub("", end)
    elif "(" in end:
        end = _BRACKET_LAST.sub("", end)
    elif end:
        end = _TAIL.sub("", end)
    end = end.strip(" )]}\"'\n")
    if end.strip(".!"):
        return False
    lead = text[max(0, mention.start - SHORT) : mention.start]
    if _AFTER_STOP.search(lead):
        is_bracketed = text[mention.start - 1] in "(["
        return (
            bool(end) or is_bracketed or text[mention.start : mention.end] not in ("A", "I")
        )  # these may be words before a cut
    is_alone = {other.option for other in standing} == {mention.option}
    if mention.kind == LETTER and is_alone and text[mention.start - 1] in "([" and end:
        sentence = text_before(text.lower(), mention.start)
        if _LINKED_LETTER.search(sentence) and not phrases.NOT.search(sentence) and not _is_second_best(sentence):
            return True  # "the overloaded metal is [D]."
    if _AFTER_COLON.search(lead) is None:
        return False
    before = text_before(text.lower(), mention.start)
    if is_alone:
        return not (_is_second_best(before) or phrases.DISTANT.search(before) or _NO_LABEL.search(before))
    return _CONCLUDES.match(before) is not None


def _is_pointed_to(text: str, mention: Mention, before: str) -> bool:
    """Whether the first or last sentence points to an option."""
    if mention.kind == TEXT and mention.start <= WINDOW and phrases.PREDICATE.search(text[: mention.start]):
        return not (_is_second_best(before) or _NOT_THE_CASE.search(before))
    if mention.kind == TEXT and not text[mention.end :].strip(" .!") and phrases.PREDICATE.search(before):
        is_other = _NOT_THE_CASE.search(before) or phrases.DOUBT.search(before) or phrases.DISTANT.search(before)
        return not (is_other or _is_second_best(before))
    if mention.kind == LETTER and text[mention.end : mention.end + 1] == ")" and phrases.IN_BRACKETS.search(before):
        return True
    if before.endswith(("at the level of ", "at the level of the ")) and _has_predicate(text, mention):
        return False  # "the lesion at the level of T12 is old"
    if not before.strip(_LEADS) or not phrases.POINTED.search(before[-NEAR:]) or _is_second_best(before):
        return False
    return not phrases.DOUBT.search(_PHRASE_BREAK.split(before)[-1])


def _sums_up(text: str, mention: Mention, before: str) -> bool:
    """Whether the last sentence is about the whole case and ends with the option: "the findings support A."."""
    return not text[mention.end :].strip(" .!)]\"'\n") and _OVERALL.match(before) is not None


def _is_list(text: str, mentions: list[Mention]) -> bool:
    """Whether the reply lists the options, line by line or in a sentence."""
    line_options, named_options = set(), set()
    for mention in mentions:
        if mention.kind not in (LETTER, TEXT, BOTH, DIFFER, NO_SUCH):
            continue
        lead = _line_before(text, mention.start)
        next_character = text[mention.end : mention.end + 1]
        if (
            _LINE_START.fullmatch(lead)
            and (not next_character or next_character in ".):,\n -–")
            and not _has_predicate(text, mention)
        ):
            line_options.add(text[mention.start : mention.end] if mention.option is None else mention.option)
        is_entry = mention.kind == BOTH and text[mention.start].isascii()
        is_bracketed = lead.endswith("(") and _LINE_START.fullmatch(lead) is None  # "an endometrioma (B) would"
        if is_entry or (mention.kind == LETTER and not is_bracketed and _ENTRY.match(text, mention.end)):
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
