"""Replies reworded before options are looked for: idioms, places of options, elided words, written comparators.

"No doubt" is not the option "No"; "the fourth option" is D; "stage II, no, III" is "stage II, no, stage III"; "less
than 5" is "<5".
"""

import re

from wardround.core.text import LETTERS
from wardround.marking.parser.option_text import OptionForms, attach_signs, compare_by_signs
from wardround.marking.parser.words.kept import kept

_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINAL = rf"(?P<ordinal>{'|'.join(_ORDINALS)}|last)"
_ORDINAL_PARTS = (*(f"the {ordinal}" for ordinal in (*_ORDINALS, "last")), "t option", "d option", "h option")
_IDIOM_PARTS = (
    "doubt",
    "no question",
    "no problem",
    "no worries",
    "thank",
    "e, but",
    "n, but",
    " right",
    "right,",
    "right!",
)
_CHANGED = re.compile(
    r"\b(?:chang|switch|revis|mov)(?:e|es|ed|ing)? (?:my (?:final )?(?:answer|choice|mind|vote) )?"
    r"from (?:option |answer )?\(?[A-J]\)?"
    r"(?: [\w ]{0,30})? to (?:option |answer )?\(?([A-J])\)?(?!\w)"
)
_TAKEN_BACK = ("scratch that", "strike that", "disregard that")  # what stands before them does not count
_NO_FINDING = re.compile(
    r"\b(?:no (?:acute |significant |focal |obvious |relevant |(?:cardio)?pulmonary |\w+ic )*"
    r"(?:abnormality|abnormalities|abnormal findings?)"
    r"|nothing (?:pathological|abnormal|remarkable|of note)|unremarkable|within normal limits)\b",
    re.I,
)
_UNIT = r"(?:mg|mcg|mm|cm|ml|g|kg|hu|units?|hours?|days?|weeks?|months?|years?)\b"

_IDIOM = re.compile(
    r"\b(?:(?:there(?: i|')s )?no|(?:without|beyond)(?: an?| any)?) (?:doubt|question)\b"
    r"(?! mark)(?: about (?:it|that|this))?"
    r"(?: that)?|\bnot (?:\w+ly |100% )?(?:sure|certain),? but\b"
    r"|\bno,? (?:problem|worries|thanks|thank you)\b"
    r"|\b(?:that's|that is|you're|you are|quite|all|yes,?) right(?=\s*[,.!;:]|\s*\Z)"
    r"|\A\W*right(?=[,!.:]+ (?:so|let|now|ok|okay|well|the left|a left)\b)",
    re.I,
)
_OPENING_IDIOM = re.compile(r"\A\W*(?:certainly|indeed)[.!:,;]*\s+(?=\S)")
_ONE = re.compile(r"\b(the (left|right|upper|lower|middle|inner|outer)) one\b", re.I)
_ASKS_ITSELF = re.compile(r"(?<=\b[Aa]nswer)\? (?=\(?[A-J](?:[.:)]|\s*\Z))")
_THIS_ONE = re.compile(r"\b(this|that) one(?= as\b)", re.I)  # not the number
_THINKS = re.compile(
    r"\b(i (?:think|believe|guess|suspect)(?: that)? (?:the |my )?"
    r"(?:correct |best |right |most likely )?(?:answer|option|choice))"
    r" (?:might|could|may) (?:well )?be\b",
    re.I,
)
_LOOKS_LIKE = re.compile(
    r"(?:\b(this|it|that)|(?:\A|(?<=[.!?\n] )|(?<=\n)))(?: ?(?:picture|case|image|presentation|scan|film))?"
    r" ?\b(?:really |most |clearly )?(?:looks|sounds)"
    r" (?:most |very |very much |a lot |more )?like(?=[^.\n]{1,80}(?:[.!]|\Z))"
    r"(?![^\n]*\b(?:but|however|though|mimics?|yet|first|initially|not|except)\b)",
    re.I,
)
_PLAIN_ANSWERS = {
    **dict.fromkeys(("yep", "yeah", "yup", "affirmative", "yes it is", "yes sir"), "yes"),
    **dict.fromkeys(("nope", "nah", "no it isn't", "not at all"), "no"),
}
_OPENS_PLAINLY = re.compile(r"\W*(yep|yeah|yup|nope|nah)(?=[,.!;:])", re.I)
_ORDINAL_OPTION = re.compile(r"\b([123])(?:st|nd|rd)(?= (?:option|choice|alternative)\b)", re.I)
_SHORT_ORDINAL = re.compile(r"\b([123])(?:st|nd|rd)\b", re.I)
_CONSISTENT_WITH = re.compile(r"\bc/w\b", re.I)
_ANSWER_IS = re.compile(r"\b(answer|choice|diagnosis|pick)'s\b", re.I)
_TNM = re.compile(r"\b([cp]?T(?:[0-4][a-d]?|is|x))[ ,]+(N[0-3x][a-c]?)[ ,]+(M[01x][a-c]?)\b", re.I)
_TIMES = re.compile(
    r"\b(\d{1,2}) ?(?:x|×|times) ?(?:/|per|a|an|each|every) ?(day|week|wk|month|mo|year|yr|hour|d)\b", re.I
)
_TOP_DIFFERENTIAL = re.compile(r"\b(?:top|leading|primary|first) differential(?: diagnosis)?\b", re.I)
_BUT = re.compile(r"\b(all (?:of the )?(?:other )?(?:options|choices)) but\b", re.I)
_ALL_BUT = re.compile(
    r"\b(?:all (?:of the )?(?:other )?(?:options|choices|answers)|every(?:thing| option| choice))"
    r" (?:except|but|other than|apart from) "
    r"(?:for )?(?:option )?(.{1,60}?) (?:can be|are|is|were|have been|has been) (?:\w+ly )?"
    r"(?:ruled out|excluded|eliminated|incorrect|wrong|unlikely|implausible)\b",
    re.I,
)
_CHOSEN_BY_PLACE = re.compile(
    r"(?P<before>\A(?:(?:answer|option|choice|letter)\W+)?|\b(?:choose|pick|select|opt for|go with|go for|say|answer is"
    r"|choice is|answer:|answer would be|option would be)\s)(?:is )?"
    rf"(?P<the>the )?{_ORDINAL}(?P<noun> (?:option|choice|alternative|answer|one))?"
    r"(?(the)(?=\s*(?:[.,!;)(]|\Z)|\s(?:because|since|given|fits|from the top|in the list|listed)\b)"
    r"|(?(noun)(?=[.!]?\s*\Z)|(?!)))",
    re.I,
)
_JUDGED_BY_PLACE = re.compile(
    rf"(?P<before>)(?<!my )\b(?:the )?{_ORDINAL} (?:option|choice|alternative)"
    r"(?=(?: \([^()\n]{1,60}\))? (?:(?:is|seems|would be|appears to be) (?:clearly |therefore |thus )?(?:the )?"
    r"(?:correct|right|best|most|wrong|incorrect|not)\b|fits\b|best\b|is the match\b))",
    re.I,
)
_NUMBERED = re.compile(
    r"\b(option|choice|alternative)(?:(?: (?:number|no\.?|nr\.?)| ?#) ?(?=\w)| (?=[a-z]))"
    rf"(\d{{1,2}}|{'|'.join(_NUMBERS)})\b"
    rf"(?![.,]\d|[%/-]| ?{_UNIT})",
    re.I,
)
_SPINAL_ORDINALS = (*_ORDINALS, "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
_SPINAL = re.compile(
    rf"\b(?:({'|'.join(_SPINAL_ORDINALS)})|(\d{{1,2}})(?:st|nd|rd|th)) (cervical|thoracic|lumbar|sacral)\b"
    r"(?: (?:vertebrae?|vertebral (?:body|level)|spinal level|level|nerve root|spinal nerve|root|nerve"
    r"|dermatome|segment))*",
    re.I,
)
_NUMBER_WORD = re.compile(rf"\W*({'|'.join(_NUMBERS)})\W*", re.I)
_NUMERAL = r"(?:\d{1,2}[a-d]?|[IVX]{1,4}[ABCabc]?)"
_OF_CLASS = "cancer|tumou?r|carcinoma|disease|malignancy|lesion|injury|fracture|retinopathy|hypertension|failure"
_SPECIES = re.compile(r"\b([A-Z])\.? ([a-z]{4,})\b")
_OPENING_NUMERAL = re.compile(r"\A(I{2,3}|IV|V)(?=[.:;,] | [–—-] |\s*\Z)")
_NUMBER_OF_CLASS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "zero": "0"}
_CLASS_WORDS = "stage|grade|class|category|degree"
_STAGING = re.compile(r"\b(?:FIGO|AJCC|UICC|TNM|Ann Arbor|Dukes?) (?=(?:[IV]{1,3}|\d)[ABCabc]?\b)")
_DEGREE = re.compile(rf"\b({'|'.join(_ORDINALS)})[- ](?:{_CLASS_WORDS})\b", re.I)
_ROMAN_CLASSES = ("I", "II", "III", "IV")
_ARABIC_CLASS = re.compile(r"(?<= )([1-4])([ABCabc])\b")
_NUMBER_VALUES = dict(
    zip(
        (
            *_NUMBERS[1:],
            "eleven",
            "twelve",
            "fourteen",
            "fifteen",
            "sixteen",
            "eighteen",
            "twenty",
            "thirty",
            "forty",
            "fifty",
            "sixty",
            "seventy",
            "eighty",
            "ninety",
        ),
        (*range(2, 11), 11, 12, 14, 15, 16, 18, *range(20, 100, 10)),
        strict=True,
    )
)
_COUNTED = re.compile(
    rf"\b(?:({'|'.join(_NUMBER_VALUES)})(?:[- ](one|two|three|four|five|six|seven|eight|nine))?|(?:an? |one )(hundred))"
    r"(?=[ -](?:mg|milli\w+|micro\w+|mcg|g|grams?|percent|per cent|%|hours?|days?|weeks?|months?|years?|units?|cm|mm"
    r"|centi\w+|kg|ml|degrees|times|doses|minutes|per (?:kilo|cent))\b)",
    re.I,
)
_PERCENT = re.compile(r"(?<=\d) ?(?:percent|per cent)\b", re.I)
_JOINT = (
    r"\s?[-–/]\s?"
    r"|[\s,.;:…–—-]{1,4}(?:(?:no|or|and|to|wait|sorry|actually|rather|versus|vs|oops|correction|i mean|make that)"
    r"[\s,.:…-]{1,3}){1,3}"
)
_SPAN = re.compile(r"\A\s?[-–/]\s?\Z")
# a part of every phrase that _reword_phrases replaces, in lower case
_IN_PHRASES = re.compile(
    r"doubt|question|problem|worries|thank|\b(?:sure|certain|certainly|indeed|right|might|could|may|one)\b|every"
    r"|[123](?:st|nd|rd)|option|choice|alternative|\b(?:chang|switch|revis|mov)|normal|nothing|remarkable|answer\?"
    r"|(?:answer|diagnosis|pick)'s|looks|sounds|c/w|m[01x]|(?:\A|\d)x|×|times|differential"
    rf"|\b(?:{'|'.join(_ORDINALS)}|last)\b"
    rf"|\b(?:{'|'.join(_NUMBER_VALUES)}|hundred)\b|percent|\bcent\b"
)


def without_taken_back(text: str) -> str:
    """The reply without what it takes back: "asthma. Scratch that." """
    lower = text.lower()
    if not _has_any(lower, _TAKEN_BACK) or len(lower) != len(text):
        return text
    end = max(lower.rfind(words) + len(words) for words in _TAKEN_BACK if words in lower)
    return text[end:].lstrip(" .,;:!–—-") or text


def reword(text: str, forms: OptionForms) -> str:
    """The reply with these wordings replaced by the letters and option texts that they mean.

    Plain searches for a part of each wording come first: they are many times faster than the patterns, and which words
    are in any of them is kept.
    """
    if forms.is_numeric and (number := _NUMBER_WORD.fullmatch(text)):
        return str(_NUMBERS.index(number[1].lower()) + 1)
    if forms.count == 2 and len(text) < 14 and (plain := _PLAIN_ANSWERS.get(text.lower().strip(" .!"))) in forms.words:
        return plain or ""
    if " " not in text and not forms.has_comparators:
        return text
    if "yes" in forms.words and "no" in forms.words and (opening := _OPENS_PLAINLY.match(text)):
        text = f"{_PLAIN_ANSWERS[opening[1].lower()].capitalize()}{text[opening.end() :]}"
    if any(map(_may_be_reworded, text.split())):
        text = _reword_phrases(text, forms)
    if forms.genera:
        text = _SPECIES.sub(lambda species: _genus_of(species, forms), text)
    if forms.has_levels:
        text = _SPINAL.sub(_spinal_level, text)
    if forms.class_word:
        text = _with_class_word(text, forms.class_word, forms.words)
    if forms.has_comparators:
        return compare_by_signs(text)
    return attach_signs(text) if "<" in text or ">" in text else text


@kept
def _may_be_reworded(unspaced: str) -> bool:
    """Whether a text without spaces is in one of the phrases below."""
    return _IN_PHRASES.search(unspaced.lower()) is not None


def _reword_phrases(text: str, forms: OptionForms) -> str:
    """The reply with phrases replaced that do not depend on the kind of the options."""
    lower = text.lower()
    if _has_any(lower, _IDIOM_PARTS):
        text = _OPENING_IDIOM.sub("", _IDIOM.sub("certainly", text))
    if " be " in lower and "i " in lower:
        text = _THINKS.sub(r"\1 is", text)
    if "every" in lower:
        text = _ALL_BUT.sub(r"\1 is correct", text)
    if "1st " in lower or "2nd " in lower or "3rd " in lower:
        text = _ORDINAL_OPTION.sub(lambda short: _ORDINALS[int(short[1]) - 1], text)
    if "option" in lower or "choice" in lower or "alternative" in lower:
        text = _NUMBERED.sub(lambda named: _option_of_number(named, forms), text)
        if "all " in lower:
            text = _BUT.sub(r"\1 except", _ALL_BUT.sub(r"\1 is correct", text))
        if _has_any(lower, _ORDINALS):
            text = _JUDGED_BY_PLACE.sub(lambda named: _option_of_ordinal(named, forms), text)
    if " from " in lower and " to " in lower:
        text = _CHANGED.sub(r"correction: the answer is \1", text)
    if "normal" in forms.words and ("normal" in lower or "nothing" in lower or "remarkable" in lower):
        text = _NO_FINDING.sub("normal", text)
    if "answer? " in lower:
        text = _ASKS_ITSELF.sub(": ", text)
    if "'s" in lower:
        text = _ANSWER_IS.sub(r"\1 is", text)
    if "s like" in lower:
        text = _LOOKS_LIKE.sub("this is", text)
    if "c/w" in lower:
        text = _CONSISTENT_WITH.sub("consistent with", text)
    if "m0" in lower or "m1" in lower or "mx" in lower:
        text = _TNM.sub(r"\1\2\3", text)
    if "x/" in lower or "x per" in lower or "x a " in lower or "times" in lower:
        text = _TIMES.sub(r"\1 times per \2", text)
    if "differential" in lower:
        text = _TOP_DIFFERENTIAL.sub("answer", text)
    if ("the " in lower or " option" in lower) and _has_any(lower, _ORDINAL_PARTS):
        text = _CHOSEN_BY_PLACE.sub(lambda named: _option_of_ordinal(named, forms), text)
    if " one" in lower:
        text = _THIS_ONE.sub(r"\1", text)
        text = _ONE.sub(lambda one: one[1] if one[2].lower() in forms.words else one[0], text)
    if forms.has_numbers:
        text = _PERCENT.sub("%", _COUNTED.sub(_number_of_words, text))
    if ("1st" in lower or "2nd" in lower or "3rd" in lower) and not forms.words.isdisjoint(_ORDINALS):
        text = _SHORT_ORDINAL.sub(lambda short: _ORDINALS[int(short[1]) - 1], text)
    return text


def _has_any(text: str, parts: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, parts))


def _option_of_number(named: re.Match[str], forms: OptionForms) -> str:
    """ "Option number 2" as a letter; without its number if an option's text has that number."""
    word = named[2].lower()
    number = _NUMBERS.index(word) + 1 if word in _NUMBERS else int(word)
    if {word, str(number)} & forms.words:
        return f"{named[1]} number"
    return f"{named[1]} {LETTERS[number - 1]}" if 0 < number <= forms.count else named[0]


def _number_of_words(counted: re.Match[str]) -> str:
    """ "Forty-five" in digits."""
    if counted[3]:
        return "100"
    ones = _NUMBERS.index(counted[2].lower()) + 1 if counted[2] else 0
    return str(_NUMBER_VALUES[counted[1].lower()] + ones)


def _spinal_level(named: re.Match[str]) -> str:
    """ "The twelfth thoracic vertebra" as T12."""
    number = named[2] or str(_SPINAL_ORDINALS.index(named[1].lower()) + 1)
    return f"{named[3][0].upper()}{number}"


def _option_of_ordinal(named: re.Match[str], forms: OptionForms) -> str:
    """ "The fourth option" as a letter, unless an option's text has that word."""
    ordinal = named["ordinal"].lower()
    place = forms.count - 1 if ordinal == "last" else _ORDINALS.index(ordinal)
    if ordinal in forms.words or place >= forms.count:
        return named[0]
    return f"{named['before']}option {LETTERS[place]}"


def _genus_of(species: re.Match[str], forms: OptionForms) -> str:
    """ "P. aeruginosa" as "Pseudomonas aeruginosa", if that is an option."""
    genus = forms.genera.get(f"{species[1]} {species[2]}".lower())
    return f"{genus} {species[2]}" if genus else species[0]


def _with_class_word(text: str, word: str, class_numerals: frozenset[str]) -> str:
    """The reply with the word that all options begin with ("stage") before both numerals of a pair."""
    if re.search(rf"\b(?:{word}) (?:{_NUMERAL}|zero|one|two|three|four|five)\b", text, re.I) is None:
        text = _STAGING.sub(f"{word} ", text)
        text = _DEGREE.sub(lambda degree: f"{word} {_ORDINALS.index(degree[1].lower()) + 1}", text)
        if re.fullmatch(_CLASS_WORDS, word):
            text = re.sub(rf"\b(?:{_CLASS_WORDS}) (?={_NUMERAL}\b)", f"{word} ", text, flags=re.I)
    if any(option.endswith(("a", "b", "c")) and option[0] in "iv" for option in class_numerals):
        text = _ARABIC_CLASS.sub(lambda numeral: f"{_ROMAN_CLASSES[int(numeral[1]) - 1]}{numeral[2]}", text)
    text = re.sub(rf"\b(?:WHO|ISUP|AJCC|FIGO|TNM|CKD|Fuhrman|Nottingham) (?={word} {_NUMERAL}\b)", "", text, flags=re.I)
    text = re.sub(rf"\b({word} {_NUMERAL}) (?:{_OF_CLASS})\b", r"\1", text, flags=re.I)
    text = _OPENING_NUMERAL.sub(rf"{word} \1", text)  # "II. The tumour is ..."
    text = re.sub(
        rf"\b({word}) (zero|one|two|three|four|five)\b",
        lambda named: f"{named[1]} {_NUMBER_OF_CLASS[named[2].lower()]}",
        text,
        flags=re.I,
    )
    pair = re.compile(rf"\b({word}) ({_NUMERAL})({_JOINT})(?={_NUMERAL}(?:[\s.]*\Z|[.,;:)\n!]))", re.I)
    return pair.sub(lambda match: f"{match[1]} {match[2]}{_SPAN.sub(' or ', match[3])}{match[1]} ", text)
