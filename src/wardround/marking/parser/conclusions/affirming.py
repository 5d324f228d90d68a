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
    OptionMeanings,
    may_decide,
    may_mean,
    meanings_of,
    option_meanings,
    phrases_of,
    roots_of,
)
from wardround.marking.parser.conclusions.measuring import read_measured
from wardround.marking.parser.conclusions.naming import read_names
from wardround.marking.parser.conclusions.standing import ENDORSED
from wardround.marking.parser.conclusions.stating import is_fact, read_absence, read_all_or_none, read_stated
from wardround.marking.parser.conclusions.weighing import (
    MIN_EVIDENCE,
    REFUTED,
    SUPPOSES,
    clauses_of,
    contradicts,
    weigh,
    without_idioms,
)
from wardround.marking.parser.loose import has_same_quantities, read_part
from wardround.marking.parser.option_text import folded_words, option_forms
from wardround.marking.parser.option_tokens import WORDS, option_tokens, stems_of
from wardround.marking.parser.words.word_search import WordSearch

MAX_SENTENCES = 3  # from the end
MAX_SENTENCE = 500
MAX_NAME_WORDS = 6  # of another name of an option
MAX_FOCUS_WORDS = 9  # after a verb
MIN_REASONED = 120  # characters of a reply with reasons
MAX_PREFERRING = 240  # characters of a sentence that prefers a letter to others
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
_VERB = WordSearch(
    r"\b(?:is|are|was|were|has|have|had|can|do|does|did|will|shows?|causes?|occurs?|affects?|treats?|includes?|requires?|suggests?|indicates?|supports?|means?|gives?|needs?|looks?|makes?|explains?|comes?|presents?|points?|\w+(?:es|ed))\b"
)
_DISTANT_WORDS = WordSearch(
    r"\b(?:patients|least|worst|weakest|poorest|popular|distractor|users?|you|asked|format|e\.g|for example|example|compare|reply|respond"
    r"|father|mother|brother|sister|family|recall|features of|treat as|treated as|worked up|(?:done|used|ordered|made) to look for|diagnos(?:e|ing)|after|before|allergic|nurses|compared|missing from"
    r"|doctor|physician|possible|possibly|perhaps|maybe|popular|trap|instruct\w+|protocol|says?|prefer\w*|used to|merely|rarely)\b"
)
_NOT_ANSWER = WordSearch(
    r"\b(?:least|worst|weakest|poorest|popular|distractor|users?|e\.g|for example|father|mother|brother|sister|family|recall"
    r"|possible|possibly|perhaps|maybe|trap|merely|says|rarely|quick and cheap|acceptable|kidding|step \d)\b"
)
_DEFINES = re.compile(
    r"\W*(?:\w+ ){1,4}?(?:is|are) (?:an?|one of|the (?:only|largest|main|primary)|used|found|known|located|responsible|composed|produced)\b",
    re.I,
)
_LETTER = re.compile(
    r"(?<![\w'./-])[(\[]?([A-J])[)\]]?(?![\w'/+-]|\.\w|\. [a-z]|:| \d| [a-z]+\b(?<! is)(?<! was)(?<! it)(?<! as)(?<! on)(?<! in)(?<! here)(?<! takes)(?<! combines)(?<! reflects)(?<! lets))"
)
_SAID_OF_LETTER = re.compile(r"\W*(?:[Oo]ption |[Cc]hoice )?[(\[]?(?P<letter>[A-J])[)\]]? (?:is|was) ")
_PREFERS = re.compile(
    r"\b(?:fits?|favou?rs?|supports?|matches|suits?|prefer|choose|pick|select|go with|opt for|settle on|answer is|points? to"
    r"|leaves(?: only)?|means|suggests?|indicates?|speaks? for|in favou?r of|consistent with|this is|it is) (?:option |answer )?"
    r"\(?([A-J])\)?(?: (?:best|better|more closely|most closely|here))?\W*\Z"
)
_NOT_LETTER = re.compile(
    r"\b(?:type|class|grade|stage|hepatitis|vitamin|factor|group|influenza|protein|kerley|figure|plan|stanford|t|b|nyha|child"
    r"|hemophilia|haemophilia|lead|panel|image|point|weber|subtype|segment|zone|level|part|napsin|category|grade)[ :-]*[(\[]?\Z",
    re.I,
)
_ANY_LETTER = re.compile(
    r"(?<![\w'-])(?:A(?! [a-z])|A(?= (?:and|or|is|nor|was|versus|vs|over|but|n[iy])\b)|[B-HJ])(?![\w'-])"
)
_LETTERED_OPTION = re.compile(r"(?<![\w'])[A-J](?![\w'])")
_MAPPED = re.compile(r"\s(?:=|→|⇒|[-=]+>)\s")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL_WORD = re.compile(r"\b(?:first|second|third|fourth|fifth|last|1st|2nd|3rd)\b", re.I)
_NAMES_A_PLACE = re.compile(r"\b[A-J]\b|\b(?i:the (?:first|second|third|fourth|fifth|last)) ")
_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|fifth|last) (?:option|choice|mechanism|statement|answer|item|group|diagnosis|entry|alternative)\b"
    r"(?! (?:is|was) (?:wrong|not|incorrect))",
    re.I,
)
_YES_OR_NO = frozenset(("yes", "no", "present", "absent"))
_PRESENCE = {"yes": True, "present": True, "no": False, "absent": False}
# a letter, not the article or the pronoun
_LONE_LETTER = re.compile(
    r"(?<![\w'])(?:[B-HJ]|A(?! (?!obviously|clearly|here|please|remains|wins|applies|stands|is |it |the |would |suffices)[a-z]))(?![\w'])"
)
_NO_BARE_NUMBER = re.compile(r"[^\W\d]|%")
_LONG_WORD = re.compile(r"[A-Za-z]{3}")
_PRESENT = re.compile(
    r"\A\W*(?:s[íi]|oui|ja|sim|да|tak|evet|yes|yep|yeah|是|有|はい|네)(?=\W)|\b(?:is|are) (?:indeed |clearly |definitely )?(?:present|visible|seen|evident)\b"
    r"(?<!not visible)|\A(?:so )?there(?: is|'s| are)(?: clearly| definitely| indeed| obviously)? (?!no\b|not\b)",
    re.I,
)
_ABSENT = re.compile(
    r"\A\W*(?:nein|non|não|нет|nej|nee|nie|hayır|nope|nah|没有|いいえ|아니|아니요|không)(?=\W)|\A\W*not an? |\A\W*no (?!clear|obvious|definite)(?:\w+ ){1,6}(?:is|are|was|were)? ?(?:present|visible|seen|evident|identified|detected)\b|\b(?:don't|do not|cannot|can't|didn't) (?:see|find|identify|detect) (?:any|an?)\b"
    r"|\bno (?!clear|obvious|definite)(?:\w+ ){1,5}(?:is|are|was|were)? ?(?:present|visible|seen|evident|identified|detected)\b|\A(?:so )?there (?:is|are) no\b(?! (?:clear|obvious|definite))"
    r"|\bno (?:evidence|signs?) of\b|\b(?:is|are) absent\b|\b(?:is|are) not (?:widened|enlarged|dilated|thickened|present|visible|fractured|displaced|elevated|broken|torn|increased)\b|\A(?:it|this) does(?: not|n't) \w+[.!]?\Z",
    re.I,
)
# "There is no pneumothorax. Lung markings reach the periphery.": what else is said agrees
_FINDS_NONE = re.compile(
    r"\W*there (?:is|are) no (?!(?:doubt|question|reason|need|way|prior|previous|history|change|contrast|evidence against|longer|sign against)\b)",
    re.I,
)
_REASSURES = re.compile(
    r"\b(?:normal|intact|preserved|clear|extend|reach|sharp|smooth|regular|unremarkable|symmetric(?:al)?|maintained|well[- ]aligned|continuous|midline)\b",
    re.I,
)
_FINDS_FAULT = re.compile(
    r"\b(?:but|however|although|though|yet|except|abnormal\w*|irregular|broken|widened|enlarged|dilated|displaced|fractured?(?= is| line)|lucen\w+|not|loss|lost|older?|previous\w*)\b",
    re.I,
)
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
_ABBREVIATED = re.compile(r"[A-Z][A-Za-z]?[A-Z]{1,4}s?")
_GENERAL_NOUNS = frozenset(
    ("disease", "obstruction", "stenosis", "impairment", "change", "lesion", "finding", "regurgitation", "hypertension")
)
_FROM_TO = re.compile(r"\bfrom (?:option |answer )?\(?[A-J]\)? to (?:option |answer )?\(?([A-J])\)?(?!\w)")
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
_HEAD_END = re.compile(r"\s*[(,;:–—]|\s-\s|\s(?=(?:because|since|as|due|given|with|for|in|under|until)\b)")
_DECIDES = WordSearch(
    r"\A\W*(?:so|thus|hence|therefore|accordingly|overall|taken together|in (?:summary|conclusion|short|other words)|this is|that is|that's|it's|it is"
    r"|these are|what |we (?:have|are)|as it is|conclusion|answer|the (?:correct |best |right )?(?:answer|statement|diagnosis|condition|mechanism|drug|vessel|culprit))\b"
    r"|, (?:so|hence|thus|therefore)\b"
)
_STEP = re.compile(r"\W*(?:first|next|then)\b", re.I)
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
    option = _read_presences(sentences, options) if is_yes_or_no else _read_sentences(text, sentences, options)
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
    outer = set(_ANY_LETTER.findall(_IN_BRACKETS.sub("", text)))
    if read_placed_letter(text, options) == option:
        return False
    return bool(outer) and LETTERS[option] not in outer


def _read_sentences(text: str, sentences: list[str], options: Sequence[str]) -> int | None:
    """The option of the last sentence that has evidence for one, if it is a conclusion."""
    meanings = option_meanings(tuple(options))
    if _LONE_LETTER.search(text) and (option := read_placed_letter(text, options)) is not None:
        return option
    if not _says_of_letter(sentences) and (option := _named_letter(sentences[-1], options)) is not None:
        return option
    option = read_names(
        sentences,
        lambda sentence: may_decide(sentence, meanings),
        lambda words, is_bare: _named(words, is_bare, meanings, options) if may_decide(words, meanings) else None,
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
    if len(sentences) > MAX_FOCUSED or _ANY_LETTER.search(whole := " ".join(sentences)) or _SEVERAL_FIT.search(whole):
        return None
    option = read_focus(
        sentences,
        lambda sentence: may_decide(sentence, meanings),
        lambda sentence: weigh(sentence, meanings),
        lambda words: _named_in_focus(words, meanings, options) if may_decide(words, meanings) else None,
        lambda words: (
            _named(words, True, meanings, options)
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
        read_stated(sentence, lambda text: weigh(text, meanings), lambda text: _whole(text, options))
        for sentence in sentences
    } - {None}
    option = stated.pop() if len(stated) == 1 else None
    if option is None or not has_same_quantities(" ".join(sentences), options[option]):
        return None
    is_only = len(sentences) == 1 or all(weigh(sentence, meanings).keys() <= {option} for sentence in sentences)
    return option if is_only else None


def _whole(text: str, options: Sequence[str]) -> int | None:
    """The option that is a whole text, or a text with a general noun after it: "severe obstruction"."""
    forms = option_forms(options)
    words = folded_words(text)
    option = forms.options.get(words)
    if option is None and len(words) > 1 and words[-1] in _GENERAL_NOUNS:
        option = forms.options.get(words[:-1])
    return option


def _read_conclusion(text: str, sentences: list[str], options: Sequence[str]) -> int | None:
    """The option of the last sentence that has evidence for one, if it is a conclusion."""
    meanings = option_meanings(tuple(options))
    is_denying = False
    for place, sentence in enumerate(reversed(sentences[-MAX_SENTENCES:])):
        if place == 0 and has_sign(text) and len(_MAPPED.findall(text)) > 1:
            return None
        scores = weigh(sentence, meanings)
        if len(scores) > 1:
            return _named_first(sentence, meanings) if len(sentences) == 1 else None
        if scores and len(sentences) > 1 and is_fact(sentence, lambda text: weigh(text, meanings)):
            is_denying = True
            continue
        if scores:
            option = next(iter(scores))
            is_named = len(sentences) == 1 and _named_first(sentence, meanings) == option
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
    return _named_first(sentences[0], meanings) if not is_denying else None


def _has_other_letter(text: str, options: Sequence[str]) -> bool:
    """Whether an option's text has another one's letter before it: "D. Emphysema"."""
    return any(
        text[start - 3 : start - 2] in LETTERS[: len(options)].replace(LETTERS[place], "")
        for place, option in enumerate(options)
        if (start := text.find(option)) > 2
        and text[start - 2 : start] in (". ", ") ", ": ")
        and not text[: start - 3][-1:].isalpha()  # "OA. Psoriatic arthritis ..."
    )


def _read_presences(sentences: list[str], options: Sequence[str]) -> int | None:
    """Yes or no, of the last sentence, or of the first if all others only say that what is seen is normal."""
    option = _read_presence(sentences[-1], options)
    if option is not None or len(sentences) == 1 or len(sentences) > MAX_SENTENCES:
        return option
    first, *others = sentences
    if not _FINDS_NONE.match(first) or not all(_REASSURES.search(other) for other in others):
        return None
    return None if any(map(_FINDS_FAULT.search, sentences)) else _read_presence(first, options)


def _read_presence(sentence: str, options: Sequence[str]) -> int | None:
    """Yes or no, if a sentence says that something is or is not there."""
    if _DISTANT_WORDS.search(sentence) or SUPPOSES.match(sentence):
        return None
    is_there, is_absent = _PRESENT.search(sentence) is not None, _ABSENT.search(sentence) is not None
    if is_there == is_absent:
        return None
    return next((place for place, option in enumerate(options) if _PRESENCE.get(option.lower()) == is_there), None)


def _named_first(sentence: str, meanings: OptionMeanings) -> int | None:
    """The option that a sentence opens with, in words that say nothing else: "PTU (first trimester)"."""
    head = _HEAD_END.split(sentence, maxsplit=1)[0].strip(" .!\"'")
    words = head.split()
    if (
        not words
        or len(words) > MAX_NAME_WORDS
        or _VERB.search(head)
        or _DISTANT_WORDS.search(head)
        or REFUTED.search(head)
    ):
        return None
    scores = weigh(head, meanings)
    if len(scores) != 1:
        return None
    option = next(iter(scores))
    said, own = meanings_of(head, meanings), meanings.all[option]
    if said & WORDS["polarity"] != own & WORDS["polarity"] or weigh(sentence, meanings, True).keys() - {option}:
        return None
    return option if _says_the_same(head, option, meanings) else None


def _named(words: str, is_bare: bool, meanings: OptionMeanings, options: Sequence[str]) -> int | None:
    """The option that a few words name; `is_bare`: they must say all of it, because no word says that it is chosen."""
    if (option := _same_stems(words, options)) is not None:
        return option
    if is_bare:
        return _named_first(words, meanings)
    if len(words.split()) > MAX_NAME_WORDS or _VERB.search(words) or _DISTANT_WORDS.search(words):
        return None
    scores = {option: weight for option, weight in weigh(words, meanings).items() if weight >= MIN_EVIDENCE}
    if scores or REFUTED.search(words) or not _LONG_WORD.search(words):
        return next(iter(scores)) if len(scores) == 1 else None
    return read_part(words, folded_words(words), options)


def _named_in_focus(words: str, meanings: OptionMeanings, options: Sequence[str]) -> int | None:
    """The option that the words after a verb name; participles are no verbs there: "a thick-walled cavity"."""
    if len(words.split()) > MAX_FOCUS_WORDS or _DISTANT_WORDS.search(words):
        return None
    scores = {option: weight for option, weight in weigh(words, meanings).items() if weight >= MIN_EVIDENCE}
    return next(iter(scores)) if len(scores) == 1 else _named(words, False, meanings, options)


def _same_stems(words: str, options: Sequence[str]) -> int | None:
    """The only option with the same words, long names written out: "HEV" is "Hepatitis E"."""
    tokens = option_tokens(tuple(options))
    said = frozenset(stems_of(words, tokens.initials)) - WORDS["idle"]
    if said <= WORDS["polarity"] | WORDS["vague"]:
        return None
    named = [place for place, stems in enumerate(tokens.stems) if stems - WORDS["idle"] == said]
    return named[0] if len(named) == 1 else None


def _says_the_same(name: str, option: int, meanings: OptionMeanings) -> bool:
    """Whether a name says all that an option says, and no more."""
    words = stems_of(name, meanings.initials)
    if len(words) == 1 and words[0] == name.lower() and _ABBREVIATED.fullmatch(name):
        return True  # "PTU"
    said, own = meanings_of(name, meanings), meanings.all[option]
    covered: set[int] = set()
    said_otherwise: set[int] = set()
    for start, end, meaning in phrases_of(words):
        if meaning in meanings.names[option]:
            covered.update(range(start, end))
        elif meaning in own:
            said_otherwise.update(range(start, end))
    rest = [word for place, word in enumerate(words) if place not in covered | said_otherwise]
    allowed = own | WORDS["idle"] | WORDS["added"] | WORDS["vague"]
    if any(word not in allowed and not (roots_of(word) and own.issuperset(roots_of(word))) for word in rest):
        return False
    content = {word for word in own if word[0] not in "~=<"} - WORDS["vague"] - WORDS["joining"]
    return bool(covered) or (
        option not in meanings.contained
        and all(word in said or (roots_of(word) and said.issuperset(roots_of(word))) for word in content)
    )


def _is_conclusion(sentence: str, count: int, needs_words: bool, is_long: bool) -> bool:
    """Whether a sentence speaks of the case, or follows reasons."""
    if (_DISTANT_WORDS if count == 1 else _NOT_ANSWER).search(sentence):
        return False
    if _CONCLUDES.search(sentence):
        return True
    return (
        count > 1
        and not needs_words
        and ((count > 2 and is_long) or _VERB.search(sentence) is None)
        and not _DEFINES.match(sentence)
    )


def _named_letter(sentence: str, options: Sequence[str]) -> int | None:
    """The only letter that a sentence affirms."""
    if changed := _FROM_TO.search(sentence):
        return _place(changed[1], options)
    if (ordinal := _ORDINAL.search(sentence)) and not any(map(_ORDINAL_WORD.search, options)):
        is_clear = len(_ORDINAL_WORD.findall(sentence)) == 1 and not REFUTED.search(sentence[: ordinal.start()])
        is_clear = is_clear and not REFUTED.search(re.split(r"[,;]", sentence[ordinal.end() :])[0])
        place = len(options) - 1 if ordinal[1].lower() == "last" else _ORDINALS.index(ordinal[1].lower())
        return place if is_clear and place < len(options) and not _DISTANT_WORDS.search(sentence) else None
    letters = list(_LETTER.finditer(sentence := without_idioms(sentence).strip()))
    if not letters or _STEP.match(sentence) or sentence[0] == "(" or _DISTANT_WORDS.search(sentence):
        return None
    if len(set(_ANY_LETTER.findall(sentence))) > 1:
        return _preferred_letter(sentence, options)
    if any(map(_LETTERED_OPTION.search, options)):
        return None  # "luminal B"
    if any(_NOT_LETTER.search(sentence[: letter.start()]) for letter in letters):
        return None
    named: set[str] = set()
    for clause in clauses_of(sentence):
        for letter in _LETTER.finditer(clause):
            if letter[1] != "A" or letter.start() or not clause[letter.end() :].strip(" ."):
                named.add(letter[1])
    around = (
        re.split(r"[,;]", sentence[: letters[0].start()].rstrip("( "))[-1]
        + re.split(r"[,;]", sentence[letters[-1].end() :])[0]
    )
    named.discard("I" if len(options) < len("ABCDEFGHI") else "")  # the pronoun in a reply of capitals
    return None if len(named) != 1 or REFUTED.search(around) else _place(named.pop(), options)


def _says_of_letter(sentences: list[str]) -> bool:
    """Whether the last sentence only says something of a letter, after one with another: "B is milder."."""
    said = _SAID_OF_LETTER.match(sentences[-1])
    if said is None or ENDORSED.search(sentences[-1][said.end("letter") :]):
        return False
    return any(set(_ANY_LETTER.findall(sentence)) - {said["letter"]} for sentence in sentences[:-1])


def _preferred_letter(sentence: str, options: Sequence[str]) -> int | None:
    """The only letter outside of clauses that deny and suppose: "although A is more frequent, the picture fits B"."""
    clauses = clauses_of(sentence)
    if any(map(_LETTERED_OPTION.search, options)) or not clauses or len(sentence) > MAX_PREFERRING:
        return None
    named = {letter for clause in clauses for letter in _ANY_LETTER.findall(clause)}
    prefers = _PREFERS.search(clauses[-1])
    return _place(prefers[1], options) if prefers and named == {prefers[1]} else None


def _place(letter: str, options: Sequence[str]) -> int | None:
    place = LETTERS.index(letter)
    return place if place < len(options) else None
