"""Lines of a case set, as dicts that a test changes at will."""

from __future__ import annotations

from typing import Any

CHOICE = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": ["one", "two", "three"], "gold": 1}


def case(id: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"id": id, "questions": [CHOICE], **fields}


def choice(**fields: Any) -> dict[str, Any]:
    return {**CHOICE, **fields}
