"""A local model with a projector sees: a real language model behind a projector with random weights."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from loaded_model import LoadedModel, make_request
from PIL import Image
from tiny_gguf import random_projector

from wardround.candidates.candidate import RequestRejected
from wardround.cases.encoded_image import EncodedImage
from wardround.core.errors import WardroundError

SMOLLM2_WIDTH = 576


def encoded(content: bytes, side: int = 0) -> EncodedImage:
    return EncodedImage(
        base64.b64encode(content), "image/png", hashlib.sha256(content).hexdigest(), width=side, height=side
    )


def drawn(seed: int, side: int = 56) -> EncodedImage:
    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return encoded(file.getvalue(), side)


FIRST, SECOND = drawn(1), drawn(2)


@pytest.fixture(scope="module")
def projector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "mmproj.gguf"
    random_projector(path, SMOLLM2_WIDTH)
    return path


@pytest.fixture(scope="module")
def sighted(projector: Path) -> Iterator[LoadedModel]:
    model = LoadedModel(extra_body={"mmproj": str(projector)})
    yield model
    model.close()


def looked(model: LoadedModel, *images: EncodedImage) -> tuple[tuple[str, float], ...]:
    request = make_request("What is shown?", images=images, max_tokens=1, logprobs=50)
    first_token = model.answers(request)[0].first_token
    assert first_token is not None
    return first_token


def distance(a: tuple[tuple[str, float], ...], b: tuple[tuple[str, float], ...]) -> float:
    """The largest difference in probability over the tokens that both name."""
    left, right = dict(a), dict(b)
    return max(abs(np.exp(left[token]) - np.exp(right[token])) for token in left.keys() & right.keys())


def test_two_images_give_two_distributions_and_one_image_one(sighted: LoadedModel) -> None:
    first, second = looked(sighted, FIRST), looked(sighted, SECOND)
    assert looked(sighted, FIRST) == first
    assert looked(sighted, SECOND) == second
    assert distance(first, second) > 0.001


def test_order_and_number_of_images_count(sighted: LoadedModel) -> None:
    seen = {looked(sighted, *images) for images in [(), (FIRST,), (FIRST, SECOND), (SECOND, FIRST)]}
    assert len(seen) == 4


@pytest.mark.slow
def test_trials_in_one_request_equal_one_by_one(sighted: LoadedModel) -> None:
    together = sighted.answers(make_request("What is shown?", (0, 1, 2), images=(FIRST,), max_tokens=6))
    apart = []
    for trial in range(3):
        looked(sighted, SECOND)
        apart += sighted.answers(make_request("What is shown?", (trial,), images=(FIRST,), max_tokens=6))
    assert apart == together


def test_an_answer_names_the_images_that_were_sent(sighted: LoadedModel) -> None:
    [answer] = sighted.answers(make_request("What is shown?", images=(SECOND, FIRST), max_tokens=1))
    assert answer.images == (SECOND.sha256, FIRST.sha256)


def test_a_projector_makes_the_candidate_see_and_is_part_of_who_it_is(
    sighted: LoadedModel, projector: Path, tmp_path: Path
) -> None:
    other = tmp_path / "mmproj.gguf"
    random_projector(other, SMOLLM2_WIDTH, seed=1)
    elsewhere = LoadedModel(extra_body={"mmproj": str(other)})
    elsewhere.close()
    own, others = sighted.candidate.identity, elsewhere.candidate.identity
    assert sighted.candidate.settings.sees
    assert own.extra_body == others.extra_body == {"mmproj": "mmproj.gguf"}
    assert own.revision is not None
    assert others.revision is not None
    assert own.revision.split("+")[0] == others.revision.split("+")[0]
    assert own.revision != others.revision
    assert own.revision.endswith(hashlib.sha256(projector.read_bytes()).hexdigest()[:16])


def test_what_is_no_image_is_rejected_and_the_next_is_answered(sighted: LoadedModel) -> None:
    with pytest.raises(RequestRejected, match="image"):
        looked(sighted, encoded(b"no image"))
    assert looked(sighted, FIRST)


def test_a_blind_model_rejects_an_image() -> None:
    blind = LoadedModel()
    try:
        with pytest.raises(RequestRejected, match="image input is not supported"):
            looked(blind, FIRST)
    finally:
        blind.close()


def test_a_projector_of_another_width_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.gguf"
    random_projector(path, SMOLLM2_WIDTH + 32)
    with pytest.raises(WardroundError, match=r"llama\.cpp cannot use .*gguf and wide\.gguf"):
        LoadedModel(extra_body={"mmproj": str(path)})


def test_a_missing_projector_is_named(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"none\.gguf: does not exist"):
        LoadedModel(extra_body={"mmproj": str(tmp_path / "none.gguf")})
