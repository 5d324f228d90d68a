"""Stored copies of an image are recognized as the same, and other images are not."""

from __future__ import annotations

import io
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from clean_pool import SHARED, put_images
from PIL import Image

from wardround.building.duplicates.disjoint_sets import components
from wardround.building.duplicates.fingerprint import MAX_DISTANCE, fingerprint, group_images
from wardround.building.sources.medq_deg.duplicates import MIN_SIMILARITY, PoolQuestion, find_repetitions, word_overlap
from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image as CaseImage


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> dict[str, np.ndarray]:
    folder: Path = tmp_path_factory.mktemp("images") / "pool"
    return {
        path: pixels(folder / path, None, recipe_for(CaseImage(path=path, modality=modality)))
        for path, modality in put_images(folder).items()
    }


def as_jpeg(picture: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer)


STORED_AGAIN = {
    "the same": lambda picture: picture,
    "JPEG 90": lambda picture: as_jpeg(picture, 90),
    "JPEG 75": lambda picture: as_jpeg(picture, 75),
    "half": lambda picture: picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.LANCZOS),
    "twice": lambda picture: picture.resize((picture.width * 2, picture.height * 2), Image.Resampling.BICUBIC),
}


@pytest.mark.parametrize("how", STORED_AGAIN)
def test_an_image_stored_again_is_the_same(pictures, how):
    for path, shown in pictures.items():
        again = np.asarray(STORED_AGAIN[how](Image.fromarray(shown).convert("RGB")))
        assert len(set(group_images([fingerprint(shown), fingerprint(again)]).values())) == 1, path


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the real images in ../shared/data/images")
@pytest.mark.parametrize("how", STORED_AGAIN)
def test_a_real_image_stored_again_is_the_same(how):
    for file in sorted(SHARED.glob("*.[jp][pn]g")):
        picture = Image.open(file).convert("RGB")
        copies = [fingerprint(np.asarray(copy)) for copy in (picture, STORED_AGAIN[how](picture))]
        assert len(set(group_images(copies).values())) == 1, file.name


def test_different_images_are_not_the_same(pictures):
    groups = group_images(fingerprint(shown) for shown in pictures.values())
    assert len(set(groups.values())) == len(pictures)


def test_the_distance_is_the_number_of_different_bits(pictures):
    """Against a plain count over the bits, for every pair, on both sides of the threshold."""
    shown = next(iter(pictures.values()))
    noise = np.random.default_rng(0).normal(0, 1, shown.shape)
    prints = [fingerprint(np.clip(shown + level * noise, 0, 255).astype(np.uint8)) for level in (0, 4, 12, 40, 80)]
    near = 0
    for one, other in combinations(prints, 2):
        bits = [np.unpackbits(image.perceptual.view(np.uint8)) for image in (one, other)]
        same = int((bits[0] != bits[1]).sum()) <= MAX_DISTANCE
        near += same
        assert (len(set(group_images([one, other]).values())) == 1) == same
    assert 0 < near < 10


def test_images_without_structure_are_the_same_only_if_they_are_equal():
    grey = [np.full((20, 20), value, np.uint8) for value in (0, 0, 7, 255)]
    assert len(set(group_images(map(fingerprint, grey)).values())) == 3


def test_components_reach_through_others():
    assert components("abcdef", [("c", "b"), ("e", "f"), ("b", "a")]) == {
        "a": "a",
        "b": "a",
        "c": "a",
        "d": "d",
        "e": "e",
        "f": "e",
    }


@pytest.mark.parametrize(
    ("one", "other", "answer", "repeated"),
    [
        ("Which organ is shown here?", "which organ is SHOWN here", "x", True),
        ("a b c d e f g h i", "a b c d e f g h j", "x", True),  # 8 of 10 words
        ("a b c d e f g h", "a b c d e f g j", "x", False),  # 7 of 9
        ("Which organ is shown here?", "Which organ is shown here?", "y", False),
    ],
)
def test_questions_are_alike_by_their_words(one, other, answer, repeated):
    first = PoolQuestion("a", "q", one, frozenset("xy"), "x", ("i",), ("CT",))
    second = PoolQuestion("b", "q", other, frozenset("xy"), answer, ("j",), ("CT",))
    repetitions = find_repetitions([second, first], {"i": "i", "j": "i"})
    assert repetitions == ({("b", "q"): "repeats a / q"} if repeated else {})
    assert find_repetitions([second, first], {"i": "i", "j": "j"}) == {}


def test_word_overlap_by_hand():
    assert word_overlap(frozenset("abcd"), frozenset("bcde")) == 3 / 5
    assert word_overlap(frozenset("a"), frozenset("b")) == 0
    assert MIN_SIMILARITY == 0.8
