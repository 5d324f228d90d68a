"""One finding of an audit, and the kinds of findings."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]

KINDS = {
    "bad_case": "A case that cannot be used, as `wardround cases validate` says",
    "leak_name": "The answer or a synonym is in what is shown",
    "leak_words": "At least 0.8 of the answer's words are close together in what is shown",
    "leak_core": "The core of the answer (without brackets, stage, side, cause) is in what is shown",
    "leak_id": "The id of a disease, or of the case's own article, is in what is shown",
    "leak_gene": "A gene linked to the answer is in what is shown",
    "gene_named": "A gene is named in what is shown; it may reveal the answer",
    "leak_initials": "The initials of the answer, in capitals, or another short name of it are in what is shown",
    "head_noun": "The kind of disease that only the answer is (its head noun), or a name in it, is in what is shown",
    "leak_file_name": "The name of an image file contains the answer",
    "leak_file_text": "Text inside an image file (EXIF, PNG text, DICOM tag) contains the answer",
    "patient_identity": "An image file may identify the patient",
    "cluster_in_splits": "Cases of one cluster are in several splits",
    "duplicate_text": "Two cases have the same text",
    "near_text": "Two cases have nearly the same text",
    "duplicate_image": "Cases of different clusters show the same pixels",
    "near_image": "Cases of different clusters show images that look the same",
    "repeated_image": "A case shows the same image twice",
    "unreadable_image": "An image cannot be decoded",
    "blank_image": "An image shows nothing, or almost nothing",
    "impossible_option": "A wrong option cannot be right for a patient of this sex or age",
    "other_question": "The options of another question of the case tell the answer, better than by chance",
    "shortcut": "The answer can be guessed without the case, better than by chance",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """`case` and `question` are None if it is about the whole set. Errors make the command exit with 1."""

    severity: Severity
    kind: str
    what: str
    case: str | None = None
    question: str | None = None
