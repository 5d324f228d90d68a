"""Contact sheets: everything is on them, in its place, in its own brightness."""

import numpy as np

from wardround.degrade.sheet import GROUND, contact_sheet

GREYS = [np.full((40, 80), grey, np.uint8) for grey in (60, 120, 240)]


def places(sheet, colour):
    """The box of all pixels of a colour: top, left, bottom, right."""
    pixels = np.argwhere((np.asarray(sheet) == colour).all(axis=2))
    return (*pixels.min(axis=0), *pixels.max(axis=0) + 1)


def test_rows_and_columns_are_in_order_and_of_a_tile():
    colour = np.full((30, 60, 3), (200, 10, 10), np.uint8)
    sheet = contact_sheet([("first", GREYS), ("second", [colour])], ["L0", "L1", "L2"], tile=100)
    boxes = [places(sheet, [grey] * 3) for grey in (60, 120, 240)]
    assert all((bottom - top, right - left) == (50, 100) for top, left, bottom, right in boxes)
    assert len({box[0] for box in boxes}) == 1
    assert boxes[0][3] < boxes[1][1] < boxes[1][3] < boxes[2][1]
    below = places(sheet, [200, 10, 10])
    assert below[0] > boxes[0][2]
    assert below[1] == boxes[0][1]
    assert boxes[2][3] <= sheet.width
    assert below[2] <= sheet.height


def test_the_ground_is_dark_and_labels_and_headings_are_readable():
    sheet = np.asarray(contact_sheet([("gaussian_noise", GREYS)], ["untouched", "L1", "L2"], tile=100)).astype(int)
    top, left, *_ = places(sheet, [60] * 3)
    for part in (sheet[top:, :left], sheet[:top, left:]):
        assert (part == GROUND).all(axis=2).mean() > 0.5
        assert (part.min(axis=2) > 180).sum() > 30  # ink


def test_a_long_label_widens_the_sheet_and_is_not_cut():
    short, long = (contact_sheet([(text, GREYS)], tile=60) for text in ("x", "x" * 60))
    assert long.width > short.width + 300


def test_sixteen_bits_small_ones_and_alpha_are_shown():
    deep = np.full((20, 20), 2048, np.uint16)
    deep[0, 0] = 4095
    alpha = np.dstack([np.full((1, 1, 3), 77, np.uint8), np.zeros((1, 1), np.uint8)])
    sheet = contact_sheet([("deep", [deep]), ("alpha", [alpha]), ("", [])], tile=64)
    assert places(sheet, [128] * 3)
    top, left, bottom, right = places(sheet, [77] * 3)
    assert (bottom - top, right - left) == (64, 64)


def test_a_sheet_of_no_images_can_be_drawn():
    assert contact_sheet([]).size >= (1, 1)
