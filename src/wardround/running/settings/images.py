"""Images: whether they are seen at all, in which order, and in their full resolution.

A plain colour can be named by any model that sees. A blind one that names one of six at random is right three times
with a probability under 1%, and wrong at least twice with 93%. A server that shows images must have a model that names
two of three plain colours wrongly, or swaps two of them twice, to be called `ignored`.
"""

import random
import re
from collections.abc import Sequence

from wardround.running.settings.drawings import COLOURS, draw_colour, draw_print
from wardround.running.settings.prober import Prober
from wardround.running.settings.verdict import SettingVerdict, Verdict

SEEN, ORDER, RESOLUTION = "image seen", "image order", "image resolution"
NAMES = ", ".join(COLOURS)
COLOUR_QUESTION = f"Which colour is the image: {NAMES}? Answer with the colour alone."
ORDER_QUESTION = f"Which colour is the first image, and which is the second ({NAMES})? Answer with two words, in order."
PRINT_QUESTION = "Which number is printed in the image? Answer with the number alone."
SIDES = (512, 1536)
COLOURS_SHOWN, MIN_WRONG = 3, 2
TIMES = 2  # that two images are shown
MAX_CALLS_ORDER, MAX_CALLS_RESOLUTION = TIMES, len(SIDES)


def named_colours(text: str) -> list[str]:
    """The colours that a reply names, in order, each once."""
    return list(dict.fromkeys(re.findall(rf"\b(?:{'|'.join(COLOURS)})\b", text.lower())))


def seen_verdict(shown: Sequence[str], replies: Sequence[str]) -> SettingVerdict:
    """The verdict on colours that were shown one at a time."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SEEN, "yes", verdict, why)

    if len(replies) < COLOURS_SHOWN:
        return result("unknown", "the probe was not answered")
    named = [named_colours(reply) for reply in replies]
    right = sum(colours == [colour] for colour, colours in zip(shown, named, strict=True))
    wrong = sum(bool(colours) and colour not in colours for colour, colours in zip(shown, named, strict=True))
    why = f"{right} of {len(shown)} plain colours were named, {wrong} as another colour"
    return result("honoured" if right == len(shown) else "ignored" if wrong >= MIN_WRONG else "unknown", why)


def order_verdict(
    shown: Sequence[tuple[str, str]], replies: Sequence[str], refusal: str | None = None
) -> SettingVerdict:
    """The verdict on pairs of colours that were shown together."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(ORDER, "as sent", verdict, why)

    if refusal is not None:
        return result("refused", refusal)
    named = [tuple(named_colours(reply)) for reply in replies]
    pairs = list(zip(shown, named, strict=False))
    if len(pairs) < TIMES:
        return result("unknown", "the probe was not answered")
    if all(colours == pair for pair, colours in pairs):
        return result("honoured", "two colours were named in their order, twice")
    if all(colours == pair[::-1] for pair, colours in pairs):
        return result("ignored", "two colours were named in the reverse order, twice")
    for place, other in ((0, "second"), (1, "first")):
        if all(colours == (pair[place],) for pair, colours in pairs):
            return result("ignored", f"of two images the {other} was not named, twice")
    return result("unknown", f"shown {' and '.join(shown[-1])}, it answers {replies[-1][:40]!r}")


def resolution_verdict(
    numbers: Sequence[str], replies: Sequence[str], *, is_decisive: bool, refusal: str | None = None
) -> SettingVerdict:
    """The verdict on small print in a small and in a large image; decisive if the study sends images as they are."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(RESOLUTION, f"{SIDES[1]} px", verdict, why, is_decisive)

    if refusal is not None:
        return result("refused", refusal)
    read = [number in re.findall(r"\d+", reply) for number, reply in zip(numbers, replies, strict=False)]
    match read:
        case [_, True]:
            return result("honoured", f"small print was read in an image of {SIDES[1]} px")
        case [True, False]:
            return result("ignored", f"small print was read in an image of {SIDES[0]} px, but not of {SIDES[1]} px")
        case [False, False]:
            return result("unknown", f"small print was not read in an image of {SIDES[0]} px either")
    return result("unknown", "the probe was not answered")


async def probe_colours(prober: Prober) -> SettingVerdict:
    """For a candidate that misread a number."""
    shown = random.SystemRandom().sample(list(COLOURS), COLOURS_SHOWN)
    replies: list[str] = []
    for colour in shown:
        replies += (await prober.ask(COLOUR_QUESTION, prober.sampling(), images=[draw_colour(colour)])).texts
    return seen_verdict(shown, replies)


async def probe_order(prober: Prober) -> SettingVerdict:
    first, second, third = random.SystemRandom().sample(list(COLOURS), 3)
    shown, replies = [(first, second), (third, first)], list[str]()
    for pair in shown:
        result = await prober.ask(ORDER_QUESTION, prober.sampling(), images=[draw_colour(colour) for colour in pair])
        if result.refusal is not None:
            return order_verdict(shown, replies, result.refusal)
        replies += result.texts
    return order_verdict(shown, replies)


async def probe_resolution(prober: Prober, *, is_decisive: bool) -> SettingVerdict:
    numbers = [str(random.SystemRandom().randrange(10_000, 100_000)) for _ in SIDES]
    replies: list[str] = []
    for number, side in zip(numbers, SIDES, strict=True):
        result = await prober.ask(PRINT_QUESTION, prober.sampling(), images=[draw_print(number, side)])
        if result.refusal is not None:
            return resolution_verdict(numbers, replies, is_decisive=is_decisive, refusal=result.refusal)
        replies += result.texts
    return resolution_verdict(numbers, replies, is_decisive=is_decisive)
