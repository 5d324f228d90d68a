"""The parts of a phenopacket that a case needs: patient, features, diagnosis and articles."""

import re
from typing import Any

from wardround.building.pipeline.pipeline import Build, Record, Reject
from wardround.building.sources.phenopackets.onset import age_in_years, describe_gestation, describe_time

CATALOGUES = ("OMIM", "ORPHA", "ORPHANET", "MONDO")
SOLVED = ("SOLVED", "COMPLETED", "UNKNOWN_PROGRESS", None)
SEXES = {"MALE": "M", "FEMALE": "F"}
_PMID = re.compile(r"PMID[:_ ]?(\d{1,8})(?!\d)", re.IGNORECASE)


def add_diagnosis(record: Record, build: Build) -> Record:
    """The record with its one diagnosis, and the other names that the phenopacket has for it."""
    packet = record["packet"]
    labels_by_id: dict[str, list[str]] = {}
    for interpretation in _dicts(packet, "interpretations"):
        if interpretation.get("progressStatus") not in SOLVED:
            raise Reject("not solved", str(interpretation["progressStatus"]))
        _add_term(labels_by_id, _dict(_dict(interpretation, "diagnosis"), "disease"))
    for disease in _dicts(packet, "diseases"):
        if not disease.get("excluded"):
            _add_term(labels_by_id, _dict(disease, "term"))
    if not labels_by_id:
        raise Reject("no diagnosis")
    if len(labels_by_id) > 1:
        raise Reject("more than one diagnosis", ", ".join(labels_by_id))
    ((id, labels),) = labels_by_id.items()
    if id.partition(":")[0].upper() not in CATALOGUES:
        raise Reject("diagnosis without an OMIM, ORPHA or MONDO id", id)
    return record | {"disease": id, "diagnosis": labels[0], "names": labels, "genes": sorted(_genes(packet))}


def _add_term(labels_by_id: dict[str, list[str]], term: dict[str, Any]) -> None:
    id, label = term.get("id"), term.get("label")
    if isinstance(id, str) and isinstance(label, str) and id.strip() and label.strip():
        labels = labels_by_id.setdefault(id.strip(), [])
        label = " ".join(label.split()).replace(" ,", ",")
        if label not in labels:
            labels.append(label)


def _genes(packet: dict[str, Any]) -> set[str]:
    """The symbols of the genes in which the causes of the diagnosis are."""
    symbols: set[str] = set()
    for interpretation in _dicts(packet, "interpretations"):
        for genomic in _dicts(_dict(interpretation, "diagnosis"), "genomicInterpretations"):
            variant = _dict(_dict(genomic, "variantInterpretation"), "variationDescriptor")
            for gene in (_dict(variant, "geneContext"), _dict(genomic, "gene"), _dict(genomic, "geneDescriptor")):
                if isinstance(gene.get("symbol"), str) and gene["symbol"].strip():
                    symbols.add(gene["symbol"].strip())
    return symbols


def add_features(record: Record, build: Build) -> Record:
    """The record with the fields of a history in place of the phenopacket."""
    packet = record.pop("packet")
    subject = _dict(packet, "subject")
    encounter = _dict(subject, "timeAtLastEncounter")
    features = [_feature(feature) for feature in _dicts(packet, "phenotypicFeatures")]
    present = {feature["id"]: feature for feature in reversed(features) if feature and not feature["excluded"]}
    excluded = {feature["id"]: feature for feature in reversed(features) if feature and feature["excluded"]}
    onsets = [describe_time(disease.get("onset")) for disease in _dicts(packet, "diseases")]
    fields = {
        "sex": SEXES.get(subject.get("sex", "")),
        "age": _dict(encounter, "age").get("iso8601duration"),
        "years": age_in_years(_dict(encounter, "age").get("iso8601duration")),
        "gestation": describe_gestation(_dict(encounter, "gestationalAge")),
        "dead": _dict(subject, "vitalStatus").get("status") == "DECEASED",
        "onset": next((onset for onset in onsets if onset), None),
        "present": list(reversed(present.values())),
        "excluded": [feature for id, feature in reversed(excluded.items()) if id not in present],
        "pmids": _pmids(record["id"], packet),
    }
    return record | fields


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
        "onset": describe_time(feature.get("onset")),
        "severity": _dict(feature, "severity").get("label"),
        "modifiers": [label for label in modifiers if isinstance(label, str)],
    }


def _pmids(id: str, packet: dict[str, Any]) -> list[str]:
    """The articles that the patient was published in: the phenopacket's references, else its id."""
    references = _dicts(_dict(packet, "metaData"), "externalReferences")
    texts = [str(reference.get(key, "")) for reference in references for key in ("id", "reference")]
    pmids = [match[1] for text in texts if (match := _PMID.match(text))]
    id_match = _PMID.match(id)
    return list(dict.fromkeys(pmids)) or ([id_match[1]] if id_match else [])


def _dict(holder: object, key: str) -> dict[str, Any]:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def _dicts(holder: object, key: str) -> list[dict[str, Any]]:
    value = holder.get(key) if isinstance(holder, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
