"""The text that a judge is shown: one disease at a time, marked off as data, and flagged if it is more than a name.

Candidates write this text, so it may hold several diseases or orders to the judge. All rules here are our choice.
"""

import re

OVERLONG, INSTRUCTION = "overlong", "instruction-like"
MAX_PLAIN_LENGTH = 120  # characters of a diagnosis that is not overlong
LONG_LIST = 4  # entries between commas, from which on each is a disease whatever it looks like

_ASIDE = re.compile(r"\(\s*(?:or|vs\.?|versus|differential:?|also consider)\s+([^()]*)\)", re.I)
_ALWAYS_SPLITS = re.compile(
    r"\s*(?:[;|\n→]|\s[/>]\s|(?:(?<=\s)|\A)\(?\d{1,2}[.)]\s"
    r"|,?\s(?:and/or|vs\.?|versus|followed by)\s"
    r"|(?:,|\s[–—-])?\s+(?:or,?\s+)?(?:else|otherwise|alternatively|if not|failing (?:that|which))\b,?\s)\s*",
    re.I,
)
_EITHER = re.compile(r"\A\s*either\s+(?=.*\sor\s)", re.I)
_OR, _WITH = re.compile(r",?\s+(?:or|then)\s+", re.I), re.compile(r"\swith(?:out)?\s", re.I)
_COMMA, _AND = re.compile(r"\s*,\s*(?:and\s+)?"), re.compile(r"\s+and\s+|\s*&\s*", re.I)
_SLASH = re.compile(r"(?<=[a-z])/(?=[^\W\d]+\Z)")  # before a single word, but not HIV/AIDS
_DISEASE = re.compile(
    r"(?:itis|osis|oses|oma|omas|omata|emia|aemia|pathy|plegia|trophy|penia|uria|algia|ectasis|ism|ia|oedema|edema)\Z"
    r"|\A(?:diseases?|syndromes?|disorders?|cancers?|tumou?rs?|infections?|failure|fever|infarct(?:ion)?|stroke|"
    r"embol(?:ism|us|i)|asthma|diabetes|lupus|gout|psoriasis|abscess|fracture|haemorrhage|hemorrhage|measles|malaria|"
    r"rabies|anaphylaxis|sepsis|croup|mumps|scurvy|shock)\Z",
    re.I,
)
_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9-]+")
_QUALIFIER = re.compile(  # the end of what only describes the name before it
    r"(?:al|ic|ous|ary|ory|ive|ed|ing|oid|ar|ant|ent|ile|onset|types?|form|variant|phase|cell|class|stage|grade|nos|"
    r"unspecified|left|right|acute|benign|mild|severe|sided|like|wet|dry|[\divx]+[a-d]?)\Z"
    r"|\A(?:type|stage|grade|class|level|probably|possibly|likely|due|secondary|caused|with|without|in|of|on|at|from)\b",
    re.I,
)
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|reference|"
    r"everything)"
    r"|\b(?:reply|respond|answer|output|print|write|say|return|choose|select|pick)\b.{0,30}"
    r"(?:\b(?:same|yes|correct|true|equivalent)\b|[\"'(]a[\"')]|\b(?:with|letter|option) a\b|\ba\W*\Z)"
    r"|\b(?:verdict|judg(?:e|ment)|grader|evaluator|examiner|reviewer|assistant)\b"
    r"|\b(?:you|must|please|should|shall)\b.{0,40}\b(?:accept|count|mark|score|treat|consider|grade|rate|regard|agree)\b"
    r"|\b(?:mark|score|grade|count|treat|accept|regard)(?:ed)? (?:this|it|as|the)\b"
    r"|\b(?:system|developer|administrator|admin|user|human)\s*(?:[:>\]]|prompt|message|note|override)"
    r"|\bsame (?:disease|as|diagnosis|thing|meaning)\b|\bnot different\b|\bsynonym(?:ous)?\b|\bequivalent\b"
    r"|\b(?:reference|gold|correct|right|true|expected) (?:answer|diagnosis|label|option)\b|\bidentical\b"
    r"|</?\w+>|```|\[/?[A-Z]+\]|<\||\bim_(?:start|end)\b|\bA\. same\b|\bB\. not\b|\b(?:the )?same(?:: \w+)?\Z"
    r"|\bnew (?:task|instruction)\b|\bend of (?:task|data)\b|\breference\b|\bignor|\bmust be \w+ed\b|\blenient\b"
    r"|\breply\b|\b(?:antworte|responde|répond)|忽略|回答",
    re.I,
)

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")  # soft hyphens, spaces without width
_EVASION = re.compile(  # names no disease, but asks for a verdict or points at the one that is asked for
    r"\b(?:it(?: is|['’]s)?|this|they|both|these|that|answers?|names?|judged|a|the|is|as)\b\W*\bmatch(?:es|ed|ing)?\b"
    r"|\bmatch(?:es|ed)? (?:the|your|it)\b|\banswer key\b|\bthe key\b|\bgold(?:en)? standard\b|\bequality\b"
    r"|\b(?:score|rating|result|grade)\s*[:=]\s*\w+|#{2,}|\byour task\b|\b(?:emit|give) (?:the )?(?:letter|a)\b"
    r"|\A\W*(?:a|b|true|false|yes|no|correct|right|match)\W*\Z"
    r"|\b(?:named|given|stated|mentioned|described|documented|listed|asked|shown|written)\W+(?:\w+\W+){0,3}?"
    r"(?:above|below|before|case|chart|report|question|prompt|text)\b"
    r"|\A\W*(?:all|any|one|none|each) of the (?:above|below)"
    r"|\A\W*whatever\b|\b(?:dasselbe|dieselbe|gleich(?:e|bedeutend)|même|misma|stessa)\b"
    r"|\b(?:sagen|sage|schreibe|dites|diga|responda|rispondi) \w+"
    r"|выведи|ответь|одно и то же|совпада|一致|同じ|相同|と答え|동일",
    re.I,
)


def split_diseases(diagnosis: str) -> list[str]:
    """The diseases of one entry of an answer, in order: `gout, lupus and asthma` names three.

    A comma before a mere description (`diabetes mellitus, type 2`) does not split. `and` splits only in a list, or
    if both sides end like a disease.
    """
    parts = [part for part in _ALWAYS_SPLITS.split(_ASIDE.sub(r"; \1", _EITHER.sub("", diagnosis))) if part.strip()]
    return [disease.strip() for part in parts for disease in _split_phrase(part) if disease.strip()]


def flag_judged_text(name: str) -> str | None:
    """Why a judged name is more than a name: it reads like an instruction, or it is overlong. None if it is plain."""
    if any(rule.search(_INVISIBLE.sub(space, name)) for rule in (_INSTRUCTION, _EVASION) for space in ("", " ")):
        return INSTRUCTION
    return OVERLONG if len(name) > MAX_PLAIN_LENGTH else None


def as_data(text: str) -> str:
    """A text that cannot close the tags that mark it off in a judge's prompt, nor open others."""
    return re.sub(r"<(?=[/!|]?\w)", "‹", text)


def _split_phrase(phrase: str) -> list[str]:
    """What follows "with" describes the disease before it, however many words it lists."""
    if with_part := _WITH.search(phrase):
        *diseases, described = _split_phrase(phrase[: with_part.start()])
        return [*diseases, described + phrase[with_part.start() :]]
    return [disease for part in _OR.split(phrase) for disease in _split_list(part)] or [phrase]


def _split_list(part: str) -> list[str]:
    pieces = [piece for piece in _COMMA.split(part) if piece.strip()]
    is_long = sum(not _QUALIFIER.search(piece.strip(" .)")) for piece in pieces) >= LONG_LIST
    diseases = pieces[:1]
    for piece in pieces[1:]:
        is_name = not _QUALIFIER.search(piece.strip(" .)")) or bool(_ABBREVIATION.fullmatch(piece))
        if is_name and (is_long or (_is_disease(diseases[-1]) and _is_disease(_AND.split(piece)[-1]))):
            diseases.append(piece)
        else:
            diseases[-1] += f", {piece}"
    return [disease for entry in diseases for disease in _split_pairs(entry, is_list=len(diseases) > 1)]


def _split_pairs(entry: str, *, is_list: bool) -> list[str]:
    for pattern in (_AND, _SLASH):
        sides = pattern.split(entry)
        if len(sides) > 1 and (all(map(_is_disease, sides)) or (is_list and len(sides) == 2 and _is_disease(sides[0]))):
            return sides
    return [entry]


def _is_disease(text: str) -> bool:
    """Whether a text ends like the name of a disease, a description after a comma aside."""
    words = re.findall(r"[^\W_]+", text.partition(",")[0].partition(" of ")[0].partition("(")[0])
    return bool(words) and bool(_DISEASE.search(words[-1]) or _ABBREVIATION.fullmatch(text.strip()))
