"""PNG files that are sent as they are, and those that are not."""

import base64
import hashlib
import io
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from wardround.cases.images import pixels, recipe_for, render
from wardround.cases.images.file_hash import FileHash
from wardround.cases.images.plain_png import render_plain
from wardround.core import case
from wardround.core.ask import Step

GREY = np.random.default_rng(1).integers(0, 256, (30, 40), np.uint8)
RGB = np.random.default_rng(2).integers(0, 256, (30, 40, 3), np.uint8)


def recipe(path: Path, **options: object) -> tuple[Step, ...]:
    return recipe_for(case.Image(path=path.name, modality="CT"), **options)  # type: ignore[arg-type]


def decoded(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        return np.asarray(image)


@pytest.mark.parametrize("values", [GREY, RGB], ids=["grey", "rgb"])
def test_a_plain_file_is_sent_byte_for_byte(tmp_path: Path, values: np.ndarray) -> None:
    path = tmp_path / "scan.PNG"
    Image.fromarray(values).save(path)
    sent = render(path, None, recipe(path))
    assert base64.b64decode(sent.base64) == path.read_bytes()
    assert (sent.media_type, sent.width, sent.height) == ("image/png", 40, 30)
    assert np.array_equal(pixels(path, None, recipe(path)), values)  # what decoding it would send


def save_with_text(path: Path) -> None:
    about = PngImagePlugin.PngInfo()
    about.add_text("Patient", "Mustermann")
    Image.fromarray(GREY).save(path, pnginfo=about)


def save_with_profile(path: Path) -> None:
    Image.fromarray(GREY).save(path, icc_profile=b"profile")


def save_turned(path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(GREY).save(path, exif=exif)


def save_transparent(path: Path) -> None:
    Image.fromarray(np.dstack([RGB, GREY])).save(path)


def save_deep(path: Path) -> None:
    Image.fromarray(GREY.astype(np.uint16) * 256).save(path)


def save_palette(path: Path) -> None:
    Image.fromarray(RGB).quantize(16).save(path)


def save_with_tail(path: Path) -> None:
    Image.fromarray(GREY).save(path)
    path.write_bytes(path.read_bytes() + b"Mustermann")


OTHER_FILES = [
    save_with_text,
    save_with_profile,
    save_turned,
    save_transparent,
    save_deep,
    save_palette,
    save_with_tail,
]


@pytest.mark.parametrize("save", OTHER_FILES)
def test_a_file_with_more_than_such_pixels_is_encoded_again(tmp_path: Path, save) -> None:
    path = tmp_path / "scan.png"
    save(path)
    steps = recipe(path)
    assert render_plain(path, None, steps) is None
    sent = render(path, None, steps)
    assert b"Mustermann" not in base64.b64decode(sent.base64)
    assert np.array_equal(decoded(sent.base64), pixels(path, None, steps))


def test_only_a_file_that_changed_since_it_was_hashed_is_hashed_again(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    status = path.stat()
    before = FileHash(status.st_size, status.st_mtime_ns, "its hash")
    unchanged = render_plain(path, None, recipe(path), before)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    changed = render_plain(path, None, recipe(path), before)
    hashes = [image.sha256 for image in (unchanged, changed) if image is not None]
    assert hashes == ["its hash", hashlib.sha256(path.read_bytes()).hexdigest()]


def test_a_file_above_the_pixel_budget_is_shrunk(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    assert render_plain(path, None, recipe(path, pixels=1200)) is not None
    assert render_plain(path, None, recipe(path, pixels=1199)) is None


def test_a_blank_image_shows_nothing_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    assert render_plain(path, None, recipe(path, blank=True)) is None


def test_a_window_of_the_case_is_applied(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    windowed = recipe_for(case.Image(path=path.name, modality="CT", window=(100.0, 50.0)))
    assert render_plain(path, None, windowed) is None


@pytest.mark.parametrize("place", [20, 60, -10], ids=["header", "pixels", "end"])
def test_a_damaged_file_is_not_sent_as_it_is(tmp_path: Path, place: int) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert render_plain(path, None, recipe(path)) is None


def test_a_file_that_was_cut_off_is_not_sent_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    path.write_bytes(path.read_bytes()[:-12])
    assert render_plain(path, None, recipe(path)) is None


def test_a_file_that_declares_a_huge_image_is_not_sent_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(GREY).save(path)
    data = path.read_bytes()
    header = b"IHDR" + struct.pack(">II", 100_000, 100_000) + data[24:29]
    path.write_bytes(data[:12] + header + struct.pack(">I", zlib.crc32(header)) + data[33:])
    assert render_plain(path, None, recipe(path, pixels=None)) is None
