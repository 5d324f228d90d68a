"""Texts inside image files: EXIF and comments, PNG text, DICOM tags of text, NIfTI's header. Nobody sees them, anybody
who gets the files can read them.

A patient's name, birth date, address or telephone in a DICOM header is an error. An id alone is a warning: a file that
was de-identified has one too. Placeholders and files that say that identity was removed are taken at their word.
"""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from PIL import ExifTags, Image
from pydicom import Dataset, dcmread

from wardround.building.audit.finding import Severity
from wardround.cases.images.raster import FORMATS
from wardround.cases.images.recipe import kind_of

LONGEST = 2_000  # characters kept of one text
TEXT_VRS = frozenset(["LO", "LT", "PN", "SH", "ST", "UC", "UT"])
WHO: dict[str, Severity] = {
    **dict.fromkeys(["PatientName", "OtherPatientNames", "PatientBirthName", "PatientMotherBirthName"], "error"),
    **dict.fromkeys(["PatientBirthDate", "PatientAddress", "PatientTelephoneNumbers"], "error"),
    **dict.fromkeys(["PatientID", "OtherPatientIDs", "AccessionNumber"], "warning"),
}
PLACEHOLDER = re.compile(
    r"anon|de-?ident|removed|redacted|unknown|\bnone\b|no[ _^]?name|test|phantom|sample|example|demo\b|subject"
    r"|^[\W_x0]*$",
    re.I,
)
LABELLED = re.compile(
    r"\b(?:patient'?s?[ _]?(?:name|id)|mrn|medical record (?:number|no)|date of birth|dob)\b\W{0,3}[:=#]\s*\w[^;\n]*",
    re.I,
)
NIFTI_TEXTS = {348: {"db_name": (14, 18), "descrip": (148, 80), "aux_file": (228, 24), "intent_name": (328, 16)}}

Field = tuple[str, str]  # where the text stands, and the text


def file_texts(path: Path) -> list[Field]:
    """The texts of a file with the names of their places; none if the file cannot be read."""
    kind = kind_of(path.name)
    read = {"raster": _raster, "dicom": _dicom, "nifti": _nifti}[kind]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [(where, " ".join(text.split())[:LONGEST]) for where, text in read(path)]
    except Exception:  # decoders raise whatever they like about a broken file; that it is broken is said elsewhere
        return []
    return [(where, text) for where, text in found if text]


def who_it_is(where: str, text: str) -> Severity | None:
    """Whether a text of a file may tell who the patient is."""
    if where.startswith("DICOM "):
        severity = WHO.get(where.removeprefix("DICOM "))
        return None if severity is None or PLACEHOLDER.search(text) else severity
    return "error" if LABELLED.search(text) else None


def _raster(path: Path) -> Iterator[Field]:
    with Image.open(path, formats=FORMATS) as image:
        exif = image.getexif()
        tags = [*exif.items(), *exif.get_ifd(ExifTags.IFD.Exif).items()]
        info = dict(image.info)
        if hasattr(image, "text"):
            info |= image.text  # reads the text after the pixels, too
    for tag, value in tags:
        name = ExifTags.TAGS.get(tag, hex(tag))
        yield f"EXIF {name}", _decoded(value, name)
    for key, value in info.items():
        if key not in ("exif", "icc_profile", "photoshop"):
            yield f"text {key}", _decoded(value, str(key))


def _decoded(value: object, name: str) -> str:
    if isinstance(value, bytes):
        wide = name.startswith("XP")  # Windows writes its own EXIF tags in UTF-16
        text = value.decode("utf-16-le" if wide else "utf-8", errors="ignore").replace("\0", " ")
        return text.removeprefix("ASCII").removeprefix("UNICODE")
    return value if isinstance(value, str) else ""


def _dicom(path: Path) -> Iterator[Field]:
    dataset = dcmread(path, stop_before_pixels=True, force=True)
    removed = str(dataset.get("PatientIdentityRemoved") or "").upper() == "YES"
    yield from _elements(dataset, removed)


def _elements(dataset: Dataset, removed: bool) -> Iterator[Field]:
    for element in dataset:
        name = element.keyword or str(element.tag)
        if element.VR == "SQ":
            for item in element.value:
                yield from _elements(item, removed)
        elif (element.VR in TEXT_VRS or name in WHO) and not (removed and name in WHO):
            values = element.value if element.VM > 1 else [element.value]
            yield f"DICOM {name}", "; ".join(str(value) for value in values if value is not None)


def _nifti(path: Path) -> Iterator[Field]:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if zipped else path.open("rb") as file:
        header = file.read(348)
    places = NIFTI_TEXTS.get(int.from_bytes(header[:4], "little")) or NIFTI_TEXTS.get(int.from_bytes(header[:4], "big"))
    for name, (start, size) in (places or {}).items():
        yield f"NIfTI {name}", header[start : start + size].split(b"\0")[0].decode("latin-1")
