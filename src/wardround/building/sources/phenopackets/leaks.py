"""The step `leaks`: a history that gives its diagnosis away is left out."""

from __future__ import annotations

import re

from wardround.building.audit.mentions import as_text, mentioned
from wardround.building.pipeline.pipeline import Build, Reject
from wardround.building.pipeline.records import Record
from wardround.building.sources.phenopackets.diseases import bare


def without_leaks(record: Record, build: Build) -> Record:
    """The record, unless its history names the disease, nearly all words of a name of it, its id or its gene."""
    text = as_text(record["history"])
    for name in dict.fromkeys([*record["names"], *map(bare, record["names"])]):
        if kind := mentioned(name, text):
            how = "names the diagnosis" if kind == "leak_name" else "has nearly all words of the diagnosis together"
            raise Reject(f"history {how}", name)
    for gene in record["genes"]:
        if re.search(rf"(?<!\w){re.escape(gene)}(?!\w)", record["history"]):
            raise Reject("history names the gene", gene)
    if record["disease"].lower() in record["history"].lower():
        raise Reject("history has the id of the diagnosis", record["disease"])
    return record
