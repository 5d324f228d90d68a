"""A case as HTML for notebooks. All of its text is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wardround.core.case import Case, Question

MAX_HISTORY = 600  # characters


def case_html(case: Case) -> str:
    """Id, history, images and questions; right answers are bold."""
    labels = [label for label in (case.specialty, case.split, *case.tags) if label]
    parts = [f"<p><b>{escape(case.id)}</b> {escape(', '.join(labels))}</p>"]
    if case.history:
        parts.append(f"<p>{escape(excerpt(case.history, MAX_HISTORY))}</p>")
    if case.images:
        modalities = (f" ({escape(image.modality)})" if image.modality else "" for image in case.images)
        names = (f"<code>{escape(image.path)}</code>" for image in case.images)
        parts.append(f"<p>Images: {', '.join(map(''.join, zip(names, modalities, strict=True)))}</p>")
    return "".join([*parts, *map(_question_html, case.questions)])


def _question_html(question: Question) -> str:
    prompt = f"<p><i>{escape(question.id)}</i>: {escape(question.prompt)}</p>"
    if question.kind == "rubric":
        criteria = (f"<li>{criterion.points:+g} {escape(criterion.text)}</li>" for criterion in question.criteria)
        return f"{prompt}<ul>{''.join(criteria)}</ul>"
    if question.options is None:
        return f"{prompt}<p><b>{escape(str(question.gold))}</b></p>"
    options = (
        f"<li><b>{escape(option)}</b> &#10003;</li>" if index == question.gold else f"<li>{escape(option)}</li>"
        for index, option in enumerate(question.options)
    )
    return f'{prompt}<ol type="A">{"".join(options)}</ol>'


def excerpt(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()}…"
