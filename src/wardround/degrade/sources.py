"""The images to degrade: files in folders, and the names of their copies."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path, PurePosixPath

from wardround.cases.images.recipe import NIFTI_SUFFIXES, RASTER_SUFFIXES, kind_of
from wardround.core.case import Image
from wardround.core.errors import BadInput
from wardround.degrade.case_images import Degradation, level_name
from wardround.degrade.files import DegradedCopy
from wardround.degrade.modalities import parse_modality
from wardround.degrade.types import fits

DICOM_SUFFIXES = (".dcm", ".dicom")
ImageKey = tuple[object, ...]


@dataclass(frozen=True)
class SourceImage:
    """An image file, how it is shown, the start of its copies' paths, and the degradations to make of it."""

    file: Path
    image: Image
    name: str
    degradations: tuple[Degradation, ...]

    def copy(self, degradation: Degradation) -> DegradedCopy:
        type, severity = degradation
        return DegradedCopy(type, severity, f"{self.name}.{type}.{level_name(severity)}.png")

    def copies(self) -> list[DegradedCopy]:
        return [self.copy(degradation) for degradation in self.degradations]


def find_sources(
    source: Path, out: Path, choice: tuple[Degradation, ...], modality: str | None = None, only_fitting: bool = False
) -> list[SourceImage]:
    """An image, or the images of a folder and the folders in it, except those in `out`.

    Without a modality that of a DICOM header is used; one that is not known is fitted by general types alone.
    """
    if source.is_file():
        files, folder = [source], source.parent
    else:
        files, folder = [file for file in _walk_files(source, out.resolve()) if _is_image(file)], source
        if not files:
            raise BadInput(source, "contains no image: no PNG, JPEG, TIFF, BMP, WebP, DICOM or NIfTI")
    images = [
        Image(path=file.relative_to(folder).as_posix(), modality=modality or _header_modality(file)) for file in files
    ]
    names = copy_names(images)
    return [
        SourceImage(
            file,
            image,
            names[image_key(image)],
            tuple(item for item in choice if not only_fitting or fits(item[0], image.modality)),
        )
        for file, image in zip(files, images, strict=True)
    ]


def _header_modality(file: Path) -> str | None:
    """The modality of a DICOM file, if it is one of the seven."""
    if kind_of(file.name) != "dicom":
        return None
    from wardround.cases.images.dicom import dicom_modality  # on demand: photographs need no pydicom

    return parse_modality(dicom_modality(file))


def _walk_files(top: Path, out: Path) -> Iterator[Path]:
    for folder, subfolders, names in os.walk(top):
        subfolders[:] = sorted(
            name for name in subfolders if not name.startswith(".") and (Path(folder) / name).resolve() != out
        )
        yield from (Path(folder) / name for name in sorted(names) if not name.startswith("."))


def _is_image(file: Path) -> bool:
    """By its suffix; a file without one by the magic number of DICOM."""
    if file.name.lower().endswith((*RASTER_SUFFIXES, *NIFTI_SUFFIXES, *DICOM_SUFFIXES)):
        return True
    if file.suffix or file.name == "DICOMDIR":
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(132)[128:] == b"DICM"
    except OSError:
        return True  # decoding it will say why not


def image_key(image: Image) -> ImageKey:
    """What tells two images apart: the file and how it is shown."""
    return image.path, image.frame, image.axis, image.window, image.modality


def copy_names(images: Iterable[Image]) -> dict[ImageKey, str]:
    """The start of the paths of each image's copies: the image's path, the frame, and more only to avoid a clash."""
    names: dict[ImageKey, str] = {}
    used: set[str] = set()
    for image in images:
        if image_key(image) in names:
            continue
        path = PurePosixPath(image.path)
        frame = "" if image.frame is None else f".{image.frame}"
        stem = PurePosixPath(path.name.removesuffix(".gz")).stem
        numbered = (f"{path.name}{frame}-{number}" for number in count(2))
        paths = (str(path.with_name(name)) for name in chain((f"{stem}{frame}", f"{path.name}{frame}"), numbered))
        name = next(candidate for candidate in paths if candidate.lower() not in used)
        names[image_key(image)] = name
        used.add(name.lower())
    return names
