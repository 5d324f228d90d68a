"""What users install: the wheel and the sdist hold everything. test_plugins.py runs studies from an installed wheel."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from fresh_environment import FreshEnvironment, build_distributions
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_distributions(ROOT, tmp_path_factory.mktemp("packaging"))


def shipped_files() -> set[str]:
    source = ROOT / "src"
    return {
        str(path.relative_to(source))
        for path in (source / "wardround").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_every_file_of_the_package(distributions: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(distributions["wheel"]).namelist())

    assert shipped_files() - names == set()


def test_the_sdist_holds_every_file_of_the_package(distributions: dict[str, Path]) -> None:
    with tarfile.open(distributions["sdist"]) as archive:
        names = {name.partition("/src/")[2] for name in archive.getnames()}

    assert shipped_files() - names == set()


@pytest.mark.slow
def test_the_installed_wheel_runs_the_demo_outside_the_checkout(distributions: dict[str, Path], tmp_path: Path) -> None:
    environment = FreshEnvironment.make(tmp_path)
    environment.install(distributions["wheel"])

    reports = environment.run("wardround", "demo").split()

    assert reports == [f"wardround-demo/runs/{name}/report.html" for name in ("starter", "patches")]
    assert all((tmp_path / report).is_file() for report in reports)


def test_no_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [extra for name, extra in project["optional-dependencies"].items()]

    pinned = [
        text
        for text in [*project["dependencies"], *(text for extra in extras for text in extra)]
        if any(specifier.operator == "==" for specifier in Requirement(text).specifier)
    ]

    assert pinned == []


def test_constraints_are_plain_versions_within_the_ranges() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    versions = {_plain(name): version for name, _, version in (line.partition("==") for line in lines)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    outside = [
        text
        for text in project["dependencies"]
        if not Requirement(text).specifier.contains(versions[_plain(Requirement(text).name)])
    ]

    assert all("==" in line and "/" not in line and "@" not in line for line in lines)
    assert outside == []


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
