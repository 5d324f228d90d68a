# ruff: noqa: E501 (patterns)
"""The option that the end of a reply affirms in any words, looked for only if no other rule reads one.

The last sentences are cut into clauses. Clauses that deny, suppose, compare or report are left out. What is left must
have words, or meanings (meanings.py), that one option has and no other.
"""

import re
from collections.abc import Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser.conclusions.closing import has_sign, read_quantity
from wardround.marking.parser.conclusions.focusing import MAX_FOCUSED, read_focus
from wardround.marking.parser.conclusions.lettering import read_placed_letter
from wardround.marking.parser.conclusions.meanings import (
    may_decide,
    may_mean,
    meanings_of,
    option_meanings,
)
from wardround.marking.parser.conclusions.measuring import read_measured
from wardround.marking.parser.conclusions.naming import read_names
from wardround.marking.parser.conclusions.phrase_names import (
    DISTANT_WORDS,
    VERB,
    named_by,
    named_first,
    named_in_focus,
    whole_option,
)
from wardround.marking.parser.conclusions.presences import read_presences
from wardround.marking.parser.conclusions.sentence_letters import ANY_LETTER, read_sentence_letter, says_of_letter
from wardround.marking.parser.conclusions.stating import is_fact, read_absence, read_all_or_none, read_stated
from wardround.marking.parser.conclusions.weighing import (
    REFUTED,
    contradicts,
    weigh,
)
from wardround.marking.parser.loose import has_same_quantities
from wardround.marking.parser.words.word_search import WordSearch

MAX_SENTENCES = 3  # from the end
MAX_SENTENCE = 500
MIN_REASONED = 120  # characters of a reply with reasons
CUT_OFF_LENGTH = 100  # of a reply that must end with a full stop
_UNANSWERED = WordSearch(
    r"\b(?:(?:can(?:not|'t| not)|could(?: not|n't)|unable to|not able to|impossible to|not possible to|hard to|difficult to)"
    r" (?:\w+ ){0,3}?(?:determine|tell|say|answer|choose|decide|pick|select|commit|view|see|interpret|assist|help|provide|recommend)"
    r"|insufficient|not enough|depends? on|depending on|please (?:provide|upload|share|consult|contact|ask)|could you|can you"
    r"|needs? more (?:information|details?)|no single|(?:(?:the|my) )?differential (?:diagnosis )?includes|several (?:conditions|options|possib)"
    r"|individuali[sz]ed|as an ai|sorry|before (?:one|we|i|committing|a conclusion)\b|first two|still open|all (?:remain|be checked)"
    r"|(?:wouldn't|would not|don't|do not) (?:want to )?(?:commit|choose|feel|know)|torn between|toss|nothing (?:here |in \w+ \w+ )?(?:points|speaks) )"
)
_SEVERAL = WordSearch(
    r"\b(?:either (?:\S+ ){1,4}or\b|both\b(?! (?:positive|negative|raised|elevated|low|high|sides|drain|point|lie|come)|(?: [\w-]+){1,3} and (?:[\w-]+ ){1,3}(?:are|were|is) (?:positive|negative|raised|elevated|low|high|normal|present|absent))|(?<!as )(?<!since )(?<!because )none of|neither\b|all of (?:the|these)|all (?:are|remain|should))"
)
_SEVERAL_FIT = WordSearch(
    r"\b(?:either (?:\S+ ){1,4}or\b|both (?:are|of|options?|could|would|can|may|remain|fit|conditions|diagnoses)|none of(?<!as none of)(?<!since none of)(?<!because none of)|neither|all of (?:the|these)|all (?:are|remain|could))\b"
)
_NONE_FITS = WordSearch(
    r"\bnone of (?:these|them|the (?:\w+ )?(?:options?|answers?|choices?|above|listed))(?: \w+){0,2}? (?:would be my|fits?|matches|match|applies|apply|is (?:right|correct)|are (?:right|correct))\b"
)
_ENDS = tuple(".!)]\"'。！%…")
_CONCLUDES = WordSearch(
    r"\b(?:so|thus|hence|therefore|accordingly|consequently|overall|taken together|in (?:summary|conclusion|short|sum|view)"
    r"|i\.e|conclu\w+|then|(?:that|which) means|(?:this|that|it)(?: is|'s)(?! (?:composed|made|located|known|used|found|called|connected|one of|important|possible))|these are|those of|this (?:\w+ ){0,3}(?:means|makes|indicates|suggests|corresponds"
    r"|reflects|represents|is|has|carries|was)|in this|this (?:patient|man|woman|boy|girl|child|case|picture)|what (?:we|i|remains|is"
    r"|changes|helps|bleeds)\b|what's|we(?:'re)? (?:have|are|should|need|dealing)|(?:i|we)(?: would|'d|'m| am| read| call| find| conclude"
    r"| suspect| favou?r| request| think| choose| pick)|my (?:reading|diagnosis|suggestion|recommendation|impression|money|answer|pick|choice)"
    r"|(?:he|she|they|the (?:patient|boy|girl|man|woman|child|lady)) (?:has|have|needs?|should|must|suffers|is|receives?)|should|must|has to"
    r"|have to|is (?:indicated|required|needed|responsible(?! for)|broken|present|my|the (?:answer|culprit|drug|next|right|best|correct|one|most))"
    r"|belongs? to|falls? (?:in|under|into)|corresponds?|fits?|explains? (?:it|all|every|these|this|the|both|most)|speaks? for|evokes?|points? (?:to|at)"
    r"|consistent with|compatible with|diagnostic of|pathognomonic|culprit|comes? next|looks? like|(?<!also )known as|would (?:benefit|be (?:the|my) (?:most|safest|best|first|next|ideal))|(?:driven|caused|explained) by|due to|results? from|indicated by|the arrow|there (?:is|are)|time for|here|next step|leaves?|remains?"
    r"|verd[äa]chtig auf|spricht f[üu]r|passt zu|vereinbar mit|compatible (?:con|avec)|sugestiv\w+|en faveur|daher|somit|deshalb|donc|je retiens|por (?:lo )?tanto|portanto|trata-se|se trata|quindi|диагноз|поэтому|значит|следовательно|это"
    r"|правильный)\b|ですから|したがって|従って|よって|故|因此|所以|综合|따라서|그러므로"
)
_NOT_ANSWER = WordSearch(
    r"\b(?:least|worst|weakest|poorest|popular|distractor|users?|e\.g|for example|father|mother|brother|sister|family|recall"
    r"|possible|possibly|perhaps|maybe|trap|merely|says|rarely|quick and cheap|acceptable|kidding|step \d)\b"
)
_DEFINES = re.compile(
    r"\W*(?:\w+ ){1,4}?(?:is|are) (?:an?|one of|the (?:only|largest|main|primary)|used|found|known|located|responsible|composed|produced)\b",
    re.I,
)
_MAPPED = re.compile(r"\s(?:=|→|⇒|[-=]+>)\s")
_NAMES_A_PLACE = re.compile(r"\b[A-J]\b|\b(?i:the (?:first|second|third|fourth|fifth|last)) ")
_YES_OR_NO = frozenset(("yes", "no", "present", "absent"))
# a letter, not the article or the pronoun
_LONE_LETTER = re.compile(
    r"(?<![\w'])(?:[B-HJ]|A(?! (?!obviously|clearly|here|please|remains|wins|applies|stands|is |it |the |would |suffices)[a-z]))(?![\w'])"
)
_NO_BARE_NUMBER = re.compile(r"[^\W\d]|%")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_ENDS_WITH_QUANTITY = re.compile(
    r"(?:=|\b(?:is|are|measures|comes to|equals|of|at)) ?((?:about |around |roughly |approximately |~ ?)?\d[^=,;:]{0,24})\Z"
)
_NOT_MEASURED = re.compile(r"\b(?:slice|interval|window|field of view|scale|matrix|pitch)\b", re.I)
# what is true of an option, not which one it is
_PROPERTY = re.compile(
    r"(?P<head>(?:[\w-]+ ){1,5})(?:is|are) (?:caused by|due to|treated|characteri[sz]ed|diagnosed|defined|transmitted"
    r"|the (?:\w+ )?most (?:common|frequent) (?:surgical|complication|emergency))\b",
    re.I,
)
_BRACKETED_LAST = re.compile(
    r"\s*\((?:had|if|were|should|note|in (?!short|summary|conclusion|this|our|view)\w+)\b[^()]*\)\s*\Z", re.I
)
_HAS_SIGN = re.compile(r"[:→]|[-=]>| [—–-] ")
_NAMED_LAST = re.compile(r"\w{3,}[^:→]{20,}(?::|→|[-=]>| [—–-])((?: [\w'/–-]+){1,6})\W*\Z")
# its first character comes first: the search skips all others
_SENTENCE_END = re.compile(
    r"\s(?:(?<=\n)\n*|(?<=[!?;]\s)\s*"
    r"|(?<=\.\s)(?<!\b[A-Za-z]\.\s)(?<!\bvs\.\s)(?<!\be\.g\.\s)(?<!\bi\.e\.\s)\s*(?=\W*(?:[A-Z0-9]|[^\x00-\x7f])|i?\b))"
)
_DECIDES = WordSearch(
    r"\A\W*(?:so|thus|hence|therefore|accordingly|overall|taken together|in (?:summary|conclusion|short|other words)|this is|that is|that's|it's|it is"
    r"|these are|what |we (?:have|are)|as it is|conclusion|answer|the (?:correct |best |right )?(?:answer|statement|diagnosis|condition|mechanism|drug|vessel|culprit))\b"
    r"|, (?:so|hence|thus|therefore)\b"
)
_ENTRY = re.compile(r"\s*(?:[-*•|]|\(?[A-Ja-j1-9][.):]|Option [A-J]\b)")


def read_affirmed(text: str, options: Sequence[str]) -> int | None:
    """The option that the last sentences affirm; None if they affirm none or several."""
    is_ended = text.rstrip().endswith(_ENDS)
    if (len(text) > CUT_OFF_LENGTH and not is_ended) or text.endswith(("?", "...", "…", ":")) or "{" in text:
        return None
    is_yes_or_no = len(options) < 4 and _YES_OR_NO.issuperset(map(str.lower, options[:2]))
    meanings = option_meanings(tuple(options))
    if not is_yes_or_no and not _NAMES_A_PLACE.search(text) and not may_mean(text, meanings):
        return read_all_or_none(text, options) if len(text) <= MAX_SENTENCE else None
    whole, text = text, _BRACKETED_LAST.sub("", text) if text.endswith(")") else text
    sentences = [sentence.strip()[-MAX_SENTENCE:] for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if len(sentences) > 1 and not text.rstrip().endswith(_ENDS):
        return None  # cut off
    option = read_presences(sentences, options) if is_yes_or_no else _read_sentences(text, sentences, options)
    if (
        option is None
        or _ENTRY.match(whole[whole.rfind("\n") + 1 :])
        or (_SEVERAL_FIT.search(sentences[-1]) and read_all_or_none(sentences[-1], options) is None)
    ):
        return None
    is_answered = not _UNANSWERED.search(whole, max(0, len(whole) - 2 * MAX_SENTENCE)) and not _NONE_FITS.search(whole)
    if not is_answered or _has_other_letter(text, options) or _is_only_aside(text, option, options):
        return None
    return option


def _is_only_aside(text: str, option: int, options: Sequence[str]) -> bool:
    """Whether only brackets have the option's letter, and the text outside has another's: "by B ...; X (D) is"."""
    if f"({LETTERS[option]})" not in text:
        return False
    outer = set(ANY_LETTER.findall(_IN_BRACKETS.sub("", text)))
    if read_placed_letter(text, options) == option:
        return False
    return bool(outer) and LETTERS[option] not in outer


def _read_sentences(text: str, sentences: list[str], options: Sequence[str]) -> int | None:
    """The option of the last sentence that has evidence for one, if it is a conclusion."""
    meanings = option_meanings(tuple(options))
    if _LONE_LETTER.search(text) and (option := read_placed_letter(text, options)) is not None:
        return option
    if not says_of_letter(sentences) and (option := read_sentence_letter(sentences[-1], options)) is not None:
        return option
    option = read_names(
        sentences,
        lambda sentence: may_decide(sentence, meanings),
        lambda words, is_bare: named_by(words, is_bare, meanings, options) if may_decide(words, meanings) else None,
    )
    if option is not None:
        return option
    option = _read_conclusion(text, sentences, options)
    if option is None and len(sentences) <= MAX_SENTENCES:
        option = _read_statement(sentences, options)
    return _read_focus(sentences, options) if option is None else option


def _read_focus(sentences: list[str], options: Sequence[str]) -> int | None:
    """The option on which sentences about the case end."""
    meanings = option_meanings(tuple(options))
    if len(sentences) > MAX_FOCUSED or ANY_LETTER.search(whole := " ".join(sentences)) or _SEVERAL_FIT.search(whole):
        return None
    option = read_focus(
        sentences,
        lambda sentence: may_decide(sentence, meanings),
        lambda sentence: weigh(sentence, meanings),
        lambda words: named_in_focus(words, meanings, options) if may_decide(words, meanings) else None,
        lambda words: (
            named_by(words, True, meanings, options)
            if _NO_BARE_NUMBER.search(words) and may_decide(words, meanings)
            else None
        ),
    )
    if option is None or contradicts(meanings_of(whole, meanings), meanings.all[option]):
        return None  # "a pneumothorax on the left" is no right-sided one
    return option if has_same_quantities(whole, options[option]) else None


def _read_statement(sentences: list[str], options: Sequence[str]) -> int | None:
    """The option that one of few sentences states; no other may state another one."""
    meanings = option_meanings(tuple(options))
    if (option := read_all_or_none(sentences[-1], options)) is not None:
        return option
    absent = {option for sentence in sentences if (option := read_absence(sentence, options)) is not None}
    if len(absent) == 1:
        option = absent.pop()
        others = set().union(*(weigh(sentence, meanings).keys() for sentence in sentences))
        return option if others <= {option} else None
    if quantity := _ENDS_WITH_QUANTITY.search(sentences[-1]):
        option = read_quantity(quantity[1], options)
        is_general = _NOT_MEASURED.search(sentences[-1]) or REFUTED.search(sentences[-1])
        is_general = is_general or _NOT_ANSWER.search(sentences[-1])
        if option is not None and not is_general:
            return option
    if (option := read_measured(sentences[-1], options)) is not None:
        return option
    stated = {
        read_stated(sentence, lambda text: weigh(text, meanings), lambda text: whole_option(text, options))
        for sentence in sentences
    } - {None}
    option = stated.pop() if len(stated) == 1 else None
    if option is None or not has_same_quantities(" ".join(sentences), options[option]):
        return None
    is_only = len(sentences) == 1 or all(weigh(sentence, meanings).keys() <= {option} for sentence in sentences)
    return option if is_only else None


def _read_conclusion(text: str, sentences: list[str], options: Sequence[str]) -> int | None:
    """The option of the last sentence that has evidence for one, if it is a conclusion."""
    meanings = option_meanings(tuple(options))
    is_denying = False
    for place, sentence in enumerate(reversed(sentences[-MAX_SENTENCES:])):
        if place == 0 and has_sign(text) and len(_MAPPED.findall(text)) > 1:
            return None
        scores = weigh(sentence, meanings)
        if len(scores) > 1:
            return named_first(sentence, meanings) if len(sentences) == 1 else None
        if scores and len(sentences) > 1 and is_fact(sentence, lambda text: weigh(text, meanings)):
            is_denying = True
            continue
        if scores:
            option = next(iter(scores))
            is_named = len(sentences) == 1 and named_first(sentence, meanings) == option
            if not is_named and _HAS_SIGN.search(sentence) and (last := _NAMED_LAST.search(sentence)):
                is_named = option in weigh(last[1], meanings)
            is_long = len(text) > MIN_REASONED
            if not has_same_quantities(sentence, options[option]):
                return None
            if len(sentences) == 1 and (said := _PROPERTY.match(sentence)) and option in weigh(said["head"], meanings):
                return None
            is_named = is_named or _is_conclusion(sentence, len(sentences), is_denying or place > 0, is_long)
            return option if is_named else None
        if _DECIDES.search(sentence):
            return None  # a conclusion in words that are not known
        is_denying = is_denying or bool(weigh(sentence, meanings, is_whole_sentence=True))
    return named_first(sentences[0], meanings) if not is_denying else None


def _has_other_letter(text: str, options: Sequence[str]) -> bool:
    """Whether an option's text has another one's letter before it: "D. Emphysema"."""
    return any(
        text[start - 3 : start - 2] in LETTERS[: len(options)].replace(LETTERS[place], "")
        for place, option in enumerate(options)
        if (start := text.find(option)) > 2
        and text[start - 2 : start] in (". ", ") ", ": ")
        and not text[: start - 3][-1:].isalpha()  # "OA. Psoriatic arthritis ..."
    )


def _is_conclusion(sentence: str, count: int, needs_words: bool, is_long: bool) -> bool:
    """Whether a sentence speaks of the case, or follows reasons."""
    if (DISTANT_WORDS if count == 1 else _NOT_ANSWER).search(sentence):
        return False
    if _CONCLUDES.search(sentence):
        return True
    return (
        count > 1
        and not needs_words
        and ((count > 2 and is_long) or VERB.search(sentence) is None)
        and not _DEFINES.match(sentence)
    )
