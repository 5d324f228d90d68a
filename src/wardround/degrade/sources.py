"""What is to be degraded: image files, found in folders, and how the paths of their copies begin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wardround.cases.images.recipe import NIFTI_SUFFIXES, RASTER_SUFFIXES
from wardround.core.case import Image
from wardround.core.errors import BadInput
from wardround.degrade.case_images import Degradation, level_of
from wardround.degrade.files import Copy

DICOM_SUFFIXES = (".dcm", ".dicom")
Key = tuple[object, ...]


@dataclass(frozen=True)
class Source:
    """An image file, how it is shown, the beginning of its copies' paths, and the degradations wanted of it."""

    file: Path
    image: Image
    name: str
    wanted: tuple[Degradation, ...]

    def copy(self, degradation: Degradation) -> Copy:
        type, severity = degradation
        return Copy(type, severity, f"{self.name}.{type}.{level_of(severity)}.png")


def plain_sources(source: Path, out: Path, choice: tuple[Degradation, ...]) -> list[Source]:
    """An image, or the images of a folder and the folders in it, without what lies in `out`."""
    if source.is_file():
        found, folder = [source], source.parent
    else:
        found, folder = [file for file in _files(source, out.resolve()) if _is_image(file)], source
        if not found:
            raise BadInput(source, "there is no image in it: no PNG, JPEG, TIFF, BMP, WebP, DICOM or NIfTI")
    images = [Image(path=file.relative_to(folder).as_posix()) for file in found]
    names = copy_names(images)
    return [Source(file, image, names[key_of(image)], choice) for file, image in zip(found, images, strict=True)]


def _files(folder: Path, out: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            each for each in folders if not each.startswith(".") and (Path(place) / each).resolve() != out
        )
        yield from (Path(place) / each for each in sorted(files) if not each.startswith("."))


def _is_image(file: Path) -> bool:
    """By its name; a file without a suffix by the mark of DICOM."""
    if file.name.lower().endswith((*RASTER_SUFFIXES, *NIFTI_SUFFIXES, *DICOM_SUFFIXES)):
        return True
    if file.suffix or file.name == "DICOMDIR":
        return False
    try:
        with file.open("rb") as opened:
            return opened.read(132)[128:] == b"DICM"
    except OSError:
        return True  # whoever decodes it says why not


def key_of(image: Image) -> Key:
    """What tells two images apart: the file and how it is shown."""
    return image.path, image.frame, image.axis, image.window, image.modality


def copy_names(images: Iterable[Image]) -> dict[Key, str]:
    """How the paths of each image's copies begin: as the image's path, with a frame, and more only where it must."""
    names: dict[Key, str] = {}
    taken: set[str] = set()
    for image in images:
        if key_of(image) in names:
            continue
        path = PurePosixPath(image.path)
        plain = path.name.removesuffix(".gz")
        frame = "" if image.frame is None else f".{image.frame}"
        offered = [f"{PurePosixPath(plain).stem}{frame}", f"{path.name}{frame}"]
        offered += (f"{path.name}{frame}-{number}" for number in range(2, len(taken) + 3))
        name = next(each for each in (str(path.with_name(name)) for name in offered) if each.lower() not in taken)
        names[key_of(image)] = name
        taken.add(name.lower())
    return names
