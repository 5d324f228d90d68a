"""A table in the layout of the public COVID chest X-ray collection, with invented patients and generated images.

`python tests/tutorials/covid_table.py FOLDER` writes FOLDER/metadata.csv and FOLDER/images.
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

import numpy as np
from PIL import Image

COLUMNS = ("patientid", "offset", "sex", "age", "finding", "modality", "filename", "clinical_notes")
SHARES = {
    "Pneumonia/Viral/COVID-19": 70,
    "Tuberculosis": 40,
    "Pneumonia/Fungal/Pneumocystis": 40,
    "Pneumonia/Bacterial/Streptococcus": 40,
    "Pneumonia/Aspiration": 30,
    "Pneumonia/Lipoid": 30,
    "No Finding": 30,
    "Unknown": 12,
    "todo": 8,
}
CT_ROWS = 24  # the last rows of COVID-19, on CT: no other diagnosis has CT images
COMPLAINTS = ("fever and cough", "dyspnoea", "chest pain", "weight loss", "night sweats", "fatigue", "chills")
FACTS = ("Oxygen saturation {} percent.", "Heart rate {} per minute.", "Ill for {} days.", "White cells {} per nl.")


def write_covid_table(folder: Path, seed: int = 7) -> Path:
    """Writes 300 rows, about two for each patient with a finding, and an image for each."""
    rng, rows = random.Random(seed), []
    (folder / "images").mkdir(parents=True)
    for finding, count in SHARES.items():
        for number in range(count):
            name = f"{finding.rpartition('/')[2].lower().replace(' ', '-')}-{number}.png"
            is_ct = finding.endswith("COVID-19") and number >= count - CT_ROWS
            rows.append(
                {
                    "patientid": f"{finding[-4:].strip()}{1000 + number // 2}",
                    "offset": number % 2 * 3,
                    "sex": "FM"[number // 2 % 2],
                    "age": "" if number % 11 == 5 else 20 + (7 * number // 2) % 70,
                    "finding": finding,
                    "modality": "CT" if is_ct else "X-ray",
                    "filename": name,
                    "clinical_notes": _notes(rng, finding, number),
                }
            )
            _draw(folder / "images" / name, rng.randrange(1 << 30))
    rng.shuffle(rows)
    table = folder / "metadata.csv"
    with table.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return table


def _notes(rng: random.Random, finding: str, number: int) -> str:
    complaints = " and ".join(rng.sample(COMPLAINTS, 2))
    facts = " ".join(fact.format(rng.randrange(60, 130)) for fact in rng.sample(FACTS, 3))
    notes = f"Patient with {complaints}. {facts}"
    if finding.endswith("COVID-19") and number % 5 == 0:
        notes += " PCR confirmed COVID-19 pneumonia."
    if finding == "Tuberculosis" and number % 4 == 0:
        notes += " Sputum culture grew mycobacteria, consistent with tuberculosis."
    if number % 6 == 0:
        notes += " Seen by Dr. Vandersloot on 12 March 2020."
    return notes


def _draw(file: Path, seed: int) -> None:
    """Smooth noise: every image differs clearly from every other."""
    coarse = np.random.default_rng(seed).integers(20, 236, (8, 8), dtype=np.uint8)
    Image.fromarray(coarse).resize((128, 128), Image.Resampling.BICUBIC).save(file)


if __name__ == "__main__":
    print(write_covid_table(Path(sys.argv[1])))
