# ruff: noqa: E501 (patterns)
"""The only letter that a reply does not deny, suppose or only compare with, looked for if no other rule reads one.

"B. Timolol is contraindicated in asthma.", "B, not C (egg on a string), nor D", "that makes A correct and B incorrect":
a letter that opens the reply, or the only one whose own clause stands. What a clause says of a letter ("D is at the
border of rectus") neither affirms nor denies it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.conclusions.weighing import REFUTED, SUPPOSES, WOULD, without_idioms
from wardround.marking.parser.words.word_search import WordSearch

MIN_LENGTH = 60  # characters of a reply with reasons: the rules for shorter ones say what is no answer
MAX_LENGTH = 1200  # characters of a reply whose letters are weighed
MAX_OPENED = 400  # of a reply that a letter opens

_AFTER_A = (
    r"(?:is|was|has|fits|matches|explains|seems|remains|because|since|for|here|now|takes|and|or|but|over|wins|applies|describes"
    r"|corresponds|would|gives|makes|captures|covers|can|does|it|please|correct|true|right)\b"
)
_LETTER = re.compile(
    rf"(?<![\w'’\"./=°-])(?:[B-HJ]|A(?! [A-Za-z\"])|A(?= {_AFTER_A})|(?<=option )A|(?<=choice )A)(?![\w'’/+=°%-]|\.\w| \d|\. [a-z]{{2,}}\b|:)"
)
_OPENING = re.compile(
    r"[\W_]*(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Aa]ns|[Ll]etter)\b[ :.=-]*)?[(\[]?(?P<letter>[A-HJ])[)\]]?"
    r"(?:(?P<stop>\.)\s+(?=[^a-z\s])|\s*[:)–—=](?![:=])\s*|\s-+>?\s*)(?P<rest>\S.*)",
    re.S,
)
_OTHER_ENTRY = re.compile(r"(?:\A|[\n.;,]\s*)[ \t\-•*(>#|]*[A-Ja-j](?:[.):]| [-–—=])\s?\S|\b[B-J][.):]\s")
_DENIES_OPENING = re.compile(
    r"\b(?:not|may|might|incorrect|wrong|false|unlikely|never|could|none|hint|hmm|depends|neither|question|step|why)\b|n't\b|\?|\d+ ?(?:%|points?|/)",
    re.I,
)
_ENTRY = re.compile(r"(?:\A|\n)[ \t\-•*(>#|]*(?:(?:[Oo]ption|[Cc]hoice) )?\(?[A-J](?:[.):]|\s[-–—]|\s*\|)")
_STARTS_ENTRY = re.compile(r"(?:\A|\n|\d[.)] |(?<=option)\. )[ \t\-•*(>#|]*\Z")
_KIND = re.compile(
    r"\b(?:type|class|grade|stage|hepatitis|vitamin|factor|group|influenza|protein|figure|fig|panel|image|plan|category|part|segment|zone|level|point|lead|subtype"
    r"|ha?emophilia|cells?|t|b|strep(?:tococcus)?|stanford|weber|child|child-pugh|nyha|luminal|napsin|cyclin|kerley|criteri(?:on|a)|botulinum|immunoglobulin|ig|and|or|nor"
    r"|tube|chart|curve|trace|arrow|structure|label|lesion|amphotericin|phase|patients?|drug|between)[ :-]*[(\[\"']?\Z",
    re.I,
)
_CLAUSE_END = re.compile(
    r"[.!?;\n]+(?=\s|\Z)|,(?=\s)|\s[–—-](?=\s)|:(?=\s)|\s(?=(?:but|while|whereas|though|although|because|since|rather than|instead of|not|nor)\b|and (?=(?:not )?[(]?[A-J]\b))"
)
_SAID_AFTER = re.compile(
    r"[)\]\"']* (?!(?:now|here|please|because|since|as|by|straight|over|rather|instead|then|on|at|in|with|given|due|based)\b)[a-z]"
)
_JOINED = re.compile(r"[)\]\"']*(?:,| and| or| nor| ?[/&]| versus| vs\.?) (?:or |and )?[(\[]?(?:[Oo]ption )?[A-J]\b")
_JOINING = re.compile(
    r"\b[A-J][)\]]?(?:,|,? and|,? or|,? nor| ?[/&]| versus| vs\.?) (?:(?:and|or) )?[(\[]?(?:[Oo]ption )?\Z"
)
ENDORSED = WordSearch(
    r"\A[)\]\"']*,? ?(?:\([^()]*\) ?)?(?:(?:is|was|seems|looks|remains|would be|must be|stands)(?: clearly| by far| thus| therefore| thus| then| definitely| still| by far| simply| really)? ?(?:the |my |our )?(?:(?:only|single|remaining|more|most|usual|one) )*(?:one|best|correct|right|answer|choice|option|pick|accurate|true|appropriate|likely|fit|match|suitable|sensible|safest|winner|remaining|left|commonest|usual|common|classic)\b"
    r"|(?:fits|matches|explains|captures|covers|describes|takes|accounts|wins|applies|it is|corresponds|remains(?! (?:a|possible|to|un))|correct|true|right)\b|makes (?:the )?most\b)"
)
_ENDORSED_LATER = WordSearch(
    r"\A[)\]]+ [^.;,]{0,60}\b(?:is|remains|would be) (?:therefore |thus |clearly )?(?:the |my |our )(?:\w+ ){0,2}(?:first[ -]choice|(?:drug|treatment|agent|test|investigation|modality) of choice|best (?:choice|option|answer|fit|match)|correct (?:choice|option|answer)|answer|most (?:likely|appropriate|suitable))\b"
)
_DISMISSES = WordSearch(
    r"\b(?:incorrect|out|escalation|debated|opposite|irrelevant|adjuncts?|backup|fallback|runner-up|similar|elsewhere|respectively|unnecessary|overtreatment|contradicts?"
    r"|from|ahead|compar\w+|leans?|leaning|guess|closest|labell?ed|marked|criteri\w+|answered|think|thought|report|says?|mentions?|first|removes?|both|user|suppose|consider|category|replace|agree|letters?|otherwise|example|wrong|ruled|see|what was|need)\b"
)
_UNDECIDED = WordSearch(
    r"\b(?:cannot|can't|can not|could not|couldn't|unable|impossible|hard|difficult) (?:\w+ ){0,3}?(?:determine|tell|say|answer|choose|decide|pick|select|commit|single|distinguish|be sure|narrow|rank)"
    r"|\b(?:insufficient|not enough|depends?|depending|torn|toss-?up|either|equally|undecided|no single|none of|more than one (?:option|answer|choice|of|may|could|is|fits)|need more|please|if i had|not sure|unsure|first two|last two|coin|all (?:of )?(?:these|the)|both (?:are|remain|fit|apply|could|would|have)|as an ai|sorry|instructions?|format|e\.g|for example|earlier report)\b|\?|\bor \(?(?:option )?[a-j]\b(?! [a-z])|\b[a-j] or\b"
)
_GOES_THROUGH = re.compile(r"\b(?:start with|begin with|obvious|one by one|in turn|first thought|look at|consider)\b")
_TO_AVOID = re.compile(
    r"\b(?:one|drug|agent|option|choice|medication|test|statement|procedure|thing)(?: \w+)? to (?:be )?(?:avoid(?:ed)?|stop|withh[eo]ld|exclude)\b|\b(?:false|incorrect|wrong) (?:one|statement|option)\b",
    re.I,
)
_STOP = re.compile(r"[.!?;\n]\s+")
_IN_BRACKETS = re.compile(r"\((?:(?:option|choice|answer|letter) )?\Z", re.I)
_ENDS_SENTENCE = re.compile(r"[)\]]+[\"']?\s*(?:[.!]|\Z|\n)")

_POINTED = re.compile(r"[👉➡⭐☞✅✔☑⇒➤▶▸]\ufe0f?\s*[(\[]?(?:[Oo]ption |[Aa]nswer:? )?([A-J])[)\]]?(?=[:.,)\s]|\Z)")
_DENIED_NEXT = re.compile(r"[)\]\"']*,? (?:is|was|are|were|does|would|can|could) ?(?:not|n't|never|be wrong|wrong)")

Weigh = Callable[[str], Mapping[int, float]]  # the options that a text names


def read_standing_letter(text: str, options: Sequence[str], weigh: Weigh) -> int | None:
    """The option of the only letter that stands; None if there is none, or another one too."""
    letters = LETTERS[: len(options)]
    if (opening := _OPENING.fullmatch(text)) is not None:
        place = letters.find(opening["letter"])
        return place if place >= 0 and _opens(opening, place, weigh) else None
    pointed = set() if text.isascii() else set(_POINTED.findall(text))
    if (
        not (pointed or (len(text) >= MIN_LENGTH and _LETTER.search(text)))
        or len(text) > MAX_LENGTH
        or text.endswith((":", "...", "…"))
        or "{" in text
        or len(_ENTRY.findall(text)) > 1
        or _UNDECIDED.search(text)
    ):
        return None
    standing = pointed or set(_standing_letters(text, options))
    letter = standing.pop() if len(standing) == 1 else ""
    if not letter or letter not in letters or any(re.search(rf"(?<!\w){letter}(?!\w)", option) for option in options):
        return None
    return letters.index(letter)


def _opens(opening: re.Match[str], place: int, weigh: Weigh) -> bool:
    """Whether a letter that opens the reply chooses its option: what follows is no list and denies nothing."""
    rest = opening["rest"]
    if len(rest) > MAX_OPENED or _OTHER_ENTRY.search(rest) or "\n" in rest.strip():
        return False
    if opening["letter"] == "A" and rest[0].isupper() and opening[0].lstrip("*_ ")[1:2] == ":":
        return False  # "A: The sclera is ...": an answer to a question
    if _DENIES_OPENING.search(rest):
        return False
    named = weigh(rest)
    return not named or place in named


def _standing_letters(text: str, options: Sequence[str]) -> Iterator[str]:
    """The letters in clauses that deny, suppose and compare nothing."""
    for named in _LETTER.finditer(text):
        before, after = text[: named.start()], text[named.end() :]
        if _STARTS_ENTRY.search(before) and after[:1] in ".)":
            continue
        text_after = after[2:].lower() if after[:2] == ". " else ""
        if text_after and any(text_after.startswith(option.lower()) for option in options):
            continue  # "so D. Iris only refers to the inner part"
        if (
            _KIND.search(before[-16:])
            or _JOINED.match(after)
            or _JOINING.search(before[-20:])
            or _DENIED_NEXT.match(after)
        ):
            continue
        end = _CLAUSE_END.search(after)
        *_, start = [0, *(stop.end() for stop in _CLAUSE_END.finditer(before))]
        clause = _TO_AVOID.sub(" ", without_idioms(before[start:] + named[0] + after[: end.start() if end else None]))
        if REFUTED.search(clause) or _DISMISSES.search(clause):
            continue
        if (
            phrases.DISTANT.search(lower := clause.lower())
            or phrases.WRONG.search(lower)
            or phrases.RETRACTED.match(after.lower())
        ):
            continue
        *_, stop = [0, *(stop.end() for stop in _STOP.finditer(before))]
        if WOULD.search(clause) or SUPPOSES.match(before[stop:]) or _GOES_THROUGH.search(before[stop:].lower()):
            continue
        if _IN_BRACKETS.search(before):
            stands = (_ENDS_SENTENCE.match(after) or _ENDORSED_LATER.search(after)) is not None
        else:
            stands = ENDORSED.search(after) is not None or _SAID_AFTER.match(after) is None
        if stands:
            yield named[0][-1]
