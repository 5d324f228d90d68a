"""Reading a folder of DICOM files: what of each header is needed, by study and series; and which images are chosen.

Of each series a number of images is taken from the middles of as many equal parts (one: the middle one), in the order
of their place in the body, else of their number. A file with several frames is a series of its own. Localizers are left
out where the study has anything else. Our choices.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydicom import Dataset, dcmread

from wardround.building.pipeline.pipeline import Build
from wardround.building.sources.dicom.identifiers import known_of
from wardround.building.sources.dicom.secret import Secret
from wardround.core.errors import BadInput

MODALITIES = {
    **dict.fromkeys(("CT",), "CT"),
    **dict.fromkeys(("MR",), "MRI"),
    **dict.fromkeys(("US", "IVUS"), "Ultrasound"),
    **dict.fromkeys(("CR", "DX", "DR", "RG", "RF", "MG", "PX", "IO", "BMD", "XR"), "X-ray"),
    **dict.fromkeys(("XA",), "Angiography"),
    **dict.fromkeys(("PT", "NM"), "PET"),
    **dict.fromkeys(("SM", "GM"), "Histopathology"),
    **dict.fromkeys(("ES",), "Endoscopy"),
    **dict.fromkeys(("DMS",), "Dermoscopy"),
    **dict.fromkeys(("OP", "OPT", "OCT"), "Fundus"),
    **dict.fromkeys(("ECG",), "ECG"),
    **dict.fromkeys(("XC",), "Photograph"),
}
NO_IMAGES = frozenset(["PR", "KO", "SR", "SEG", "RTSTRUCT", "RTPLAN", "RTDOSE", "DOC", "REG", "AU", "HD", "FID", "RWV"])
PEOPLE = (
    *("PatientName", "OtherPatientNames", "PatientBirthName", "PatientMotherBirthName", "ResponsiblePerson"),
    *("ReferringPhysicianName", "PerformingPhysicianName", "PhysiciansOfRecord", "NameOfPhysiciansReadingStudy"),
    *("OperatorsName", "RequestingPhysician", "ConsultingPhysicianName"),
)
NUMBERS = ("PatientID", "OtherPatientIDs", "AccessionNumber", "AdmissionID", "IssuerOfPatientID", "DeviceSerialNumber")
PLACES = ("InstitutionName", "InstitutionAddress", "StationName", "PatientAddress")
WHAT = (
    *("SOPClassUID", "SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID", "SeriesNumber", "InstanceNumber"),
    *("Modality", "ImageType", "Rows", "Columns", "NumberOfFrames", "ImagePositionPatient", "ImageOrientationPatient"),
    *("PatientAge", "PatientSex", "TransferSyntaxUID"),
)


def files(folder: Path) -> list[Path]:
    """All files of a folder, in one order."""
    if not folder.is_dir():
        raise BadInput(folder, "there is no such folder")
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    if not found:
        raise BadInput(folder, "there is no file in it")
    return found


def studies(folder: Path, besides: Sequence[Path], secret: Secret, build: Build) -> dict[str, dict[str, Any]]:
    """The studies by their UID, each with its patient and its images; a file that is none is named and left out."""
    found: dict[str, dict[str, Any]] = {}
    first: dict[str, Path] = {}
    for file in files(folder):
        if file.name == "DICOMDIR" or any(file.samefile(other) for other in besides if other.exists()):
            continue
        told = _header(file)
        if isinstance(told, str):
            left_out(file, folder, told, secret, build)
        elif first.setdefault(told["instance"], file) != file:
            left_out(file, folder, "the same image is there twice", secret, build)
        else:
            study = found.setdefault(told["study"], {"study": told["study"], "images": [], "known": []})
            study["images"].append(told["image"])
            study["known"].append(told["known"])
            for name in ("patient", "accession", "age", "sex"):
                study.setdefault(name, told[name])
    return found


def left_out(file: Path, folder: Path, reason: str, secret: Secret, build: Build) -> None:
    """Names a file to whoever builds; in the set it has a name that tells nothing."""
    name = file.relative_to(folder).as_posix()
    build.note(f"{name}: {reason}; left out")
    build.reject({"id": secret.name("file", name)}, "read", reason)


def chosen(images: list[dict[str, Any]], per_series: int, most: int) -> list[dict[str, Any]]:
    """The images that are taken from a study, `most` at most: series by series."""
    pictures = [image for image in images if not image["localizer"]] or images
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for image in pictures:
        alone = image["file"] if image["frames"] > 1 else ""
        series.setdefault((image["series_number"], image["series"], alone), []).append(image)
    taken: list[dict[str, Any]] = []
    for key in sorted(series):
        slices = [
            {"file": image["file"], "modality": image["modality"], "frame": frame if image["frames"] > 1 else None}
            for image in sorted(series[key], key=lambda each: (*each["place"], each["file"]))
            for frame in range(image["frames"])
        ]
        taken += [slices[place] for place in middles(len(slices), per_series)]
    return taken[:most]


def middles(count: int, wanted: int) -> list[int]:
    """The middles of equal parts of a row: of 9, one is 4; three are 1, 4 and 7."""
    wanted = min(count, wanted)
    return [(2 * part + 1) * count // (2 * wanted) for part in range(wanted)]


def _header(file: Path) -> dict[str, Any] | str:
    """What a header tells, or why the file is none of a study's images."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = [*WHAT, *PEOPLE, *NUMBERS, *PLACES]
            dataset = dcmread(file, force=True, stop_before_pixels=True, specific_tags=wanted)
            if not dataset.get("SOPClassUID"):
                return "is not a DICOM file"
            return _told(dataset, file)
    except Exception as error:  # a broken header makes the reader raise whatever it likes
        return f"cannot be read: {type(error).__name__}"


def _told(dataset: Dataset, file: Path) -> dict[str, Any] | str:
    modality = str(dataset.get("Modality") or "")
    if modality in NO_IMAGES or not dataset.get("Rows") or not dataset.get("Columns"):
        return "holds no image"
    if not dataset.get("StudyInstanceUID") or not dataset.get("SOPInstanceUID"):
        return "has no study or instance UID"
    who = [[text for name in names for text in _texts(dataset.get(name))] for names in (PEOPLE, NUMBERS, PLACES)]
    return {
        "study": str(dataset.StudyInstanceUID),
        "instance": str(dataset.SOPInstanceUID),
        "patient": str(dataset.get("PatientID") or "").strip(),
        "accession": str(dataset.get("AccessionNumber") or "").strip(),
        "age": years(str(dataset.get("PatientAge") or "")),
        "sex": sex if (sex := str(dataset.get("PatientSex") or "").strip()) in ("F", "M") else None,
        "known": known_of(*who),
        "image": {
            "file": str(file),
            "series": str(dataset.get("SeriesInstanceUID") or ""),
            "series_number": int(dataset.get("SeriesNumber") or 0),
            "place": _place(dataset),
            "frames": max(1, int(dataset.get("NumberOfFrames") or 1)),
            "modality": MODALITIES.get(modality),
            "localizer": "LOCALIZER" in [part.upper() for part in _texts(dataset.get("ImageType"))],
        },
    }


def _place(dataset: Dataset) -> tuple[float, int]:
    """Where a slice lies along the normal of its plane, and its number."""
    number = int(dataset.get("InstanceNumber") or 0)
    position, orientation = dataset.get("ImagePositionPatient"), dataset.get("ImageOrientationPatient")
    if position is None or orientation is None or len(position) != 3 or len(orientation) != 6:
        return 0.0, number
    (a, b, c), (d, e, f) = map(float, orientation[:3]), map(float, orientation[3:])
    normal = (b * f - c * e, c * d - a * f, a * e - b * d)
    along = math.fsum(float(p) * n for p, n in zip(position, normal, strict=True))
    return round(along, 3), number


def years(age: str) -> float | int | None:
    """`054Y`, `018M`, `002W`, `010D` in years."""
    if len(age) != 4 or not age[:3].isdigit() or age[3] not in "YMWD":
        return None
    told = int(age[:3]) / {"Y": 1.0, "M": 12.0, "W": 52.18, "D": 365.25}[age[3]]
    return int(told) if told >= 2 else round(told, 2)


def _texts(value: Any) -> Iterator[str]:
    """The values of an element as texts."""
    if value is None or value == "":
        return
    if isinstance(value, str) or not hasattr(value, "__iter__") or hasattr(value, "family_name"):
        yield str(value)
    else:
        for each in value:
            yield str(each)
