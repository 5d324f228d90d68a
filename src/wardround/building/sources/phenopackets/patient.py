"""What a case needs of a phenopacket: the patient, the features, the one diagnosis, the article."""

from __future__ import annotations

import re
from typing import Any

from wardround.building.pipeline.pipeline import Build, Reject
from wardround.building.pipeline.records import Record
from wardround.building.sources.phenopackets.onset import gestation, when, years

CATALOGUES = ("OMIM", "ORPHA", "ORPHANET", "MONDO")
SOLVED = ("SOLVED", "COMPLETED", "UNKNOWN_PROGRESS", None)
SEXES = {"MALE": "M", "FEMALE": "F"}
_PMID = re.compile(r"PMID[:_ ]?(\d{1,8})(?!\d)", re.IGNORECASE)


def diagnosed(record: Record, build: Build) -> Record:
    """The record with its one diagnosis, and its other names as far as the phenopacket has them."""
    packet = record["packet"]
    found: dict[str, list[str]] = {}
    for interpretation in _dicts(packet, "interpretations"):
        if interpretation.get("progressStatus") not in SOLVED:
            raise Reject("not solved", str(interpretation["progressStatus"]))
        _add(found, _dict(_dict(interpretation, "diagnosis"), "disease"))
    for disease in _dicts(packet, "diseases"):
        if not disease.get("excluded"):
            _add(found, _dict(disease, "term"))
    if not found:
        raise Reject("no diagnosis")
    if len(found) > 1:
        raise Reject("more than one diagnosis", ", ".join(found))
    ((id, labels),) = found.items()
    if id.partition(":")[0].upper() not in CATALOGUES:
        raise Reject("diagnosis without an OMIM, ORPHA or MONDO id", id)
    return record | {"disease": id, "diagnosis": labels[0], "names": labels, "genes": sorted(_genes(packet))}


def _add(found: dict[str, list[str]], term: dict[str, Any]) -> None:
    id, label = term.get("id"), term.get("label")
    if isinstance(id, str) and isinstance(label, str) and id.strip() and label.strip():
        labels = found.setdefault(id.strip(), [])
        label = " ".join(label.split()).replace(" ,", ",")
        if label not in labels:
            labels.append(label)


def _genes(packet: dict[str, Any]) -> set[str]:
    """The symbols of the genes in which the diagnosis was found."""
    symbols: set[str] = set()
    for interpretation in _dicts(packet, "interpretations"):
        for genomic in _dicts(_dict(interpretation, "diagnosis"), "genomicInterpretations"):
            variant = _dict(_dict(genomic, "variantInterpretation"), "variationDescriptor")
            for gene in (_dict(variant, "geneContext"), _dict(genomic, "gene"), _dict(genomic, "geneDescriptor")):
                if isinstance(gene.get("symbol"), str) and gene["symbol"].strip():
                    symbols.add(gene["symbol"].strip())
    return symbols


def described(record: Record, build: Build) -> Record:
    """The record with what a history tells, in place of the phenopacket."""
    packet = record.pop("packet")
    subject = _dict(packet, "subject")
    encounter = _dict(subject, "timeAtLastEncounter")
    features = [_feature(feature) for feature in _dicts(packet, "phenotypicFeatures")]
    present = {each["id"]: each for each in reversed(features) if each and not each["excluded"]}
    excluded = {each["id"]: each for each in reversed(features) if each and each["excluded"]}
    onsets = [when(disease.get("onset")) for disease in _dicts(packet, "diseases")]
    told = {
        "sex": SEXES.get(subject.get("sex", "")),
        "age": _dict(encounter, "age").get("iso8601duration"),
        "years": years(_dict(encounter, "age").get("iso8601duration")),
        "gestation": gestation(_dict(encounter, "gestationalAge")),
        "dead": _dict(subject, "vitalStatus").get("status") == "DECEASED",
        "onset": next((onset for onset in onsets if onset), None),
        "present": list(reversed(present.values())),
        "excluded": [each for id, each in reversed(excluded.items()) if id not in present],
        "pmids": _pmids(record["id"], packet),
    }
    return record | told


def _feature(feature: dict[str, Any]) -> dict[str, Any] | None:
    kind = _dict(feature, "type")
    id, label = kind.get("id"), kind.get("label")
    if not isinstance(id, str) or not isinstance(label, str) or not label.strip():
        return None
    modifiers = [modifier.get("label") for modifier in _dicts(feature, "modifiers")]
    return {
        "id": id,
        "label": " ".join(label.split()),
        "excluded": feature.get("excluded") is True,
        "onset": when(feature.get("onset")),
        "severity": _dict(feature, "severity").get("label"),
        "modifiers": [label for label in modifiers if isinstance(label, str)],
    }


def _pmids(id: str, packet: dict[str, Any]) -> list[str]:
    """The articles that the patient was published in: as the phenopacket refers to them, else as its id does."""
    references = _dicts(_dict(packet, "metaData"), "externalReferences")
    texts = [str(reference.get(key, "")) for reference in references for key in ("id", "reference")]
    found = [match[1] for text in texts if (match := _PMID.match(text))]
    named = _PMID.match(id)
    return list(dict.fromkeys(found)) or ([named[1]] if named else [])


def _dict(holder: object, key: str) -> dict[str, Any]:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def _dicts(holder: object, key: str) -> list[dict[str, Any]]:
    value = holder.get(key) if isinstance(holder, dict) else None
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
