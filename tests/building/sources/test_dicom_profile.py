"""De-identification against the profile's table as an independent package (dicom-anonymizer) has it."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
import pytest
from dicomanonymizer.dicom_anonymization_databases import dicomfields_2026c as oracle
from hospital import PATIENTS, save, slice_of, study_uid
from pydicom import DataElement, Dataset, dcmread
from pydicom.datadict import dictionary_has_tag, dictionary_VR, keyword_for_tag
from pydicom.tag import Tag

from wardround.building.sources.dicom.deidentification import deidentify, deidentify_file, write_dicom
from wardround.building.sources.dicom.identifiers import NO_IDENTIFIERS, collect_identifiers
from wardround.building.sources.dicom.profile import table
from wardround.building.sources.dicom.secret import Secret
from wardround.core.errors import BadInput

SECRET = Secret(b"s" * 32)
PLANTED: dict[str, Any] = {
    "AS": "074Y",
    "DA": "20240312",
    "DT": "20240312101500",
    "TM": "101500",
    "DS": "71.5",
    "IS": "71",
    "UI": "1.2.3.4.5",
    "UR": "http://secret.example",
    "AE": "SECRET",
    "CS": "SECRET",
    "PN": "Secret^Name",
    **dict.fromkeys(("LO", "LT", "SH", "ST", "UC", "UT"), "secret"),
    **dict.fromkeys(("OB", "OW", "UN"), b"secret"),
    **dict.fromkeys(("US", "UL", "SS", "SL", "FD", "FL"), 71),
}
SINGLE = [Tag(*tag) for tag in oracle.ALL_TAGS if len(tag) == 2]
MASKED = [tag for tag in oracle.ALL_TAGS if len(tag) == 4]  # group, element, and which bits of them count
PROFILE = resources.files("wardround.building.sources.dicom").joinpath("profile.csv")
NEWER = {
    "00181010": "X",
    "00181011": "X",
    "003a0020": "X",
    "003a0203": "X",
    "003a020c": "X",
    "00400556": "X",
    "0040b020": "X/D",
    "00700006": "D",
}
ACTIONS = {
    **{Tag(*tag): "X" for tag in oracle.X_TAGS if len(tag) == 2},
    **{Tag(*tag): "Z" for tag in [*oracle.Z_TAGS, *oracle.X_Z_TAGS]},
    **{Tag(*tag): "D" for tag in [*oracle.D_TAGS, *oracle.Z_D_TAGS, *oracle.X_D_TAGS, *oracle.X_Z_D_TAGS]},
    **{Tag(*tag): "U" for tag in oracle.U_TAGS},
    **{Tag(*tag): "U*" for tag in oracle.X_Z_U_STAR_TAGS},
}


def planted(tag: Any) -> DataElement:
    vr = dictionary_VR(tag).split(" or ")[0] if dictionary_has_tag(tag) else "LO"
    if vr == "SQ":
        item = Dataset()
        item.PatientName, item.ReferencedSOPInstanceUID, item.CodeMeaning = "Secret^Name", "1.2.3.4.5", "secret"
        return DataElement(tag, vr, [item])
    return DataElement(tag, vr, PLANTED[vr])


def gone_or_replaced(dataset: Dataset, tag: Any) -> bool:
    if tag not in dataset:
        return True
    element, was = dataset[tag], planted(tag)
    if element.VR != "SQ":
        return element.value != was.value
    return all("PatientName" not in item or not item.PatientName for item in element.value) and all(
        item.get("ReferencedSOPInstanceUID") != "1.2.3.4.5" for item in element.value
    )


def test_our_table_equals_the_oracles():
    """All 652 elements of the package's 2026c edition; those that our dictionary does not know go as unknown ones."""
    assert len(SINGLE) == len(ACTIONS) == 652
    unknown = {tag for tag in SINGLE if not dictionary_has_tag(tag)}
    assert len(unknown) == 25
    assert {Tag(tag): action for tag, action in table().items()} == {
        tag: action for tag, action in ACTIONS.items() if tag not in unknown
    }


def test_elements_missing_in_older_lists_equal_other_transcriptions():
    """Written down by hand from public transcriptions of the editions 2026c and 2026d, not from the package above."""
    rows = {row["tag"]: row["action"] for row in csv.DictReader(PROFILE.read_text().splitlines())}
    assert {tag: rows[tag] for tag in NEWER} == NEWER


@pytest.mark.parametrize("nested", [False, True])
def test_every_element_of_the_profile_is_removed_or_replaced(nested):
    dataset = Dataset()
    for tag in SINGLE:
        dataset[tag] = planted(tag)
    for group, element, _, _ in MASKED:
        for number in range(0, 0x20, 2):
            dataset[Tag(group + number, element or 0x0010)] = DataElement(
                Tag(group + number, element or 0x0010), "LO", "s"
            )
    outer = dataset
    if nested:
        outer = Dataset()
        outer.SharedFunctionalGroupsSequence = [dataset]
    deidentify(outer, SECRET, NO_IDENTIFIERS)
    left = outer.SharedFunctionalGroupsSequence[0] if nested else outer
    wrong = [f"{tag} {keyword_for_tag(tag)}" for tag in SINGLE if not gone_or_replaced(left, tag)]
    assert wrong == []
    assert not [tag for tag in list(left.keys()) if tag.group >> 8 in (0x50, 0x60)]
    expected = {tag for tag in SINGLE if ACTIONS[tag] != "X" and dictionary_has_tag(tag) and tag.group > 2}
    assert expected <= set(left.keys())  # what is not to be removed is still there, empty or another
    for tag in expected:
        value = left[tag].value
        if ACTIONS[tag] == "D":
            assert value not in (None, "", []), keyword_for_tag(tag)
        if ACTIONS[tag] == "Z":
            assert not value, keyword_for_tag(tag)
    for tag in SINGLE:  # the list, with pytest -s
        print(tag, f"{ACTIONS[tag]:2}", keyword_for_tag(tag) or "(not in the dictionary)")


def test_the_file_and_its_header_are_clean(tmp_path):
    dataset = slice_of(0, PATIENTS[0], series="1.2.3.1", study=study_uid(0))
    for tag in SINGLE:
        if tag.group > 8 and not (tag in dataset and tag.group == 0x28):
            dataset[tag] = planted(tag)
    block = dataset.private_block(0x0011, "ACME", create=True)
    block.add_new(0x01, "LO", "secret of the vendor")
    inner = Dataset()
    inner.add_new(0x00110010, "LO", "ACME")
    inner.add_new(0x00111001, "PN", "Secret^Name")
    inner.CodeMeaning = "kept"
    dataset.ViewCodeSequence = [inner]
    dataset.Manufacturer = "Okonkwo Devices"  # the patient's name where nobody expects it
    file = save(dataset, tmp_path / "in.dcm")
    write_dicom(
        deidentify_file(file, SECRET, collect_identifiers([PATIENTS[0][1]], [PATIENTS[0][0]], [])), tmp_path / "out.dcm"
    )
    raw = (tmp_path / "out.dcm").read_bytes()
    for secret in (
        b"secret",
        b"Secret",
        b"Okonkwo",
        b"MRN-1002",
        b"20240312",
        b"WILGEFORTIS",
        b"1.2.3.",
        b"ACME",
        b"SN-77",
    ):
        assert secret not in raw, secret
    left = dcmread(tmp_path / "out.dcm")
    assert left.PixelData == dcmread(file).PixelData
    assert np.array_equal(left.pixel_array, dcmread(file).pixel_array)
    assert (left.Modality, left.KVP, left.BodyPartExamined, left.RescaleIntercept) == ("CT", 120, "CHEST", -100)
    assert left.ViewCodeSequence[0].CodeMeaning == "kept"
    assert left.PatientIdentityRemoved == "YES"
    assert left.DeidentificationMethodCodeSequence[0].CodeValue == "113100"
    assert left.file_meta.MediaStorageSOPInstanceUID == left.SOPInstanceUID
    assert "SourceApplicationEntityTitle" not in left.file_meta


def test_uids_are_replaced_consistently():
    one, other = (slice_of(0, PATIENTS[0], series="1.2.3.1", study="1.2.3.9", place=place) for place in (0, 1))
    reference = Dataset()
    reference.ReferencedSOPClassUID, reference.ReferencedSOPInstanceUID = one.SOPClassUID, one.SOPInstanceUID
    other.SourceImageSequence = [reference]
    for dataset in (one, other):
        deidentify(dataset, SECRET, NO_IDENTIFIERS)
    assert one.StudyInstanceUID == other.StudyInstanceUID != "1.2.3.9"
    assert one.SOPInstanceUID != other.SOPInstanceUID
    assert other.SourceImageSequence[0].ReferencedSOPInstanceUID == one.SOPInstanceUID
    assert other.SourceImageSequence[0].ReferencedSOPClassUID == one.SOPClassUID  # the standard's own stay
    assert all(len(uid) <= 64 and uid.startswith("2.25.") for uid in (one.StudyInstanceUID, one.SOPInstanceUID))
    again = slice_of(0, PATIENTS[0], series="1.2.3.1", study="1.2.3.9")
    deidentify(again, Secret(b"t" * 32), NO_IDENTIFIERS)
    assert again.StudyInstanceUID != one.StudyInstanceUID  # with another secret


def test_a_file_that_cannot_be_written_again_is_one_line(tmp_path):
    dataset = slice_of(0, PATIENTS[0], series="1.2.3.1", study="1.2.3.9")
    good = deidentify_file(save(dataset, tmp_path / "in.dcm"), SECRET, NO_IDENTIFIERS)
    good[0x00280010]._value = "many"
    with pytest.raises(BadInput, match="cannot be written"):
        write_dicom(good, tmp_path / "out.dcm")
    assert not (tmp_path / "out.dcm").exists()
