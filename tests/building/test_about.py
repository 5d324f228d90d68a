"""The metadata that people give of a set reach Croissant; an invalid file is one line."""

from __future__ import annotations

import json

import pytest
import typer
from eye_table import eye_table

from wardround.building.audit.audit import audit
from wardround.building.pipeline.about import read_about
from wardround.building.review.review import review
from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.cli.main import app
from wardround.core.errors import BadInput

ABOUT = """
licence = "https://spdx.org/licenses/CC-BY-4.0"
url = "https://example.org/our-cases"
creator = "Eye Clinic"
datePublished = 2026-01-31
"""


@pytest.mark.slow
def test_croissant_has_the_metadata_also_after_a_review(tmp_path):
    (tmp_path / "about.toml").write_text(ABOUT)
    table = eye_table(tmp_path, patients=3)
    build_ophthalmic(table, tmp_path / "set", about=read_about(tmp_path / "about.toml"))
    review(tmp_path / "set", [], tmp_path / "reviewed")
    for name in ("set", "reviewed"):
        result = audit(tmp_path / name, tmp_path / f"{name}-audit", workers=1)
        assert result.to_dict()["croissant_missing"] == []
        metadata = json.loads((tmp_path / f"{name}-audit" / "croissant.json").read_text())
        assert (metadata["license"], metadata["datePublished"]) == (
            "https://spdx.org/licenses/CC-BY-4.0",
            "2026-01-31",
        )
        assert metadata["creator"] == {"@type": "sc:Organization", "name": "Eye Clinic"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('colour = "red"', r"about.toml: colour: unknown key; the keys are name, description, license"),
        ('url = "example.org"', r"about.toml: url: is 'example.org'; expected an address that begins with https://"),
        ("licence = 4", r"about.toml: license: is 4; expected text"),
        ('datePublished = "soon"', r"about.toml: datePublished: is 'soon'; expected a day like 2026-01-31"),
        ("creator = 7", r"about.toml: creator: is 7; expected a name, or a table with a name"),
        ("licence", r"about.toml: is not TOML"),
    ],
)
def test_an_invalid_file_is_one_line(tmp_path, text, expected):
    (tmp_path / "about.toml").write_text(text)
    with pytest.raises(BadInput, match=expected):
        read_about(tmp_path / "about.toml")


def test_every_build_has_the_option_about():
    builds = typer.main.get_command(app).commands["build"].commands  # type: ignore[attr-defined]
    having = {name for name, build in builds.items() if any("--about" in option.opts for option in build.params)}
    assert having == set(builds) - {"review", "starter"}  # which have their metadata already
