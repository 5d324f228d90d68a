# ruff: noqa: E501 (patterns)
"""How much a sentence says for each option: its clauses without those that deny, suppose, compare and report.

What is left must have words, or meanings (meanings.py), that one option has and no other.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from wardround.marking.parser.conclusions.meanings import (
    MAX_KEPT_TEXTS,
    NUMBERED,
    OptionMeanings,
    may_decide,
    meanings_of,
    roots_of,
)
from wardround.marking.parser.option_tokens import CONTRASTS, WORDS, stem
from wardround.marking.parser.words.word_search import WordSearch

MIN_EVIDENCE = 1.0
MIN_OWN_WORDS = 3
MIN_COVERED = 0.3  # of the meanings of an option

_COMMON = frozenset(
    stem(word)
    for word in [
        "case",
        "picture",
        "image",
        "patient",
        "finding",
        "result",
        "test",
        "sign",
        "normal",
        "positive",
        "study",
        "feature",
        "clinical",
        "time",
        "age",
        "good",
        "well",
        "use",
        "rate",
        "control",
        "level",
        "line",
        "view",
        "history",
        "course",
        "present",
        "show",
        "seen",
        "first",
        "second",
        "last",
        "only",
        "other",
        "fit",
        "clear",
        "high",
        "low",
        "small",
        "large",
        "single",
        "multiple",
        "common",
        "classic",
        "type",
        "area",
        "wall",
        "part",
        "body",
        "region",
        "increase",
        "decrease",
        "change",
        "give",
        "start",
        "need",
        "care",
        "hour",
        "day",
        "week",
        "month",
        "year",
        "child",
        "woman",
        "man",
        "adult",
        "pain",
    ]
)
_CLAUSE = re.compile(
    r"[,;:–—]\s|[,;:]|\s[-–—]\s|\b(?=but |although |though |while |whereas |because |since |unlike |rather than |instead of"
    r" |even though |despite |which |as |not |and not |if |unless |except )",
    re.I,
)
_AUXILIARY = re.compile(r"\b(?:does|do|did|is|are|was|were|will|would|can|could|should|must|has|have|may|might) \Z")
REFUTED = WordSearch(
    r"\b(?:not|no|never|neither|nor|cannot|without|none|nothing|nobody|absent|absence|lack(?:s|ing|ed)?|unlikely|improbable|implausible"
    r"|exclud\w+|rul(?:e|es|ed|ing) (?:\w+ )?out|against|unlike|rather than|instead(?: of)?|less (?:likely|probable)"
    r"|than|except|could|might|may|if|unless|whether|had|were|although|though|while|whereas|despite|even"
    r"|histor(?:y|ies)|previous(?:ly)?|earlier|initial(?:ly)?|at first|first (?:thought|impression)|mimic\w*|confus\w+|tempt\w+"
    r"|misconception|many|students?|textbooks?|guidelines?|referral|referr\w+|wrote|letter|mention\w*|colleagues?|ignor\w+|reserv\w+"
    r"|later|alternative|consider\w*|differential|risk of|wait|(?:is|are|be|was|goes|go|left|keep\w*|leav\w+) out|(?:rul|cross)\w+ (?:\w+ )?out|discard\w*|eliminat\w+|(?:is|are|was|were|stayed|remains?|tests?) negative|also|too(?! much| little)|spared?|intact|normal"
    r"|miss(?:ed)?|between|other than|others?(?! words)|contraindicated|inferior to|second[ -](?:choice|line|best)|wrong|incorrect|false(?![ -](?:positive|negative)s?\b(?! rate))|redundant|useless|harms?|harmful|worse|avoid\w*"
    r"|worr(?:y|ied|ies|ying)|forget|doubt\w*|can go(?! home)|(?:is|are|be) lost|away from|mistake|anything but|all but|ni|next best|have (?:said|chosen|called|thought|worried|picked)|\w{3,}rait|w[äa]re|ser[íi]a|drop(?:s|ped)?|aside|opposite|instead|typically|usually|generally|tends?|often|always|commonly)\b"
    r"|n't\b|\?|\b(?:nicht|kein\w*|ne |pas|non|n[ãa]o|sin|sans|senza|ohne|aber)\b|\bне\b|\b(?:невер|неправ|исключ|маловер)\w+|[不没無非未]|ない|ません|아니|않|없"
)
WOULD = WordSearch(r"\bwould\b")
MEANT_WOULD = WordSearch(
    r"\b(?:i|we|one) would\b|\b(?:first|best|next|ideal|safest)\b[^,;]*\bwould be|\bi'd\b|\bwould (?:be (?:the|my|our|best|most|appropriate|indicated|reasonable|suitable|preferred|right|correct|ideal)|benefit|do\b|suffice|fit|explain)"
)
SUPPOSES = re.compile(
    r"\W*(?:if|were|had|should|could|may|might|without|si|wenn|falls|если|when|to (?:choose|diagnose))\b(?:(?!\b(?:but|here|however|as it is)\b).)*",
    re.I,
)
_SO = re.compile(
    r"(?<=\w)(?:[,;:]| [-–—]|,? and) (?:so(?! (?:that|much|many|is|are|does|far|called))|hence|thus|therefore|also|donc|daher|deshalb|поэтому)(?! (?:that|the \w+ (?:is|are) (?:not|normal)))\b"
)
_IN_IDIOMS = ("nation", "lusion", "if ", "in other words", "lacking", "missing", "doubt", "nothing ", "none other")
_IDIOM = re.compile(
    r"\b(?:by |through )?(?:an? |the )?(?:process of )?(?:elimination|exclusion)(?= (?:leaves|we|i|gives|leads|it)\b|,)|\bif (?:pressed|pushed|forced|i had to \w+|i must \w+|i have to \w+|made to choose)\b,?|\bin other words\b|\A\W*what(?:'s| is) (?:lacking|missing)\b|\b(?:there is |there's )?no doubt\b"
    r"|\bnothing (?:but|else than|other than)\b|\bnone other than\b",
    re.I,
)
_PRONOUN = re.compile(r"\bI(?=[' ][a-z])")


def without_idioms(sentence: str) -> str:
    """A sentence without idioms that deny and suppose nothing: "by exclusion", "no doubt"."""
    lower = sentence.lower()
    return _IDIOM.sub(" ", sentence) if any(map(lower.__contains__, _IN_IDIOMS)) else sentence


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence that deny, suppose, compare and report nothing."""
    kept = []
    sentence = without_idioms(sentence)
    *_, marker = [None, *_SO.finditer(sentence)]
    sentence = sentence[marker.end() :] if marker else sentence
    sentence = SUPPOSES.sub("", sentence, count=1) if SUPPOSES.match(sentence) else sentence
    pieces = _CLAUSE.split(sentence)
    for place, clause in enumerate(pieces):
        is_denied = place + 1 < len(pieces) and pieces[place + 1].startswith("not ") and _AUXILIARY.search(clause)
        is_denied = is_denied or (place > 0 and clause.startswith("as ") and REFUTED.search(pieces[place - 1]))
        if not clause or is_denied or REFUTED.search(clause):
            continue  # "asthma does | not fit"; "not report this | as pneumonia"
        if WOULD.search(clause) and not MEANT_WOULD.search(clause):
            continue
        kept.append(clause)
    return kept


@lru_cache(maxsize=MAX_KEPT_TEXTS)
def weigh(sentence: str, meanings: OptionMeanings, is_whole_sentence: bool = False) -> Mapping[int, float]:
    """The options that a sentence has evidence for, with its weight; `is_whole_sentence`: also what it denies."""
    if not may_decide(sentence, meanings):
        return {}
    scores: dict[int, float] = {}
    opposed = 0.0  # of another side or course than is said
    clauses = [sentence] if is_whole_sentence else clauses_of(sentence)
    if not any(may_decide(clause, meanings) for clause in clauses):
        return {}
    words = frozenset().union(*(meanings_of(_without_pronoun(clause), meanings) for clause in clauses))
    for option, (telling, own) in enumerate(zip(meanings.telling, meanings.all, strict=True)):
        weight = sum(_weight(word) for word in words & telling)
        is_all = _is_all_said(option, words, meanings)
        if not is_all and weight < MIN_EVIDENCE:
            continue
        is_covered = _covers(words, own) or not words.isdisjoint(meanings.names[option])
        if not is_all and not is_covered:
            continue
        if is_whole_sentence or not contradicts(words, own):
            scores[option] = weight + is_all
        elif weight >= MIN_EVIDENCE:
            opposed = max(opposed, weight)
    if opposed and all(score <= opposed for score in scores.values()):
        return {}  # "right ventricle" if there is a left one and a right atrium
    whole = [option for option in scores if _is_all_said(option, words, meanings)]
    if len(scores) > 1 and len(whole) == 1:
        others = max(score for option, score in scores.items() if option != whole[0])
        return {whole[0]: scores[whole[0]]} if others < scores[whole[0]] / 2 else scores
    return scores


def _without_pronoun(clause: str) -> str:
    return _PRONOUN.sub("", clause) if "I" in clause else clause


def _covers(words: frozenset[str], own: frozenset[str]) -> bool:
    """Whether enough of an option is said: of three words or more, not only one that others may share."""
    said = own & words
    kinds = sum(word[0] == "<" for word in own)  # a drug may belong to several: they count as one
    return len(said) >= MIN_COVERED * (len(own) - max(0, kinds - 1)) and (
        len(said) > 1 or sum(word[0] not in "~=<" for word in own) < MIN_OWN_WORDS
    )


def _is_all_said(option: int, words: frozenset[str], meanings: OptionMeanings) -> bool:
    """Whether words have all of an option, and no other option has all of it too."""
    content = meanings.content[option]
    return bool(content) and (content <= words or all(word in words or _is_meant(word, words) for word in content))


def _is_meant(word: str, words: frozenset[str]) -> bool:
    """Whether all parts of a word are said: "low serum potassium" is "hypokalemia"."""
    roots = roots_of(word) if word[0] not in "~=<" else ()
    return len(roots) > 1 and words.issuperset(roots)


def _weight(meaning: str) -> float:
    if meaning in _COMMON or meaning in WORDS["vague"] or meaning in WORDS["polarity"] or meaning in WORDS["added"]:
        return 0.0
    if meaning[0] in "=<":
        return 1.0
    return 0.5 if meaning[0] == "~" or len(meaning) < 4 else 1.0


def contradicts(words: frozenset[str], own: frozenset[str]) -> bool:
    """Whether the words have another side, course, direction or type than the option."""
    for meaning in own:
        if numbered := NUMBERED.fullmatch(meaning):
            others = {word for word in words if word.startswith(numbered[1]) and NUMBERED.fullmatch(word)}
            if others and meaning not in others:
                return True
    for contrast in (*CONTRASTS, frozenset(("~up", "~down"))):
        if own & contrast and words & contrast and not own & contrast & words:
            return True
    return False
