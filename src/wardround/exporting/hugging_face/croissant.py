"""Croissant 1.0 metadata of a dataset folder (http://mlcommons.org/croissant/1.0; looked up 2026-11-18)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
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
TEXT, INTEGER, FLOAT, BOOLEAN = "sc:Text", "sc:Integer", "sc:Float", "sc:Boolean"


@dataclass(frozen=True)
class DataTable:
    """A Parquet file of the folder, and the types of those columns that Croissant describes."""

    file: str
    columns: Mapping[str, str]


def croissant(name: str, description: str, folder: Path, tables: Mapping[str, DataTable]) -> dict[str, Any]:
    """One record set per table."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "distribution": [_file_object(folder, key, table.file) for key, table in tables.items()],
        "recordSet": [_record_set(key, table) for key, table in tables.items()],
    }


def _file_object(folder: Path, key: str, file: str) -> dict[str, Any]:
    with (folder / file).open("rb") as data:
        digest = hashlib.file_digest(data, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": f"file-{key}",
        "name": f"file-{key}",
        "contentUrl": file,
        "encodingFormat": "application/x-parquet",
        "sha256": digest,
    }


def _record_set(key: str, table: DataTable) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{key}/{column}",
            "name": column,
            "dataType": type,
            "source": {"fileObject": {"@id": f"file-{key}"}, "extract": {"column": column}},
        }
        for column, type in table.columns.items()
    ]
    return {"@type": "cr:RecordSet", "@id": key, "name": key, "field": fields}
