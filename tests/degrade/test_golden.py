"""What each type has drawn before it still draws, to a grey level."""

import golden_images as golden
import numpy as np
import pytest
from PIL import Image

from wardround.degrade import TYPES

KEPT = golden.kept_parameters()


@pytest.mark.parametrize("type", TYPES)
def test_every_type_draws_what_it_drew(type):
    before = np.asarray(Image.open(golden.GOLDEN / f"{type}.png"))
    now = golden.draw_rows(type, KEPT[type])
    assert now.shape == before.shape
    assert np.abs(now.astype(int) - before).max() <= 1
    levels = [half.astype(float) for row in np.split(before, 2, axis=0) for half in np.split(row, 2, axis=1)]
    clean = golden.scene(type)
    assert all(np.abs(level - clean).max() > 1 for level in levels)  # a golden image of nothing would prove nothing
