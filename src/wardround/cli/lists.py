"""Options that take a list: `--levels L1 L2` means what `--levels L1 --levels L2` does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from typer.core import TyperCommand


class TakesLists(TyperCommand):
    """A command whose repeatable options take all values up to the next option; its arguments come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags = {flag for each in self.params if getattr(each, "multiple", False) for flag in each.opts}
        return super().parse_args(ctx, list(spread(args, flags)))


def spread(args: list[str], flags: Collection[str]) -> Iterator[str]:
    """The arguments with a list's flag before each of its values."""
    flag, values = None, 0
    for arg in args:
        if arg.startswith("-") and arg != "-":
            flag, values = (arg if arg in flags else None), 0
        elif flag is not None:
            if values:
                yield flag
            values += 1
        yield arg
