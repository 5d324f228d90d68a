"""The default reading of a reply: what it claims to be the answer, if its claims agree.

A reply names options by letter or text. A name is a claim only where something says so: words before it ("the answer
is"), words after it ("is correct"), or its place (it opens the reply, or stands alone on the last line). Claims that
differ are read only where the later one is said to correct the earlier; otherwise nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wardround.asking.options import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.claims import SAID, WINDOW, Claim, claims_of
from wardround.marking.parser.delimited import Marked, marked_answers
from wardround.marking.parser.mentions import BOTH, DIFFER, NO_SUCH, SEVERAL, TEXT, Mention, letter_option, mentions
from wardround.marking.parser.option_text import Forms, forms_of, misspelt_text, whole_text, with_texts_marked, words

Verdict = tuple[int | None, str]

SHORT = 80  # characters of a reply that may be nothing but a misspelt option
AROUND = 12  # characters beside an option in the place of the answer: "Option (B)."

_BARE = re.compile(r"(?:(?![\ue000-\uefff])[\W_])*([A-Za-z])(?:(?![\ue000-\uefff])[\W_])*")
_LETTERED = re.compile(r"\W*([A-Z])[.):]\s*([A-Z])\W*")
_WORDED = (*SAID, "in json", "in box", "in tag")
_NO_OPTION = {DIFFER: "letter and text differ", NO_SUCH: NO_SUCH}
_ANSWER_PREFIX = re.compile(r"\AA:\s*(?!\ue000)")


def read_strictly(said: str, options: Sequence[str]) -> Verdict:
    """The option that the reply chooses and the rule that found it; or None and why there is none."""
    said = _without_courtesies(said)
    if not said:
        return None, "empty"
    forms = forms_of(options)
    if bare := _BARE.fullmatch(said):
        return letter_option(bare[1], options, forms)
    if len(said) <= SHORT and "\n" in said and _different_letters(said):
        return None, "several answers"
    if forms.letters and (pair := _LETTERED.fullmatch(said)) and forms.letters.get(pair[2]) == LETTERS.find(pair[1]):
        return LETTERS.find(pair[1]), BOTH
    folds = words(said)
    option = whole_text(said, folds, forms)
    if option is not None:
        return option, TEXT
    if said[1:2] in (".", ")", ":") and forms.options.get(folds[1:]) == LETTERS.find(said[0]):
        return LETTERS.find(said[0]), BOTH
    marked = with_texts_marked(said, folds, forms)
    answers, kind = marked_answers(marked)
    if answers:
        return _agreed([Claim(_of(answer, options, forms), kind) for answer in answers], marked)
    marked = _ANSWER_PREFIX.sub("", marked)
    claims = claims_of(marked, options, forms)
    if not claims and len(said) <= SHORT:
        option = misspelt_text(folds, forms)
        return (None, "nothing to read") if option is None else (option, "misspelt text")
    return _agreed(claims, marked)


def _without_courtesies(said: str) -> str:
    """The reply without polite lines before and after what it says."""
    if opened := phrases.OPENS_POLITELY.match(said[:WINDOW].lower()):
        said = said[opened.end() :]
    head, line, last = said.rpartition("\n")
    while line and phrases.CLOSES_POLITELY.fullmatch(last.strip().lower()):
        said = head.rstrip()
        head, line, last = said.rpartition("\n")
    return said


def _different_letters(said: str) -> bool:
    """Whether a reply is nothing but letters, and not all the same."""
    letters = {bare[1].upper() if (bare := _BARE.fullmatch(word)) else "" for word in said.split()}
    return len(letters) > 1 and "" not in letters


def _of(answer: Marked, options: Sequence[str], forms: Forms) -> Mention:
    """The option that stands in the place of the answer, if there is nothing else."""
    value = answer.value.strip()
    if bare := _BARE.fullmatch(value):
        return Mention(answer.start, answer.end, *letter_option(bare[1], options, forms))
    found = mentions(value, options, forms)
    if len(found) == 1 and len(value) - (found[0].end - found[0].start) <= AROUND:
        return Mention(answer.start, answer.end, found[0].option, found[0].how)
    return Mention(answer.start, answer.end, None, SEVERAL)


def _agreed(claims: list[Claim], said: str) -> Verdict:
    """The option that all claims name, or that the last one names if it is said to correct the others."""
    if not claims:
        return None, "nothing to read"
    last, rule = claims[-1]
    different = [claim for claim in claims if claim.mention.option != last.option]
    if last.option is None:
        return None, _NO_OPTION.get(last.how, "several answers") if not different else "several answers"
    if not different:
        return last.option, rule
    worded = all(claim.rule in _WORDED for claim in different)
    earlier = different[-1].mention.start
    corrected = phrases.CORRECTS.search(said.lower(), earlier, last.start) or (
        worded and phrases.TURNS.search(said.lower(), max(0, earlier - WINDOW), last.start)
    )
    return (last.option, "corrected") if corrected and rule in _WORDED else (None, "several answers")
