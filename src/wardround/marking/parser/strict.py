"""The default parser: the option that a reply claims to be its answer, if its claims agree.

A reply names options by letter or text. A name is a claim only by the words before it ("the answer is"), the words
after it ("is correct"), or its place (it opens the reply, or is alone on the last line). Of claims that differ, the
later one counts only if the reply corrects the earlier; otherwise no option is read.

What reads conclusions and parts of options is loaded with the first reply that needs it: its tables take 0.07 s.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.claims.finding import NO_CLAIMS, find_claims
from wardround.marking.parser.claims.surroundings import SHORT, WINDOW, text_before
from wardround.marking.parser.claims.worded import WORDED_RULES, Claim
from wardround.marking.parser.contradictions import is_reported, names_another
from wardround.marking.parser.delimited import DelimitedAnswer, delimited_answers
from wardround.marking.parser.listings import MARKS, Listing, read_listing, read_scores, read_shares
from wardround.marking.parser.mentions import (
    BOTH,
    DIFFER,
    LETTER,
    NO_SUCH,
    SEVERAL,
    TEXT,
    Mention,
    find_mentions,
    letter_option,
)
from wardround.marking.parser.option_text import (
    OptionForms,
    find_misspelt_text,
    find_whole_text,
    folded_words,
    mark_option_texts,
    option_forms,
)
from wardround.marking.parser.rewording import reword, without_taken_back

OptionAndRule = tuple[int | None, str]

MAX_MISSPELT_LENGTH = 80  # of a reply that may be a misspelt option
MIN_CONTESTED = 80  # characters of a reply whose end may affirm another option
MAX_LETTER_LENGTH = 5  # of a letter with its punctuation: "(B)."
MAX_LEAD = 20  # characters up to "answer" in "The correct answer is B."
MAX_FIRST_WORDS = 30  # characters before an option that is named first
MIN_OTHERS = 2  # options listed after the answer
MAX_EXTRA_LENGTH = 12  # characters around an option in a delimited answer: "Option (B)."

_BARE = re.compile(r"(?:(?![\ue000-\uefff])[\W_])*([A-Za-z])(?:(?![\ue000-\uefff])[\W_])*")
_LETTERED = re.compile(r"\W*([A-Z])[.):]\s*([A-Z])\W*")
_WORDED_RULES = (*WORDED_RULES, "in json", "in box", "in tag")
_POINTERS = "👉➡⭐☞✅✔☑→"
_FIRM_RULES = ("stated", "judged")  # of a letter, against what is said of an option's text
_FINAL_RULES = (*_WORDED_RULES, "at the end", "last line")
_CHECKED, _UNCHECKED = re.compile(r"\[[xX]\]"), re.compile(r"\[ \](?= )")
_LETTER_SHARE = re.compile(r"\b([A-Z]) (?=\d{1,3}(?:\.\d+)? ?%)")
_IN_BRACKETS = re.compile(r"\s*\((?:confidence|certainty|probability)\b[^()\n]{0,60}\)", re.I)
_SHARE_OF = re.compile(r"\b[Pp]\(([A-Z])\)")
_SENTENCE_END = re.compile(r"\n+|(?<=[.!?])\s+")
_WEAK_RULES = ("part", "pointed to", "chosen")
_NAMED_RULES = ("part", "pointed to")  # that read words of an option wherever they are
_MAY_CONCLUDE = ("nothing to read", "several answers", NO_SUCH)  # reasons after which a conclusion is looked for
_NO_OPTION = {DIFFER: "letter and text differ", NO_SUCH: NO_SUCH}
_STATEMENT = re.compile(
    r"(?:[Tt]he |[Mm]y )?(?:correct |best |right |final )?[Aa]nswer(?: is:?|:) ?(?:option )?"
    r"\(?([A-Z])\)?(?:[.:] (\w[^\n]{0,80}?))?\.?"
)
_WOULD = re.compile(
    r"(?<!my answer )(?<!my choice )(?<!my pick )(?<!final answer )(?<!best guess )"
    r"\bwould\b(?! (?:choose|pick|select|say|go|answer)\b)|\b(?:one|you|they|we) would\b"
)
_SUPPOSED_WOULD = re.compile(r"\W*(?:with|without|in|for|had|if|were|should)\b[^\n]*(?:\bwould\b|'d\b)")
_WOULD_AFTER = re.compile(r"[)\]\"']* (?:\([^()\n]{1,60}\) )?would\b")
_CONCLUDES_LETTER = re.compile(
    r"\b(?:so|thus|hence|therefore|i\.e\.|choose|pick|select|go (?:with|for)|opt for|option|answer(?: is|:)),? "
    r"(?:option )?\(?([A-J])\)?(?=[.!;:]|\s*\Z)"
)
_QUESTION, _REPLY = re.compile(r"^Q:", re.M), re.compile(r"^A:[ ]*", re.M)
_LAST_WORDS = ("checked", "that's it", "answer", "done")
_CLOSES = re.compile(r"(?<=[.!]) (?:double[- ]checked|that's it|that's my (?:final )?answer|done)[.!]*\Z", re.I)
_OTHERS_FOLLOW = ":\n"
_OTHERS = re.compile(
    r"\n\s*(?:Why (?:not )?)?(?:[Tt]he )?[Oo]ther (?:options|choices|answers|diagnoses)\b[^\n:]{0,60}:\n+"
    r"(?P<entries>(?:[ \t\-•*]*\(?[A-J][):.][^\n]*(?:\n+|\Z))+)\Z"
)
_OTHER_ENTRY = re.compile(r"^[ \t\-•*]*\(?([A-J])", re.M)
_NUMBERED_TEXT = re.compile(r"\(?([1-9])[.):] ?(?=[^\d\s])")
_ANSWER_PREFIX = re.compile(r"\AA:\s*(?!\ue000)")


def parse_strict(text: str, options: Sequence[str], whole: str = "") -> OptionAndRule:
    """The option that the reply chooses and the rule that read it; or None and the reason.

    `whole` is the reply with the confidence that `text` leaves out: shares of options may look like one.
    """
    forms = option_forms(options)
    text = without_taken_back(text)
    option, rule = _parse_known(text, options, whole, forms)
    if option is not None and rule in _NAMED_RULES and _is_no_choice(text, option, options):
        return None, "nothing to read"
    if option is None and _OTHERS_FOLLOW in text and (others := _OTHERS.search(text)):
        return _parse_before_others(text, others, options, forms) or (None, rule)
    if option is not None:
        is_contested = rule in _WEAK_RULES and len(text) > MIN_CONTESTED and not _states_letter(text, option)
        affirmed = _read_affirmed(text, options, forms) if is_contested else None
        if affirmed is not None and affirmed != option and _read_placed(text, options) == affirmed:
            return affirmed, "affirmed"
        if affirmed is None or affirmed == option:
            return option, rule
        first, *_, last = sentences if len(sentences := _SENTENCE_END.split(text.strip())) > 1 else (text, text)
        is_first = len(first) <= MAX_FIRST_WORDS and _parse_known(first, options, "", forms)[0] == option
        is_last = is_first or _parse_known(last, options, "", forms)[0] == option
        return (option, rule) if is_last else (affirmed, "affirmed")
    if rule not in _MAY_CONCLUDE:
        return option, rule
    from wardround.marking.parser.conclusions.closing import read_closing

    option = read_closing(text, options, forms, rule == "several answers")
    if option is not None:
        return option, "concluded"
    option = _read_affirmed(text, options, forms) if rule == "nothing to read" else None
    if option is None and rule == "nothing to read":
        option = _read_standing(text, options, forms)
    if option is not None and names_another(text, option, options):
        return None, rule
    return (None, rule) if option is None else (option, "affirmed")


def _is_no_choice(text: str, option: int, options: Sequence[str]) -> bool:
    return names_another(text, option, options) or is_reported(text, option, options)


def _parse_before_others(
    text: str, others: re.Match[str], options: Sequence[str], forms: OptionForms
) -> OptionAndRule | None:
    """The option before a list of the other ones, if the list does not have it: "**D**. Other options: - A: ..."."""
    option, rule = _parse_known(text[: others.start()], options, "", forms)
    entries = set(_OTHER_ENTRY.findall(others["entries"]))
    is_listed = option is None or LETTERS[option] in entries or len(entries) < MIN_OTHERS
    return None if is_listed else (option, rule)


def _read_affirmed(text: str, options: Sequence[str], forms: OptionForms) -> int | None:
    from wardround.marking.parser.conclusions.affirming import read_affirmed

    return read_affirmed(_reworded(text, forms), options)


def _read_standing(text: str, options: Sequence[str], forms: OptionForms) -> int | None:
    from wardround.marking.parser.conclusions.meanings import option_meanings
    from wardround.marking.parser.conclusions.standing import read_standing_letter
    from wardround.marking.parser.conclusions.weighing import weigh

    meanings = option_meanings(tuple(options))
    return read_standing_letter(_reworded(text, forms), options, lambda part: weigh(part, meanings))


def _read_placed(text: str, options: Sequence[str]) -> int | None:
    from wardround.marking.parser.conclusions.lettering import read_placed_letter

    return read_placed_letter(text, options)


def _states_letter(text: str, option: int) -> bool:
    """Whether a clause concludes with the letter of an option: "it must be the lunate, so B."."""
    return any(LETTERS[option] == stated[1] for stated in _CONCLUDES_LETTER.finditer(text))


def _parse_known(text: str, options: Sequence[str], whole: str, forms: OptionForms) -> OptionAndRule:
    """The option that a claim, a list or a part names; or None and the reason."""
    if len(text) <= MAX_LETTER_LENGTH and (bare := _BARE.fullmatch(text)):
        return letter_option(bare[1], options, forms)
    if "nswer" in text[:MAX_LEAD] and not forms.letters and (statement := _STATEMENT.fullmatch(text)):
        place = LETTERS.find(statement[1])
        if place < len(options) and (not statement[2] or forms.options.get(folded_words(statement[2])) == place):
            return place, "stated"  # the commonest shape, read in a tenth of the time
    text = _IN_BRACKETS.sub("", text) if "(" in text else text
    listing = _read_shares(whole or text, options, forms)
    text = _reworded(text, forms)
    if not text:
        return listing or (None, "empty")
    is_word = len(text) > 1 and text[:2].isalpha()  # no lone letter opens it
    if not is_word and (bare := _BARE.fullmatch(text)):
        return letter_option(bare[1], options, forms)
    letters = set() if listing or is_word else _only_letters(text)
    if len(letters) == 1:
        return letter_option(letters.pop(), options, forms)
    if letters and "\n" in text:
        return None, "several answers"
    if forms.letters and (pair := _LETTERED.fullmatch(text)) and forms.letters.get(pair[2]) == LETTERS.find(pair[1]):
        return LETTERS.find(pair[1]), BOTH
    if "[" in text and _CHECKED.search(text):
        text = _UNCHECKED.sub("✗", _CHECKED.sub("✓", text))
    folds = folded_words(text)
    option = find_whole_text(text, folds, forms)
    if option is not None:
        return option, TEXT
    if (
        text[0] in "(123456789"
        and (numbered := _NUMBERED_TEXT.match(text))
        and forms.options.get(folds[1:]) == int(numbered[1]) - 1
    ):
        return int(numbered[1]) - 1, TEXT  # "2. Asthma"
    if text[1:2] in (".", ")", ":") and forms.options.get(folds[1:]) == LETTERS.find(text[0]):
        return LETTERS.find(text[0]), BOTH
    marked_text = mark_option_texts(text, folds, forms)
    answers, kind = delimited_answers(marked_text)
    if answers:
        return _resolve_claims(
            [Claim(_mention_in_answer(answer, options, forms), kind) for answer in answers], marked_text
        )
    if "Q:" in marked_text and _QUESTION.search(marked_text):
        marked_text = _REPLY.sub("", marked_text)
    if marked_text.startswith("A:"):
        marked_text = _ANSWER_PREFIX.sub("", marked_text)
    mentions = find_mentions(marked_text, options, forms)
    claims, standing = find_claims(marked_text, mentions) if mentions else NO_CLAIMS
    listing = listing or read_listing(marked_text, mentions)
    if listing:
        return _resolve_listing(listing, claims, marked_text)
    if not claims:
        is_joined = any(mention.kind == SEVERAL for mention in mentions)
        return (None, "nothing to read") if is_joined else _read_loosely(text, folds, options, standing, not mentions)
    return _resolve_claims(claims, marked_text)


@lru_cache(maxsize=8)
def _reworded(text: str, forms: OptionForms) -> str:
    """The reply as its options are looked for; kept because several rules need it of one reply."""
    return _without_courtesies(reword(text, forms))


def _without_courtesies(text: str) -> str:
    """The reply without polite lines at its beginning and end, and without a sign that points to it."""
    if not text:
        return text
    if (":" in text or "\n" in text) and (role := phrases.ROLE.match(text[: 4 * WINDOW].lower())):
        text = text[role.end() :]
    if text[0] in _POINTERS and not any(map(text[1:].__contains__, MARKS)):
        text = text.lstrip(f"{_POINTERS}\ufe0f ")
    if opening := phrases.OPENS_POLITELY.match(text[:WINDOW].lower()):
        text = text[opening.end() :]
    if text[-SHORT - 16 :].lower().rstrip(".!").endswith(_LAST_WORDS) and (
        closing := _CLOSES.search(text, max(0, len(text) - SHORT - 16))
    ):
        text = text[: closing.start()]
    head, line, last = text.rpartition("\n")
    while line and phrases.CLOSES_POLITELY.fullmatch(last.strip().lower()):
        text = head.rstrip()
        head, line, last = text.rpartition("\n")
    return text


def _only_letters(text: str) -> set[str]:
    """The letters of a reply that consists of them: "B B B", "1. B"; none if there is another word."""
    if text[: MAX_LETTER_LENGTH + 1].isalpha() and len(text) > MAX_LETTER_LENGTH:
        return set()
    words = text[:MAX_MISSPELT_LENGTH].split()
    if max(map(len, words)) > MAX_LETTER_LENGTH:
        return set()
    words = words[1:] if words[0] in ("1.", "1)") else words
    letters = {bare[1].upper() if (bare := _BARE.fullmatch(word)) else "" for word in words}
    return set() if "" in letters or len(text) > MAX_MISSPELT_LENGTH else letters


def _mention_in_answer(answer: DelimitedAnswer, options: Sequence[str], forms: OptionForms) -> Mention:
    """The option in a delimited answer, if it contains nothing else."""
    value = answer.value.strip()
    if bare := _BARE.fullmatch(value):
        return Mention(answer.start, answer.end, *letter_option(bare[1], options, forms))
    mentions = find_mentions(value, options, forms)
    if len(mentions) == 1 and len(value) - (mentions[0].end - mentions[0].start) <= MAX_EXTRA_LENGTH:
        return Mention(answer.start, answer.end, mentions[0].option, mentions[0].kind)
    option = None if mentions or len(value) > MAX_MISSPELT_LENGTH else _read_in_answer(value, options)
    if option is not None:
        return Mention(answer.start, answer.end, option, TEXT)
    return Mention(answer.start, answer.end, None, SEVERAL)


def _read_in_answer(value: str, options: Sequence[str]) -> int | None:
    """The option that a delimited answer names by a number, an abbreviation or a part."""
    from wardround.marking.parser.loose import read_number, read_part

    number = read_number(value, options)
    return read_part(value, folded_words(value), options) if number is None else number


def _read_loosely(
    text: str, folds: tuple[str, ...], options: Sequence[str], standing: list[Mention], is_nameless: bool
) -> OptionAndRule:
    """The option that a reply without claims names by a misspelt text, an abbreviation or a part."""
    if len(text) <= MAX_MISSPELT_LENGTH:
        option = find_misspelt_text(folds, option_forms(options))
        if option is not None:
            return option, "misspelt text"
    from wardround.marking.parser.loose import read_part

    named = {mention.option for mention in standing} - {None}
    option = read_part(text, folds, options, is_nameless) if len(named) < 2 else None
    return (option, "part") if option is not None and named <= {option} else (None, "nothing to read")


def _read_shares(text: str, options: Sequence[str], forms: OptionForms) -> Listing | None:
    """The option with the largest share, if the reply gives shares."""
    has_scores = "/5" in text or "/10" in text or "/ 10" in text
    if "%" not in text and "0." not in text and not has_scores:
        return None
    text = _LETTER_SHARE.sub(r"\1: ", _SHARE_OF.sub(r"\1", text))
    marked_text = mark_option_texts(text, folded_words(text), forms)
    mentions = find_mentions(marked_text, options, forms)
    return read_shares(marked_text, mentions) or (read_scores(marked_text, mentions) if has_scores else None)


def _resolve_listing(listing: Listing, claims: list[Claim], text: str) -> OptionAndRule:
    """The option of a list, unless a claim outside of it names another."""
    named = set()
    for mention, rule in claims:
        is_entry = rule == "opening" and not phrases.LINE_ENDED.match(text.lower(), mention.end)
        if mention.option is not None and not is_entry:
            named.add(mention.option)
    if named <= {listing[0]}:
        return listing
    last, rule = claims[-1]
    is_final = rule == "stated" and len(named) == 1 and not text[last.end :].strip(" .!)]}\"'*")
    return (last.option, rule) if is_final else (None, "several answers")


def _resolve_claims(claims: list[Claim], text: str) -> OptionAndRule:
    """The option of all claims, or of the last one if it corrects the others."""
    if not claims:
        return None, "nothing to read"
    last, rule = claims[-1]
    if phrases.UNDECIDED.search(text.lower(), last.end):
        return None, "several answers"
    different = [claim for claim in claims if claim.mention.option != last.option]
    if (
        different
        and (outer := [claim for claim in claims if not _is_in_aside(text, claim.mention)]) != claims
        and outer
    ):
        return _resolve_claims(outer, text)
    if different and (firm := _firm_claims(claims, text)):
        return _resolve_claims(firm, text)
    if last.option is None:
        return None, _NO_OPTION.get(last.kind, "several answers") if not different else "several answers"
    if not different or (rule in _FINAL_RULES and all(claim.mention.kind == SEVERAL for claim in different)):
        return last.option, rule
    is_at_end = rule == "stated" and not text[last.end :].strip(" .!)]}\"'*")
    if is_at_end and all(claim.rule == "own line" for claim in different):
        return last.option, rule  # "- ANOVA (D): means of three groups\n\nAnswer: A"
    if last.kind == LETTER and rule in _FIRM_RULES and all(_is_said_of_text(claim) for claim in different):
        return last.option, rule  # "gestational age is about 20 weeks. At 12 weeks it is ... C is the best choice."
    is_worded = all(claim.rule in _WORDED_RULES for claim in different)
    earlier_start = different[-1].mention.start
    is_corrected = phrases.CORRECTS.search(text.lower(), earlier_start, last.start) or (
        is_worded and phrases.TURNS.search(text.lower(), max(0, earlier_start - WINDOW), last.start)
    )
    return (last.option, "corrected") if is_corrected and rule in _WORDED_RULES else (None, "several answers")


def _is_said_of_text(claim: Claim) -> bool:
    """Whether words that often only say something of an option's text claim it."""
    return claim.mention.kind == TEXT and claim.rule in ("judged", "chosen", "pointed to")


def _is_in_aside(text: str, mention: Mention) -> bool:
    """Whether an option is named in a sentence in brackets: "C. (The 90% in B is the specificity.)"."""
    opening = text.rfind("(", 0, mention.start)
    return (
        opening > 0 and text[opening - 2 : opening] in (". ", ".\n", "! ") and ")" not in text[opening : mention.start]
    )


def _firm_claims(claims: list[Claim], text: str) -> list[Claim]:
    """The claims without "would", if some have it and the first or last of all has not; otherwise none."""
    if "would" not in text and "'d" not in text:
        return []
    lower = text.lower()
    firm = [claim for claim in claims if not _is_conditional(lower, claim.mention)]
    if not firm or len(firm) == len(claims):
        return []
    is_first = firm[0].mention.start <= MAX_FIRST_WORDS
    return firm if firm[-1] is claims[-1] or (is_first and firm[0] is claims[0]) else []


def _is_conditional(text: str, mention: Mention) -> bool:
    """Whether an option only would be the answer."""
    return (
        _WOULD.search(before := text_before(text, mention.start)) is not None
        or _SUPPOSED_WOULD.match(before) is not None
        or _WOULD_AFTER.match(text, mention.end) is not None
    )
