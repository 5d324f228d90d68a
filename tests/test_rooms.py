"""The order of the rooms: no import goes upward, no folder is crowded, a class name means one thing."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "wardround"

# A room imports from itself and from those before it. Modules that stand outside the rooms have their place, too.
ORDER = (
    *("core", "plugins", "cases", "degrade", "literature", "asking", "candidates", "running", "marking"),
    *(
        "measuring",
        "reporting",
        "pipeline",
        "api",
        "preflight",
        "building",
        "benchmarks",
        "selfcheck",
        "exporting",
        "gallery",
        "demo",
        "desk",
        "view",
        "cli",
        "__main__",
    ),
)
OUTSIDE = {"__init__", "__main__", "api", "demo", "gallery", "pipeline", "plugins"}
MAX_FILES = {"src/wardround": 20, "tests": 24}


def room_of(module: str) -> str | None:
    """The room of a dotted module name; None for the package itself and for other packages."""
    parts = module.split(".")
    return parts[1] if parts[0] == "wardround" and len(parts) > 1 else None


def imported_modules(path: Path, *, at_top: bool = False) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if at_top else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "wardround":
                yield from ((node.lineno, f"wardround.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)


def upward_imports(package: Path) -> list[str]:
    """Every import of a room that comes later, as file:line and module.

    api.py is the Python interface: functions of it may name any room, its module-level imports may not.
    """
    rank = {room: place for place, room in enumerate(ORDER)}
    wrong = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        room = relative.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for line, module in imported_modules(path, at_top=room == "api"):
            other = room_of(module)
            if other in rank and rank[other] > rank[room]:
                wrong.append(f"{relative}:{line}: {module}")
    return wrong


def test_no_import_goes_upward() -> None:
    assert upward_imports(PACKAGE) == []


def test_an_upward_import_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "case.py").write_text("def f():\n    from wardround.reporting.page import report\n")

    assert upward_imports(tmp_path) == ["core/case.py:2: wardround.reporting.page"]


def test_every_room_has_its_place_in_the_order() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    modules = {path.stem for path in PACKAGE.glob("*.py")}

    assert rooms <= set(ORDER)
    assert modules == OUTSIDE


@pytest.mark.parametrize("folder", list(MAX_FILES))
def test_no_folder_is_crowded(folder: str) -> None:
    counts: Counter[str] = Counter()
    for path in (ROOT / folder).rglob("*"):
        if path.is_file() and path.name != "__init__.py" and "__pycache__" not in path.parts:
            counts[str(path.parent.relative_to(ROOT))] += 1

    crowded = {name: count for name, count in counts.items() if count > MAX_FILES[folder]}

    assert crowded == {}


def test_a_class_name_is_used_once() -> None:
    twice = {name: places for name, places in _metrics().class_places().items() if len(places) > 1}

    assert twice == {}


def test_a_test_file_has_a_name_of_its_own() -> None:
    """Python imports tests by the names of their files: pytest refuses the second of a name."""
    counts = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")

    assert [name for name, count in counts.items() if count > 1] == []


def test_values_are_named_by_what_they_are() -> None:
    vague = [f"{path.relative_to(PACKAGE)}:{line}: {name}" for path, line, name in _metrics().vague_names()]

    assert vague == []


def _metrics() -> ModuleType:
    spec = importlib.util.spec_from_file_location("metrics", ROOT / "tools" / "metrics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["metrics"] = module
    spec.loader.exec_module(module)
    return module
