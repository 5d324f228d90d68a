"""Options named by an abbreviation or some of their words, where a reply names its answer in no other way.

A name must tell one option from all others, and say nothing that the option does not: "lymphoma" names "Primary CNS
lymphoma" if no other option is one, but "Hodgkin lymphoma" does not. Words of its own are allowed only beside all that
tells an option apart: "gallstone pancreatitis" names "Acute pancreatitis" if no other is a pancreatitis.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from wardround.marking.parser import phrases
from wardround.marking.parser.option_text import fold_word
from wardround.marking.parser.option_tokens import (
    CONTRASTS,
    WORDS,
    OptionTokens,
    option_tokens,
    sound_of,
    stem,
    stems_of,
    stems_of_unspaced,
)

MAX_PHRASE = 90  # characters of a phrase that names an option
MAX_WORDS = 10  # of a phrase that names an option
MAX_OWN_WORDS = 3  # that an option lacks
MAX_COVERING = 140  # characters of a sentence that may have most words of an option
MIN_COVERED = 0.6  # of the words of an option
MAX_SENTENCE = 600  # characters of a sentence, from its end
MAX_SENTENCES = 12  # of a longer reply the first and the last are read

WORDS_OF_DOUBT = (WORDS["polarity"], WORDS["sentence"], WORDS["joining"])

# its first character comes first: the search skips all others
SENTENCE_END = re.compile(r"\s(?:(?<=\n)\n*|(?<=[.!?;]\s)(?<!\b[a-zA-Z]\.\s)(?<!\d\.\s)(?<!i\.e\.\s)\s*)")
_END = re.compile(r"[,;:()\[\]!?|]|(?<!\b[a-zA-Z])\.(?:\s|\Z)|\s[-–—]\s")
_CONNECTIVE = re.compile(
    r"\s(?:because|since|as|due|given|without|which|that|is|are|was|would|should|based|rather|instead|over|here|most"
    r"|until|unless|within|(with|and|in|on|by|for|at|from|of))\b"
)
_CONDITION = re.compile(r"\b(?:if|unless|then|depending|depends)\b")
_REASON = re.compile(
    r"[,;]?\s\(?(?:because|since|as|given|due to|based on|rather than|not)\b|\s[-–—]\s|\s?\((?:not|because)\b"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|can|could|may|might|should|would|will|must|causes?|does|do|did|requires?|shows?"
    r"|seems?|appears?|needs?|includes?|interacts?|interferes?)\b"
)
_BEFORE_SIDE = (" on the", " to the")  # "the effusion is on the right" judges nothing
_COMPARED = re.compile(
    r"\b(?:or|tell|distinguish\w*|differentiat\w*|used|guidelines?|recommended|suspected|treat as)\b"
)
_ADVISED_AGAINST = re.compile(r"\W*(?:do not|don't|never|no need)\b")
_QUALIFIED = re.compile(r"(?:(?:an?|the|classic|typical|severe|likely) )+(?=[A-Z]{2,6}\Z)", re.I)
_INDICATED = re.compile(
    r"\s(?:is|are|would be) (?:clearly |strongly )?(?:indicated|needed|required|recommended|warranted|preferred"
    r"|reasonable|advisable"
    r"|the most common (?:organism|cause|pathogen|culprit|source|site))\b"
    r"(?! (?:only )?(?:if|when|unless)\b)"
)
_I_WOULD = re.compile(r"(?:i|we)(?:'d| would| will|'ll| should| must)? (?!am\b|have\b|do\b|can)")
_BRACKETS_LAST = re.compile(r"\s*\([^()]*\)[\s.]*\Z")
_SPECIES = re.compile(r"\b([A-Z])\.? ([a-z]{4,})")
_QUANTITY = re.compile(
    r"((?<!\w)[<>≤≥+−-]?) ?(?<![\w.])(\d+(?:\.\d+)?)(?![\w.]*\d)"
    r" ?(%|(?:mmhg|mg|mcg|µg|kg|g|ml|mm|cm|hu|iu|meq|units?|h|hrs?|hours?|d|days?|wk|weeks?|mo|months?|yr|years?)\b"
    r"(?:/\w+)?)?"
)
_CLASS = re.compile(r"\b(?:type|class|stage|grade|group) ([a-h]|[ivx]+|\d+)\b")
_FREQUENCY = re.compile(r"\b(once|twice|thrice|bid|tid|qid)\b")
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5"}
_UNITS = {"h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "wk": "week", "mo": "month", "yr": "year"}
_DOSE = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:mg|g|mcg|units?|ml)\b(?: single dose)?", re.I)

_CHANGES = {
    stem(fold_word(word)): direction
    for direction, words in (
        ("up", "increased increases increase rise rises up higher elevated raised rising"),
        ("down", "decreased decreases decrease fall falls down lower reduced diminished drops drop reduces declines"),
        ("none", "unchanged same unaffected constant"),
    )
    for word in words.split()
}

_CHANGE_WORDS = frozenset(_CHANGES)
_UNTOLD = frozenset(
    frozenset(stem(fold_word(word)) for word in text.split())
    for text in ("no change", "cannot be determined", "cannot determine", "cannot tell", "variable")
)


def read_part(text: str, folds: tuple[str, ...], options: Sequence[str], is_nameless: bool = False) -> int | None:
    """The option that the reply names by an abbreviation or some of its words; None if it names several.

    `is_nameless`: no option's letter or whole text is in the reply.
    """
    tokens = option_tokens(tuple(options))
    if (change := _read_change(text, folds, tokens)) is not None:
        return change
    if tokens.all_stems.isdisjoint(map(stem, folds)):
        return None
    named = {_named_by(phrase, is_whole, tokens) for phrase, is_whole in _phrases(text, tokens)} - {None}
    option = named.pop() if len(named) == 1 else None
    if is_nameless and not named and option is None:
        option = _covered_option(text, tokens)
    return option if option is None or has_same_quantities(text, options[option]) else None


def has_telling_words(text: str, tokens: OptionTokens) -> bool:
    """Whether a text has a word that an option has too."""
    return not tokens.all_stems.isdisjoint(chain.from_iterable(map(stems_of_unspaced, text.split())))


def _covered_option(text: str, tokens: OptionTokens) -> int | None:
    """The option most of whose words a reply of one sentence has, in any order, if it denies and supposes nothing."""
    lower = text.lower()
    words = stems_of(text, tokens.initials) if len(text) <= MAX_COVERING and not SENTENCE_END.search(text) else ()
    said = frozenset(words)
    named = [option for option, telling in enumerate(tokens.telling) if said & telling - WORDS["idle"] - WORDS["vague"]]
    if not named:  # "afterload is increased": other options have each of its words
        named = [option for option, stems in enumerate(tokens.stems) if stems - WORDS["idle"] <= said]
    if len(named) != 1 or _is_doubtful(lower):
        return None
    stems = tokens.stems[named[0]] - WORDS["idle"] - WORDS["vague"]
    if (words[0] in stems and words[-1] not in stems) or said & WORDS["polarity"] != stems & WORDS["polarity"]:
        return None
    others = frozenset().union(*tokens.stems)
    if any(said & contrast != stems & contrast for contrast in CONTRASTS if others & contrast):
        return None
    covered = stems & said
    return named[0] if len(covered) > 1 and len(covered) >= MIN_COVERED * len(stems) else None


def _is_doubtful(lower: str) -> bool:
    """Whether a sentence asks, denies, doubts, supposes or reports."""
    if "?" in lower or "," in lower or _CONDITION.search(lower) or _COMPARED.search(lower) or not _VERB.search(lower):
        return True
    if phrases.NOT.search(lower) or phrases.DOUBT.search(lower):
        return True
    return phrases.DENIED.search(lower) is not None or phrases.DENIED_AFTER.search(lower) is not None


def _read_change(text: str, folds: tuple[str, ...], tokens: OptionTokens) -> int | None:
    """The option of a short sentence that ends with a change, if all options are changes: "It would fall."."""
    if len(folds) > MAX_WORDS or not all(_is_change(stems) for stems in tokens.stems):
        return None
    changes = [_CHANGES[stem(word)] for word in folds if stem(word) in _CHANGES]
    if len(changes) != 1 or stem(folds[-1]) not in _CHANGES or phrases.NOT.search(text.lower()) or text.endswith("?"):
        return None
    meant = [
        option for option, stems in enumerate(tokens.stems) if {_CHANGES.get(word) for word in stems} == set(changes)
    ]
    return meant[0] if len(meant) == 1 else None


def _is_change(stems: frozenset[str]) -> bool:
    """Whether an option is a change, or says that none can be told."""
    return bool(stems) and (_CHANGE_WORDS.issuperset(stems) or stems in _UNTOLD)


def read_number(text: str, options: Sequence[str]) -> int | None:
    """The option whose only number is the whole text, with its sign and unit: "90%" is "Sensitivity 90%"."""
    said = list(_quantities(text))
    if len(said) != 1 or not _QUANTITY.fullmatch(text.lower().strip(" .")):
        return None
    named = [option for option, name in enumerate(options) if list(_quantities(name)) == said]
    return named[0] if len(named) == 1 else None


def has_same_quantities(text: str, option: str) -> bool:
    """Whether numbers of the option have its sign and unit in the text, and classes and frequencies do not differ."""
    for pattern in (_CLASS, _FREQUENCY):
        said, meant = ({_ROMAN.get(word, word) for word in pattern.findall(where.lower())} for where in (text, option))
        if said and meant and said.isdisjoint(meant):
            return False
    own = set(_quantities(option))
    bare = {(sign, number) for sign, number, _ in own}
    numbers = {number for _, number in bare}
    return all(
        (sign, number, unit) in own or (not unit and (sign, number) in bare)
        for sign, number, unit in _quantities(text)
        if number in numbers
    )


def _quantities(text: str) -> Iterator[tuple[str, str, str]]:
    """Every number with its sign and its unit, which may be empty."""
    for sign, number, unit in _QUANTITY.findall(text.lower()):
        yield sign, number, _UNITS.get(unit, unit.removesuffix("s"))


def _phrases(text: str, tokens: OptionTokens) -> Iterator[tuple[str, bool]]:
    """The phrases that may name the answer, and whether each is all that a sentence says of it.

    In the first and last sentence that is anything; elsewhere only a statement of the answer.
    """
    sentences = [sentence.strip()[-MAX_SENTENCE:] for sentence in SENTENCE_END.split(text) if sentence.strip()]
    if len(sentences) > MAX_SENTENCES:
        sentences = sentences[: MAX_SENTENCES // 2] + sentences[-MAX_SENTENCES // 2 :]
    for sentence in sentences:
        if sentence.endswith("?") or not has_telling_words(sentence, tokens):
            continue
        lower = sentence.lower()
        is_outer = sentence in (sentences[0], sentences[-1])
        if is_outer:
            opening = [
                phrase for phrase in _opening_phrase(sentence, lower, tokens) if has_telling_words(phrase, tokens)
            ]
            if opening and not phrases.DISTANT.search(lower):
                yield from ((part, True) for phrase in opening for part in _cut(phrase, tokens))
        if len(sentences) == 1 and "," in sentence and len(sentence.split()) <= MAX_WORDS and not _VERB.search(lower):
            yield sentence.replace(",", ""), True  # "posterior horn, medial meniscus"
        if len(sentences) == 1 and (indicated := _INDICATED.search(lower)):
            yield sentence[: indicated.start()], True
        for named in (phrases.NAMING if is_outer else phrases.STATING).finditer(lower):
            named_phrase = sentence[named.end() : named.end() + MAX_PHRASE]
            if not has_telling_words(named_phrase, tokens):
                continue  # it names no option
            before, after = lower[: named.end()], lower[named.end() :]
            clause = phrases.CLAUSE.split(before)[-1]
            is_denied = phrases.NOT.search(clause) or phrases.DENIED.search(before) or _is_denied_after(after)
            if not (is_denied or phrases.DOUBT.search(before.rpartition(",")[2]) or _CONDITION.search(lower)):
                yield from ((part, False) for part in _cut(named_phrase, tokens))


def _opening_phrase(sentence: str, lower: str, tokens: OptionTokens) -> Iterator[str]:
    """A sentence that is only a name, or begins with one and a reason or verdict."""
    if _ADVISED_AGAINST.match(lower) or " if " in lower:
        return
    judged = phrases.SAID_OF.search(lower[:MAX_PHRASE])
    if judged and not lower.endswith(_BEFORE_SIDE, 0, judged.start()):
        yield re.split(r"[,;:–—]", sentence[: judged.start()])[-1]
    if opening := _I_WOULD.match(lower):
        sentence, lower = sentence[opening.end() :], lower[opening.end() :]
    reason = _REASON.search(lower[:MAX_PHRASE])
    if reason and not _VERB.search(lower, 0, reason.start()):
        yield sentence[: reason.start()]
    bare = _BRACKETS_LAST.sub("", sentence)
    end = _END.search(bare)
    if _VERB.search(lower) is None and (end is None or _says_little(bare[end.end() :], tokens)):
        yield bare[: end.start()] if end else bare


def _says_little(rest: str, tokens: OptionTokens) -> bool:
    """Whether what follows a name is nothing, or a few words that no option has: "sigmoid, uncomplicated"."""
    words = stems_of(rest, tokens.initials)
    if not words:
        return not rest.strip(" .)]\"'")
    return len(words) <= MAX_OWN_WORDS and tokens.all_stems.union(*WORDS_OF_DOUBT).isdisjoint(words)


def _cut(phrase: str, tokens: OptionTokens) -> Iterator[str]:
    """A phrase up to its end; and up to the next connective, unless more of an option follows."""
    end = _END.search(phrase)
    phrase = phrase[: end.start()] if end else phrase
    yield phrase
    connective = _CONNECTIVE.search(phrase)
    if connective is None:
        return
    if WORDS["polarity"] & set(stems_of(phrase[connective.start() :], tokens.initials)):
        return
    following = stems_of(phrase[connective.end() :], tokens.initials)
    rest, own = frozenset(following), frozenset().union(*tokens.stems)
    if connective[1] and any(rest & contrast and (own & contrast) - rest for contrast in CONTRASTS):
        return  # "a pneumothorax on the left side" is no right-sided one
    if connective[1] is None or all(telling.isdisjoint(following) for telling in tokens.telling):
        yield phrase[: connective.start()]


def _is_denied_after(after: str) -> bool:
    """Whether the clause says that it is not: "appendicitis is unlikely"."""
    end = _END.search(after)
    return phrases.DENIED_AFTER.search(after[: end.start() if end else len(after)]) is not None


def _named_by(phrase: str, is_whole: bool, tokens: OptionTokens) -> int | None:
    """The option that a phrase names."""
    letters = _QUALIFIED.sub("", phrase.strip(" .*\"'"))
    if all(tokens.all_stems.isdisjoint(stems_of_unspaced(word)) for word in phrase.split()):
        return None
    option = tokens.by_initials.get(letters.upper() if is_whole and len(letters) > 2 else letters)
    if option is not None:
        return option
    phrase = _DOSE.sub(lambda dose: dose[0] if dose[1] in tokens.all_stems else " ", phrase)
    phrase = _SPECIES.sub(
        lambda name: f"{tokens.species.get(name[0].replace('.', '').lower(), name[1])} {name[2]}", phrase
    )
    words = tuple(tokens.by_sound.get(sound_of(word), word) for word in stems_of(phrase, tokens.initials))
    said = frozenset(words)
    if not words or len(words) > MAX_WORDS or all(word[-1].isdigit() for word in words):
        return None
    named = [option for option, telling in enumerate(tokens.telling) if said & telling]
    if not named:
        return _subset_option(said, tokens) if not is_whole else _with_a_noun(words, tokens)
    may_trail = is_whole and len(words) <= MAX_OWN_WORDS + 2
    return named[0] if len(named) == 1 and _fits(words, named[0], may_trail, tokens) else None


def _subset_option(said: frozenset[str], tokens: OptionTokens) -> int | None:
    """The only option with all that is said, though each word is in others too: "vitreous detachment"."""
    words = said - WORDS["idle"] - (WORDS["added"] - tokens.all_stems)
    alike = [option for option, stems in enumerate(tokens.stems) if said in (stems, stems - WORDS["vague"])]
    if not alike and len(words - WORDS["vague"]) > 1:
        alike = [option for option, stems in enumerate(tokens.stems) if words <= stems]
        if any(words & contrast for contrast in CONTRASTS):  # "left parietal", if the rest is in all options
            shared = frozenset.intersection(*tokens.stems) | WORDS["idle"] | WORDS["vague"]
            alike = [option for option in alike if tokens.stems[option] - words <= shared]
    if len(alike) != 1 or said & WORDS["polarity"] != tokens.stems[alike[0]] & WORDS["polarity"]:
        return None
    return alike[0]


def _with_a_noun(words: tuple[str, ...], tokens: OptionTokens) -> int | None:
    """The option of a phrase, which may have a noun of its own at its end: "right lower lobe pneumonia"."""
    *name, noun = words
    option = _subset_option(frozenset(words), tokens)
    if option is not None or noun in tokens.all_stems or noun in WORDS["polarity"] | WORDS["sentence"]:
        return option
    return _subset_option(frozenset(name), tokens)


def _fits(words: tuple[str, ...], option: int, may_trail: bool, tokens: OptionTokens) -> bool:
    """Whether words name an option and nothing else."""
    said = frozenset(words)
    stems, telling = tokens.stems[option], tokens.telling[option] - WORDS["idle"]
    is_all_said = telling - WORDS["vague"] - WORDS["added"] <= said
    numbers = {word for word in stems if word[-1].isdigit()}
    if said & numbers and not numbers <= said and not said & telling - numbers - WORDS["vague"]:
        return False  # "10 mm" is not "5-10 mm"
    if said & WORDS["polarity"] != stems & WORDS["polarity"] or (stems & WORDS["joining"] and not is_all_said):
        return False
    own = said - stems - WORDS["idle"] - (WORDS["added"] - tokens.all_stems)
    if not own:
        meant = {word for word in said & telling if len(word) > 1 or word.isdigit()}
        return bool(meant - WORDS["vague"]) or (bool(meant) and len(said - WORDS["idle"]) > 1)
    last = max(place for place, word in enumerate(words) if word in stems)
    trailing = own.intersection(words[last + 1 :])
    if not is_all_said or own & (tokens.all_stems | WORDS["sentence"]) or len(trailing) > may_trail:
        return False
    return _may_be_added(own, tokens)


def _may_be_added(own: frozenset[str], tokens: OptionTokens) -> bool:
    """Whether words that an option lacks only say more of it: few, and in contrast to no option."""
    if len(own) > MAX_OWN_WORDS:
        return False
    all_words = frozenset().union(*tokens.stems)
    if any(own & contrast and all_words & contrast for contrast in CONTRASTS):
        return False
    return not any(word.lstrip("-<>≤≥")[0].isdigit() for word in own)
