"""Prompts: text files, one folder per named prompt, one file per kind of Ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from wardround.asking.prompt_slots import (
    IMAGES,
    WHOLE_QUESTION,
    PromptText,
    known_kinds,
    parse_prompt,
    slots_of_kind,
    whole_stem,
)
from wardround.core.condition import Condition
from wardround.core.errors import BadInput, WardroundError, describe_unreadable
from wardround.core.study import Study

PAPER = "paper"
OWN = "wardround"  # the source of our own prompts
# if a prompt has no file of its own for these, ours is used
SHARED = ("query", "agent-calls", "agent-text", "probe-reference", "probe-rationale", "probe-options", "probe-half")


class PromptFile(NamedTuple):
    """A file that was found: its path, its kind, and the folder of prompts that it is from, as users name it."""

    path: Path
    kind: str
    source: str


class Prompts:
    """Finds prompts by name: in the folder that the study names, in `prompts` beside the study, among our own.

    The folder that a study names (`prompts = "DIR"`) has DIR/NAME/KIND.txt, or DIR/KIND.txt for any name.
    """

    def __init__(self, study_folder: Path | None = None, named_folder: str | None = None) -> None:
        self.folder = study_folder or Path()
        self._named = named_folder
        self.named_path = None if named_folder is None else (self.folder / Path(named_folder).expanduser())
        self._study_prompts = study_folder / "prompts" if study_folder else None
        self._loaded: dict[str, PromptText] = {}
        self._resolved: dict[tuple[str, str], str] = {}
        self.hashes: dict[str, str] = {}
        self.sources: dict[str, str] = {}  # of each used prompt

    @classmethod
    def of_study(cls, study: Study, study_folder: Path) -> Prompts:
        """The prompts of a study; all files of the folder that it names are checked."""
        prompts = cls(study_folder, study.prompts)
        if study.prompts is not None:
            prompts._check_named_folder(study)
        return prompts

    @property
    def lacks_folder(self) -> bool:
        """Whether the study names a folder of prompts that is not there."""
        return self.named_path is not None and not self.named_path.is_dir()

    def fill(self, name: str, kind: str, slots: Mapping[str, str]) -> str:
        """A prompt with its slots filled. What belongs to an empty slot is left out."""
        text = self._loaded.get(f"{name}/{kind}") or self._load(name, kind)
        base = kind.replace(IMAGES, "")
        if "evidence" in slots and "evidence" not in text.slots:
            raise WardroundError(f"prompt {name}/{kind}.txt has no {{evidence}}: it cannot show literature")
        if slots.get("given") and base in WHOLE_QUESTION and "given" not in text.slots:
            raise WardroundError(f"prompt {name}/{kind}.txt has no {{given}}: it cannot show earlier answers")
        if text.takes_whole_stem and base in WHOLE_QUESTION:
            slots = {**slots, "question": whole_stem(slots)}
        return text.fill(slots)

    def resolve(self, name: str, kind: str) -> str:
        """The kind of the file that is used: a file for images, or that for both where the first folder has no other.

        A kind without such a file is returned as it is; `fill` then says that there is none.
        """
        known = self._resolved.get((name, kind))
        if known is None:
            file = self._find(name, kind)
            known = self._resolved[name, kind] = kind if file is None else file.kind
        return known

    def read(self, name: str, kind: str) -> str:
        """The text of a prompt's file."""
        return _read(self._require(name, kind).path)

    def _load(self, name: str, kind: str) -> PromptText:
        file = self._require(name, kind)
        text = _read(file.path)
        loaded = parse_prompt(text, kind, f"{name}/{kind}.txt" if file.source == OWN else str(file.path))
        self.hashes[f"{name}/{kind}"] = hash_prompt(text)
        own_file = own_folder() / name / f"{kind}.txt"  # a copy of ours, as packed runs have it, is ours
        self.sources[f"{name}/{kind}"] = OWN if own_file.is_file() and _read(own_file) == text else file.source
        self._loaded[f"{name}/{kind}"] = loaded
        return loaded

    def _require(self, name: str, kind: str) -> PromptFile:
        file = self._find(name, kind)
        if file is None:
            raise WardroundError(
                f"prompt = {name!r}: there is no prompts/{name}/{kind}.txt beside the study or among wardround's own"
            )
        return file

    def _find(self, name: str, kind: str) -> PromptFile | None:
        """The first folder with a file of this kind, or of the kind for both; one for images comes first."""
        for folder, source in self._folders(name, kind):
            for candidate in dict.fromkeys((kind, kind.replace(IMAGES, ""))):
                path = folder / f"{candidate}.txt"
                if path.is_file():
                    return PromptFile(path, candidate, source)
        return None

    def _folders(self, name: str, kind: str) -> Iterator[tuple[Path, str]]:
        if self.named_path is not None and self._named is not None:
            yield self.named_path / name, self._named
            yield self.named_path, self._named
        if self._study_prompts is not None:
            yield self._study_prompts / name, "prompts"
        yield own_folder() / name, OWN
        if kind in SHARED:
            yield own_folder() / PAPER, OWN

    def _check_named_folder(self, study: Study) -> None:
        folder, named = self.named_path, study.prompts
        assert folder is not None
        if not folder.is_dir():
            raise BadInput(folder, f"there is no such folder; prompts = {named!r} names one with KIND.txt files")
        files = [*sorted(folder.glob("*.txt")), *sorted(folder.glob("*/*.txt"))]
        if not files:
            raise BadInput(folder, f"has no prompts; expected {', '.join(known_kinds()[:3])}, ... as .txt files")
        for file in files:
            if slots_of_kind(file.stem) is None:
                raise BadInput(file, f"is not a kind of prompt; there are {', '.join(known_kinds())}")
            parse_prompt(_read(file), file.stem, str(file))
        compared = study.conditions.get("prompt", [])
        if len(compared) > 1 and files[0].parent == folder:
            raise BadInput(
                files[0], f"would be used for each of {', '.join(compared)}; put it into the folder of one of them"
            )


def hash_prompt(text: str) -> str:
    """The hash of a prompt, as manifests have it."""
    return blake2b(text.encode(), digest_size=32).hexdigest()


def prompt_kind(question_kind: str, condition: Condition, *, shows_images: bool = False) -> str:
    """The file, without .txt, for a question of this kind under this condition."""
    kind = question_kind
    if condition.stem == "options-only":
        kind += "-options-only"
    elif shows_images:
        kind += IMAGES
    if condition.confidence == "verbal":
        kind += "-verbal"
    return kind


def own_prompts() -> dict[str, list[str]]:
    """The kinds of our own prompts, by name."""
    names = sorted(folder.name for folder in own_folder().iterdir() if folder.is_dir())
    return {name: sorted(file.stem for file in (own_folder() / name).glob("*.txt")) for name in names}


@cache
def own_folder() -> Path:
    """The folder of our own prompts."""
    return Path(str(resources.files("wardround.asking"))) / "prompts"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, describe_unreadable(error)) from None
