"""`wardround plugins` lists plug-ins; the global option `--plugins FILE.py` loads more from files."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wardround.cli.output import Json, print_result

FLAG = "--plugins"
PluginFiles = Annotated[
    list[Path] | None,
    typer.Option(FLAG, metavar="FILE.py", help="Python file with plug-ins; repeatable, also after the command."),
]


class PluginGroup(TyperGroup):
    """A command group that takes `--plugins` also after the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, move_to_front(args, FLAG))


def move_to_front(args: list[str], flag: str) -> list[str]:
    """The arguments with every `flag VALUE` and `flag=VALUE` before the others; nothing after `--` is moved."""
    end = args.index("--") if "--" in args else len(args)
    moved: list[str] = []
    others: list[str] = []
    remaining = iter(args[:end])
    for arg in remaining:
        if arg == flag:
            moved += [arg, *([value] if (value := next(remaining, None)) is not None else [])]
        else:
            (moved if arg.startswith(f"{flag}=") else others).append(arg)
    return [*moved, *others, *args[end:]]


def plugins(as_json: Json = False) -> None:
    """List the installed plug-ins and those of --plugins, by group, with name and origin."""
    from wardround.plugins import GROUPS, extensions

    installed = [plugin for group in GROUPS for plugin in extensions(group).values()]
    records = [{"group": plugin.group, "name": plugin.name, "origin": plugin.origin} for plugin in installed]
    widths = {key: max((len(record[key]) for record in records), default=0) for key in ("group", "name")}
    lines = [
        f"{record['group']:<{widths['group']}}  {record['name']:<{widths['name']}}  {record['origin']}"
        for record in records
    ]
    print_result({"plugins": records}, as_json, "\n".join(lines) or "no plug-ins")
