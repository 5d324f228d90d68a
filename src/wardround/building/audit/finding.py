"""Finding: one thing that is wrong with a case set, and the kinds there are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]

KINDS = {
    "bad_case": "A case that cannot be used, as `wardround cases validate` says",
    "leak_name": "The answer or a synonym of it stands in what is shown",
    "leak_words": "At least 0.8 of the answer's words stand together in what is shown",
    "leak_id": "The id of a disease, or of the case's own article, stands in what is shown",
    "leak_gene": "A gene that goes with the answer stands in what is shown",
    "gene_named": "A gene is named in what is shown; it may tell the answer",
    "leak_file_name": "The name of an image file holds the answer",
    "leak_file_text": "Text inside an image file (EXIF, PNG text, DICOM tag) holds the answer",
    "patient_identity": "An image file holds what may tell who the patient is",
    "cluster_in_splits": "Cases of one cluster are in several splits",
    "duplicate_text": "Two cases have the same text",
    "near_text": "Two cases have nearly the same text",
    "duplicate_image": "Cases of different clusters show the same pixels",
    "near_image": "Cases of different clusters show images that look the same",
    "repeated_image": "A case shows the same image twice",
    "unreadable_image": "An image cannot be decoded",
    "blank_image": "An image shows nothing, or almost nothing",
    "shortcut": "The answer can be guessed without the case, better than by chance",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """`case` and `question` are None where it is about the whole set. Errors make the command exit with 1."""

    severity: Severity
    kind: str
    what: str
    case: str | None = None
    question: str | None = None

    def told(self) -> dict[str, Any]:
        return asdict(self)
