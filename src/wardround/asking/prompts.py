"""Prompts are text files: one folder per named prompt, one file per kind of asking."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path

from wardround.core.condition import Condition
from wardround.core.errors import WardroundError

Paragraph = tuple[str, str | None, str]  # before its slot, the slot if it has one, after it

PAPER = "paper"
# a prompt without its own of these uses ours
SHARED = ("query", "agent-calls", "agent-text", "probe-reference", "probe-rationale", "probe-options", "probe-half")
WHOLE = ("choice", "choice-verbal", "open", "open-verbal")  # prompts that show all of a question
_SLOT = re.compile(r"\{(\w+)\}")


class Prompts:
    """Finds prompts by name: first in a `prompts` folder beside the study, then among our own."""

    def __init__(self, beside: Path | None = None) -> None:
        self.folder = beside or Path()
        self._beside = beside / "prompts" if beside else None
        self._loaded: dict[str, list[Paragraph]] = {}
        self.hashes: dict[str, str] = {}

    def fill(self, name: str, kind: str, slots: Mapping[str, str]) -> str:
        """A prompt with its slots filled. A paragraph whose slots are all empty is left out."""
        kept = []
        paragraphs = self._loaded.get(f"{name}/{kind}") or self._load(name, kind)
        if "evidence" in slots and all(slot != "evidence" for _, slot, _ in paragraphs):
            raise WardroundError(f"prompt {name}/{kind}.txt has no {{evidence}}: it cannot show literature")
        if slots.get("given") and kind in WHOLE and all(slot != "given" for _, slot, _ in paragraphs):
            raise WardroundError(f"prompt {name}/{kind}.txt has no {{given}}: it cannot show earlier answers")
        for before, slot, after in paragraphs:
            if slot is None:
                kept.append(before)
            elif value := slots.get(slot):
                kept.append(before + value + after)
        return "\n\n".join(kept)

    def _load(self, name: str, kind: str) -> list[Paragraph]:
        text = self._text(name, kind)
        paragraphs: list[Paragraph] = []
        for paragraph in text.rstrip("\n").split("\n\n"):
            match _SLOT.split(paragraph):
                case [whole]:
                    paragraphs.append((whole, None, ""))
                case [before, slot, after]:
                    paragraphs.append((before, slot, after))
                case _:
                    raise WardroundError(f"prompt {name}/{kind}.txt: a paragraph may hold one slot, not more")
        self.hashes[f"{name}/{kind}"] = blake2b(text.encode(), digest_size=32).hexdigest()
        self._loaded[f"{name}/{kind}"] = paragraphs
        return paragraphs

    def _text(self, name: str, kind: str) -> str:
        places = [self._beside / name] if self._beside else []
        folders = [*places, _ours() / name]
        if kind in SHARED:
            folders.append(_ours() / PAPER)
        for folder in folders:
            file = folder / f"{kind}.txt"
            if file.is_file():
                return file.read_text(encoding="utf-8")
        looked = f"prompts/{name}/{kind}.txt beside the study or among wardround's own"
        raise WardroundError(f"prompt = {name!r}: there is no {looked}")


def kind_of(question_kind: str, condition: Condition) -> str:
    """The file that asks a question of this kind under this condition."""
    kind = question_kind
    if condition.stem == "options-only":
        kind += "-options-only"
    if condition.confidence == "verbal":
        kind += "-verbal"
    return kind


@cache
def _ours() -> Path:
    return Path(str(resources.files("wardround.asking"))) / "prompts"
