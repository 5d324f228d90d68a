"""The case of an article that has everything."""

from __future__ import annotations

import re
from typing import Any

from wardround.building.pipeline.records import Record

PROMPT = "What is the most likely primary diagnosis for this patient?"  # ClinBench's own
_AGE = re.compile(r"\b(\d{1,3})[\s-]*(year|month|week|day)s?[\s-]*(?:old|of age)|\baged (\d{1,3})\b", re.IGNORECASE)
_SEX = re.compile(r"\b(?:(woman|female|girl|she|lady)|(man|male|boy|he|gentleman))\b", re.IGNORECASE)
PER_YEAR = {"year": 1.0, "month": 12.0, "week": 52.18, "day": 365.25}


def case_of(record: Record, images: list[dict[str, Any]], options: list[str], gold: int) -> dict[str, Any]:
    """The case; its own history is the text telling."""
    tellings: dict[str, Any] = {"text": {"history": record["tellings"]["text"], "images": []}}
    if "multimodal" in record["tellings"]:
        shown = list(range(len(images)))
        tellings["multimodal"] = {"history": record["tellings"]["multimodal"], "images": shown}
    told: dict[str, Any] = {
        "id": record["id"],
        "specialty": record.get("specialty"),
        "tags": record.get("tags"),
        "origin": {"name": "pmc", "pmids": [record["pmid"]] if record["pmid"] else []},
        "patient": _patient(record["tellings"]["text"]),
        "history": record["tellings"]["text"],
        "images": images,
        "references": [{"pmid": pmid} for pmid in record["references"]],
        "tellings": tellings,
        "questions": [{"id": "mcq", "kind": "choice", "prompt": PROMPT, "options": options, "gold": gold}],
    }
    if record["published"]:
        told["origin"]["published"] = record["published"]
    return {key: value for key, value in told.items() if value not in (None, {}, [])}


def _patient(text: str) -> dict[str, Any]:
    """Age in years and sex, from the first words that tell them."""
    told: dict[str, Any] = {}
    if age := _AGE.search(text):
        years = float(age[1] or age[3]) / PER_YEAR[(age[2] or "year").lower()]
        if years <= 130:
            told["age"] = int(years) if years == int(years) else round(years, 2)
    if sex := _SEX.search(text):
        told["sex"] = "F" if sex[1] else "M"
    return told
