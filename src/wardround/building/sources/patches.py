"""A case set that only someone who looks can solve: patches of images that ship with installed packages.

Each question asks which of five examinations a patch comes from. A source is cut into blocks; a block lies
wholly in the training split or in the test split, patches keep a gutter to the next block, and the block is
the cluster. Gold positions are balanced, all patches have one size and one modality: without the image there
is nothing to go by, and a swapped image mostly comes from another examination. The patches of a split still
come from the same few images, so the set shows that a candidate looks, not that it knows medicine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import write_case_set
from wardround.core.case import Case, Image, Origin, Question
from wardround.core.errors import WardroundError

PROMPT = "The image is a small patch of a medical image. Which examination does it come from?"
SIDE = 96  # of every patch as it is written
GUTTER = 1 / 16  # of a block, left free on each side
PATCH = 3 / 4  # of a block
PER_BLOCK = 2
BLOCKS = {"train": 6, "test": 12}  # of each examination
DARKEST_TISSUE, LEAST_TISSUE = 16, 0.6
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Source:
    """One image, the part of it without burnt-in text, and how large its blocks are."""

    examination: str
    package: str
    file: str
    block: int
    box: tuple[int, int, int, int] | None = None  # top, bottom, left, right


SOURCES = (
    Source("Fundus photograph", "skimage", "data/retina.jpg", 160),
    Source("Immunostained tissue section", "skimage", "data/ihc.png", 64),
    Source("Computed tomography of the head", "pydicom", "data/test_files/J2K_pixelrep_mismatch.dcm", 64),
    Source("Magnetic resonance imaging of the abdomen", "pydicom", "data/test_files/examples_overlay.dcm", 64),
    Source("Ultrasound of a lymph node", "pydicom", "data/test_files/examples_jpeg2k.dcm", 64, (112, 336, 48, 592)),
)
OPTIONS = tuple(source.examination for source in SOURCES)


@dataclass(frozen=True)
class Patch:
    source: Source
    split: str
    cluster: str
    pixels: Pixels
    gold: int  # the place of the right option


def build_patches(folder: Path | str, seed: int = 0) -> None:
    """Writes the case set: 60 training and 120 test patches, the same for the same seed."""
    folder = Path(folder)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    numbers = random.Random(seed)
    patches = [patch for source in SOURCES for patch in patches_of(source, numbers)]
    numbers.shuffle(patches)  # so that a number says nothing
    write_case_set((_case(number, patch, folder, numbers) for number, patch in enumerate(patches)), folder)


def patches_of(source: Source, numbers: random.Random) -> Iterator[Patch]:
    """The patches of one source, from blocks drawn for each split."""
    image = shown(source)
    blocks = list(tissue_blocks(image, source.block))
    wanted = sum(BLOCKS.values())
    if len(blocks) < wanted:
        raise WardroundError(f"{source.file} has {len(blocks)} blocks of tissue; {wanted} are needed")
    drawn = iter(numbers.sample(blocks, wanted))
    start = SOURCES.index(source)  # each source begins at another letter: together all letters are equal
    for split, count in BLOCKS.items():
        for number in range(count * PER_BLOCK):
            if number % PER_BLOCK == 0:
                top, left = next(drawn)
            cut = cut_from(image, top, left, source.block, numbers)
            cluster = f"{Path(source.file).stem}-{top}-{left}"
            yield Patch(source, split, cluster, cut, (start + number) % len(OPTIONS))


def shown(source: Source) -> Pixels:
    """The source as RGB, windowed as it would be sent, without its margins."""
    image = Image(path=source.file)
    grey = pixels(_located(source), None, recipe_for(image))
    colour = np.asarray(Picture.fromarray(grey).convert("RGB"))
    if source.box is None:
        return colour
    top, bottom, left, right = source.box
    return colour[top:bottom, left:right]


def tissue_blocks(image: Pixels, block: int) -> Iterator[tuple[int, int]]:
    """The corners of the blocks that hold more than background."""
    height, width = image.shape[:2]
    for top in range(0, height - block + 1, block):
        for left in range(0, width - block + 1, block):
            brightest = image[top : top + block, left : left + block].max(axis=2)
            if (brightest > DARKEST_TISSUE).mean() >= LEAST_TISSUE:
                yield top, left


def cut_from(image: Pixels, top: int, left: int, block: int, numbers: random.Random) -> Pixels:
    """A patch somewhere inside a block, off its gutter, in the common size."""
    gutter, side = round(block * GUTTER), round(block * PATCH)
    furthest = block - side - gutter
    top += numbers.randint(gutter, furthest)
    left += numbers.randint(gutter, furthest)
    cut = Picture.fromarray(image[top : top + side, left : left + side])
    return np.asarray(cut.resize((SIDE, SIDE), Picture.Resampling.BICUBIC))


def _case(number: int, patch: Patch, folder: Path, numbers: random.Random) -> Case:
    name = f"patch-{number:03}"
    path = f"images/{name}.png"
    Picture.fromarray(patch.pixels).save(folder / path)
    options = numbers.sample([text for text in OPTIONS if text != patch.source.examination], len(OPTIONS) - 1)
    options.insert(patch.gold, patch.source.examination)
    question = Question(id="examination", kind="choice", prompt=PROMPT, options=options, gold=patch.gold)
    return Case(
        id=name,
        split=patch.split,
        cluster=patch.cluster,
        origin=Origin(name=Path(patch.source.file).name),
        images=[Image(path=path, modality="patch")],
        questions=[question],
    )


def _located(source: Source) -> Path:
    """The file in the installed package, without importing it."""
    found = find_spec(source.package)
    if found is None or found.origin is None:
        raise WardroundError("the patches are cut from images of scikit-image: pip install 'wardround[demo]'")
    file = Path(found.origin).parent / source.file
    if not file.is_file():
        raise WardroundError(f"this version of {source.package} does not hold {Path(source.file).name}")
    return file
