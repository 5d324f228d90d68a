"""Options that a reply compares with each other: verdicts on each, a ranking, or shares."""

import re
from collections.abc import Iterator

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.mentions import BOTH, DIFFER, LETTER, SEVERAL, TEXT, Mention
from wardround.marking.parser.option_text import FIRST_CHARACTER

RIGHT, MAYBE, WRONG = "right", "maybe", "wrong"
MAX_GAP = 400  # characters after an option that may contain its verdict
MIN_SUM, MAX_SUM = 0.9, 1.1  # of shares that are a distribution over options

Listing = tuple[int, str]  # the option that comes out on top, and the rule

_TICKS, _CROSSES = "✅✔✓☑🟢⭕", "❌✗✘✖🔴🚫❎"
MARKS = _TICKS + _CROSSES
_MARK = rf"[{_TICKS}{_CROSSES}]|\[[x ]\]"
_ANY_MARK = re.compile(_MARK)
_MARK_BEFORE = re.compile(rf"({_MARK})\ufe0f?[\s\-•|(]*(?:option )?\Z")
_MARK_AFTER = re.compile(rf"[^\n{_TICKS}{_CROSSES}]{{0,100}}?({_MARK})")
_VERDICT = re.compile(
    r"[\s)\].:,;|\"'–—=>→(\[-]*(?:(?:option|choice|this|it|answer)\s)?(?:is |seems |was |would be )?"
    r"(?:also |clearly |definitely |therefore )?"
    rf"(?:(?P<right>{phrases.GOOD})|(?P<wrong>{phrases.BAD})|(?P<maybe>{phrases.FAIR}))"
    r"(?![- ](?:diagnos|finding|image|side|heart|lower|upper|middle|lung|ventric))"
)
_SUMMED_UP = re.compile(
    r"\b(?:this|it|that|which)(?: option| choice| diagnosis)?(?: is| would be| seems|'s)"
    r"(?P<wrong>n't| not| un| less| in(?=correct))?"
    r"(?: therefore| clearly| thus)?(?: the)?(?P<most> most likely| single| best)?(?: correct| right| best)?"
    r" ?(?:answer|option|choice|diagnosis|correct|likely|fit|match|wrong)\b"
)
_ATOM = r"(?:\(?(?<![A-Za-z])[A-Z](?![A-Za-z'])\)?(?:[.):]{0,2} ?[\ue000-\uefff])?|[\ue000-\uefff](?: ?\([A-Z]\))?)"
_RANKED = re.compile(rf"(?<![=<≈>] )(?<![\w])({_ATOM}) ?(?:>{{1,3}}|≫|›) ?{_ATOM}")
_RANK_WORDS = ("rank", "order of", "to least", "to the least", "排")
_UPWARD = re.compile(r"least (?:likely |probable )?to (?:the )?most|ascending|increasing|reverse|worst to best")
_WORD = re.compile(r"[A-Za-z]{2}")
_NUMBER = r"(\d{1,3}(?:\.\d{1,4})?|\.\d{1,4})"
_SHARE_AFTER = re.compile(
    r"[)\]\"'.]*[\s|(:=~≈–-]{1,6}(?:(?:is|about|approximately|roughly|probability|at|p) ?=? ?)?"
    rf"{_NUMBER}(?: ?(%)|(?![\d%\w./-]))"
)
_SCORE_AFTER = re.compile(
    r"[)\]\"'.]*[\s|(:=~≈–-]{1,6}(?:(?:score|rating|is|likelihood)[:=]? )?"
    r"(\d{1,3}(?:\.\d)?) ?/ ?(5|10|100)(?![\d/.]*\d)"
)
_SHARE_BEFORE = re.compile(
    rf"{_NUMBER} ?(%)(?: (?:on|for|to|of|in|that it is|probability (?:of|for)|chance of|likely))?"
    r"[\s(\"'|:]*(?:option )?\Z"
)


def read_listing(text: str, mentions: list[Mention]) -> Listing | None:
    """The option on top of a ranking, or the only one with a good verdict."""
    if len(mentions) < 2 and not (mentions and mentions[0].kind == SEVERAL):
        return None
    return _ranked(text) or _headed(text, mentions) or _judged(text, mentions)


def _named_option(atom: str) -> int | None:
    """The option of a letter, a marked text, or both if they agree."""
    options = {ord(character) - FIRST_CHARACTER for character in atom if character >= "\ue000"}
    options |= {LETTERS.index(character) for character in atom if "A" <= character <= "Z"}
    return options.pop() if len(options) == 1 else None


def _ranked(text: str) -> Listing | None:
    """The first option of "C > B > A"."""
    ranked = _RANKED.search(text) if ">" in text or "≫" in text else None
    option = _named_option(ranked[1]) if ranked else None
    return None if option is None else (option, "ranking")


def _headed(text: str, mentions: list[Mention]) -> Listing | None:
    """The first option after "from most to least likely:"."""
    lower = text.lower()
    if not any(word in lower for word in _RANK_WORDS):
        return None
    for mention in mentions:
        before = lower[max(0, mention.start - 120) : mention.start]
        if phrases.RANKING.search(before) and not _UPWARD.search(before):
            option = mention.option if mention.option is not None else _named_option(text[mention.start])
            return None if option is None else (option, "ranking")
    return None


def _judged(text: str, mentions: list[Mention]) -> Listing | None:
    """The only option with a good verdict among several with verdicts."""
    if len({mention.option for mention in mentions}) < 2:
        return None
    verdicts: dict[int, set[str]] = {}
    for option, verdict in _verdicts(text.lower(), mentions):
        verdicts.setdefault(option, set()).add(verdict)
    if (ticked := _ticked(text, mentions)) is not None:
        return ticked, "verdicts"
    if len(verdicts) < 2:
        return None
    right = [option for option, of_option in verdicts.items() if RIGHT in of_option]
    if len(right) != 1 or WRONG in verdicts[right[0]]:
        return None
    return right[0], "verdicts"


def _ticked(text: str, mentions: list[Mention]) -> int | None:
    """The option of the only line of a list that ends with a tick: "- D. Atropine: blocks its receptors. ✅"."""
    marks = _ANY_MARK.findall(text)
    if len(marks) != 1 or marks[0] not in _TICKS:
        return None
    place = text.index(marks[0])
    start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    if text[place + 1 : end if end >= 0 else None].strip(" .\ufe0f"):
        return None
    entries = {}
    for mention in mentions:
        line = text.rfind("\n", 0, mention.start) + 1
        if mention.option is not None and not _WORD.search(text, line, mention.start):
            entries[line] = mention.option
    return entries.get(start) if len(entries) > 2 else None


def _verdicts(text: str, mentions: list[Mention]) -> Iterator[tuple[int, str]]:
    """Options with the verdicts that stand before or after them."""
    has_marks = _ANY_MARK.search(text) is not None
    marks_first = has_marks and bool(mentions) and _mark_before(text, mentions[0]) is not None
    for mention, following in zip(mentions, [*mentions[1:], None], strict=True):
        if mention.option is None or mention.kind not in (LETTER, TEXT, BOTH):
            continue
        end = min(mention.end + MAX_GAP, following.start if following else len(text))
        after = text[mention.end : end]
        if marks_first:
            if (mark := _mark_before(text, mention)) is not None:
                yield mention.option, mark
        elif verdict := _verdict_after(after, has_marks):
            yield mention.option, verdict


def _mark_before(text: str, mention: Mention) -> str | None:
    """The tick or cross before an option."""
    mark = _MARK_BEFORE.search(text, max(0, mention.start - 12), mention.start)
    return None if mark is None else _mark_verdict(mark[1])


def _mark_verdict(mark: str) -> str:
    return RIGHT if mark in _TICKS or mark == "[x]" else WRONG


def _verdict_after(after: str, has_marks: bool) -> str | None:
    """The verdict in the text between an option and the next."""
    if has_marks and (mark := _MARK_AFTER.match(after)):
        return _mark_verdict(mark[1])
    if verdict := _VERDICT.match(after):
        return verdict.lastgroup
    if "|" in after:
        cells = (_VERDICT.match(cell) for cell in after.split("\n")[0].split("|")[1:])
        return next((cell.lastgroup for cell in cells if cell), None)
    if summary := _SUMMED_UP.search(after):
        if summary["wrong"] or summary[0].endswith("wrong"):
            return WRONG
        return MAYBE if summary[0].endswith("likely") and not summary["most"] else RIGHT
    return None


def read_scores(text: str, mentions: list[Mention]) -> Listing | None:
    """The option with the largest score, if several have one out of the same maximum: "A: 2/10, B: 9/10"."""
    scores: dict[int, float] = {}
    maxima = set()
    for mention in mentions:
        score = _SCORE_AFTER.match(text.lower(), mention.end)
        if score is None or mention.option is None or mention.kind not in (LETTER, TEXT, BOTH):
            continue
        maxima.add(score[2])
        value = float(score[1])
        if value > float(score[2]) or scores.setdefault(mention.option, value) != value:
            return None
    if len(scores) < 2 or len(maxima) != 1:
        return None
    first, second = sorted(scores, key=lambda option: -scores[option])[:2]
    return (first, "shares") if scores[first] > scores[second] else None


def read_shares(text: str, mentions: list[Mention]) -> Listing | None:
    """The option with the largest share of a distribution over options."""
    shares: dict[int, float] = {}
    lower = text.lower()
    for mention in mentions:
        if mention.option is None or mention.kind not in (LETTER, TEXT, BOTH, DIFFER):
            continue
        share = _SHARE_AFTER.match(lower, mention.end) or _SHARE_BEFORE.search(
            lower, max(0, mention.start - 40), mention.start
        )
        if share is None:
            continue
        value = float(share[1]) / (100 if share[2] else 1)
        if shares.setdefault(mention.option, value) != value:
            return None
    if len(shares) < 2 or not MIN_SUM <= sum(shares.values()) <= MAX_SUM:
        return None
    first, second = sorted(shares, key=lambda option: -shares[option])[:2]
    return (first, "shares") if shares[first] > shares[second] else None
