"""De-identifying a DICOM file: every element as the profile says, in sequences too; the pixels stay as they are.

Beyond the profile (our choice): names, dates and times that the table does not know go, UIDs that are not the
standard's own are replaced everywhere, a value that cannot be read goes, and so does every text in which a name or
number of this patient still stands.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydicom import DataElement, Dataset, FileDataset, dcmread, dcmwrite
from pydicom.datadict import dictionary_VR
from pydicom.dataset import FileMetaDataset
from pydicom.tag import BaseTag
from pydicom.uid import UID, ExplicitVRLittleEndian, ImplicitVRLittleEndian

from wardround.building.sources.dicom.identifiers import Known
from wardround.building.sources.dicom.profile import action_of
from wardround.building.sources.dicom.secret import Secret
from wardround.core.errors import BadInput

NOBODY = "NONE"
DUMMIES: dict[str, Any] = {
    "AS": "000Y",
    "DA": "19000101",
    "DT": "19000101000000",
    "TM": "000000",
    "DS": "0",
    "IS": "0",
    "UR": "about:blank",
    "OB": b"\0\0",
    "OW": b"\0\0",
    "UN": b"\0\0",
    **dict.fromkeys(("AE", "CS", "LO", "LT", "PN", "SH", "ST", "UC", "UT"), NOBODY),
    **dict.fromkeys(("FD", "FL", "SL", "SS", "UL", "US"), 0),
}
WHO_OR_WHEN = frozenset(["PN", "DA", "DT", "TM", "UN"])
TEXTS = frozenset(["AE", "CS", "LO", "LT", "PN", "SH", "ST", "UC", "UR", "UT"])
STANDARD = "1.2.840.10008."  # under it are names of classes and syntaxes, never of things
PIXELS = 0x0028  # the group that says how pixels are to be read
HOW_TO_READ = frozenset([0x00080005, 0x00080016, 0x00080060])  # character set, class, modality
METHOD, METHOD_NAME = "113100", "Basic Application Confidentiality Profile"


def deidentified(file: Path, secret: Secret, known: Known) -> FileDataset:
    """The file without who, when and where."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dataset = dcmread(file, force=True)
            syntax = _syntax(dataset)
            deidentify(dataset, secret, known)
            dataset.file_meta = _meta(dataset, syntax)
            dataset.preamble = b"\0" * 128
        except Exception as error:  # a broken file makes the reader raise whatever it likes
            raise BadInput(file, f"cannot be de-identified: {type(error).__name__}") from None
    return dataset


def write(dataset: FileDataset, file: Path) -> None:
    """Writes what `deidentified` gave; the same input is the same bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dcmwrite(file, dataset, enforce_file_format=True)
        except Exception as error:  # a value that no file may have
            file.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.errno is not None:  # the disk's fault, not the file's
                raise
            raise BadInput(file, f"cannot be written: {type(error).__name__}") from None


def deidentify(dataset: Dataset, secret: Secret, known: Known) -> None:
    """Changes a data set as the profile says, and has it say so."""
    patient = secret.name("patient", str(dataset.get("PatientID") or ""))
    _clean(dataset, secret, known)
    dataset.PatientID = patient
    dataset.PatientName = ""
    dataset.PatientIdentityRemoved = "YES"
    dataset.DeidentificationMethod = f"PS3.15 {METHOD_NAME}"
    method = Dataset()
    method.CodeValue, method.CodingSchemeDesignator, method.CodeMeaning = METHOD, "DCM", METHOD_NAME
    dataset.DeidentificationMethodCodeSequence = [method]
    dataset.LongitudinalTemporalInformationModified = "REMOVED"


def _clean(dataset: Dataset, secret: Secret, known: Known) -> None:
    for tag in list(dataset.keys()):
        action = action_of(tag)
        if action in ("X", "Z", "D"):
            del dataset[tag]
            if action != "X":
                dataset[tag] = DataElement(tag, _vr(tag), _instead(_vr(tag), secret, tag) if action == "D" else None)
            continue
        try:
            element = dataset[tag]
            stays = _stays(element, action, secret, known)
        except Exception:  # what cannot be read cannot be judged
            stays = False
        if not stays:
            del dataset[tag]


def _stays(element: DataElement, action: str, secret: Secret, known: Known) -> bool:
    """Whether an element stays, after what is inside it was changed."""
    if element.VR == "SQ":
        for item in element.value or []:
            _clean(item, secret, known)
        return True
    if element.VR == "UI" and element.value:
        values = [str(each) for each in _values(element)]
        others = [old if action != "U" and old.startswith(STANDARD) else secret.uid(old) for old in values]
        element.value = others if len(others) > 1 else others[0]
        return True
    if element.VR in WHO_OR_WHEN:
        return False
    if element.VR in TEXTS and element.tag.group != PIXELS and int(element.tag) not in HOW_TO_READ:
        return not any(known.in_text(str(each)) for each in _values(element))
    return True


def _values(element: DataElement) -> Iterable[Any]:
    return element.value if element.VM > 1 else [element.value] if element.VM else []


def _vr(tag: BaseTag) -> str:
    """The first kind of value that the dictionary names; a file may have another."""
    return dictionary_VR(tag).split(" or ")[0]


def _instead(vr: str, secret: Secret, tag: BaseTag) -> Any:
    if vr == "SQ":
        return [Dataset()]
    return secret.uid(str(tag)) if vr == "UI" else DUMMIES[vr]


def _syntax(dataset: FileDataset) -> UID:
    if found := dataset.file_meta.get("TransferSyntaxUID"):
        return UID(str(found))
    return ImplicitVRLittleEndian if dataset.original_encoding[0] else ExplicitVRLittleEndian


def _meta(dataset: Dataset, syntax: UID) -> FileMetaDataset:
    """The head of the file, made anew: it too names machines and instances."""
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = syntax
    meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    return meta
