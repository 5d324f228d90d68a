"""Readers of plug-ins: named like built-in layouts, listed with them, and never in their place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from exam_study import wardround

from wardround import plugins
from wardround.building.sources.medq_deg.pool import write_pool
from wardround.cases.conversion import convert
from wardround.cases.readers import READERS, CaseSource, reader_for
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image
from wardround.core.errors import Problem, WardroundError

PLUGIN = """
from wardround.core.case import Case
from wardround.plugins import reader


class Notes:
    problems = []

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        questions = [{"id": "open", "kind": "open", "prompt": "What is it?", "gold": "gout"}]
        yield Case.model_validate({"id": "a", "history": self.source.read_text(), "questions": questions})

    def copy_image(self, image, target):
        raise NotImplementedError


@reader("notes")
def read_notes(source):
    return Notes(source)
"""


class OneCase:
    """A source of one case with one image, as a plug-in would write it."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.problems = [Problem(source, 3, "field", "is odd")]

    def __iter__(self) -> Iterator[Case]:
        question = {"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}
        case = {"id": "a", "images": [{"path": "images/a.png", "modality": "CT"}], "questions": [question]}
        yield Case.model_validate(case)

    def copy_image(self, image: Image, target: Path) -> None:
        target.write_bytes(self.source.read_bytes())


@pytest.fixture
def own_layout(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(plugins, "_from_files", {})
    plugins.register("readers", "own-layout", OneCase)
    return "own-layout"


def test_a_registered_reader_converts_a_source(own_layout: str, tmp_path: Path) -> None:
    (tmp_path / "source.bin").write_bytes(b"pixels")

    count, problems = convert(tmp_path / "source.bin", tmp_path / "set", layout=own_layout)

    assert (count, [problem.message for problem in problems]) == (1, ["is odd"])
    assert CaseSet.open(tmp_path / "set").ids == ["a"]
    assert (tmp_path / "set" / "images" / "a.png").read_bytes() == b"pixels"


def test_a_registered_reader_is_a_source_of_a_pool(own_layout: str, tmp_path: Path) -> None:
    (tmp_path / "source.bin").write_bytes(b"pixels")

    pool, (source,) = write_pool([tmp_path / "source.bin"], [own_layout], tmp_path / "pool")

    assert (pool.ids, source.layout, source.cases) == (["a"], own_layout, 1)


def test_an_unknown_layout_is_answered_with_all_layouts(own_layout: str) -> None:
    with pytest.raises(WardroundError) as refused:
        reader_for("curious")

    layouts = ", ".join(sorted([*READERS, own_layout]))
    assert str(refused.value) == f"unknown layout 'curious'; the layouts are {layouts}"


def test_a_plugin_cannot_take_the_name_of_a_built_in_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_from_files", {})
    plugins.register("readers", "cure", OneCase)

    with pytest.raises(WardroundError, match=r"^the plug-in registered by code has a reader 'cure', a built-in"):
        reader_for("medqa")


def test_a_field_map_is_refused_for_a_plugin(own_layout: str, tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="the field names of own-layout are fixed"):
        reader_for(own_layout, tmp_path / "map.toml")


def test_a_reader_in_a_plugin_file_is_used_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "visit.txt").write_text("His big toe is red.", encoding="utf-8")

    arguments = ("--plugins", "notes.py", "cases", "convert", "visit.txt", "--from", "notes", "--out", "set")
    completed = wardround(*arguments, "--json", cwd=tmp_path)

    assert json.loads(completed.stdout) == {"cases": 1, "out": "set", "problems": []}
    assert CaseSet.open(tmp_path / "set").case(0).history == "His big toe is red."


def test_a_source_of_a_plugin_has_the_documented_interface() -> None:
    source: CaseSource = OneCase(Path("x"))

    assert [case.id for case in source] == ["a"]
