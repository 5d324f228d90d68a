"""What a maintainer watches: files per folder, frequent names, class names used twice, repeated passages, lines.

`make metrics` prints it; `python tools/metrics.py --room NAME` lists the vague names of one room with their places.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "wardround"
MAX_FILES = 20
PASSAGE_LINES = 8
VAGUE_NAMES = frozenset(
    {"told", "found", "each", "held", "beside", "whom", "given", "seen", "taken", "thing", "things", "stuff", "tmp"}
    | {"Told", "Found", "Held", "Given", "Seen", "Taken", "Room", "Seat", "Seated", "Sitting", "Together", "Panel"}
    | {"Hearing", "Heard", "Purse", "Settled", "Foretelling"}
)

FILE_FIELDS = frozenset({"core/case.py: given"})  # names that files have cannot be changed


def sources(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Every Python file below a folder, parsed."""
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names that a module binds: variables, parameters, functions, classes and aliases, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.alias(asname=str(name)):
                yield name, node.lineno


def vague_names() -> Iterator[tuple[Path, int, str]]:
    """Where a vague name is bound."""
    for path, tree in sources(PACKAGE):
        for name, line in sorted(set(bound_names(tree)), key=lambda pair: pair[1]):
            if name.lstrip("_") in VAGUE_NAMES and f"{path.relative_to(PACKAGE)}: {name}" not in FILE_FIELDS:
                yield path, line, name


def files_per_folder() -> Counter[str]:
    folders: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        if path.name != "__init__.py":
            folders[str(path.parent.relative_to(PACKAGE.parent))] += 1
    return folders


def class_places() -> dict[str, list[str]]:
    """Where each class name is defined at module level."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in sources(PACKAGE):
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    return dict(places)


def repeated_passages() -> list[tuple[str, str]]:
    """Pairs of places that share a run of lines, import lines and lone punctuation aside."""
    first_place: dict[tuple[str, ...], str] = {}
    repeats: dict[tuple[str, str], tuple[str, str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        lines = [
            (number, stripped)
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if len(stripped := line.strip()) > 3 and not stripped.startswith(("#", "import ", "from "))
        ]
        name = str(path.relative_to(PACKAGE))
        for start in range(len(lines) - PASSAGE_LINES + 1):
            passage = tuple(text for _, text in lines[start : start + PASSAGE_LINES])
            place = f"{name}:{lines[start][0]}"
            other = first_place.setdefault(passage, place)
            if other != place:
                files = (other.partition(":")[0], name)
                repeats.setdefault(files, (other, place))
    return sorted(repeats.values())


def line_count(folder: Path) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in folder.rglob("*.py"))


def strict_share() -> float:
    """The share of modules that mypy checks strictly, by its own count of checked files."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    if not settings.get("strict"):
        return 0.0
    checked = 0
    for package in settings["packages"]:
        base = ROOT / "src" / Path(*package.split("."))
        checked += len(list(base.rglob("*.py"))) if base.is_dir() else 1
    return checked / len(list(PACKAGE.rglob("*.py")))


def print_metrics() -> None:
    print(f"Files per folder (limit {MAX_FILES}; __init__.py not counted)")
    for folder, count in files_per_folder().most_common():
        print(f"  {count:3d}  {folder}{'  <- too many' if count > MAX_FILES else ''}")
    names = Counter(name for _, tree in sources(PACKAGE) for name, _ in bound_names(tree))
    frequent = [(name, count) for name, count in names.most_common() if name not in ("self", "cls")][:10]
    print("\nThe ten most frequent names: " + ", ".join(f"{name} {count:,}" for name, count in frequent))
    vague = Counter(name for _, _, name in vague_names())
    print("Vague names: " + (", ".join(f"{name} {count}" for name, count in vague.items()) or "none"))
    twice = {name: places for name, places in class_places().items() if len(places) > 1}
    print(f"\nClass names used twice: {len(twice) or 'none'}")
    for name, places in sorted(twice.items()):
        print(f"  {name}: {', '.join(places)}")
    passages = repeated_passages()
    print(f"\nRepeated passages of {PASSAGE_LINES} lines or more: {len(passages) or 'none'}")
    for first, second in passages:
        print(f"  {first} ~ {second}")
    print(f"\nLines of src {line_count(PACKAGE):,}, of tests {line_count(ROOT / 'tests'):,}")
    print(f"Modules under strict mypy: {strict_share():.0%}")


def print_room(room: str) -> None:
    """The vague names of one room, and its class names that another place uses, too."""
    for path, line, name in vague_names():
        if path.is_relative_to(PACKAGE / room):
            print(f"{path.relative_to(ROOT)}:{line}: {name}")
    for name, places in sorted(class_places().items()):
        if len(places) > 1 and any(place.startswith(f"{room}/") for place in places):
            print(f"class {name}: {', '.join(places)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--room", help="list the vague names of this room with their places")
    room = parser.parse_args().room
    sys.exit(print_room(room) if room else print_metrics())
