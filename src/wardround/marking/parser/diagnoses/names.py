"""Names of diagnoses: one name without article, share and reason; the several names of a list on one line."""

import re

from wardround.marking.parser.diagnoses.vocabulary import one_of, read_vocabulary

MAX_WORDS = 16
MAX_LENGTH = 180

_MARKS = " *_`\"',;:.。#>|\\–—-"
_NUMBER = re.compile(r"\A\(?(?:\d{1,2}[.):]|[a-hA-H]\))\s*(?=\D)")
_SHARE = re.compile(
    r"[\s(\[,:–—-]{0,4}"
    r"(?:(?:estimated |approx\w* )?(?:probability|likelihood|confidence|certainty)(?: level)?)?[:=\s~≈]*"
    r"(?<![\w.])(?:\d{1,3}(?:\.\d+)?\s?(?:[-–]\s?\d{1,3})?\s?%|[01]?\.\d+)"
    r"(?: (?:likel\w+|prob\w+|conf\w+|cert\w+))?[)\]]?\s*\Z",
    re.I,
)
_SHARE_FIRST = re.compile(r"\A\d{1,3}(?:\.\d+)?\s?%\s*(?:likely|probability|chance)?(?: of)?\s*[:–-]?\s*", re.I)
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)(?:[)\]]|\Z)")
_WHOLE_BRACKET = re.compile(r"[(\[][^()\[\]]*[)\]]")
_EXPLANATION = re.compile(
    r"\s+[–—-]+\s+.*|:\s.*|[(\[].*|,\s+(?:because|since|given|based on|as|which|but|although|though)\b.*", re.S
)
_SEPARATOR = re.compile(
    r"\s*;\s*|\s+/\s+|\s+\?(?=\w)|\s+>+\s+|\s*[、]\s*"
    r"|\s*,\s*(?:(?:followed by|and then|then|and|or|y|und|et|e|oder|ou)\s+)?"
    r"|,?\s+(?:or|followed by|and then|then|versus|vs\.?|as opposed to|oder|ou|rather than|или)\s+"
    r"|(?<=[\u4e00-\u9fff])(?:和|或|以及)(?=[\u4e00-\u9fff]{2})",
    re.I,
)
_AND = re.compile(r"\s+(?:and|und|et|y|e|и|as well as)\s+")
_ABBREVIATED = re.compile(r"([^()]*,[^()]*)\(([A-Z]{4,8})\)")
_BRACKETED_OTHER = re.compile(r"\s*\((?:vs\.?|versus|or|r/o)\s+([^()]*)\)", re.I)
_MASK = re.compile("\x00(\\d+)\x00")


def _words(kind: str) -> str:
    return one_of(read_vocabulary("names.toml")[kind])


_OPENING = re.compile(rf"{_words('openings')}\s*", re.I)
_RANK = re.compile(_words("ranks"), re.I)
_REASON = re.compile(
    r"\s+[–—-]+\s+.*|:(?:\s.*|\Z)|(?<=[^\x00-\x7f]):.*|\s+[-=]>\s+.*"
    rf"|,?\s+{_words('reasons')}\b.*|,\s+{_words('appositions')}\b.*",
    re.S,
)
_BRACKETED_REASON = re.compile(rf",|%|\b{_words('bracketed_reasons')}\b|(?:\S+\s+){{6}}", re.I)
_BRACKETED_NAME = re.compile(_words("bracketed_names"), re.I)
_WHOLE_PHRASE = re.compile(_words("whole_phrases"), re.I)
_QUALIFIER = re.compile(_words("qualifiers"), re.I)
_DISEASE_END = re.compile(rf"{_words('disease_ends')}\Z")
_SPECIFICATION = re.compile(r",|\s\(|\s(?:of|in|with|from|due to|secondary to|caused by|type|stage|grade|class)\s")
_FINDING = re.compile(rf"\b{_words('findings')}\b", re.I)
_SENTENCE_WORD = re.compile(
    rf"\b{_words('sentence_words')}\b|(?:\A|[,;:(–—-]\s*|\b(?:that|and|but|so|which|what)\s)I (?=[a-z])"
)
_PLAIN_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(read_vocabulary('names.toml')['plain_words'].split())})(?![\w'-])")
_WITH_FEATURES = re.compile(
    r"\bwith (?:severe|psychotic|mixed|atypical|melancholic|anxious|high-risk) features\b", re.I
)
_SMALL_WORDS = re.compile(
    r"\A\s*(?:(?:with|of|for|to|in|by|from|on|at|an?|the|and|or)\s+)+|\s+(?:with|of|for|to|in|by|and|or|the)\s*\Z"
)
_NO_NAME = re.compile(_words("no_names"), re.I)


def clean_name(text: str) -> str:
    """A name without number, article, share, reason and the marks around it; empty if there is none."""
    name = text.strip(_MARKS)
    if name[:1] in "[(" and name[-1:] in "])":
        name = name[1:-1]
    name = _SHARE_FIRST.sub("", _SHARE.sub("", _NUMBER.sub("", name, count=1)))
    name = _without_opening(name)
    name = _SHARE.sub("", _BRACKET.sub(_kept_bracket, name)) if "(" in name or "[" in name else name
    name = _without_opening(_SHARE.sub("", _REASON.sub("", name)).strip(_MARKS))
    if name.count("(") > name.count(")"):
        name += ")"
    if _PLAIN_WORD.search(_WITH_FEATURES.sub("", name)):
        name = _name_beside_plain_words(name)
    return name if re.search(r"[^\W\d_]", name) and not _NO_NAME.fullmatch(name) else ""


def _name_beside_plain_words(text: str) -> str:
    """The part of a text after or before the words that no name contains, if it ends as diseases do."""
    parts = _PLAIN_WORD.split(text)
    for part in (parts[-1], parts[0]):
        part = _without_opening(_SMALL_WORDS.sub("", part).strip(_MARKS))
        if part and is_headed_by_disease(part):
            return part
    return ""


def _without_opening(name: str) -> str:
    rank = _RANK.match(name)
    name = name[rank.end() :] if rank else name
    while (opening := _OPENING.match(name)) and opening.end() < len(name):
        name = name[opening.end() :].lstrip(_MARKS)
    return name


def _kept_bracket(bracket: re.Match[str]) -> str:
    """An abbreviation or another name in brackets is kept, a reason is not."""
    inside = bracket[1].strip()
    is_name = (
        inside[:1].isupper() or not inside.isascii() or _DISEASE_END.search(inside) or _BRACKETED_NAME.match(inside)
    )
    return f" ({inside})" if is_name and not _BRACKETED_REASON.search(inside) else ""


def cut_reason(text: str) -> str:
    """The start of a text, without the reason or clause that follows the names."""
    return _REASON.sub("", _BRACKET.sub(_kept_bracket, text) if not text.startswith(("(", "[")) else text)


def is_sentence(text: str) -> bool:
    """Whether a text, without what explains it after a dash or in brackets, is a sentence or too long for a name."""
    text = _EXPLANATION.sub("", text)
    lowered = text[:1].lower() + text[1:]
    return len(text) > MAX_LENGTH or len(text.split()) > MAX_WORDS or _SENTENCE_WORD.search(lowered) is not None


def ends_as_disease(text: str) -> bool:
    """Whether the last word of a text is one that names of diseases end with."""
    return _DISEASE_END.search(text.strip(_MARKS)) is not None


def is_headed_by_disease(name: str) -> bool:
    """Whether a name without its specification ends as names of diseases do: "coarctation of the aorta"."""
    return ends_as_disease(name_head(name))


def name_head(name: str) -> str:
    """A name without its specification."""
    return _SPECIFICATION.split(name, maxsplit=1)[0]


def is_finding(text: str) -> bool:
    """Whether a text that may be a name describes a patient or a test."""
    return _FINDING.search(_EXPLANATION.sub("", text)) is not None


def split_names(text: str, *, is_list: bool = False) -> list[str]:
    """The clean names in a text, in order. In a list the last two may be joined by "and"."""
    text = _BRACKETED_OTHER.sub(r", \1", text)
    if _spells_abbreviation(text):
        return [clean_name(text)]
    masked_texts: list[str] = []

    def mask(match: re.Match[str]) -> str:
        masked_texts.append(match[0])
        return f"\x00{len(masked_texts) - 1}\x00"

    def unmask(piece: str) -> str:
        while _MASK.search(piece):
            piece = _MASK.sub(lambda match: masked_texts[int(match[1])], piece)
        return piece

    parts = _split_parts(_WHOLE_PHRASE.sub(mask, _WHOLE_BRACKET.sub(mask, text.replace("\x00", " "))))
    pieces = [piece for part in parts for piece in _split_and(part, is_list=is_list or len(parts) > 2)]
    names = [clean_name(unmask(piece)) for piece in pieces]
    return [name for name in names if name and not is_sentence(name)]


def _spells_abbreviation(text: str) -> bool:
    """Whether a list of words is one name: the initials of its words are the abbreviation after it."""
    named = _ABBREVIATED.fullmatch(text.strip(_MARKS))
    if named is None:
        return False
    initials = iter(re.findall(r"\b\w", named[1].lower()))
    return all(letter in initials for letter in named[2].lower())


def _split_parts(text: str) -> list[str]:
    """The parts of a text between separators. A qualifier after a comma stays with its name."""
    parts: list[str] = []
    for part in map(str.strip, _SEPARATOR.split(text)):
        if not parts or not (_QUALIFIER.fullmatch(part) or not part):
            parts.append(part)
        elif part:
            parts[-1] += f", {part}"
    return parts


def _split_and(part: str, *, is_list: bool) -> list[str]:
    """A name with "and" in it stays whole, unless it stands in a list or what precedes "and" ends as a disease does."""
    parts = _AND.split(part)
    if len(parts) == 1 or (len(parts) == 2 and " of " in part and not _DISEASE_END.search(parts[0])):
        return [part]
    if len(parts) == 2 and not is_list and " with " in parts[0]:  # "X with Y and Z"
        return [part]
    return parts if is_list or all(_DISEASE_END.search(piece.strip()) for piece in parts[:-1]) else [part]
