"""The core of a diagnosis: its name without what only describes it further. Every search for a leak uses it.

`Left renal cell carcinoma (clear cell type), stage III, complicated by bleeding` has the core `renal cell carcinoma`,
and a history that has these words gives the diagnosis away. The rules are our choice: brackets, cause and consequence
(`due to`, `complicated by`, `with`), stage, grade, class, type and number, side, course (acute, chronic, recurrent),
severity and inheritance are left out. A core of one word must be the name of a disease, not of an organ or a class.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from wardround.core.names import DECIDING_WORDS, FUNCTION_WORDS, content_words

MIN_LETTERS = 4  # of a specific word
UNSPECIFIC = frozenset(
    [
        *("yes", "true", "false", "all", "none", "both", "neither", "above", "other"),
        *("normal", "abnormal", "present", "absent", "unknown"),
    ]
)
ANY_DISEASE = frozenset(  # in the spelling of `normalize_spelling`
    [
        *("disease", "syndrome", "disorder", "condition", "deficiency", "illness", "abnormality", "anomaly", "defect"),
        *("complex", "sequence", "spectrum", "finding", "change", "episode", "attack"),
    ]
)
CLASS_WORDS = ANY_DISEASE | {  # alone they name no disease
    *("infection", "inflammation", "failure", "tumor", "cancer", "carcinoma", "neoplasm", "malignancy", "mass"),
    *("lesion", "nodule", "cyst", "injury", "trauma", "fracture", "dysfunction", "insufficiency", "malformation"),
    *("degeneration", "pain", "fever", "edema", "bleeding", "hemorrhage", "cough", "headache", "weakness"),
    *("swelling", "shock", "delay", "stature"),
}
ORGANS = frozenset(
    [
        *("abdomen", "adrenal", "ankle", "aorta", "artery", "atrium", "bone", "brain", "breast", "bronchus", "chest"),
        *(
            "colon",
            "cortex",
            "duct",
            "elbow",
            "femur",
            "finger",
            "foot",
            "gland",
            "hand",
            "heart",
            "hemisphere",
            "hilum",
        ),
        *(
            "jejunum",
            "joint",
            "kidney",
            "knee",
            "liver",
            "lobe",
            "lung",
            "mandible",
            "muscle",
            "neck",
            "nerve",
            "orbit",
        ),
        *("ovary", "pancreas", "pleura", "rectum", "retina", "shoulder", "sinus", "skin", "spine", "spleen", "stomach"),
        *("testis", "thigh", "thyroid", "tongue", "tooth", "ureter", "uterus", "vein", "ventricle", "vessel", "wrist"),
        *("quadrant", "region", "segment", "part", "half", "wall", "border", "surface", "body", "head", "tail"),
    ]
)
OTHER_ABBREVIATIONS = frozenset(  # what these mean in a history is seldom a diagnosis
    [
        *("AP", "BP", "BMI", "CC", "CT", "DOB", "ECG", "ED", "EEG", "EKG", "ER", "GP", "HR", "ICU", "IM", "IV", "LP"),
        *("MR", "MRI", "OP", "OR", "PA", "PE", "PET", "PO", "PR", "RR", "SC", "US", "XR"),
    ]
)
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_FURTHER = re.compile(  # cause, consequence, occasion
    r"[\s,;:–—-]+(?:complicat(?:ed by|ing)|secondary to|due to|caused by|induced by|associated with|accompanied by"
    r"|resulting (?:in|from)|leading to|causing|in (?:the )?(?:setting|context) of|presenting (?:as|with)|mimicking"
    r"|masquerading as|following|status post|after|superimposed on|arising (?:in|from)|in an? |with or without)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_TAIL = re.compile(r"(?:\s+with(?:out)?\b|[,;](?!.*\band\b)).*$", re.IGNORECASE | re.DOTALL)  # a list is a whole
_SITE = re.compile(  # where it is, and of what it came: `tuberculosis of the spine`, `melanoma of unknown primary`
    r"\s+(?:of|in|at|involving|affecting) (?:(?:the|his|her|both|an?|left|right|unknown|lower|upper|distal"
    r"|proximal)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_DESIGNATION = r"(?:\d+(?:[.-]?[A-Za-z])?\b|[IVX]{1,4}(?:[.-]?[A-Da-d]\d?)?\b|[A-H]\b)"
_STAGED = re.compile(
    rf",?\s*\b(?:(?:WHO|NYHA|FIGO|Ann Arbor|ISUP|Child-Pugh|AJCC|ECOG|CDC|KDIGO|Fuhrman|histological|clinical"
    rf"|functional)\s+)*(?:stage|grade|class|type|group|category|score|level|phase|variant|subtype)s?"
    rf"\s*{_DESIGNATION}(?:\s*[-/]\s*{_DESIGNATION})?",
    re.IGNORECASE,
)
_TNM = re.compile(r",?\s*\b[pc]?T[0-4x][a-d]?\s*N[0-3x][a-c]?\s*(?:M[01x][a-c]?)?\b")
_SUFFIX = re.compile(  # after a comma: a variant, a side, an inheritance
    r",\s*(?:[^,]*\b(?:type|variant|form|subtype|stage|grade|class|onset|inheritance)|(?:left|right|bilateral)\b[^,]*"
    r"|autosomal (?:dominant|recessive)|x-linked(?: dominant| recessive)?|susceptibility to)\s*(?=,|$)",
    re.IGNORECASE,
)
_INHERITED = re.compile(
    r",?\s*\b(?:autosomal (?:dominant|recessive)|x-linked(?: dominant| recessive)?)\b", re.IGNORECASE
)
_NUMBER = re.compile(r",?\s+\d+[A-Za-z]{0,2}(?=$|,)")
_ADJECTIVES = re.compile(
    r"\b(?:left|right|bilateral|unilateral|left-sided|right-sided|acute(?:-on-chronic)?|subacute|chronic|recurrent"
    r"|relapsing|relapsed|refractory|incomplete|recent|old|new-onset|early|late|advanced|end-stage|mild|moderate|severe|massive"
    r"|extensive|localized|localised|metastatic|disseminated|isolated|solitary|ruptured|perforated|complicated"
    r"|uncomplicated|incidental|suspected|probable|possible|likely|presumed|known|atypical|typical|classic|classical"
    r"|active|primary|secondary|age-related|senile|neovascular|exudative|(?:non-?)?proliferative|wet|dry|open-angle"
    r"|angle-closure)\b(?!-)[\s,]*",
    re.IGNORECASE,
)


def is_specific(word: str) -> bool:
    """Whether a word can carry a name by itself, as `words` are spelt in `normalized_words`."""
    return len(word) >= MIN_LETTERS and word.isalpha() and word not in DECIDING_WORDS and word not in UNSPECIFIC


@lru_cache(65_536)
def diagnosis_cores(name: str) -> tuple[str, ...]:
    """The shorter names that also give a diagnosis away, the longest first; none if it is as short as it can be."""
    plain = _strip(_FURTHER.sub("", _strip_brackets(name)))
    shorter = [plain, _strip(_ADJECTIVES.sub("", plain))]
    before_tail = _strip(_ADJECTIVES.sub("", _TAIL.sub("", plain)))
    if len(_naming_words(before_tail)) > 1:  # a single word before `with` or a comma is a head noun
        shorter.append(before_tail)
    shorter += [core for text in (plain, _TAIL.sub("", plain)) if (core := _without_site(text)) is not None]
    own = content_words(name)
    cores = {content_words(core): core for core in shorter if content_words(core) != own and _names_a_disease(core)}
    return tuple(cores.values())


def _without_site(name: str) -> str | None:
    """A name without the place in the body: `tuberculosis` of `tuberculosis of the spine`."""
    if not _SITE.search(name):
        return None
    return _strip(_ADJECTIVES.sub("", _SITE.sub("", name)))


def with_initials(names: Iterable[str]) -> list[str]:
    """Names of a diagnosis and the abbreviations that their initials make: `CD` of `Crohn disease`."""
    listed = list(dict.fromkeys(names))
    whole = [form for name in listed for form in (name, *diagnosis_cores(name)) if form.split()[:1] == name.split()[:1]]
    return list(dict.fromkeys([*listed, *filter(None, map(_initials, whole))]))


def _initials(name: str) -> str | None:
    plain = _strip(_FURTHER.sub("", _strip_brackets(name)))
    words = [word for word in re.findall(r"[^\W\d_]+(?:['’]s)?", plain) if word.lower() not in FUNCTION_WORDS]
    short = "".join(word[0] for word in words).upper()
    return short if 2 <= len(short) <= 5 and short not in OTHER_ABBREVIATIONS else None


@lru_cache(65_536)
def head_noun(name: str) -> str | None:
    """The word of a diagnosis that says what kind of disease it is: `paraplegia` of `Spastic paraplegia 91`.

    It is the last word before a comma, `of` or `with`, and before a word for any disease (`telangiectasia` of
    `Hereditary telangiectasia syndrome`) if that is not an adjective.
    """
    plain = _strip(_FURTHER.sub("", _strip_brackets(name)))
    return _last_noun(re.split(r",|\s(?:of|with|in|without)\s", plain)[0])


@lru_cache(65_536)
def further_nouns(name: str) -> tuple[str, ...]:
    """The kinds of disease that a name says besides: `nephropathy` of `kidney failure due to IgA nephropathy`."""
    further = _FURTHER.search(name) or _TAIL.search(name)
    if further is None:
        return ()
    parts = re.split(r",|;|\band\b|\s(?:with|due to|secondary to|caused by|of|in)\s", further[0])
    nouns = (_last_noun(part) for part in parts)
    return tuple(noun for noun in nouns if noun and _DISEASE_NOUN.search(noun))


def has_adjective_ending(word: str) -> bool:
    return _ADJECTIVE.search(word) is not None


def _last_noun(text: str) -> str | None:
    words = content_words(text)
    is_adjective_possible = False
    while words and (not is_specific(words[-1]) or words[-1] in ANY_DISEASE):
        is_adjective_possible = is_adjective_possible or words[-1] in ANY_DISEASE
        words = words[:-1]
    if not words or words[-1] in ORGANS | _EVERYDAY or (is_adjective_possible and has_adjective_ending(words[-1])):
        return None
    return words[-1]


_ADJECTIVE = re.compile(r"(?:al|ic|ar|ary|ous|ive|ory|ed|ing|ent|ant|ate)$")
_EVERYDAY = frozenset(["still", "best", "hand", "foot", "white", "black", "long", "small", "will", "whole", "storage"])
_DISEASE_NOUN = re.compile(r"(?:itis|oma|osis|emia|pathy|plegia|penia|trophy|iasis|lysis|syphilis|sepsis)$")


def _strip_brackets(name: str) -> str:
    stripped = _BRACKETS.sub("", name)
    return stripped if content_words(stripped) else name


def _strip(name: str) -> str:
    """Without stage, variant, inheritance and number."""
    for pattern in (_TNM, _STAGED, _SUFFIX, _INHERITED, _SUFFIX, _NUMBER):
        name = pattern.sub("", name)
    return " ".join(name.split()).strip(" ,;:–—-")


def _naming_words(name: str) -> list[str]:
    return [word for word in content_words(name) if is_specific(word) and word not in CLASS_WORDS | ORGANS]


def _names_a_disease(core: str) -> bool:
    """Not an organ alone (`kidney` of `left kidney`), nor a class alone (`carcinoma`)."""
    words = set(content_words(core)) - DECIDING_WORDS
    return bool(_naming_words(core)) or (bool(words & CLASS_WORDS) and bool(words & ORGANS))
