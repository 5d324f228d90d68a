"""The engine is generic: it knows benchmarks by their folder's name only."""

from __future__ import annotations

import re
from pathlib import Path

import wardround.benchmarks.engine as engine

SPECIFIC = re.compile(r"wardround\.benchmarks\.(?!engine\b)\w+")


def test_no_module_of_the_engine_imports_a_benchmark() -> None:
    files = sorted(Path(engine.__path__[0]).glob("*.py"))
    assert len(files) > 10
    imported = {file.name: SPECIFIC.findall(file.read_text(encoding="utf-8")) for file in files}
    assert {name: modules for name, modules in imported.items() if modules} == {}
