"""Invented phenopackets: diseases with signs of their own and signs in common, several patients each."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SIGNS = [
    *("Seizure", "Ataxia", "Microcephaly", "Short stature", "Hearing impairment", "Scoliosis", "Ptosis", "Nystagmus"),
    *("Hypotonia", "Spasticity", "Cataract", "Myopia", "Anemia", "Eczema", "Hypertension", "Splenomegaly"),
    *("Dysphagia", "Tremor", "Chorea", "Dystonia", "Talipes", "Polydactyly", "Cleft palate", "Hepatomegaly"),
]
NAMES = ["Arda", "Belo", "Ciru", "Dovan", "Eskil", "Fennek", "Gorim", "Halda", "Irkut", "Jorvi", "Kelda", "Lumen"]


def term(kind: str, number: int, label: str) -> dict[str, str]:
    return {"id": f"{kind}:{number:07}", "label": label}


def sign(label: str, **more: Any) -> dict[str, Any]:
    return {"type": term("HP", SIGNS.index(label), label), **more}


def packet(number: int, disease: dict[str, str], signs: list[dict[str, Any]], pmid: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"packet-{number}",
        "subject": {"id": "p", "sex": ("MALE", "FEMALE", "UNKNOWN_SEX")[number % 3]},
        "phenotypicFeatures": signs,
        "interpretations": [{"progressStatus": "SOLVED", "diagnosis": {"disease": disease}}],
        "diseases": [{"term": disease}],
        "metaData": {"externalReferences": [{"id": f"PMID:{pmid}"}]},
        **more,
    }


def packets(per_disease: int = 5, seed: int = 0) -> list[dict[str, Any]]:
    """Twelve diseases; two patients an article, and now and then a patient of another disease in it."""
    numbers = random.Random(seed)
    all_packets = []
    for place, name in enumerate(NAMES):
        disease = term("OMIM", 600_000 + place, f"{name}-{NAMES[place - 3]} syndrome")
        own = [SIGNS[(2 * place + step) % len(SIGNS)] for step in range(7)]
        for patient in range(per_disease):
            present = [sign(label) for label in numbers.sample(own, 5)]
            absent = [sign(label, excluded=True) for label in numbers.sample(sorted({*SIGNS} - {*own}), 3)]
            number = place * per_disease + patient
            encounter = {"age": {"iso8601duration": f"P{number % 70}Y"}}
            built = packet(number, disease, [*present, *absent], 1000 + number // 2)
            built["subject"]["timeAtLastEncounter"] = encounter
            all_packets.append(built)
    numbers.shuffle(all_packets)
    return all_packets


def write_lines(file: Path, items: list[Any]) -> Path:
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return file
