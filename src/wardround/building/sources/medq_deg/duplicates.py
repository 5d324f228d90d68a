"""What is asked twice: by the hash of the image and the likeness of the question. Methods and thresholds: our choice.

Two images are the same if their pixels are, or if their perceptual hashes differ in at most 6 of 255 bits: the signs,
against their median, of the lowest 16 x 16 cosine coefficients of the image at 64 x 64. Measured on 58 real images:
of 290 copies (JPEG 75, half, three quarters and twice the size, a tenth brighter) 286 stay within 6 bits; frames of an
ultrasound film that are three apart differ in 8 or more, neighbouring MR slices in 30 or more.

Two questions about the same image are the same if they have the same answer and the words of their prompts overlap by
at least 0.8 (Jaccard). The first, by case and question id, is kept. The very same question about the very same pixels
with two answers is a contradiction: nobody can say which is right, so neither is kept.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.fft import dctn

from wardround.cases.images.window import Pixels

SIDE, COEFFICIENTS = 64, 16
NEAR = 6  # bits of 255
ALIKE = 0.8
FLAT = 1.0  # grey levels: an image without any structure has no perceptual hash
BLOCK = 1 << 21  # hashes compared at once

Bits = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Print:
    """How an image is known again: by its very pixels, and by its looks."""

    exact: str
    looks: Bits | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of the pool with what duplicates are known by; `images` are exact hashes."""

    case: str
    question: str
    prompt: str
    options: frozenset[str]
    answer: str
    images: tuple[str, ...]
    modalities: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.question


def print_of(shown: Pixels) -> Print:
    exact = hashlib.blake2b(repr(shown.shape).encode() + shown.tobytes(), digest_size=16).hexdigest()
    small = Image.fromarray(shown).convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    greys = np.asarray(small, dtype=np.float64)
    if greys.std() < FLAT:
        return Print(exact, None)
    low = dctn(greys, norm="ortho")[:COEFFICIENTS, :COEFFICIENTS].ravel()
    bits = np.concatenate([[False], low[1:] > np.median(low[1:])])  # the first is the mean grey
    return Print(exact, np.packbits(bits).view(np.uint64))


def same_images(prints: Iterable[Print]) -> dict[str, str]:
    """For the exact hash of each image the smallest of those that are the same image, directly or through others."""
    known = sorted({each.exact: each for each in prints}.values(), key=lambda each: each.exact)
    looked = [each for each in known if each.looks is not None]
    pairs = ((looked[one].exact, looked[other].exact) for one, other in _near([each.looks for each in looked]))
    return components((each.exact for each in known), pairs)


def _near(looks: Sequence[Bits | None]) -> Iterator[tuple[int, int]]:
    table = np.array(looks, dtype=np.uint64).reshape(-1, COEFFICIENTS**2 // 64)
    rows = max(1, BLOCK // max(1, len(table)))
    for start in range(0, len(table), rows):
        far = np.bitwise_count(table[start : start + rows, None] ^ table[None, start:]).sum(axis=2, dtype=np.int64)
        for one, other in np.argwhere(far <= NEAR):
            if one < other:
                yield start + int(one), start + int(other)


def components(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each name the smallest that it is connected with."""
    above = {name: name for name in names}

    def top(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for one, other in pairs:
        first, second = sorted((top(one), top(other)))
        above[second] = first
    return {name: top(name) for name in above}


def contradictions(asked: Iterable[Asked]) -> dict[tuple[str, str], str]:
    """The questions that another one contradicts, with one such."""
    alike: defaultdict[object, list[Asked]] = defaultdict(list)
    for each in asked:
        alike[each.images, plain(each.prompt), each.options].append(each)
    return {
        each.key: f"{other.case} / {other.question} has another answer to it"
        for group in alike.values()
        for each in group
        if (other := next((other for other in group if other.answer != each.answer), None))
    }


def repetitions(asked: Iterable[Asked], same: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The questions that repeat one that is kept, with that one."""
    kept: defaultdict[object, list[tuple[Asked, frozenset[str]]]] = defaultdict(list)
    found: dict[tuple[str, str], str] = {}
    for each in sorted(asked, key=lambda each: each.key):
        words = frozenset(re.findall(r"\w+", plain(each.prompt)))
        group = kept[tuple(sorted(same[image] for image in each.images)), each.answer]
        first = next((other for other, others in group if likeness(words, others) >= ALIKE), None)
        if first is None:
            group.append((each, words))
        else:
            found[each.key] = f"repeats {first.case} / {first.question}"
    return found


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard: the share of the words of either that both have."""
    return len(one & other) / len(one | other) if one or other else 1.0


def plain(text: str) -> str:
    """A text for comparison: letters' forms, case, spaces and a full stop at the end do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")
