"""What people say of a set goes through the manifest to Croissant; what makes no sense is one line."""

from __future__ import annotations

import json

import pytest
import typer
from eye_table import eye_table

from wardround.building.audit.audit import audit
from wardround.building.pipeline.about import read_about
from wardround.building.review import review
from wardround.building.sources.ophthalmic import build_ophthalmic
from wardround.cli.main import app
from wardround.core.errors import BadInput

TOLD = """
licence = "https://spdx.org/licenses/CC-BY-4.0"
url = "https://example.org/our-cases"
creator = "Eye Clinic"
datePublished = 2026-01-31
"""


@pytest.mark.slow
def test_croissant_has_what_was_said_and_so_has_the_set_after_review(tmp_path):
    (tmp_path / "about.toml").write_text(TOLD)
    table = eye_table(tmp_path, patients=3)
    build_ophthalmic(table, tmp_path / "set", about=read_about(tmp_path / "about.toml"))
    review(tmp_path / "set", [], tmp_path / "reviewed")
    for name in ("set", "reviewed"):
        found = audit(tmp_path / name, tmp_path / f"{name}-audit", workers=1)
        assert found.told()["croissant_missing"] == []
        told = json.loads((tmp_path / f"{name}-audit" / "croissant.json").read_text())
        assert (told["license"], told["datePublished"]) == ("https://spdx.org/licenses/CC-BY-4.0", "2026-01-31")
        assert told["creator"] == {"@type": "sc:Organization", "name": "Eye Clinic"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('colour = "red"', r"about.toml: colour: unknown key; there are name, description, license"),
        ('url = "example.org"', r"about.toml: url: is an address that begins with https://, not 'example.org'"),
        ("licence = 4", r"about.toml: license: is a text, not 4"),
        ('datePublished = "soon"', r"about.toml: datePublished: is a day like 2026-01-31, not 'soon'"),
        ("creator = 7", r"about.toml: creator: is a name, or a table with one, not 7"),
        ("licence", r"about.toml: is not TOML"),
    ],
)
def test_what_makes_no_sense_is_one_line(tmp_path, text, expected):
    (tmp_path / "about.toml").write_text(text)
    with pytest.raises(BadInput, match=expected):
        read_about(tmp_path / "about.toml")


def test_every_build_takes_it():
    builds = typer.main.get_command(app).commands["build"].commands  # type: ignore[attr-defined]
    takes = {name for name, each in builds.items() if any("--about" in option.opts for option in each.params)}
    assert takes == set(builds) - {"review"}  # that takes what the set says
