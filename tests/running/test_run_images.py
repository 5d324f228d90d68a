"""Images of a run: rendered once, off the event loop; what cannot be shown is named and left out."""

from __future__ import annotations

import asyncio
import hashlib
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from exam_server import ExamServer
from exam_study import case, examine, stored, write_cases, write_study
from PIL import Image
from worker_jobs import dies_on_second, says_where

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.recipe import recipe_for
from wardround.cases.images.render import render
from wardround.cases.images.sent_size import sent_size
from wardround.core import case as core
from wardround.core.ask import ImagePart
from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput
from wardround.running.images import Fingerprints, ImageEncoder
from wardround.running.store import AnswerStore

pytestmark = pytest.mark.usefixtures("own_workers")


def part_of(path: Path, blank: bool = False) -> ImagePart:
    return ImagePart(str(path), sha256_file(path), recipe_for(core.Image(path=path.name), blank=blank))


def picture(path: Path, **metadata: object) -> Path:
    pixels = np.random.default_rng(len(path.name)).integers(0, 255, (32, 32), dtype=np.uint8)
    Image.fromarray(pixels).save(path, **metadata)
    return path


def test_files_are_hashed_together_but_for_those_that_cannot_be_read(tmp_path):
    paths = [picture(tmp_path / f"{'x' * number}.png") for number in range(1, 10)]
    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store:
        fingerprints = Fingerprints(store)
        asyncio.run(fingerprints.learn_all([str(tmp_path / "missing.png"), *map(str, paths)]))
        hashes = {file: known.sha256 for file, known in fingerprints.known.items()}
    assert hashes == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_the_size_of_a_plain_file_is_read_from_its_header_alone(tmp_path):
    wide = Image.fromarray(np.zeros((3, 300), np.uint8))
    wide.save(tmp_path / "wide.png")
    wide.save(tmp_path / "named.png", format="JPEG")  # Pillow reads this one
    (tmp_path / "cut.png").write_bytes((tmp_path / "wide.png").read_bytes()[:30])
    sizes = [sent_size(part_of(tmp_path / name)) for name in ("wide.png", "named.png", "cut.png")]
    assert sizes == [(300, 3)] * 3


def test_an_image_is_rendered_once_per_recipe_and_not_in_this_process(tmp_path, monkeypatch):
    monkeypatch.setattr("wardround.running.images.render_degraded", says_where)
    submitted = []
    submit = ProcessPoolExecutor.submit
    monkeypatch.setattr(ProcessPoolExecutor, "submit", lambda pool, *job: submitted.append(job) or submit(pool, *job))
    path = picture(tmp_path / "1.png", dpi=(72, 72))
    parts = [part_of(path), part_of(path, blank=True)]

    async def many() -> list[EncodedImage]:
        encoder = ImageEncoder(1)
        try:
            at_once = await asyncio.gather(*(encoder.encode(part) for part in parts * 5))
            return [*at_once, await encoder.encode(parts[0])]
        finally:
            encoder.close()

    images = asyncio.run(many())
    assert len(submitted) == 2
    assert str(os.getpid()) not in {image.media_type for image in images}
    assert [image.sha256 for image in images] == [images[0].sha256, images[1].sha256] * 5 + [images[0].sha256]
    assert images[0].sha256 != images[1].sha256


def test_a_png_without_metadata_is_sent_as_it_is_and_needs_no_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(ProcessPoolExecutor, "submit", lambda pool, *job: pytest.fail("a worker was started"))
    path = picture(tmp_path / "1.png")

    async def one() -> EncodedImage:
        encoder = ImageEncoder(1)
        try:
            return await encoder.encode(part_of(path))
        finally:
            encoder.close()

    assert asyncio.run(one()).data == path.read_bytes()


def test_a_decoder_that_dies_loses_only_its_own_image(tmp_path, monkeypatch):
    monkeypatch.setattr("wardround.running.images.render_degraded", dies_on_second)
    parts = [part_of(picture(tmp_path / name, dpi=(72, 72))) for name in ("22.png", "1.png", "333.png", "4444.png")]

    async def all_at_once() -> list[EncodedImage | BaseException]:
        encoder = ImageEncoder(2)
        try:
            return await asyncio.gather(*map(encoder.encode, parts), return_exceptions=True)
        finally:
            encoder.close()

    bad, *good = asyncio.run(all_at_once())
    assert str(bad) == f"{tmp_path / '22.png'}: the process that decodes this image died"
    assert good == [render(Path(part.path), None, part.recipe) for part in parts[1:]]


def test_images_that_cannot_be_decoded_do_not_affect_others(tmp_path):
    named = [f"{number}.png" for number in range(1, 13)]
    for name in named:
        picture(tmp_path / name)
    for name in ("5.png", "6.png"):
        (tmp_path / name).write_text("no image")

    async def all_at_once() -> list[EncodedImage | BaseException]:
        encoder = ImageEncoder(2)
        try:
            parts = [part_of(tmp_path / name) for name in named]
            return await asyncio.gather(*map(encoder.encode, parts), return_exceptions=True)
        finally:
            encoder.close()

    results = asyncio.run(all_at_once())
    assert [name for name, result in zip(named, results, strict=True) if isinstance(result, BadInput)] == [
        "5.png",
        "6.png",
    ]
    assert "died" not in str(results[4])


@pytest.mark.parametrize("candidates", [1, 2])
def test_a_case_whose_image_cannot_be_decoded_is_listed_and_skipped(tmp_path, candidates):
    folder = tmp_path / "cases"
    folder.mkdir()
    picture(folder / "good.png")
    (folder / "text.png").write_text("no image")
    named = ["good.png", "text.png", "good.png"]
    write_cases(folder, [case(number, images=[{"path": name}]) for number, name in enumerate(named)])
    with ExamServer() as server:
        second = f'[[candidates]]\nname = "two"\nprovider = "openai"\nmodel = "b"\nbase_url = "{server.url}"'
        manifest = examine(write_study(tmp_path, server.url, more=second if candidates == 2 else ""))
    assert len(stored(tmp_path / "answers.sqlite")) == 2 * candidates
    (skipped,) = manifest["cases"]["skipped"]
    assert skipped.startswith(f"{folder / 'text.png'}: ")
    assert manifest["status"] == "complete"
