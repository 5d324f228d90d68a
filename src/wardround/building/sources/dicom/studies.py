"""The studies in a folder of DICOM files, by their headers; and the choice of images.

Each series is divided into equal parts, and the middle image of each part is chosen. Images are ordered by their
position in the body, else by their number. A file with several frames is a series of its own. Localizers are left out
if the study has other images. All this is our choice.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydicom import Dataset, dcmread

from wardround.building.pipeline.pipeline import Build
from wardround.building.sources.dicom.body_region import body_region
from wardround.building.sources.dicom.identifiers import collect_identifiers
from wardround.building.sources.dicom.secret import Secret
from wardround.core.errors import BadInput

MODALITIES = {
    "CT": "CT",
    "MR": "MRI",
    "XA": "Angiography",
    "ES": "Endoscopy",
    "DMS": "Dermoscopy",
    "ECG": "ECG",
    **dict.fromkeys(("US", "IVUS"), "Ultrasound"),
    **dict.fromkeys(("CR", "DX", "DR", "RG", "RF", "MG", "PX", "IO", "BMD", "XR"), "X-ray"),
    **dict.fromkeys(("PT", "NM"), "PET"),
    **dict.fromkeys(("SM", "GM"), "Histopathology"),
    **dict.fromkeys(("OP", "OPT", "OCT"), "Fundus"),
    "XC": "Photograph",
}
NON_IMAGE_MODALITIES = frozenset(
    ["PR", "KO", "SR", "SEG", "RTSTRUCT", "RTPLAN", "RTDOSE", "DOC", "REG", "AU", "HD", "FID", "RWV"]
)
NAME_TAGS = (
    *("PatientName", "OtherPatientNames", "PatientBirthName", "PatientMotherBirthName", "ResponsiblePerson"),
    *("ReferringPhysicianName", "PerformingPhysicianName", "PhysiciansOfRecord", "NameOfPhysiciansReadingStudy"),
    *("OperatorsName", "RequestingPhysician", "ConsultingPhysicianName"),
)
ID_TAGS = ("PatientID", "OtherPatientIDs", "AccessionNumber", "AdmissionID", "IssuerOfPatientID", "DeviceSerialNumber")
PLACE_TAGS = ("InstitutionName", "InstitutionAddress", "StationName", "PatientAddress")
IMAGE_TAGS = (
    *("SOPClassUID", "SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID", "SeriesNumber", "InstanceNumber"),
    *("Modality", "ImageType", "Rows", "Columns", "NumberOfFrames", "ImagePositionPatient", "ImageOrientationPatient"),
    *("PatientAge", "PatientSex", "TransferSyntaxUID", "BodyPartExamined"),
)


def list_files(folder: Path) -> list[Path]:
    """All files below a folder, by name."""
    if not folder.is_dir():
        raise BadInput(folder, "there is no such folder")
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if not files:
        raise BadInput(folder, "contains no files")
    return files


def read_studies(folder: Path, excluded: Sequence[Path], secret: Secret, build: Build) -> dict[str, dict[str, Any]]:
    """The studies by their UID, each with its patient and images; a file that is not an image is reported."""
    studies: dict[str, dict[str, Any]] = {}
    file_by_instance: dict[str, Path] = {}
    for file in list_files(folder):
        if file.name == "DICOMDIR" or any(file.samefile(other) for other in excluded if other.exists()):
            continue
        header = _read_header(file)
        if isinstance(header, str):
            reject_file(file, folder, header, secret, build)
        elif file_by_instance.setdefault(header["instance"], file) != file:
            reject_file(file, folder, "the same image occurs twice", secret, build)
        else:
            study = studies.setdefault(header["study"], {"study": header["study"], "images": [], "identifiers": []})
            study["images"].append(header["image"])
            study["identifiers"].append(header["identifiers"])
            for name in ("patient", "accession", "age", "sex", "region"):
                study.setdefault(name, header[name])
    return studies


def reject_file(file: Path, folder: Path, reason: str, secret: Secret, build: Build) -> None:
    """Reports a file by its name on the console, and by a new name in the set."""
    name = file.relative_to(folder).as_posix()
    build.note(f"{name}: {reason}; left out")
    build.reject({"id": secret.name("file", name)}, "read", reason)


def choose_images(images: list[dict[str, Any]], per_series: int, max_images: int) -> list[dict[str, Any]]:
    """The images of a study that are used, series by series."""
    pictures = [image for image in images if not image["localizer"]] or images
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for image in pictures:
        alone = image["file"] if image["frames"] > 1 else ""
        series.setdefault((image["series_number"], image["series"], alone), []).append(image)
    chosen: list[dict[str, Any]] = []
    for key in sorted(series):
        slices = [
            {"file": image["file"], "modality": image["modality"], "frame": frame if image["frames"] > 1 else None}
            for image in sorted(series[key], key=lambda image: (*image["position"], image["file"]))
            for frame in range(image["frames"])
        ]
        chosen += [slices[index] for index in middle_indices(len(slices), per_series)]
    return chosen[:max_images]


def middle_indices(count: int, parts: int) -> list[int]:
    """The middles of equal parts: of 9, one is 4; three are 1, 4 and 7."""
    parts = min(count, parts)
    return [(2 * part + 1) * count // (2 * parts) for part in range(parts)]


def _read_header(file: Path) -> dict[str, Any] | str:
    """The fields of a header, or the reason why the file is not an image of a study."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tags = [*IMAGE_TAGS, *NAME_TAGS, *ID_TAGS, *PLACE_TAGS]
            dataset = dcmread(file, force=True, stop_before_pixels=True, specific_tags=tags)
            if not dataset.get("SOPClassUID"):
                return "is not a DICOM file"
            return _header_fields(dataset, file)
    except Exception as error:  # a broken header makes the reader raise whatever it likes
        return f"cannot be read: {type(error).__name__}"


def _header_fields(dataset: Dataset, file: Path) -> dict[str, Any] | str:
    modality = str(dataset.get("Modality") or "")
    if modality in NON_IMAGE_MODALITIES or not dataset.get("Rows") or not dataset.get("Columns"):
        return "contains no image"
    if not dataset.get("StudyInstanceUID") or not dataset.get("SOPInstanceUID"):
        return "has no study or instance UID"
    identifying = [
        [text for name in names for text in element_texts(dataset.get(name))]
        for names in (NAME_TAGS, ID_TAGS, PLACE_TAGS)
    ]
    return {
        "study": str(dataset.StudyInstanceUID),
        "instance": str(dataset.SOPInstanceUID),
        "patient": str(dataset.get("PatientID") or "").strip(),
        "accession": str(dataset.get("AccessionNumber") or "").strip(),
        "age": parse_age(str(dataset.get("PatientAge") or "")),
        "sex": sex if (sex := str(dataset.get("PatientSex") or "").strip()) in ("F", "M") else None,
        "region": body_region(str(dataset.get("BodyPartExamined") or "")),
        "identifiers": collect_identifiers(*identifying),
        "image": {
            "file": str(file),
            "series": str(dataset.get("SeriesInstanceUID") or ""),
            "series_number": int(dataset.get("SeriesNumber") or 0),
            "position": _position(dataset),
            "frames": max(1, int(dataset.get("NumberOfFrames") or 1)),
            "modality": MODALITIES.get(modality),
            "localizer": "LOCALIZER" in [part.upper() for part in element_texts(dataset.get("ImageType"))],
        },
    }


def _position(dataset: Dataset) -> tuple[float, int]:
    """The position of a slice along the normal of its plane, and its number."""
    number = int(dataset.get("InstanceNumber") or 0)
    position, orientation = dataset.get("ImagePositionPatient"), dataset.get("ImageOrientationPatient")
    if position is None or orientation is None or len(position) != 3 or len(orientation) != 6:
        return 0.0, number
    (a, b, c), (d, e, f) = map(float, orientation[:3]), map(float, orientation[3:])
    normal = (b * f - c * e, c * d - a * f, a * e - b * d)
    along = math.fsum(float(p) * n for p, n in zip(position, normal, strict=True))
    return round(along, 3), number


def parse_age(age: str) -> float | int | None:
    """`054Y`, `018M`, `002W`, `010D` in years."""
    if len(age) != 4 or not age[:3].isdigit() or age[3] not in "YMWD":
        return None
    parse_age = int(age[:3]) / {"Y": 1.0, "M": 12.0, "W": 52.18, "D": 365.25}[age[3]]
    return int(parse_age) if parse_age >= 2 else round(parse_age, 2)


def element_texts(value: Any) -> Iterator[str]:
    """The values of an element as texts."""
    if value is None or value == "":
        return
    if isinstance(value, str) or not hasattr(value, "__iter__") or hasattr(value, "family_name"):
        yield str(value)
    else:
        yield from map(str, value)
