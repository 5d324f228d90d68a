"""Where each benchmark keeps its files. A person types `medq-deg`; only the folder is `medq_deg`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from wardround.core.errors import BadInput, WardroundError
from wardround.core.field_errors import complaints

BENCHMARKS = ("cure", "xpcr", "medq-deg", "clinbench")


class FromToml(BaseModel):
    """A table of a benchmark's own files. An unknown key is an error that names it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Shape = TypeVar("Shape", bound=FromToml)


def folder_of(benchmark: str) -> Path:
    return Path(str(files("wardround.benchmarks"))) / benchmark.replace("-", "_")


def read_toml(path: Path, shape: type[Shape]) -> Shape:
    """A file in its shape; what is wrong with it is one line that names the key."""
    told: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        return shape.model_validate(told)
    except ValidationError as error:
        field, message = complaints(error)[0]
        raise BadInput(path, message, field=field) from None


def named(name: str, names: Iterable[str], what: str, command: str) -> str:
    """The name as it is listed, or one line that says which come close."""
    listed = {each: each for each in names}
    plain = name.strip().lower().replace("_", "-")
    if plain in listed:
        return listed[plain]
    close = get_close_matches(plain, listed, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(close)}?" if close else f"`{command}` lists them"
    raise WardroundError(f"there is no {what} {name!r}; {hint}")
