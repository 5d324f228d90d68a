"""The size of an install without extras: a fresh virtual environment before and after `pip install .`"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import venv
from pathlib import Path

from perf.bars import bar, versions

ROOT = Path(__file__).parents[1]


def main(arguments: list[str]) -> bool:
    argparse.ArgumentParser("perf install_size").parse_args(arguments)
    print(f"  {versions('wardround')}")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        empty = megabytes(Path(folder))
        pip = [f"{folder}/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
        subprocess.run([*pip, "install", str(ROOT)], check=True)
        whole = megabytes(Path(folder))
        packages = next(Path(folder).glob("lib/python*/site-packages"))
        largest = sorted(((megabytes(path), path.name) for path in packages.iterdir()), reverse=True)[:8]
    print(f"  the environment: empty {empty:.0f} MB, with wardround {whole:.0f} MB")
    print(f"  largest: {', '.join(f'{name} {size:.0f}' for size, name in largest)}")
    return bar("what the install adds, in MB", whole - empty, at_most=750)


def megabytes(path: Path) -> float:
    """What its files take on disk."""
    files = [path] if path.is_file() else (file for file in path.rglob("*") if not file.is_symlink())
    return sum(file.stat().st_blocks for file in files) * 512 / 1e6
