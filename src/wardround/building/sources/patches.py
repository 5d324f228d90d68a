"""A case set that needs the images: patches of images that ship with installed packages.

Each question asks which of five examinations a patch comes from. A source is cut into blocks; a block is wholly in the
training split or in the test split, patches keep a margin to the next block, and the block is the cluster. Gold
positions are balanced, all patches have one size and one modality: the text alone does not help, and a swapped image
mostly comes from another examination. The patches of a split come from the same few images, so the set shows that a
candidate uses the image, not that it knows medicine.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from wardround.building.sources.packaged_images import find_packaged_file
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import write_case_set
from wardround.core.case import Case, Image, Origin, Question
from wardround.core.errors import WardroundError

PROMPT = "The image is a small patch of a medical image. Which examination does it come from?"
SIDE = 96  # pixels of every patch as it is written
MARGIN = 1 / 16  # of a block, on each side
PATCH = 3 / 4  # of a block
PER_BLOCK = 2
BLOCKS = {"train": 6, "test": 12}  # of each examination
TISSUE_LEVEL, MIN_TISSUE = 16, 0.6
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class PatchSource:
    """One image, the part of it without burned-in text, and the size of its blocks."""

    examination: str
    package: str
    file: str
    block: int
    box: tuple[int, int, int, int] | None = None  # top, bottom, left, right


SOURCES = (
    PatchSource("Fundus photograph", "skimage", "data/retina.jpg", 160),
    PatchSource("Immunostained tissue section", "skimage", "data/ihc.png", 64),
    PatchSource("Computed tomography of the head", "pydicom", "data/test_files/J2K_pixelrep_mismatch.dcm", 64),
    PatchSource("Magnetic resonance imaging of the abdomen", "pydicom", "data/test_files/examples_overlay.dcm", 64),
    PatchSource(
        "Ultrasound of a lymph node", "pydicom", "data/test_files/examples_jpeg2k.dcm", 64, (112, 336, 48, 592)
    ),
)
OPTIONS = tuple(source.examination for source in SOURCES)


@dataclass(frozen=True)
class Patch:
    source: PatchSource
    split: str
    cluster: str
    pixels: Pixels
    gold: int  # the index of the right option


def build_patches(folder: Path | str, seed: int = 0) -> None:
    """Writes the case set: 60 training and 120 test patches, the same for the same seed."""
    folder = Path(folder)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    numbers = random.Random(seed)
    patches = [patch for source in SOURCES for patch in cut_patches(source, numbers)]
    numbers.shuffle(patches)  # so that ids reveal nothing
    write_case_set((_case(number, patch, folder, numbers) for number, patch in enumerate(patches)), folder)


def cut_patches(source: PatchSource, numbers: random.Random) -> Iterator[Patch]:
    """The patches of one source, from blocks drawn for each split."""
    image = load_source(source)
    blocks = list(find_tissue_blocks(image, source.block))
    block_count = sum(BLOCKS.values())
    if len(blocks) < block_count:
        raise WardroundError(f"{source.file} has {len(blocks)} blocks of tissue; {block_count} are needed")
    chosen_blocks = iter(numbers.sample(blocks, block_count))
    first_gold = SOURCES.index(source)  # each source begins at another letter: all letters are equally frequent
    for split, count in BLOCKS.items():
        for number in range(count * PER_BLOCK):
            if number % PER_BLOCK == 0:
                top, left = next(chosen_blocks)
            cut = cut_patch(image, top, left, source.block, numbers)
            cluster = f"{Path(source.file).stem}-{top}-{left}"
            yield Patch(source, split, cluster, cut, (first_gold + number) % len(OPTIONS))


def load_source(source: PatchSource) -> Pixels:
    """The source as RGB, windowed as for a candidate, without its borders."""
    image = Image(path=source.file)
    grey = pixels(find_packaged_file(source.package, source.file), None, recipe_for(image))
    colour = np.asarray(Picture.fromarray(grey).convert("RGB"))
    if source.box is None:
        return colour
    top, bottom, left, right = source.box
    return colour[top:bottom, left:right]


def find_tissue_blocks(image: Pixels, block: int) -> Iterator[tuple[int, int]]:
    """The corners of the blocks that show more than background."""
    height, width = image.shape[:2]
    for top in range(0, height - block + 1, block):
        for left in range(0, width - block + 1, block):
            brightest = image[top : top + block, left : left + block].max(axis=2)
            if (brightest > TISSUE_LEVEL).mean() >= MIN_TISSUE:
                yield top, left


def cut_patch(image: Pixels, top: int, left: int, block: int, numbers: random.Random) -> Pixels:
    """A patch at a random position inside a block, without its margin, in the common size."""
    margin, side = round(block * MARGIN), round(block * PATCH)
    max_offset = block - side - margin
    top += numbers.randint(margin, max_offset)
    left += numbers.randint(margin, max_offset)
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
