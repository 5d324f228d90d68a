"""Options that take several values at once: `--levels L1 L2`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


def several(*options: str) -> type[TyperCommand]:
    """A command in which each of these options takes all values up to the next option."""

    class Several(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, spread(args, options))

    return Several


def spread(args: list[str], options: tuple[str, ...]) -> list[str]:
    """`--levels L1 L2` as `--levels L1 --levels L2`."""
    told: list[str] = []
    open_option = None
    for arg in args:
        if arg.startswith("-"):
            open_option = arg if arg in options else None
        elif open_option is not None and told[-1] != open_option:
            told.append(open_option)
        told.append(arg)
    return told
