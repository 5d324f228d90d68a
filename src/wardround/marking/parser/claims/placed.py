# ruff: noqa: E501 (patterns)
"""Claims by place: an option that opens the reply, ends it, or is alone in a line or sentence."""

import re

from wardround.marking.parser import phrases
from wardround.marking.parser.claims.surroundings import (
    LEADS,
    LINE_START,
    NEAR,
    PHRASE_BREAK,
    SHORT,
    WINDOW,
    continues_list,
    has_predicate,
    is_second_best,
    line_before,
    text_before,
)
from wardround.marking.parser.mentions import BOTH, DIFFER, LETTER, NO_SUCH, SEVERAL, TEXT, Mention

MIN_LEAD_WORDS = 4  # of a sentence that ends with a colon and a letter, within a reply
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
_NOT_THE_CASE = re.compile(
    r"\b(?:slice|in the (?:general )?population|least|less|unlikely|wrong|previous|prior|earlier|other|another|family|mimics?|possibilit\w+|risk factors?"
    r"|worry|worried|dangerous|excluded?|feared)\b"
)
_NUMBERED = re.compile(r"\s*\d")
_ENTRY = re.compile(r"[.)] [A-Z\ue000-\uefff]|\) [a-z]|[\"']? ?[:=(] ?(?:[\d.]|true|false|null)")  # "A) no", "A: 10%"
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
_LINKED_LETTER = re.compile(r"\bthe (?:\w+[ -]){1,5}(?:is|are|was|would be)(?: therefore| thus| then)? [(\[\"']\Z")


def position_rule(text: str, mention: Mention, mentions: list[Mention], is_list: bool) -> str | None:
    """The rule by which the place of a mention makes it a claim."""
    lead = line_before(text, mention.start)
    line_start = mention.start - len(lead)
    if not LINE_START.fullmatch(lead):
        is_closing = mention.kind == BOTH and len(mentions) == 1 and not text[mention.end :].strip(" .)]}\"'")
        return "at the end" if is_closing else None
    is_ended = (phrases.LINE_ENDED if mention.kind == LETTER else phrases.ENDED).match(text, mention.end)
    if not text[:line_start].strip() and not _NUMBERED.match(lead):
        if is_list and not (is_ended and not continues_list(text, mention, mentions)):
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


def is_last_letter(text: str, lower: str, mention: Mention, mentions: list[Mention]) -> bool:
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


def is_own_sentence(text: str, lower: str, mention: Mention, mentions: list[Mention]) -> bool:
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
    previous = before if before.strip(LEADS) else lower[max(0, mention.start - NEAR) : mention.start]
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
    if is_second_best(before) or phrases.DISTANT.search(before):
        return False
    clause = PHRASE_BREAK.split(before)[-1]
    return not (phrases.NOT.search(clause) or _NO_LABEL.search(clause))


def closes_reply(text: str, mention: Mention, standing: list[Mention]) -> bool:
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
        if _LINKED_LETTER.search(sentence) and not phrases.NOT.search(sentence) and not is_second_best(sentence):
            return True  # "the overloaded metal is [D]."
    if _AFTER_COLON.search(lead) is None:
        return False
    before = text_before(text.lower(), mention.start)
    if is_alone:
        return not (is_second_best(before) or phrases.DISTANT.search(before) or _NO_LABEL.search(before))
    return _CONCLUDES.match(before) is not None


def is_pointed_to(text: str, mention: Mention, before: str) -> bool:
    """Whether the first or last sentence points to an option."""
    if mention.kind == TEXT and mention.start <= WINDOW and phrases.PREDICATE.search(text[: mention.start]):
        return not (is_second_best(before) or _NOT_THE_CASE.search(before))
    if mention.kind == TEXT and not text[mention.end :].strip(" .!") and phrases.PREDICATE.search(before):
        is_other = _NOT_THE_CASE.search(before) or phrases.DOUBT.search(before) or phrases.DISTANT.search(before)
        return not (is_other or is_second_best(before))
    if mention.kind == LETTER and text[mention.end : mention.end + 1] == ")" and phrases.IN_BRACKETS.search(before):
        return True
    if before.endswith(("at the level of ", "at the level of the ")) and has_predicate(text, mention):
        return False  # "the lesion at the level of T12 is old"
    if not before.strip(LEADS) or not phrases.POINTED.search(before[-NEAR:]) or is_second_best(before):
        return False
    return not phrases.DOUBT.search(PHRASE_BREAK.split(before)[-1])


def sums_up(text: str, mention: Mention, before: str) -> bool:
    """Whether the last sentence is about the whole case and ends with the option: "the findings support A."."""
    return not text[mention.end :].strip(" .!)]\"'\n") and _OVERALL.match(before) is not None


def is_list_of_options(text: str, mentions: list[Mention]) -> bool:
    """Whether the reply lists the options, line by line or in a sentence."""
    line_options, named_options = set(), set()
    for mention in mentions:
        if mention.kind not in (LETTER, TEXT, BOTH, DIFFER, NO_SUCH):
            continue
        lead = line_before(text, mention.start)
        next_character = text[mention.end : mention.end + 1]
        if (
            LINE_START.fullmatch(lead)
            and (not next_character or next_character in ".):,\n -–")
            and not has_predicate(text, mention)
        ):
            line_options.add(text[mention.start : mention.end] if mention.option is None else mention.option)
        is_entry = mention.kind == BOTH and text[mention.start].isascii()
        is_bracketed = lead.endswith("(") and LINE_START.fullmatch(lead) is None  # "an endometrioma (B) would"
        if is_entry or (mention.kind == LETTER and not is_bracketed and _ENTRY.match(text, mention.end)):
            named_options.add(mention.option)
    return len(line_options) > 1 or len(named_options) > 1
