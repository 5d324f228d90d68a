"""The metadata compared with the requirements of the Croissant 1.0 specification, property by property."""

from __future__ import annotations

import hashlib
import json

from building.audit_set import clean_cases, picture
from exam_study import write_cases

from wardround.building.audit.audit import audit

ABOUT = {
    "name": "invented-cases",
    "description": "Invented cases.",
    "license": "https://spdx.org/licenses/CC0-1.0",
    "url": "https://example.org/cases",
    "creator": {"@type": "sc:Organization", "name": "Nobody"},
    "datePublished": "2026-01-31",
}
# the tables of required properties in the specification, by class; written down here, not imported
DATASET = {
    "@context", "@type", "dct:conformsTo", "description", "license", "name", "url", "creator", "datePublished",
    "distribution",
}  # fmt: skip
FILE = {"@type", "@id", "contentUrl", "encodingFormat", "sha256"}
ATOMIC = {"sc:Text", "sc:Integer", "sc:Float", "sc:Boolean", "sc:Date"}


def metadata(folder, manifest=None):
    cases = clean_cases(20)
    (folder / "images").mkdir(parents=True)
    picture(1).save(folder / "images" / "a.png")
    cases[0]["images"] = [{"path": "images/a.png"}]
    write_cases(folder, cases)
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest))
    result = audit(folder, folder / "audit", workers=1)
    return json.loads((folder / "audit" / "croissant.json").read_text()), result


def test_every_required_property_is_there(tmp_path):
    written, result = metadata(tmp_path, ABOUT | {"sources": {"a.jsonl": "00"}, "seed": 0})
    assert set(written) >= DATASET
    assert {key: written[key] for key in ABOUT} == ABOUT
    assert result.to_dict()["croissant_missing"] == []
    assert written["@type"] == "sc:Dataset"
    assert written["dct:conformsTo"] == "http://mlcommons.org/croissant/1.0"
    context = written["@context"]
    assert context["@vocab"] == "https://schema.org/"
    assert context["cr"] == "http://mlcommons.org/croissant/"
    for prefix in ("sc", "cr", "dct"):
        assert context[prefix].startswith("http")
    ids = []
    for file in written["distribution"]:
        assert set(file) >= FILE
        assert file["@type"] == "cr:FileObject"
        content = (tmp_path / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"
        ids.append(file["@id"])
    assert ids == ["cases.jsonl", "images/a.png"]
    (records,) = written["recordSet"]
    assert records["@type"] == "cr:RecordSet"
    fields = {field["@id"]: field for field in records["field"]}
    assert records["key"]["@id"] in fields
    for name, field in fields.items():
        assert field["@type"] == "cr:Field"
        assert name == f"{records['@id']}/{field['name']}"
        assert field["dataType"] in ATOMIC
        assert field["source"]["fileObject"]["@id"] in ids
        assert field["source"]["extract"] == {"column": field["name"]}
    assert len({*ids, *fields, records["@id"]}) == len(ids) + len(fields) + 1  # ids are unique
    used = {"citeAs", "recordSet", "field", "key", "source", "fileObject", "extract", "column", "dataType", "repeated"}
    assert used <= set(context)
    lines = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    assert {field["name"] for field in fields.values()} == {key for line in lines for key in line}


def test_missing_properties_are_listed_and_not_invented(tmp_path):
    written, result = metadata(tmp_path / "wards")
    missing = {"license", "url", "creator", "datePublished"}
    assert set(result.to_dict()["croissant_missing"]) == missing
    assert not missing & set(written)
    assert written["name"] == "wards"
    page = (tmp_path / "wards" / "audit" / "audit.html").read_text()
    assert "license, url, creator and datePublished" in page


def test_a_broken_manifest_is_ignored(tmp_path):
    (tmp_path / "manifest.json").write_text("[1,")
    written, _ = metadata(tmp_path)
    assert written["name"] == tmp_path.name
