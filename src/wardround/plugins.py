"""Plug-ins: what installed packages and files given with --plugins add to wardround.

A package adds something by an entry point of one of GROUPS (`wardround.providers`, `wardround.measures`, ...), whose
name is what users type. A single Python file adds the same by the decorators below, without being installed:

    from wardround.plugins import provider

    @provider("echo")
    class Echo(Candidate): ...

Each room asks `extensions(group)` beside its own table of built-ins; docs/plugins.md says what each group expects.
"""

import os
import re
import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import Distribution, EntryPoint, distribution, entry_points
from pathlib import Path
from typing import Any, TypeVar

from wardround.core.errors import BadInput, WardroundError

GROUPS = ("providers", "benchmarks", "readers", "degradations", "measures", "judges", "sections")
FILES_VARIABLE = "WARDROUND_PLUGINS"  # worker processes inherit it, so that they load the same files

Extension = TypeVar("Extension")


@dataclass(frozen=True)
class Plugin:
    """One extension: its group, the name users type, where it comes from, and how to load it."""

    group: str
    name: str
    origin: str  # "package version" or the file's path
    load: Callable[[], Any]


_from_files: dict[tuple[str, str], Plugin] = {}
_loaded_files: dict[Path, None] = {}


def extensions(group: str) -> Mapping[str, Plugin]:
    """The extensions of a group by name, sorted; a name that two packages offer is refused."""
    _check_group(group)
    _load_files_of_environment()
    plugins: dict[str, Plugin] = {}
    from_files = (plugin for key, plugin in sorted(_from_files.items()) if key[0] == group)
    for plugin in (*_from_packages(group), *from_files):
        _add(plugins, plugin)
    return plugins


@cache
def _entry_points() -> Any:
    """Of all packages and groups, looked up once: reading every package's metadata takes some milliseconds."""
    return entry_points()


@cache
def _from_packages(group: str) -> tuple[Plugin, ...]:
    entries = sorted(_entry_points().select(group=f"wardround.{group}"), key=lambda entry: entry.name)
    return tuple(Plugin(group, entry.name, _origin(entry), partial(_load_entry, entry)) for entry in entries)


def installed() -> list[dict[str, str]]:
    """Every extension that is not wardround's own, for manifests: group, name and origin."""
    return [
        {"group": group, "name": plugin.name, "origin": plugin.origin}
        for group in GROUPS
        for plugin in extensions(group).values()
        if plugin.origin.partition(" ")[0] != "wardround"
    ]


def load_file(path: Path) -> None:
    """Runs a Python file whose decorators register extensions; processes started later load it, too."""
    path = path.resolve()
    if path in _loaded_files:
        return
    if not path.is_file():
        raise BadInput(path, "is not a file; --plugins takes a Python file")
    before = set(_from_files)
    _loaded_files[path] = None
    try:
        runpy.run_path(str(path), run_name=f"wardround_plugin_{path.stem}")
    except WardroundError:
        raise
    except Exception as error:
        raise BadInput(path, f"could not be loaded: {type(error).__name__}: {error}") from error
    for key in set(_from_files) - before:
        plugin = _from_files[key]
        _from_files[key] = Plugin(plugin.group, plugin.name, str(path), plugin.load)
    os.environ[FILES_VARIABLE] = os.pathsep.join(str(file) for file in _loaded_files)


def register(group: str, name: str, extension: Any) -> None:
    """Adds an extension from code; the decorators below are its usual form."""
    _check_group(group)
    if (group, name) in _from_files:
        raise WardroundError(f"two plug-ins register {name!r} in wardround.{group}")
    _from_files[group, name] = Plugin(group, name, "registered by code", lambda: extension)


def _decorator(group: str, name: str) -> Callable[[Extension], Extension]:
    def add(extension: Extension) -> Extension:
        register(group, name, extension)
        return extension

    return add


provider = partial(_decorator, "providers")
reader = partial(_decorator, "readers")
degradation = partial(_decorator, "degradations")
measure = partial(_decorator, "measures")
judge = partial(_decorator, "judges")
section = partial(_decorator, "sections")


def benchmark(name: str, folder: Path) -> None:
    """Registers a benchmark folder; no Python is needed when its path is typed instead."""
    register("benchmarks", name, folder)


def _add(plugins: dict[str, Plugin], plugin: Plugin) -> None:
    if other := plugins.get(plugin.name):
        raise WardroundError(
            f"two plug-ins are called {plugin.name!r} in wardround.{plugin.group}: {other.origin} and {plugin.origin}"
        )
    plugins[plugin.name] = plugin


def _check_group(group: str) -> None:
    if group not in GROUPS:
        raise WardroundError(f"there is no plug-in group {group!r}; the groups are {', '.join(GROUPS)}")


def _load_files_of_environment() -> None:
    for text in os.environ.get(FILES_VARIABLE, "").split(os.pathsep):
        if text:
            load_file(Path(text))


def _origin(entry: EntryPoint) -> str:
    if entry.dist is None:
        return entry.value
    return " ".join(_metadata_field(entry.dist, field) for field in ("Name", "Version"))


def package_version(name: str) -> str:
    """The version of an installed package."""
    return _metadata_field(distribution(name), "Version")


def _metadata_field(package: Distribution, field: str) -> str:
    """A field such as Name, from the first lines: `importlib.metadata.version` parses the whole description as mail."""
    head, _, _ = (package.read_text("METADATA") or "").partition("\n\n")
    line = re.search(rf"^{field}: *(\S+)[ \r]*$", head, re.MULTILINE)
    return line[1] if line is not None else package.metadata[field]


def _load_entry(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:
        raise WardroundError(
            f"plug-in {entry.name!r} ({_origin(entry)}) could not be loaded: {type(error).__name__}: {error}"
        ) from error
