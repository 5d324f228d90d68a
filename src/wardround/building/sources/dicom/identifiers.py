"""Identifiers in free text: names, dates, numbers and addresses are found by rules (our choice) and masked.

Names, ids and hospitals from a patient's headers are searched for literally, others by their form. A year alone, an
age up to 89 and clinical numbers stay. Rules never find all identifiers: people have to check, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from wardround.core.text import strip_accents

MAX_AGE = 89  # years; a higher age identifies
MIN_LENGTH_ANY_CASE = 3  # letters of a name that is searched for in any case
MIN_DISTINCTIVE = 4  # letters of a number, or of a word of an institution's name, that identifies
GENERAL_WORDS = frozenset(  # words that identify nobody
    [
        *("hospital", "hospitals", "clinic", "clinics", "klinik", "klinikum", "university", "universitat", "medical"),
        *("centre", "center", "health", "department", "radiology", "institute", "imaging", "general", "community"),
        *("care", "service", "services", "group", "foundation", "trust", "school", "national", "regional", "city"),
        *("county", "saint", "none", "unknown", "anonymous", "anonymized", "patient", "test", "doctor", "female"),
        *("male", "unnamed"),
    ]
)

_MONTH = (
    r"(?i:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[eé]vr(?:ier)?|mar(?:ch|s|zo)?|m[aä]rz|apr(?:il|ile)?|avr(?:il)?|may|mai"
    r"|mayo|maggio|june?|juin|juni|junio|giugno|july?|juli|juillet|julio|luglio|aug(?:ust)?|ao[uû]t|agosto|sept?(?:ember)?"
    r"|septembre|septiembre|settembre|o[ck]t(?:ober|obre)?|octubre|ottobre|nov(?:ember|embre|iembre)?|de[cz](?:ember)?"
    r"|d[eé]cembre|diciembre|dicembre|enero|gennaio|febrero|febbraio|marzo|abril|aprile)\.?"
)
_UNAMBIGUOUS = r"(?!may\b|mar\b|march\b|mars\b)"  # in small letters these are also other words
_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?", r"(?:19|20)\d\d"
_UPPER, _WORD = r"[A-ZÀ-ÖØ-Þ]", r"[A-ZÀ-ÖØ-Þ][\w'’-]+"
_STREET = (
    r"(?:[Ss]treet|St\.?|[Rr]oad|Rd\.?|[Aa]venue|Ave\.?|[Ll]ane|Ln\.?|[Dd]rive|Dr\.?|[Bb]oulevard|Blvd\.?|[Cc]ourt"
    r"|[Ss]quare|[Tt]errace|[Cc]lose|[Cc]rescent|[Hh]ighway|[Pp]arkway)"
)
_RELATIVE = (
    r"(?:[Dd]aughters?|[Ss]ons?|[Ww]ife|[Hh]usband|[Mm]other|[Ff]ather|[Mm]um|[Mm]om|[Dd]ad|[Bb]rother|[Ss]ister|[Pp]artner"
    r"|[Ff]ianc[eé]e?|[Nn]eighbou?r|[Ff]riend|[Cc]arer|[Cc]aregiver|[Cc]olleague|[Uu]ncle|[Aa]unt|[Cc]ousin|[Nn]ephew|[Nn]iece"
    r"|[Gg]rand(?:mother|father|son|daughter|child)|[Gg]irlfriend|[Bb]oyfriend|[Tt]win|[Bb]oss|[Nn]anny|[Bb]abysitter|[Gg]uardian|[Ii]nterpreter|[Tt]ranslator"
    r"|hij[ao]|espos[ao]|madre|padre|herman[ao]|fille|fils|m[eè]re|p[eè]re|[eé]pouse|mari|figli[ao]|moglie|marito)"
)
_IN_LAW = r"(?:-in-law)?(?:['’]s)?"
_COMPANY = (
    r"(?:[Aa]ccompanied by|[Ll]ives? with|[Ll]iving with|[Bb]rought (?:in )?by|[Tt]ogether with|[Ll]ooked after by"
    r"|[Cc]ontact person:?|[Nn]ext of kin:?)"
)
_NOT_EPONYM = (  # `Crohn's`, `Charcot-Marie-Tooth disease` and `Werner syndrome` are diseases
    r"(?!\w+['’]s\s+(?:[a-z]+\s+)?(?:disease|syndrome|sign|lymphoma|sarcoma|palsy|wort|[a-z]+itis)\b|[\w-]+\s+(?:disease|syndrome|sign|tumou?r|lymphoma|thyroiditis|palsy|contracture|test|stage|Arbor))"
)
_STAFF = (
    r"\b(?:(?i:(?:reported|dictated|signed|verified|read|referred|reviewed|approved|transcribed|interpreted) by:?"
    r"|discussed with|d/w|(?:referring|attending|reporting|ordering|consulting) (?:physician|doctor|radiologist"
    r"|consultant|clinician|provider):?|surgeon:?|(?:gp|pcp|cc|interpreter|guardian|next of kin):"
    r"|resident|registrar|fellow|intern)|\b(?:RN|NP)\b|(?i:radiologist|sonographer|technologist|patient|pt):|[Pp]t\.)\s*"
)
_NOT_STAFF = (  # departments and what else stands there in capitals
    r"(?!(?i:\w+(?:ology|surgery|iatrics|medicine|ics|ation)|the|he|she|ed|er|icu|gp|male|female|man|woman|m|f|team|family"
    r"|patient|hospital|emergency|general|no|not|is|was|has|dr|ct|mri?|us|department|unknown|none|history|with|on|presented|reports|complains|denies|two|ai|resident)\b)"
)
_NOT_PATIENT = (  # headings, forms and verbs in title case
    r"(?!(?i:\w{4,}(?:ed|ing)|age|care|characteristics|classification|data|demographics|details|education|gender|global|group"
    r"|health|id|information|instructions|name|number|outcomes?|position|preparation|received|safety|sex|status|underwent"
    r"|specific|summary|under|very)\b)"
)
_CAPITALIZED = r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?:-[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+)?"
# frequent given names that are not eponyms or other words
_GIVEN = (
    r"(?:Adam|Agnes|Alex(?:ander|andra)?|Alice|Amanda|Amy|Ana|Andrea|Andrew|Angela|Anita|Ann[ae]?|Anthony|Anton|Barbara"
    r"|Ben(?:jamin)?|Bob|Brian|Carla|Carlos|Caroline|Catherine|Charlotte|Chris(?:tian|tina|topher)?|Claire|Clara|Claudia"
    r"|Daniela?|David|Deborah|Dennis|Diana|Dieter|Donald|Dorothy|Edward|Elena|Elisabeth|Elizabeth|Emily|Emma|Eric|Erika|Eva"
    r"|Fatima|Felix|Francesca|Fran(?:k|z)|Gabriele?|George|Gerda|Giovanni|Giulia|Hanna[h]?|Hans|Heidi|Heinz|Helen[ae]?|Henry"
    r"|Ingrid|Irene|Isabel(?:la)?|Jacob|James|Jan[ae]|Janet|Jason|Jean|Jennifer|Jessica|Joan|Johann?|John|Jonas|Jorge"
    r"|Jos[eé]|Joseph|Juan|Julia|Julie|Julian|Jürgen|Karen|Karin|Karl|Kate|Katharina|Kevin|Klaus|Laura|Lena|Leo|Linda|Lisa"
    r"|Lucas|Lucia|Lucy|Luis|Lukas|Manuel|Margaret|Maria|Marco|Martina?|Mary|Matthew|Megan|Michael|Michelle|Miguel"
    r"|Mohamm?ed|Monica|Monika|Nancy|Nicole|Nina|Oliver|Olivia|Pablo|Pamela|Patricia|Paula?|Pedro|Peter|Petra|Philip"
    r"|Rachel|Ralph|Rebecca|Renate|Richard|Robert|Rosa|Ruth|Sabine|Samuel|Sandra|Sarah?|Sebastian|Silvia|Simone|Sofia|Sophie"
    r"|Stefan|Stephanie?|Stephen|Susan(?:ne)?|Sven|Teresa|Theresa|Thomas|Tim|Tina|Tom|Ursula|Vanessa|Vera|Victoria|Walter"
    r"|Werner|William|Wolfgang)"
)
_LABEL = (
    r"(?:MRN|SSN|NHS|ID|PID|DOB|[Aa]ccession|[Pp]atient|[Cc]hart|[Cc]ase|[Rr]ecord|[Ss]tudy|[Hh]ospital|[Ii]nsurance|[Ff]ile"
    r"|[Pp]assport|[Pp]olicy|[Aa]ccount|[Ll]icen[cs]e|[Ee]pisode|[Vv]isit)"
)

RULES = {
    "email": [r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"],
    "url": [r"(?i)\b(?:https?://|www\.)\S+"],
    "date": [
        rf"\b(?:{_YEAR}[-/.](?:0?[1-9]|1[0-2])[-/.]{_DAY}\b|{_DAY}[-/.](?:0?[1-9]|[12]\d|3[01])[-/.](?:{_YEAR}|\d\d)\b"
        rf"|{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b)",
        rf"\b{_DAY}\s+(?:of\s+|de\s+)?(?:{_UNAMBIGUOUS}{_MONTH}(?!\w)(?:,?\s+(?:de\s+)?{_YEAR})?"
        rf"|{_MONTH}(?!\w),?\s+(?:de\s+)?{_YEAR})",
        rf"\b(?:(?={_UPPER}){_MONTH}(?!\w)\s+{_DAY}(?!\d|\s*(?:mg|ml|cm|mm|year))(?:,?\s+{_YEAR})?"
        rf"|{_MONTH}(?!\w),?\s+(?:de\s+)?{_YEAR}\b)",
        r"(?<=\bon )(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])\b",
    ],
    "phone": [
        r"(?i)(?:\b(?:tel|phone|telephone|mobile|cell|fax|call|ext)\b\.?:?\s*(?:no\.?\s*)?)\+?[\d(][\d\s()./-]{3,}\d",
        r"(?<![\w.])\+\d{1,3}[\s(.-]*\d[\d\s().-]{5,}\d|(?<![\w.])\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b",
        r"(?<![\w.,])0\d{2,4}[\s/-]\d{3,}(?:[\s-]?\d{2,})*\b",
    ],
    "id": [
        r"\b\d{3}-\d{2}-\d{4}\b",
        rf"\b{_LABEL}(?:\s*(?:ID|[Nn]o\.?|[Nn]r\.?|[Nn]umber))?\s*(?:[:#]\s*|is\s+|\s)(?=[\w/-]*\d{{3}})[\w/-]{{4,}}\b",
        r"(?<![\w.])(?!rs\d)[A-Za-z]{0,3}-?\d{7,}\b",
    ],
    "address": [
        rf"\b\d{{1,5}}[a-z]?,?\s+(?:{_WORD}\s+){{1,3}}{_STREET}(?!\w)|\b{_WORD}(?:straße|strasse|weg|platz|gasse)\s+\d+",
        rf"(?i)\b\d{{1,4}},?\s+(?:rue|avenue|boulevard|calle|via)\s+(?:(?:de|du|des|la|le)\s+)*{_WORD}",
        r"\b[A-Z]{1,2}\d[A-Z\d]?\s+\d[A-Z]{2}\b|\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\b",
        r"\b[Pp]\.?\s?[Oo]\.?\s+[Bb]ox\s+\d+",
    ],
    "name": [
        rf"\b(?:(?:Dr|Mr|Mrs|Ms|Miss|Mister|Prof|Professor|Doctor|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|Señora?|Sra?"
        rf"|Signora?|Sister|Nurse)\b(?:\.\s*|\s+))+(?:{_UPPER}(?:\.\s*|\s+))*{_WORD}(?:\s+(?:(?:van|von|de|der|den|del|la)\s+)*{_WORD}){{0,2}}",
        rf"(?<!\w){_RELATIVE}{_IN_LAW}(?:,| of| named| called| name(?: is|:)?)?(?:\s+|\s*\()"
        rf"(?P<part>{_NOT_EPONYM}{_CAPITALIZED}(?:\s+{_CAPITALIZED}){{0,2}}(?:\s+and\s+{_CAPITALIZED})?)\b",
        rf"\b(?P<part>[^\W\d_]{{2,}})\s*\((?:(?:his|her|the)\s+)?{_RELATIVE}{_IN_LAW}\)",
        rf"\b(?:[Cc]hild|[Bb]aby|[Ii]nfant|[Pp]arents?) (?:of|named|called)\s+"
        rf"(?P<part>{_NOT_EPONYM}{_CAPITALIZED}(?:\s+(?:and\s+)?{_CAPITALIZED}){{0,2}})\b",
        rf"\b(?P<part>{_UPPER}{{2,}},\s+{_GIVEN})\b",
        # reports in capitals or in small letters
        rf"(?<!\w)(?i:{_RELATIVE}){_IN_LAW},?\s+(?P<part>{_NOT_EPONYM}(?i:{_GIVEN}))\b",
        rf"\b[Nn]ame\s+is\s+(?P<part>{_CAPITALIZED}(?:\s+{_CAPITALIZED})?)\b",
        rf"{_STAFF}(?P<part>{_NOT_STAFF}{_UPPER}[\w'’-]+(?:,?\s+{_NOT_STAFF}{_UPPER}[\w'’-]+){{0,2}})",
        # a patient without a colon: two names, or one before the age
        rf"\b[Pp]atient,?\s+(?P<part>{_NOT_STAFF}{_NOT_PATIENT}{_NOT_EPONYM}{_CAPITALIZED}"
        rf"(?:(?:\s+{_NOT_STAFF}{_NOT_PATIENT}{_NOT_EPONYM}{_CAPITALIZED}){{1,2}}\b|(?=,?\s+\(?\d{{1,3}}\b(?!\s*[%/\d]))))",
        rf"(?<!\w){_COMPANY}\s+(?P<part>{_NOT_EPONYM}{_CAPITALIZED}(?:\s+{_CAPITALIZED})?)\b",
        rf"(?<![\w-]){_NOT_EPONYM}{_GIVEN}(?:-{_CAPITALIZED})?(?![\w-])(?:\s+{_NOT_EPONYM}{_CAPITALIZED})?",
        # an initial and a surname, where no sentence can have ended: `seen by J. Tanaka`
        rf"(?:^|[.!?,:;]\s+|\(|\b(?:by|to|of|with|from|and|patient)\s+)"
        rf"(?P<part>(?:{_UPPER}\.\s?){{1,3}}{_NOT_EPONYM}{_CAPITALIZED})(?![\w-])",
        rf"(?<=\b[Nn]ame:\s){_WORD}(?:[,\s]+{_WORD}){{0,3}}|(?<=[Ss]igned by ){_WORD}(?:\s+{_WORD}){{0,2}}",
    ],
    "age": [
        r"(?i)\b(?:9\d|1[0-2]\d)(?=[\s-]*(?:years?[\s-]+old|y\.?/?o\b|yrs?\b|year-old|-year-old|years? of age))",
        r"(?i)\b(?:aged?|age:)\s+(?P<part>9\d|1[0-2]\d)\b(?!\s*(?:days|weeks|months))",
    ],
}


class IdentifierMatch(NamedTuple):
    """A part of a text that may identify the patient."""

    kind: str
    start: int
    end: int


class MaskedText(NamedTuple):
    """A text with identifiers masked, and how many of each kind it had."""

    text: str
    counts: dict[str, int]


@dataclass(frozen=True)
class PatientIdentifiers:
    """The names, numbers and places of one patient that are searched for in texts."""

    names: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()

    def __or__(self, other: PatientIdentifiers) -> PatientIdentifiers:
        return PatientIdentifiers(self.names | other.names, self.ids | other.ids, self.places | other.places)

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[str]]) -> PatientIdentifiers:
        """Of names, ids and places as a record has them."""
        return cls(*map(frozenset, lists))

    def matches(self, text: str) -> Iterator[IdentifierMatch]:
        """Where any of them is in a text."""
        plain = strip_accents(text)
        for kind, words in (("name", self.names), ("id", self.ids), ("place", self.places)):
            for word in words:
                flags = re.IGNORECASE if len(word) >= MIN_LENGTH_ANY_CASE else re.NOFLAG
                for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", plain, flags):
                    yield IdentifierMatch(kind, *match.span())

    def occur_in(self, text: str) -> bool:
        return next(self.matches(text), None) is not None


NO_IDENTIFIERS = PatientIdentifiers()


def collect_identifiers(names: Iterable[str], ids: Iterable[str], places: Iterable[str]) -> PatientIdentifiers:
    """From the values of headers: the parts of names, whole numbers, and the distinctive words of places."""
    parts = {part for name in names for part in re.split(r"[\s^=,.]+", strip_accents(name)) if len(part) > 1}
    words = {word for place in places for word in re.findall(r"[\w'-]+", strip_accents(place))}
    numbers = {strip_accents(id).strip() for id in ids}
    return PatientIdentifiers(
        frozenset(filter(is_distinctive, parts)),
        frozenset(number for number in numbers if len(number) >= MIN_DISTINCTIVE),
        frozenset(word for word in words if len(word) >= MIN_DISTINCTIVE and is_distinctive(word)),
    )


def is_distinctive(word: str) -> bool:
    return word.casefold() not in GENERAL_WORDS and not word.isdigit()


def mask_identifiers(text: str, identifiers: PatientIdentifiers = NO_IDENTIFIERS) -> MaskedText:
    """A text with `[NAME]`, `[DATE]` and so on in place of identifiers."""
    text = unicodedata.normalize("NFC", text)
    parts, position = [], 0
    counts: Counter[str] = Counter()
    for match in find_identifiers(text, identifiers):
        parts += [text[position : match.start], f"[{match.kind.upper()}]"]
        position = match.end
        counts[match.kind] += 1
    return MaskedText("".join([*parts, text[position:]]), dict(sorted(counts.items())))


def find_identifiers(text: str, identifiers: PatientIdentifiers = NO_IDENTIFIERS) -> list[IdentifierMatch]:
    """Where a text may identify the patient, in its order."""
    return _merge_overlapping([*identifiers.matches(text), *_match_rules(text)])


def _match_rules(text: str) -> Iterator[IdentifierMatch]:
    for kind, patterns in RULES.items():
        for pattern in patterns:
            for match in re.finditer(pattern, text):
                yield IdentifierMatch(kind, *match.span("part" if "part" in match.re.groupindex else 0))


def _merge_overlapping(matches: list[IdentifierMatch]) -> list[IdentifierMatch]:
    """Matches that overlap become one, of the kind of the longest."""
    merged: list[IdentifierMatch] = []
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if merged and match.start < merged[-1].end:
            last = merged[-1]
            longest = max(last, match, key=lambda match: match.end - match.start)
            merged[-1] = IdentifierMatch(longest.kind, last.start, max(last.end, match.end))
        else:
            merged.append(match)
    return merged
