"""A case set as HTML for notebooks: its counts and its first cases. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from wardround.core.case_html import excerpt

if TYPE_CHECKING:
    from wardround.cases.set import CaseSet

MAX_CASES = 5
MAX_HISTORY = 120  # characters


def case_set_html(cases: CaseSet) -> str:
    images = {modality: len(cases.images_of_modality(modality)) for modality in cases.modalities}
    counts: list[tuple[str, int]] = [
        ("cases", len(cases)),
        ("questions", cases.question_count),
        ("images", sum(images.values())),
        *((f"{modality or 'no modality'} images", count) for modality, count in images.items()),
        ("problems", len(cases.problems)),
    ]
    rows = []
    for index in range(min(MAX_CASES, len(cases))):
        case = cases.case(index)
        history = excerpt(case.history or "", MAX_HISTORY)
        rows.append((case.id, case.specialty or "", history, len(case.questions), len(case.images)))
    head = f"<p><b>{escape(str(cases.folder))}</b></p>"
    first = _table(("case", "specialty", "history", "questions", "images"), rows)
    rest = len(cases) - len(rows)
    return head + _table(("", "number"), counts) + first + (f"<p>and {rest:,} more</p>" if rest else "")


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else escape(str(value))
