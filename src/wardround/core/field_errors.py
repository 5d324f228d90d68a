"""Pydantic's validation errors in plain words: which field, and what was expected."""

from typing import Any

from pydantic import ValidationError

SECRET_FIELDS = {"api_key_env", "headers", "extra_body", "base_url", "base_urls"}  # values of these may contain a key
UNION_MEMBERS = {"int": "a whole number", "float": "a number", "str": "text"}


def field_path(location: tuple[int | str, ...]) -> str:
    """A pydantic location as a path: candidates[0].name."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def describe_error(error: Any) -> str:
    """One pydantic error in plain words."""
    kind: str = error["type"]
    if kind == "extra_forbidden":
        return "unknown key"
    if kind == "missing":
        return "is required"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind == "json_invalid":
        return describe_json_error(error["ctx"]["error"])
    message: str = error["msg"]
    if not SECRET_FIELDS.isdisjoint(error["loc"]):
        return f"{message[0].lower()}{message[1:]}"
    return f"{message[0].lower()}{message[1:]}, not {error['input']!r}"[:300]


def describe_json_error(reason: object) -> str:
    """Why a line is not JSON, without the parser's line number, which counts from that line."""
    return f"is not JSON: {reason}".replace("at line 1 column", "at column")


def list_errors(error: ValidationError) -> list[tuple[str, str]]:
    """Every (field, message) of an error; a value that fits no member of a union is one of them."""
    errors_by_field: dict[str, list[Any]] = {}
    for detail in error.errors(include_url=False):
        location = detail["loc"]
        if len(location) > 1 and location[-1] in UNION_MEMBERS:
            errors_by_field.setdefault(field_path(location[:-1]), []).append(detail)
        else:
            errors_by_field.setdefault(field_path(location), [None]).append(detail)
    return [(field, _one_message(errors)) for field, errors in errors_by_field.items()]


def _one_message(errors: list[Any]) -> str:
    if errors[0] is None or len(errors) == 1:
        return describe_error(errors[-1])
    of_value = next((error for error in errors if not error["type"].endswith(("_type", "_parsing"))), None)
    if of_value is not None:
        return describe_error(of_value)
    members = [error["loc"][-1] for error in errors]
    expected = " or ".join(UNION_MEMBERS[name] for name in members if not (name == "int" and "float" in members))
    return f"should be {expected}, not {errors[0]['input']!r}"[:300]
