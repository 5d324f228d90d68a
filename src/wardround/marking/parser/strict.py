"""The default parser: the option that a reply claims to be its answer, if its claims agree.

A reply names options by letter or text. A name is a claim only by the words before it ("the answer is"), the words
after it ("is correct"), or its place (it opens the reply, or is alone on the last line). Of claims that differ, the
later one counts only if the reply corrects the earlier; otherwise no option is read.
"""

import re
from collections.abc import Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.claims import WINDOW, WORDED_RULES, Claim, find_claims
from wardround.marking.parser.delimited import DelimitedAnswer, delimited_answers
from wardround.marking.parser.mentions import (
    BOTH,
    DIFFER,
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

OptionAndRule = tuple[int | None, str]

MAX_MISSPELT_LENGTH = 80  # of a reply that may be a misspelt option
MAX_EXTRA_LENGTH = 12  # characters around an option in a delimited answer: "Option (B)."

_BARE = re.compile(r"(?:(?![\ue000-\uefff])[\W_])*([A-Za-z])(?:(?![\ue000-\uefff])[\W_])*")
_LETTERED = re.compile(r"\W*([A-Z])[.):]\s*([A-Z])\W*")
_WORDED_RULES = (*WORDED_RULES, "in json", "in box", "in tag")
_NO_OPTION = {DIFFER: "letter and text differ", NO_SUCH: NO_SUCH}
_ANSWER_PREFIX = re.compile(r"\AA:\s*(?!\ue000)")


def parse_strict(text: str, options: Sequence[str]) -> OptionAndRule:
    """The option that the reply chooses and the rule that read it; or None and the reason."""
    text = _without_courtesies(text)
    if not text:
        return None, "empty"
    forms = option_forms(options)
    if bare := _BARE.fullmatch(text):
        return letter_option(bare[1], options, forms)
    if len(text) <= MAX_MISSPELT_LENGTH and "\n" in text and _has_different_letters(text):
        return None, "several answers"
    if forms.letters and (pair := _LETTERED.fullmatch(text)) and forms.letters.get(pair[2]) == LETTERS.find(pair[1]):
        return LETTERS.find(pair[1]), BOTH
    folds = folded_words(text)
    option = find_whole_text(text, folds, forms)
    if option is not None:
        return option, TEXT
    if text[1:2] in (".", ")", ":") and forms.options.get(folds[1:]) == LETTERS.find(text[0]):
        return LETTERS.find(text[0]), BOTH
    marked_text = mark_option_texts(text, folds, forms)
    answers, kind = delimited_answers(marked_text)
    if answers:
        return _resolve_claims(
            [Claim(_mention_in_answer(answer, options, forms), kind) for answer in answers], marked_text
        )
    marked_text = _ANSWER_PREFIX.sub("", marked_text)
    claims = find_claims(marked_text, options, forms)
    if not claims and len(text) <= MAX_MISSPELT_LENGTH:
        option = find_misspelt_text(folds, forms)
        return (None, "nothing to read") if option is None else (option, "misspelt text")
    return _resolve_claims(claims, marked_text)


def _without_courtesies(text: str) -> str:
    """The reply without polite lines at its beginning and end."""
    if opening := phrases.OPENS_POLITELY.match(text[:WINDOW].lower()):
        text = text[opening.end() :]
    head, line, last = text.rpartition("\n")
    while line and phrases.CLOSES_POLITELY.fullmatch(last.strip().lower()):
        text = head.rstrip()
        head, line, last = text.rpartition("\n")
    return text


def _has_different_letters(text: str) -> bool:
    """Whether a reply consists of letters that differ."""
    letters = {bare[1].upper() if (bare := _BARE.fullmatch(word)) else "" for word in text.split()}
    return len(letters) > 1 and "" not in letters


def _mention_in_answer(answer: DelimitedAnswer, options: Sequence[str], forms: OptionForms) -> Mention:
    """The option in a delimited answer, if it contains nothing else."""
    value = answer.value.strip()
    if bare := _BARE.fullmatch(value):
        return Mention(answer.start, answer.end, *letter_option(bare[1], options, forms))
    mentions = find_mentions(value, options, forms)
    if len(mentions) == 1 and len(value) - (mentions[0].end - mentions[0].start) <= MAX_EXTRA_LENGTH:
        return Mention(answer.start, answer.end, mentions[0].option, mentions[0].kind)
    return Mention(answer.start, answer.end, None, SEVERAL)


def _resolve_claims(claims: list[Claim], text: str) -> OptionAndRule:
    """The option of all claims, or of the last one if it corrects the others."""
    if not claims:
        return None, "nothing to read"
    last, rule = claims[-1]
    different = [claim for claim in claims if claim.mention.option != last.option]
    if last.option is None:
        return None, _NO_OPTION.get(last.kind, "several answers") if not different else "several answers"
    if not different:
        return last.option, rule
    is_worded = all(claim.rule in _WORDED_RULES for claim in different)
    earlier_start = different[-1].mention.start
    is_corrected = phrases.CORRECTS.search(text.lower(), earlier_start, last.start) or (
        is_worded and phrases.TURNS.search(text.lower(), max(0, earlier_start - WINDOW), last.start)
    )
    return (last.option, "corrected") if is_corrected and rule in _WORDED_RULES else (None, "several answers")
