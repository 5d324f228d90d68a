"""Options named by an abbreviation or some of their words, where a reply names its answer in no other way.

A name must tell one option from all others, and say nothing that the option does not: "lymphoma" names "Primary CNS
lymphoma" if no other option is one, but "Hodgkin lymphoma" does not. Words of its own are allowed only beside all that
tells an option apart: "gallstone pancreatitis" names "Acute pancreatitis" if no other is a pancreatitis.
"""

import re
from collections.abc import Iterator, Sequence

from wardround.marking.parser import phrases
from wardround.marking.parser.option_text import folded_words
from wardround.marking.parser.option_tokens import CONTRASTS, WORDS, OptionTokens, option_tokens, stem, stems_of

MAX_PHRASE = 90  # characters of a phrase that names an option
MAX_WORDS = 10  # of a phrase that names an option
MAX_OWN_WORDS = 3  # that an option lacks
MAX_SENTENCE = 600  # characters of a sentence, from its end
MAX_SENTENCES = 12  # of a longer reply the first and the last are read

_SENTENCE_END = re.compile(r"\n+|(?<=[.!?;])(?<!\b[a-zA-Z]\.)(?<!\d\.)(?<!i\.e\.)\s+")
_END = re.compile(r"[,;:()\[\]!?|]|(?<!\b[a-zA-Z])\.(?:\s|\Z)|\s[-–—]\s")
_CONNECTIVE = re.compile(
    r"\s(?:because|since|as|due|given|without|which|that|is|are|was|would|should|based|rather|instead|over|here|most"
    r"|until|unless|(with|and|in|on|by|for|at|from|of))\b"
)
_CONDITION = re.compile(r"\b(?:if|unless|then|depending|depends)\b")
_REASON = re.compile(
    r"[,;]?\s\(?(?:because|since|as|given|due to|based on|rather than|not)\b|\s[-–—]\s|\s?\((?:not|because)\b"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|can|could|may|might|should|would|will|must|causes?|does|do|did|requires?|shows?"
    r"|seems?|appears?|needs?|includes?)\b"
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


def read_part(text: str, folds: tuple[str, ...], options: Sequence[str]) -> int | None:
    """The option that the reply names by an abbreviation or some of its words; None if it names several."""
    tokens = option_tokens(tuple(options))
    if tokens.all_stems.isdisjoint(map(stem, folds)):
        return None
    named = {_named_by(phrase, is_whole, tokens) for phrase, is_whole in _phrases(text, tokens)} - {None}
    option = named.pop() if len(named) == 1 else None
    return option if option is None or _has_same_quantities(text, options[option]) else None


def _has_same_quantities(text: str, option: str) -> bool:
    """Whether numbers of the option have its sign and unit in the text, and classes and frequencies do not differ."""
    for pattern in (_CLASS, _FREQUENCY):
        said, meant = ({_ROMAN.get(word, word) for word in pattern.findall(where.lower())} for where in (text, option))
        if said and meant and said.isdisjoint(meant):
            return False
    own = set(_quantities(option))
    numbers = {number for _, number, _ in own}
    return all(quantity in own for quantity in _quantities(text) if quantity[1] in numbers)


def _quantities(text: str) -> Iterator[tuple[str, str, str]]:
    """Every number with its sign and its unit, which may be empty."""
    for sign, number, unit in _QUANTITY.findall(text.lower()):
        yield sign, number, _UNITS.get(unit, unit.removesuffix("s"))


def _phrases(text: str, tokens: OptionTokens) -> Iterator[tuple[str, bool]]:
    """The phrases that may name the answer, and whether each is all that a sentence says of it.

    In the first and last sentence that is anything; elsewhere only a statement of the answer.
    """
    sentences = [sentence.strip()[-MAX_SENTENCE:] for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if len(sentences) > MAX_SENTENCES:
        sentences = sentences[: MAX_SENTENCES // 2] + sentences[-MAX_SENTENCES // 2 :]
    for sentence in sentences:
        if sentence.endswith("?") or tokens.all_stems.isdisjoint(map(stem, folded_words(sentence))):
            continue
        lower = sentence.lower()
        is_outer = sentence in (sentences[0], sentences[-1])
        if is_outer:
            yield from ((part, True) for phrase in _opening_phrase(sentence, lower) for part in _cut(phrase, tokens))
        for named in (phrases.NAMING if is_outer else phrases.STATING).finditer(lower):
            before, after = lower[: named.end()], lower[named.end() :]
            clause = phrases.CLAUSE.split(before)[-1]
            is_denied = phrases.NOT.search(clause) or phrases.DENIED.search(before) or _is_denied_after(after)
            if not (is_denied or phrases.DOUBT.search(before.rpartition(",")[2]) or _CONDITION.search(lower)):
                named_phrase = sentence[named.end() : named.end() + MAX_PHRASE]
                yield from ((part, False) for part in _cut(named_phrase, tokens))


def _opening_phrase(sentence: str, lower: str) -> Iterator[str]:
    """A sentence that is only a name, or begins with one and a reason or verdict."""
    if phrases.DISTANT.search(lower):
        return
    if judged := phrases.SAID_OF.search(lower[:MAX_PHRASE]):
        yield sentence[: judged.start()]
    if opening := _I_WOULD.match(lower):
        sentence, lower = sentence[opening.end() :], lower[opening.end() :]
    reason = _REASON.search(lower[:MAX_PHRASE])
    if reason and not _VERB.search(lower, 0, reason.start()):
        yield sentence[: reason.start()]
    bare = _BRACKETS_LAST.sub("", sentence)
    end = _END.search(bare)
    if _VERB.search(lower) is None and (end is None or not bare[end.end() :].strip(" .)]\"'")):
        yield bare[: end.start()] if end else bare


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
    if connective[1] is None or all(telling.isdisjoint(following) for telling in tokens.telling):
        yield phrase[: connective.start()]


def _is_denied_after(after: str) -> bool:
    """Whether the clause says that it is not: "appendicitis is unlikely"."""
    end = _END.search(after)
    return phrases.DENIED_AFTER.search(after[: end.start() if end else len(after)]) is not None


def _named_by(phrase: str, is_whole: bool, tokens: OptionTokens) -> int | None:
    """The option that a phrase names."""
    letters = phrase.strip(" .*\"'")
    if tokens.all_stems.isdisjoint(map(stem, folded_words(phrase))):
        return None
    option = tokens.by_initials.get(letters.upper() if is_whole and len(letters) > 2 else letters)
    if option is not None:
        return option
    phrase = _DOSE.sub(lambda dose: dose[0] if dose[1] in tokens.all_stems else " ", phrase)
    phrase = _SPECIES.sub(
        lambda name: f"{tokens.species.get(name[0].replace('.', '').lower(), name[1])} {name[2]}", phrase
    )
    words = stems_of(phrase, tokens.initials)
    said = frozenset(words)
    if not words or len(words) > MAX_WORDS or all(word[-1].isdigit() for word in words):
        return None
    named = [option for option, telling in enumerate(tokens.telling) if said & telling]
    if not named:
        return _subset_option(said, tokens)
    may_trail = is_whole and len(words) <= MAX_OWN_WORDS + 2
    return named[0] if len(named) == 1 and _fits(words, named[0], may_trail, tokens) else None


def _subset_option(said: frozenset[str], tokens: OptionTokens) -> int | None:
    """The only option with all that is said, though each word is in others too: "vitreous detachment"."""
    words = said - WORDS["idle"]
    alike = [option for option, stems in enumerate(tokens.stems) if said == stems - WORDS["vague"]]
    if not alike and len(words - WORDS["vague"]) > 1 and not any(words & contrast for contrast in CONTRASTS):
        alike = [option for option, stems in enumerate(tokens.stems) if words <= stems]
    if len(alike) != 1 or said & WORDS["polarity"] != tokens.stems[alike[0]] & WORDS["polarity"]:
        return None
    return alike[0]


def _fits(words: tuple[str, ...], option: int, may_trail: bool, tokens: OptionTokens) -> bool:
    """Whether words name an option and nothing else."""
    said = frozenset(words)
    stems, telling = tokens.stems[option], tokens.telling[option] - WORDS["idle"]
    is_all_said = telling - WORDS["vague"] <= said
    numbers = {word for word in stems if word[-1].isdigit()}
    if said & numbers and not numbers <= said:
        return False  # "10 mm" is not "5-10 mm"
    if said & WORDS["polarity"] != stems & WORDS["polarity"] or (stems & WORDS["joining"] and not is_all_said):
        return False
    own = said - stems - WORDS["idle"]
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
