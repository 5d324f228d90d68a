"""TOML files as records: an unknown key or a wrong value is one line with the file and the key."""

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.field_errors import describe_error, field_path


class StrictTable(BaseModel):
    """A table that refuses unknown keys and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)  # an input may be a secret


T = TypeVar("T", bound=BaseModel)


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The tables of a TOML file; `kind` names the file in messages."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a byte order mark
    except FileNotFoundError:
        raise BadInput(path, f"there is no such {kind} file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, describe_unreadable(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"is not TOML: {error}") from None


def parse_table(model: type[T], table: dict[str, Any], path: Path, *parents: str) -> T:
    """A record from its parsed table; an error names the file and the key, below its `parents`."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first, *others = error.errors()
        message = describe_error(first)
        if first["type"] == "missing":
            table_path = first["loc"][:-1]
            unknown = [
                str(other["loc"][-1])
                for other in others
                if other["type"] == "extra_forbidden" and other["loc"][:-1] == table_path
            ]
            similar = get_close_matches(str(first["loc"][-1]), unknown, n=1)
            message += f"; {similar[0]!r} is an unknown key" if similar else ""
        raise BadInput(path, message, field=field_path((*parents, *first["loc"]))) from None
