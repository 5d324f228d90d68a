"""A fresh virtual environment that has wardround's dependencies, and nothing of wardround itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FreshEnvironment:
    """An environment outside the checkout, and a folder to run commands in."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> FreshEnvironment:
        """Dependencies are those of the environment that runs the tests: a path file names its packages.

        An editable install of wardround there is not inherited: path files inside that folder are not read.
        """
        venv.create(folder / "env")
        environment = cls(folder)
        packages = sysconfig.get_paths(vars={"base": str(folder / "env"), "platbase": str(folder / "env")})["purelib"]
        Path(packages, "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
        return environment

    def install(self, *wheels: Path) -> None:
        """With the pip of the environment that runs the tests; modules are compiled when they are imported."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.folder / "env")]
        subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-compile", *map(str, wheels)], check=True)

    def run(self, program: str, *arguments: str) -> str:
        """What the program prints; it must end well."""
        command = [str(self.folder / "env" / "bin" / program), *arguments]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        completed = subprocess.run(command, cwd=self.folder, env=clean, capture_output=True, text=True, check=False)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout


def build_distributions(project: Path, folder: Path, *options: str) -> dict[str, Path]:
    """The sdist and the wheel of a project, built from a copy so that no build folder is left in the checkout.

    With the option `--wheel` the wheel alone.
    """
    copy = folder / project.name
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (project / name).exists():
            shutil.copy(project / name, copy / name)
    shutil.copytree(project / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(folder / "dist"), str(copy)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    name = tomllib.loads((copy / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    files = (folder / "dist").glob(f"{name.replace('-', '_')}-[0-9]*")
    return {"wheel" if file.suffix == ".whl" else "sdist": file for file in files}
