"""HubName: a data set of the Hugging Face Hub as a study names it, `hf:owner/name@revision#split`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wardround.core.errors import WardroundError

PREFIX = "hf:"
DEFAULT_REVISION = "main"
_FORM = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?(?:#(?P<split>[\w.-]+))?")


@dataclass(frozen=True)
class HubName:
    """A repository, a branch, tag or commit of it, and one of its splits (None: all)."""

    repo: str
    revision: str = DEFAULT_REVISION
    split: str | None = None

    def __str__(self) -> str:
        return f"{PREFIX}{self.repo}@{self.revision}" + (f"#{self.split}" if self.split else "")

    @property
    def folder_name(self) -> str:
        """The name of the folder that holds its cases."""
        parts = [self.repo.replace("/", "--"), self.revision.replace("/", "--"), self.split]
        return "--".join(part for part in parts if part)


def is_hub_name(text: str) -> bool:
    return text.startswith(PREFIX)


def parse_hub_name(text: str) -> HubName:
    """Refuses what is not of the form."""
    if match := _FORM.fullmatch(text):
        return HubName(match["repo"], match["revision"] or DEFAULT_REVISION, match["split"])
    raise WardroundError(
        f"cases {text!r}: expected hf:owner/name, hf:owner/name@revision or hf:owner/name@revision#split"
    )
