"""Croissant 1.0 metadata of a dataset folder (http://mlcommons.org/croissant/1.0; looked up 2026-11-18)."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
FIELDS = ("id", "specialty", "history", "case")


def croissant(name: str, folder: Path, files: Mapping[str, str]) -> dict[str, Any]:
    """One record set per split, with the text columns of its file."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": "A case set for wardround: medical cases with images, questions and right answers.",
        "distribution": [_file_object(folder, split, file) for split, file in files.items()],
        "recordSet": [_record_set(split) for split in files],
    }


def _file_object(folder: Path, split: str, file: str) -> dict[str, Any]:
    with (folder / file).open("rb") as data:
        digest = hashlib.file_digest(data, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": f"file-{split}",
        "name": f"file-{split}",
        "contentUrl": file,
        "encodingFormat": "application/x-parquet",
        "sha256": digest,
    }


def _record_set(split: str) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{split}/{column}",
            "name": column,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": f"file-{split}"}, "extract": {"column": column}},
        }
        for column in FIELDS
    ]
    return {"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields}
