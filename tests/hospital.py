"""An invented hospital: DICOM files with everything planted that has to go, and its table of histories."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from pydicom import Dataset
from pydicom.dataset import FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, UltrasoundImageStorage, generate_uid

PATIENTS = [  # id, name, diagnosis
    ("MRN-100200", "Okonkwo^Adaeze^Ruth", "sarcoidosis"),
    ("MRN-100201", "Lindqvist^Bo", "pulmonary embolism"),
    ("MRN-100202", "Müller^Jürgen", "aortic dissection"),
    ("MRN-100203", "Tanaka^Hiroshi", "lobar pneumonia"),
    ("MRN-100204", "Fernandez^Lucia", "mesothelioma"),
    ("MRN-100205", "Novak^Petr", "hydatid cyst"),
]
HOSPITAL = "St. Wilgefortis Hospital"


def slice_of(
    number: int, patient: tuple[str, str, str], *, series: str, study: str, place: int = 0, **more: Any
) -> Dataset:
    """One CT slice."""
    dataset = Dataset()
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.SOPClassUID = CTImageStorage
    dataset.SOPInstanceUID = generate_uid(entropy_srcs=[series, str(place)])
    dataset.StudyInstanceUID, dataset.SeriesInstanceUID = study, series
    dataset.SeriesNumber, dataset.InstanceNumber = 1, place + 1
    dataset.ImagePositionPatient = [0, 0, 5.0 * place]
    dataset.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    dataset.Modality = "CT"
    dataset.PatientID, dataset.PatientName = patient[0], patient[1]
    dataset.PatientBirthDate, dataset.PatientAge, dataset.PatientSex = "19500203", "074Y", "F"
    dataset.AccessionNumber = f"ACC{number:05}"
    dataset.InstitutionName = HOSPITAL
    dataset.ReferringPhysicianName = "Vandersloot^Greta"
    dataset.StudyDate, dataset.StudyTime, dataset.DeviceSerialNumber = "20240312", "101500", "SN-778899"
    dataset.StudyDescription = f"CT chest, {patient[2]}"
    dataset.BodyPartExamined = "CHEST"
    dataset.KVP = "120"
    values = np.random.default_rng(number * 100 + place).integers(0, 200, (64, 64)).astype(np.int16)
    _pixels(dataset, values)
    dataset.RescaleSlope, dataset.RescaleIntercept = 1, -100
    for name, value in more.items():
        setattr(dataset, name, value)
    return dataset


def ultrasound(patient: tuple[str, str, str], study: str) -> Dataset:
    """An ultrasound image with the patient's name burned into its upper border."""
    dataset = slice_of(9, patient, series=generate_uid(entropy_srcs=[study, "us"]), study=study)
    dataset.SOPClassUID, dataset.Modality, dataset.SeriesNumber = UltrasoundImageStorage, "US", 2
    _pixels(dataset, with_text(f"{patient[1]} {patient[0]}"))
    del dataset.RescaleSlope, dataset.RescaleIntercept
    return dataset


def with_text(text: str, size: tuple[int, int] = (256, 192)) -> np.ndarray:
    """A dark picture with a line of text at the top."""
    image = Image.new("L", size, 10)
    ImageDraw.Draw(image).text((6, 6), text, fill=230)
    return np.asarray(image)


def _pixels(dataset: Dataset, values: np.ndarray) -> None:
    bits = values.dtype.itemsize * 8
    dataset.Rows, dataset.Columns = values.shape
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation = 1, "MONOCHROME2"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = bits, bits, bits - 1
    dataset.PixelRepresentation = int(values.dtype.kind == "i")
    dataset.PixelData = values.tobytes()


def save(dataset: Dataset, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = dataset.SOPClassUID, dataset.SOPInstanceUID
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.SourceApplicationEntityTitle = "WILGEFORTIS"
    dataset.file_meta = meta
    dataset.save_as(file, enforce_file_format=True)
    return file


def study_uid(number: int) -> str:
    return generate_uid(entropy_srcs=[f"study {number}"])


def hospital(folder: Path, slices: int = 3) -> tuple[Path, Path]:
    """The folder of its files and its table."""
    files, table = folder / "archive", folder / "histories.csv"
    rows = []
    for number, patient in enumerate(PATIENTS):
        study = study_uid(number)
        series = generate_uid(entropy_srcs=[study, "1"])
        for place in range(slices):
            dataset = slice_of(number, patient, series=series, study=study, place=place)
            save(dataset, files / patient[1].split("^")[0] / f"{place}.dcm")
        rows.append({"accession": f"ACC{number:05}", "history": "A patient with cough.", "diagnosis": patient[2]})
    write_table(table, rows)
    return files, table


def write_table(file: Path, rows: list[dict[str, str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, sorted({name for row in rows for name in row}))
        writer.writeheader()
        writer.writerows(rows)
