# ruff: noqa: E501 (patterns)
"""The option whose number a statement gives with its unit: a share, a time to wait, a size within one of the ranges."""

import re
from collections.abc import Sequence

_NUMBER = r"\d+(?:\.\d+)?"
_UNIT = r"(?P<unit>mm|cm|minutes?|hours?|days?|weeks?|months?|years?)"
_SHARE = re.compile(
    rf"\W*(?:about|around|roughly|approximately|nearly|some) (?P<number>{_NUMBER}) ?(?:%|percent\b|per cent\b)(?= of\b)",
    re.I,
)
_SHARE_OPTION = re.compile(rf"(?:about |approximately )?(?P<number>{_NUMBER}) ?%", re.I)
# at the end of what is to be done: "surveillance would be repeated after 3 years"
_TIME = re.compile(
    rf"\b(?:should|would|must|will|needs? to|has to|is) (?:be )?(?:\w+ )?(?:repeated|scheduled|performed|done|planned|due|offered|recommended|advised|indicated)"
    rf" (?:again )?(?:after|in|at|every) (?:about )?(?P<number>{_NUMBER}) {_UNIT}\W*\Z",
    re.I,
)
_SIZE = re.compile(
    rf"\b(?:the|this) (?:lesion|mass|nodule|tumou?r|cyst|stone|aneurysm|collection|fragment|polyp|node) (?:is|measures)"
    rf" (?:(?:about|around|roughly|approximately) )?(?P<number>{_NUMBER}) {_UNIT}(?= (?:in|at|across)\b|\W*\Z)",
    re.I,
)
_QUANTITY = re.compile(rf"(?P<number>{_NUMBER}) ?{_UNIT}\b", re.I)
_RANGE = re.compile(rf"(?P<low>{_NUMBER}) ?(?:-|–|to) ?(?P<high>{_NUMBER}) ?{_UNIT}\b", re.I)
_BELOW, _ABOVE = (
    re.compile(r"[<≤]|\b(?:less|smaller|shorter|under|below)\b", re.I),
    re.compile(r"[>≥]|\b(?:more|larger|greater|longer|over|above)\b", re.I),
)
_NOT_THIS = re.compile(
    r"\b(?:previous\w*|earlier|last (?:year|month|week)|ago|slice|trial|threshold|cut-?off|or|if|not|no|never|cannot|rather than|instead|could|might|may|unless|would have|should have)\b|n't\b|\?",
    re.I,
)


def read_measured(sentence: str, options: Sequence[str]) -> int | None:
    """The only option with the number and unit that a sentence states; None if another one's is in it too."""
    if _NOT_THIS.search(sentence):
        return None
    if said := _SHARE.match(sentence):
        shares = [_SHARE_OPTION.fullmatch(option.strip()) for option in options]
        numbers = [float(share["number"]) if share else None for share in shares]
        is_only = sentence.count("%") < 2 and None not in numbers
        return (
            _only([place for place, number in enumerate(numbers) if number == float(said["number"])])
            if is_only
            else None
        )
    if said := _TIME.search(sentence):
        times = [list(_QUANTITY.finditer(option)) for option in options]
        if any(len(of_option) != 1 for of_option in times) or any(_RANGE.search(option) for option in options):
            return None
        meant = (float(said["number"]), _unit(said))
        return _only([place for place, (time,) in enumerate(times) if (float(time["number"]), _unit(time)) == meant])
    if said := _SIZE.search(sentence):
        return _within(float(said["number"]), _unit(said), options)
    return None


def _within(number: float, unit: str, options: Sequence[str]) -> int | None:
    """The only option in whose range a number is; all options must be ranges in the same unit, and none end there."""
    named = []
    for place, option in enumerate(options):
        if ranged := _RANGE.search(option):
            low, high = float(ranged["low"]), float(ranged["high"])
        elif (ranged := _QUANTITY.search(option)) and (_BELOW.search(option) or _ABOVE.search(option)):
            bound = float(ranged["number"])
            low, high = (float("-inf"), bound) if _BELOW.search(option) else (bound, float("inf"))
        else:
            return None
        if _unit(ranged) != unit or number in (low, high):
            return None
        if low < number < high:
            named.append(place)
    return _only(named)


def _unit(quantity: re.Match[str]) -> str:
    return quantity["unit"].lower().removesuffix("s")


def _only(places: list[int]) -> int | None:
    return places[0] if len(places) == 1 else None
