"""De-identification of a DICOM file: every element by the profile, also in sequences; the pixels are not changed.

Stricter than the profile (our choice): names, dates and times that the table does not list are removed, UIDs that are
not the standard's own are replaced everywhere, and a value that cannot be read, or a text with a name or number of this
patient, is removed.
"""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydicom import DataElement, Dataset, FileDataset, dcmread, dcmwrite
from pydicom.datadict import dictionary_VR
from pydicom.dataset import FileMetaDataset
from pydicom.tag import BaseTag
from pydicom.uid import UID, ExplicitVRLittleEndian, ImplicitVRLittleEndian

from wardround.building.sources.dicom.identifiers import PatientIdentifiers
from wardround.building.sources.dicom.profile import action_of
from wardround.building.sources.dicom.secret import Secret
from wardround.core.errors import BadInput

DUMMY_TEXT = "NONE"
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
    **dict.fromkeys(("AE", "CS", "LO", "LT", "PN", "SH", "ST", "UC", "UT"), DUMMY_TEXT),
    **dict.fromkeys(("FD", "FL", "SL", "SS", "UL", "US"), 0),
}
REMOVED_VRS = frozenset(["PN", "DA", "DT", "TM", "UN"])
TEXT_VRS = frozenset(["AE", "CS", "LO", "LT", "PN", "SH", "ST", "UC", "UR", "UT"])
STANDARD_UID = "1.2.840.10008."  # the prefix of classes and syntaxes, never of instances
PIXEL_GROUP = 0x0028  # how pixels are to be decoded
DECODING_TAGS = frozenset([0x00080005, 0x00080016, 0x00080060])  # character set, class, modality
METHOD, METHOD_NAME = "113100", "Basic Application Confidentiality Profile"


def deidentify_file(file: Path, secret: Secret, identifiers: PatientIdentifiers) -> FileDataset:
    """The file without identifiers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dataset = dcmread(file, force=True)
            syntax = _syntax(dataset)
            deidentify(dataset, secret, identifiers)
            dataset.file_meta = _meta(dataset, syntax)
            dataset.preamble = b"\0" * 128
        except Exception as error:  # a broken file makes the reader raise whatever it likes
            raise BadInput(file, f"cannot be de-identified: {type(error).__name__}") from None
    return dataset


def write_dicom(dataset: FileDataset, file: Path) -> None:
    """Writes the result of `deidentify_file`; the same input gives the same bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dcmwrite(file, dataset, enforce_file_format=True)
        except Exception as error:  # a value that no file may have
            file.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.errno is not None:  # the disk's fault, not the file's
                raise
            raise BadInput(file, f"cannot be written: {type(error).__name__}") from None


def deidentify(dataset: Dataset, secret: Secret, identifiers: PatientIdentifiers) -> None:
    """De-identifies a data set by the profile, and records that in it."""
    patient = secret.name("patient", str(dataset.get("PatientID") or ""))
    _clean(dataset, secret, identifiers)
    dataset.PatientID = patient
    dataset.PatientName = ""
    dataset.PatientIdentityRemoved = "YES"
    dataset.DeidentificationMethod = f"PS3.15 {METHOD_NAME}"
    method = Dataset()
    method.CodeValue, method.CodingSchemeDesignator, method.CodeMeaning = METHOD, "DCM", METHOD_NAME
    dataset.DeidentificationMethodCodeSequence = [method]
    dataset.LongitudinalTemporalInformationModified = "REMOVED"


def _clean(dataset: Dataset, secret: Secret, identifiers: PatientIdentifiers) -> None:
    for tag in list(dataset.keys()):
        action = action_of(tag)
        if action in ("X", "Z", "D"):
            del dataset[tag]
            if action != "X":
                dataset[tag] = DataElement(tag, _vr(tag), _dummy(_vr(tag), secret, tag) if action == "D" else None)
            continue
        try:
            element = dataset[tag]
            keep = _clean_element(element, action, secret, identifiers)
        except Exception:  # what cannot be read cannot be judged
            keep = False
        if not keep:
            del dataset[tag]


def _clean_element(element: DataElement, action: str, secret: Secret, identifiers: PatientIdentifiers) -> bool:
    """De-identifies what is inside an element; returns whether the element is kept."""
    if element.VR == "SQ":
        for item in element.value or []:
            _clean(item, secret, identifiers)
        return True
    if element.VR == "UI" and element.value:
        values = [str(value) for value in _values(element)]
        uids = [old if action != "U" and old.startswith(STANDARD_UID) else secret.uid(old) for old in values]
        element.value = uids if len(uids) > 1 else uids[0]
        return True
    if element.VR in REMOVED_VRS:
        return False
    if element.VR in TEXT_VRS and element.tag.group != PIXEL_GROUP and int(element.tag) not in DECODING_TAGS:
        return not any(identifiers.occur_in(str(value)) for value in _values(element))
    return True


def _values(element: DataElement) -> Iterable[Any]:
    return element.value if element.VM > 1 else [element.value] if element.VM else []


def _vr(tag: BaseTag) -> str:
    """The first value representation in the dictionary; a file may have another."""
    return dictionary_VR(tag).split(" or ")[0]


def _dummy(vr: str, secret: Secret, tag: BaseTag) -> Any:
    if vr == "SQ":
        return [Dataset()]
    return secret.uid(str(tag)) if vr == "UI" else DUMMIES[vr]


def _syntax(dataset: FileDataset) -> UID:
    if syntax := dataset.file_meta.get("TransferSyntaxUID"):
        return UID(str(syntax))
    return ImplicitVRLittleEndian if dataset.original_encoding[0] else ExplicitVRLittleEndian


def _meta(dataset: Dataset, syntax: UID) -> FileMetaDataset:
    """A new file header: the old one names machines and instances."""
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = syntax
    meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    return meta
