"""Texts inside image files: EXIF, comments, PNG text, text tags of DICOM, NIfTI headers. No candidate sees them, but
whoever gets the files can read them.

A patient's name, birth date, address or telephone in a DICOM header is an error. An id alone is a warning, because
de-identified files have one too. Placeholders, and files that say that identity was removed, are believed.
"""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from PIL import ExifTags, Image
from pydicom import Dataset, dcmread

from wardround.building.audit.finding import Severity
from wardround.cases.images.raster import FORMATS
from wardround.cases.images.recipe import kind_of

MAX_LENGTH = 2_000  # characters kept of one text
TEXT_VRS = frozenset(["LO", "LT", "PN", "SH", "ST", "UC", "UT"])
IDENTITY_TAGS: dict[str, Severity] = {
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
NIFTI_TEXTS = ("db_name", "descrip", "aux_file", "intent_name")

Field = tuple[str, str]  # the name of its place in the file, and the text


def file_texts(path: Path) -> list[Field]:
    """The texts of a file with the names of their places; none if the file cannot be read."""
    read = {"raster": _raster, "dicom": _dicom, "nifti": _nifti}[kind_of(path.name)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fields = [(place, " ".join(text.split())[:MAX_LENGTH]) for place, text in read(path)]
    except Exception:  # decoders raise anything on a broken file, which is reported elsewhere
        return []
    return [(place, text) for place, text in fields if text]


def identity_severity(place: str, text: str) -> Severity | None:
    """How grave it is that a text may identify the patient; None if it does not."""
    if place.startswith("DICOM "):
        severity = IDENTITY_TAGS.get(place.removeprefix("DICOM "))
        return None if severity is None or PLACEHOLDER.search(text) else severity
    return "error" if LABELLED.search(text) else None


def _raster(path: Path) -> Iterator[Field]:
    with Image.open(path, formats=FORMATS) as image:
        exif = image.getexif()
        tags = [*exif.items(), *exif.get_ifd(ExifTags.IFD.Exif).items()]
        info = dict(image.info)
        if hasattr(image, "text"):
            info |= image.text  # also reads the text after the pixels
    for tag, value in tags:
        name = ExifTags.TAGS.get(tag, hex(tag))
        yield f"EXIF {name}", _decoded(value, name)
    for key, value in info.items():
        if key not in ("exif", "icc_profile", "photoshop"):
            yield f"text {key}", _decoded(value, str(key))


def _decoded(value: object, name: str) -> str:
    if isinstance(value, bytes):
        encoding = "utf-16-le" if name.startswith("XP") else "utf-8"  # Windows writes its own EXIF tags in UTF-16
        text = value.decode(encoding, errors="ignore").replace("\0", " ")
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
        elif (element.VR in TEXT_VRS or name in IDENTITY_TAGS) and not (removed and name in IDENTITY_TAGS):
            values = element.value if element.VM > 1 else [element.value]
            yield f"DICOM {name}", "; ".join(str(value) for value in values if value is not None)


def _nifti(path: Path) -> Iterator[Field]:
    from wardround.cases.images.nifti import read_header  # imports nibabel

    header = read_header(path)
    for name in NIFTI_TEXTS:
        if name in header:
            yield f"NIfTI {name}", header[name].item().split(b"\0")[0].decode("latin-1")
