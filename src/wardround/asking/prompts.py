"""Prompts: text files, one folder per named prompt, one file per kind of Ask."""

import re
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path

from wardround.core.condition import Condition
from wardround.core.errors import WardroundError

Paragraph = tuple[str, str | None, str]  # text before its slot, the slot if it has one, text after it

PAPER = "paper"
# if a prompt has no file of its own for these, ours is used
SHARED = ("query", "agent-calls", "agent-text", "probe-reference", "probe-rationale", "probe-options", "probe-half")
WHOLE_QUESTION = ("choice", "choice-verbal", "open", "open-verbal")  # kinds that show all of a question
_SLOT = re.compile(r"\{(\w+)\}")


class Prompts:
    """Finds prompts by name: first in the folder `prompts` beside the study, then among our own."""

    def __init__(self, study_folder: Path | None = None) -> None:
        self.folder = study_folder or Path()
        self._study_prompts = study_folder / "prompts" if study_folder else None
        self._loaded: dict[str, list[Paragraph]] = {}
        self.hashes: dict[str, str] = {}

    def fill(self, name: str, kind: str, slots: Mapping[str, str]) -> str:
        """A prompt with its slots filled. A paragraph with an empty slot is left out."""
        filled = []
        paragraphs = self._loaded.get(f"{name}/{kind}") or self._load(name, kind)
        if "evidence" in slots and all(slot != "evidence" for _, slot, _ in paragraphs):
            raise WardroundError(f"prompt {name}/{kind}.txt has no {{evidence}}: it cannot show literature")
        if slots.get("given") and kind in WHOLE_QUESTION and all(slot != "given" for _, slot, _ in paragraphs):
            raise WardroundError(f"prompt {name}/{kind}.txt has no {{given}}: it cannot show earlier answers")
        for before, slot, after in paragraphs:
            if slot is None:
                filled.append(before)
            elif value := slots.get(slot):
                filled.append(before + value + after)
        return "\n\n".join(filled)

    def _load(self, name: str, kind: str) -> list[Paragraph]:
        text = self.read(name, kind)
        paragraphs: list[Paragraph] = []
        for paragraph in text.rstrip("\n").split("\n\n"):
            match _SLOT.split(paragraph):
                case [text_only]:
                    paragraphs.append((text_only, None, ""))
                case [before, slot, after]:
                    paragraphs.append((before, slot, after))
                case _:
                    raise WardroundError(f"prompt {name}/{kind}.txt: a paragraph may have only one slot")
        self.hashes[f"{name}/{kind}"] = hash_prompt(text)
        self._loaded[f"{name}/{kind}"] = paragraphs
        return paragraphs

    def read(self, name: str, kind: str) -> str:
        """The text of a prompt's file."""
        folders = [self._study_prompts / name] if self._study_prompts else []
        folders.append(_own_prompts() / name)
        if kind in SHARED:
            folders.append(_own_prompts() / PAPER)
        for folder in folders:
            file = folder / f"{kind}.txt"
            if file.is_file():
                return file.read_text(encoding="utf-8")
        raise WardroundError(
            f"prompt = {name!r}: there is no prompts/{name}/{kind}.txt beside the study or among wardround's own"
        )


def hash_prompt(text: str) -> str:
    """The hash of a prompt, as manifests have it."""
    return blake2b(text.encode(), digest_size=32).hexdigest()


def prompt_kind(question_kind: str, condition: Condition) -> str:
    """The file, without .txt, for a question of this kind under this condition."""
    kind = question_kind
    if condition.stem == "options-only":
        kind += "-options-only"
    if condition.confidence == "verbal":
        kind += "-verbal"
    return kind


@cache
def _own_prompts() -> Path:
    return Path(str(resources.files("wardround.asking"))) / "prompts"
