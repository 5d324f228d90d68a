"""Every ordinary image format, made here and compared with the array it was made of."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo

from wardround.cases.images import pixels, recipe_for, render
from wardround.core.case import Image
from wardround.core.errors import BadInput

RANDOM = np.random.default_rng(7)
GREY = RANDOM.integers(0, 256, (13, 17), dtype=np.uint8)
RGB = RANDOM.integers(0, 256, (13, 17, 3), dtype=np.uint8)
ALPHA = RANDOM.integers(0, 256, (13, 17), dtype=np.uint8)
SMOOTH = np.stack([np.add.outer(np.arange(32), np.arange(48)) * 3 % 256] * 3, axis=-1).astype(np.uint8)


def shown(path, **fields):
    return pixels(path, fields.get("frame"), recipe_for(Image(path=path.name, **fields)))


@pytest.mark.parametrize("suffix", ["png", "bmp", "tif", "tiff", "webp"])
@pytest.mark.parametrize("colour", ["grey", "rgb"])
def test_eight_bits_arrive_unchanged(tmp_path, suffix, colour):
    array = GREY if colour == "grey" else RGB
    path = tmp_path / f"image.{suffix}"
    Pillow.fromarray(array).save(path, **({"lossless": True} if suffix == "webp" else {}))
    got = shown(path)
    # WebP has no grey: it comes back as RGB with equal channels
    expected = np.stack([GREY] * 3, axis=-1) if (suffix, colour) == ("webp", "grey") else array
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == np.uint8


@pytest.mark.parametrize("suffix", ["jpg", "jpeg", "JPG"])
def test_jpeg_is_what_its_decoder_says(tmp_path, suffix):
    path = tmp_path / f"image.{suffix}"
    Pillow.fromarray(SMOOTH).save(path, "JPEG", quality=90)
    np.testing.assert_array_equal(shown(path), np.asarray(Pillow.open(path)))


def test_capital_suffixes_and_one_bit_images_are_read(tmp_path):
    bits = GREY > 127
    for suffix in ("PNG", "tif", "bmp"):
        path = tmp_path / f"bits.{suffix}"
        Pillow.fromarray(bits).save(path)
        np.testing.assert_array_equal(shown(path), np.where(bits, 255, 0))


def test_palette_is_shown_in_its_colours(tmp_path):
    colours = RANDOM.integers(0, 256, (256, 3), dtype=np.uint8)
    image = Pillow.frombytes("P", (17, 13), GREY.tobytes())
    image.putpalette(colours.tobytes())
    for suffix in ("png", "bmp", "tif"):
        image.save(tmp_path / f"palette.{suffix}")
        np.testing.assert_array_equal(shown(tmp_path / f"palette.{suffix}"), colours[GREY])


def test_transparent_pixels_are_composed_on_black(tmp_path):
    on_black = np.rint(RGB * (ALPHA[..., None] / 255.0))
    for suffix in ("png", "tif", "webp"):
        path = tmp_path / f"rgba.{suffix}"
        Pillow.fromarray(np.dstack([RGB, ALPHA])).save(
            path, **({"lossless": True, "exact": True} if suffix == "webp" else {})
        )
        assert np.abs(shown(path) - on_black).max() <= 1
    Pillow.fromarray(np.dstack([GREY, ALPHA])).save(tmp_path / "la.png")
    got = shown(tmp_path / "la.png")
    assert got.shape == GREY.shape
    assert np.abs(got - np.rint(GREY * (ALPHA / 255.0))).max() <= 1


def test_a_transparent_palette_entry_is_black(tmp_path):
    image = Pillow.frombytes("P", (17, 13), (GREY % 4).tobytes())
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255])
    image.save(tmp_path / "p.png", transparency=3)
    table = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [0, 0, 0]])
    np.testing.assert_array_equal(shown(tmp_path / "p.png"), table[GREY % 4])


def test_cmyk_becomes_rgb(tmp_path):
    inks = np.dstack([RGB, GREY])
    Pillow.frombytes("CMYK", (17, 13), inks.tobytes()).save(tmp_path / "cmyk.tif")
    light = 255.0 - inks[..., 3:]
    expected = (255.0 - inks[..., :3]) * light / 255.0
    assert np.abs(shown(tmp_path / "cmyk.tif") - expected).max() <= 1
    flat = Pillow.new("CMYK", (16, 16), (0, 255, 255, 0))
    flat.save(tmp_path / "cmyk.jpg", quality=100)
    got = shown(tmp_path / "cmyk.jpg").astype(int)
    assert np.abs(got - [255, 0, 0]).max() <= 3


@pytest.mark.parametrize(("top", "full"), [(200, 255), (1000, 1023), (4000, 4095), (16000, 16383), (65000, 65535)])
def test_sixteen_bits_are_scaled_by_the_depth_in_use(tmp_path, top, full):
    values = RANDOM.integers(0, top, (13, 17)).astype(np.uint16)
    values[0, 0] = top
    Pillow.fromarray(values).save(tmp_path / "deep.png")
    tifffile.imwrite(tmp_path / "deep.tif", values)
    for name in ("deep.png", "deep.tif"):
        got = shown(tmp_path / name)
        assert np.abs(got - values * (255.0 / full)).max() <= 0.5 + 1e-9


def test_white_is_zero_is_inverted(tmp_path):
    deep = RANDOM.integers(0, 65536, (13, 17)).astype(np.uint16)
    deep[0, 0] = 0
    for values, full in ((GREY, 255), (deep, 65535)):
        tifffile.imwrite(tmp_path / "inverted.tif", values, photometric="miniswhite")
        assert np.abs(shown(tmp_path / "inverted.tif") - (full - values.astype(float)) * 255 / full).max() <= 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.int32])
def test_other_numbers_go_by_percentiles(tmp_path, dtype):
    values = RANDOM.normal(0, 500, (40, 50)).astype(dtype)
    tifffile.imwrite(tmp_path / "values.tif", values)
    low, high = np.percentile(values.astype(float), [1, 99])
    expected = np.clip((values.astype(float) - low) / (high - low), 0, 1) * 255
    assert np.abs(shown(tmp_path / "values.tif") - expected).max() <= 0.5 + 1e-3


def test_an_unreadable_kind_of_tiff_is_one_line(tmp_path):
    tifffile.imwrite(tmp_path / "double.tif", np.ones((4, 4), np.float64))
    with pytest.raises(BadInput, match="cannot be read as a TIF image"):
        shown(tmp_path / "double.tif")


def test_not_a_number_is_black_and_does_not_count(tmp_path):
    values = np.linspace(0, 1, 2000, dtype=np.float32).reshape(40, 50)
    values[3, 4], values[5, 6] = np.nan, np.inf
    tifffile.imwrite(tmp_path / "values.tif", values)
    got = shown(tmp_path / "values.tif")
    assert got[3, 4] == 0
    assert got[5, 6] == 255
    counted = values[np.isfinite(values)].astype(float)
    low, high = np.percentile(counted, [1, 99])
    assert np.abs(got[np.isfinite(values)] - np.clip((counted - low) / (high - low), 0, 1) * 255).max() <= 0.5 + 1e-6


def test_the_window_of_the_case_wins(tmp_path):
    hounsfield = RANDOM.integers(-1000, 1000, (13, 17))
    Pillow.fromarray((hounsfield + 32768).astype(np.uint16)).save(tmp_path / "ct.png")
    got = shown(tmp_path / "ct.png", window=(32768 + 40, 400))
    assert np.abs(got - np.clip((hounsfield - 40) / 400 + 0.5, 0, 1) * 255).max() <= 0.5 + 1e-9


def test_sixteen_bit_colours_keep_their_high_byte(tmp_path):
    deep = RANDOM.integers(0, 65536, (13, 17, 3)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "deep.tif", deep, photometric="rgb")
    np.testing.assert_array_equal(shown(tmp_path / "deep.tif"), deep >> 8)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["png", "tif", "webp"])
def test_a_photograph_is_turned_upright_by_its_exif(tmp_path, orientation, suffix):
    upright = RGB
    # what a camera held that way stores, by the EXIF standard's own table
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: np.rot90(upright, 1),
        7: upright[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(upright, -1),
    }[orientation]
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"turned.{suffix}"
    Pillow.fromarray(np.ascontiguousarray(stored)).save(
        path, exif=exif, **({"lossless": True} if suffix == "webp" else {})
    )
    np.testing.assert_array_equal(shown(path), upright)


def test_sixteen_bit_greys_are_turned_upright_too(tmp_path):
    deep = RANDOM.integers(0, 65536, (13, 17)).astype(np.uint16)
    exif = Pillow.Exif()
    exif[0x0112] = 6
    Pillow.fromarray(np.ascontiguousarray(np.rot90(deep, 1))).save(tmp_path / "turned.png", exif=exif)
    assert np.abs(shown(tmp_path / "turned.png") - deep / 257.0).max() <= 0.5


def test_each_frame_of_a_tiff_can_be_chosen(tmp_path):
    pages = RANDOM.integers(0, 256, (3, 13, 17), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "pages.tif", pages, photometric="minisblack")
    np.testing.assert_array_equal(shown(tmp_path / "pages.tif"), pages[0])
    for frame in range(3):
        np.testing.assert_array_equal(shown(tmp_path / "pages.tif", frame=frame), pages[frame])
    with pytest.raises(BadInput, match="there is no frame 3; it has frames 0 to 2"):
        shown(tmp_path / "pages.tif", frame=3)


def png_that_declares(width: int, height: int) -> bytes:
    """A small, well-formed PNG whose header says that it is huge."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(30_000, 30_000), (10_001, 10_000), (65_535, 2_000)])
def test_a_bomb_is_refused_before_it_is_decompressed(tmp_path, size):
    path = tmp_path / "bomb.png"
    path.write_bytes(png_that_declares(*size))
    with pytest.raises(BadInput, match=r"is too large: .* more than 100,000,000 pixels"):
        shown(path)


def test_broken_files_are_one_line(tmp_path):
    held = io.BytesIO()
    Pillow.fromarray(RANDOM.integers(0, 256, (200, 300, 3), dtype=np.uint8)).save(held, "PNG")
    jpeg = io.BytesIO()
    Pillow.fromarray(RANDOM.integers(0, 256, (200, 300, 3), dtype=np.uint8)).save(jpeg, "JPEG")
    broken = {
        "text.png": (b"this is a text", "cannot be read as a PNG image"),
        "empty.jpg": (b"", "cannot be read as a JPG image"),
        "cut.png": (held.getvalue()[:40_000], "cannot be decoded: image file is truncated"),
        "cut.jpg": (jpeg.getvalue()[:10_000], "cannot be decoded: image file is truncated"),
        "gif.png": (b"GIF89a" + b"\0" * 40, "cannot be read as a PNG image"),
        "noise.tif": (b"II*\0\x08\0\0\0\xff\xff" + bytes(range(256)) * 4, ""),
    }
    for name, (data, message) in broken.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput) as raised:
            shown(tmp_path / name)
        assert raised.value.problem.file == tmp_path / name
        assert message in raised.value.problem.message
        assert "\n" not in str(raised.value)
    with pytest.raises(BadInput, match="there is no such file"):
        shown(tmp_path / "nowhere.png")


def test_nothing_but_pixels_is_sent(tmp_path):
    exif = Pillow.Exif()
    exif[0x010E] = "PATIENT NAME"
    exif[0x8825] = {1: "N"}
    profile = b"\0" * 128 + b"PROFILE SECRET"
    Pillow.fromarray(SMOOTH).save(tmp_path / "a.jpg", exif=exif, icc_profile=profile, comment=b"PATIENT COMMENT")
    text = PngInfo()
    text.add_text("Patient", "PATIENT TEXT")
    Pillow.fromarray(SMOOTH).save(tmp_path / "a.png", exif=exif, icc_profile=profile, pnginfo=text, dpi=(72, 72))
    for name in ("a.jpg", "a.png"):
        assert b"PATIENT" in (tmp_path / name).read_bytes()
        sent = render(tmp_path / name, None, recipe_for(Image(path=name)))
        assert b"PATIENT" not in sent.data
        assert b"PROFILE" not in sent.data
        held = Pillow.open(io.BytesIO(sent.data))
        held.load()
        assert set(held.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
        assert not held.getexif()
