"""Croissant 1.0 metadata of a case set (mlcommons.org/croissant/1.0): its files with their hashes, its fields.

Nothing is invented. A manifest.json beside the cases may give name, description, license, url, creator, datePublished,
version and citeAs; what the format requires and the manifest lacks is listed by `missing_fields`.
"""

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from wardround.building.audit.card import DataCard

CONFORMS = "http://mlcommons.org/croissant/1.0"
REQUIRED = (
    *("@context", "@type", "dct:conformsTo", "name", "description", "license", "url", "creator"),
    *("datePublished", "distribution"),
)
TERMS = {
    **{
        term: f"cr:{term}"
        for term in (
            *("citeAs", "column", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes"),
            *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
            *("repeated", "replace", "separator", "source", "subField", "transform"),
        )
    },
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "conformsTo": "dct:conformsTo",
    **TERMS,
}
FORMATS = {
    ".jsonl": "application/jsonlines",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".bmp": "image/bmp",
    ".webp": "image/webp",
    ".gz": "application/gzip",
    ".nii": "application/octet-stream",
}
FIELDS = {
    "id": "The case's own name.",
    "split": "What the case is for.",
    "specialty": "The specialty it belongs to.",
    "tags": "Labels of the case.",
    "cluster": "The patient, image or article that cases share; resampling and splits keep them together.",
    "origin": "Where the case was published; never shown to a candidate.",
    "patient": "Age and sex.",
    "history": "The history as a candidate reads it.",
    "findings": "Findings in words.",
    "images": "The image files of the case, with modality and findings.",
    "references": "The literature that the case cites.",
    "tellings": "Other ways in which the same case is told.",
    "questions": "What is asked, with options and the right answer.",
}
LISTS = frozenset(["tags", "images", "references", "questions"])


def croissant_metadata(card: DataCard, fields: Collection[str]) -> dict[str, Any]:
    """The metadata as JSON-LD; `fields` are those that any case has."""
    file = next(iter(card.files))
    about = {"name": card.name, "description": _description(card), **card.about}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "dct:conformsTo": CONFORMS,
        **about,
        "distribution": [_file(path, sha256, size) for path, (sha256, size) in card.files.items()],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "cases",
                "name": "cases",
                "description": "One case a line.",
                "key": {"@id": "cases/id"},
                "field": [_field(name, file) for name in FIELDS if name in fields],
            }
        ],
    }


def missing_fields(metadata: Mapping[str, Any]) -> list[str]:
    """What Croissant requires and the metadata lacks."""
    return [name for name in REQUIRED if not metadata.get(name)]


def _description(card: DataCard) -> str:
    sources = f", built from {', '.join(sorted(card.sources))}" if card.sources else ""
    return f"A set of medical cases with questions about them, for examining models{sources}."


def _file(path: str, sha256: str, size: int) -> dict[str, Any]:
    suffix = PurePosixPath(path.lower()).suffix
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": PurePosixPath(path).name,
        "contentUrl": path,
        "contentSize": f"{size} B",
        "encodingFormat": FORMATS.get(suffix, "application/dicom"),
        "sha256": sha256,
    }


def _field(name: str, file: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"cases/{name}",
        "name": name,
        "description": FIELDS[name],
        "dataType": "sc:Text",
        **({"repeated": True} if name in LISTS else {}),
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }
