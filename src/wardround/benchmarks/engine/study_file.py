"""A named study as the study file that `wardround run` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.literature import conditions_there
from wardround.benchmarks.engine.named_study import Put


def study_table(
    name: str,
    put: Put,
    cases: Path,
    candidates: list[dict[str, Any]],
    *,
    trials: int | None = None,
    judge: Mapping[str, Any] | None = None,
    type: str | None = None,
    stored: bool = False,
    logprobs: bool = False,
    literature: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole study as tables: what the paper fixes, on these cases, of these candidates.

    `type` is the degradation whose doses are asked, where the study has any; `stored` says that the images of the set
    are degraded already; `logprobs` takes the votes from one request's log-probabilities; `literature` is where
    evidence comes from.
    """
    fixed = put.model_dump(exclude_none=True, exclude_unset=True)
    conditions = conditions_there(put, literature) if literature is not None else dict(put.conditions)
    if put.doses:
        conditions["degradation"] = ["none", *(f"{type}@{dose:g}" for dose in put.doses)]
    elif conditions.get("degradation") == ["assigned"] and stored:
        conditions["degradation"] = ["stored"]
    if logprobs:
        conditions["confidence"] = ["logprobs"]
    told = {
        "name": "-".join(
            [*name.split("/"), *([type] if put.doses and type else []), *(["logprobs"] if logprobs else [])]
        ),
        "cases": str(cases.absolute()),
        "questions": put.questions,
        "trials": trials or put.trials,
        "sampling": put.sampling.given,
        "severities": put.severities,
        "conditions": conditions,
        "literature": literature,
        "judge": {**judge, **({"errors": True} if put.errors else {})} if judge is not None else fixed.get("judge"),
        "comparisons": fixed.get("comparisons"),
        "candidates": candidates,
    }
    return {key: value for key, value in told.items() if value}


def as_toml(table: Mapping[str, Any]) -> str:
    """A table of a study as TOML: plain values first, then tables, then lists of tables."""
    plain = {key: value for key, value in table.items() if not _is_table(value) and not _are_tables(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        for each, head in _tables(key, value):
            lines += ["", head, *(f"{_key(name)} = {_value(item)}" for name, item in each.items())]
    return "\n".join([*lines, ""])


def _tables(key: str, value: Any) -> list[tuple[Mapping[str, Any], str]]:
    if _is_table(value):
        return [(value, f"[{_key(key)}]")]
    return [(each, f"[[{_key(key)}]]") for each in value] if _are_tables(value) else []


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }" if value else "{}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool | int | float) else _value(str(value))
