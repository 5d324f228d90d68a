"""Options that several commands share, and options that take a list: `--levels L1 L2` is `--levels L1 --levels L2`."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from wardround.core.store.location import read_location

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="Study file (study.toml).")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder (runs/<name>).")]
Runs = Annotated[Path | None, typer.Option("--runs", metavar="DIR", help="Folder of runs (default: runs).")]
# a path or an address; typer has no type for either of two
Answers = Annotated[
    Any,
    typer.Option(
        "--answers",
        metavar="STORE",
        parser=read_location,
        help="Answer store: a file or postgresql://... (default: answers.sqlite next to the runs folder).",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="auto|ADDRESS",
        help="Work on a Ray cluster that has the files at the same paths: auto joins this machine's or starts one.",
    ),
]
Cases = Annotated[Path | None, typer.Option("--cases", metavar="PATH", help="Case set of the run, if it was moved.")]
AcceptChangedCases = Annotated[
    bool, typer.Option("--accept-changed-cases", help="Use cases that changed after the run; they are recorded.")
]
AcceptIgnored = Annotated[
    bool, typer.Option("--accept-ignored", help="Go on with settings that a server ignores; every table says so.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail on a bad case instead of skipping it.")]
Candidate = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate", metavar="NAME=...", help="NAME=PROVIDER or NAME=ADDRESS, followed by ,key=value ...; repeatable."
    ),
]
Candidates = Annotated[
    Path | None, typer.Option("--candidates", metavar="FILE", help="TOML file with candidates, as in a study.")
]
Judge = Annotated[
    str | None, typer.Option("--judge", metavar="PROVIDER,...", help="Judge of open answers (default: lexical).")
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Number of processes (default: one per core).")]
Host = Annotated[str, typer.Option("--host", help="Address to listen on (default: 127.0.0.1).")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any free port.")]
LiteratureIndex = Annotated[
    str | None, typer.Option("--index", metavar="INDEX", help="Index for evidence, made by `literature build`.")
]

Since = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only what was published since: 2025, 2025-03 or 2025-03-01.")
]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Only what was published until (inclusive).")]

PLUGINS_FLAG = "--plugins"
PluginFiles = Annotated[
    list[Path] | None,
    typer.Option(
        PLUGINS_FLAG, metavar="FILE.py", help="Python file with plug-ins; repeatable, also after the command."
    ),
]


def parse_candidates(
    candidate: list[str] | None, candidates: Path | None, judge: str | None
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The candidates of --candidates and --candidate, and the judge of --judge or of the file."""
    from wardround.benchmarks.engine.candidate_text import parse_candidate, read_candidates

    settings, judge_settings = read_candidates(candidates) if candidates else ([], None)
    settings += [parse_candidate(text) for text in candidate or []]
    return settings, judge_settings if judge is None else parse_candidate(f"judge={judge}")


class ListOptionCommand(TyperCommand):
    """A command whose repeatable options take all values up to the next option; arguments come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags = {flag for param in self.params if getattr(param, "multiple", False) for flag in param.opts}
        return super().parse_args(ctx, list(repeat_flags(args, flags)))


def repeat_flags(args: list[str], flags: Collection[str]) -> Iterator[str]:
    """The arguments with the flag of a list before each of its values."""
    flag, value_count = None, 0
    for arg in args:
        if arg.startswith("-") and arg != "-":
            flag, value_count = (arg if arg in flags else None), 0
        elif flag is not None:
            if value_count:
                yield flag
            value_count += 1
        yield arg


class PluginGroup(TyperGroup):
    """A command group that takes `--plugins` also after the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, move_to_front(args, PLUGINS_FLAG))


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
