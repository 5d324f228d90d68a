"""The severity table: what a radiologist may change, what lies between the levels, what is refused."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from wardround.core.errors import WardroundError
from wardround.degrade import TYPES, load_profile, parse_severity
from wardround.degrade.severities import CLINICAL, ESTIMATED, SHIPPED_TABLE, interpolate


@pytest.mark.parametrize("name", [CLINICAL, ESTIMATED])
@pytest.mark.parametrize("space", ["display", "hu"])
def test_every_type_has_parameters_at_every_severity(name, space):
    profile = load_profile(name)
    for type in TYPES:
        levels = [profile.at(type, severity, space) for severity in (0.0, 0.37, 1.0, 1.5, 2.0)]
        assert all(level.keys() == levels[0].keys() for level in levels)
        assert levels[2] != levels[4], f"L1 and L2 of {type} are the same"


def test_between_levels_values_go_by_ratio_above_zero_and_else_by_difference():
    assert interpolate((1.0, 2.0, 8.0), 1.5) == pytest.approx(4.0)
    assert interpolate((1.0, 2.0, 8.0), 0.5) == pytest.approx(sqrt(2))
    assert interpolate((0.0, 2.0, 8.0), 1.5) == pytest.approx(5.0)
    assert interpolate((0.0, -0.04, -0.1), 0.5) == pytest.approx(-0.02)
    assert [interpolate((720.0, 120.0, 60.0), severity) for severity in (0.0, 1.0, 2.0)] == [720.0, 120.0, 60.0]
    assert interpolate(("nearest",) * 3, 1.5) == "nearest"


@pytest.mark.parametrize(("text", "number"), [("L0", 0), ("L1", 1), ("L2", 2), ("0.37", 0.37), (1.2, 1.2), ("2", 2)])
def test_severities_are_levels_or_numbers(text, number):
    assert parse_severity(text) == number


@pytest.mark.parametrize("text", ["L3", "2.1", "-1", "", "mild", float("nan"), 3])
def test_other_severities_are_refused(text):
    with pytest.raises(WardroundError, match="expected L0, L1, L2 or a number from 0 to 2"):
        parse_severity(text)


def test_a_changed_table_is_used_by_its_file_and_has_another_hash(tmp_path):
    ours = load_profile(CLINICAL)
    text = SHIPPED_TABLE.read_text(encoding="utf-8").replace(
        "gaussian_noise = { sigma = [0, 0.03", "gaussian_noise = { sigma = [0, 0.05"
    )
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    mine = load_profile("mine.toml:clinical-1", tmp_path)
    assert mine.at("gaussian_noise", 1.0)["sigma"] == 0.05
    assert mine.at("gaussian_blur", 1.0) == ours.at("gaussian_blur", 1.0)
    assert mine.hash != ours.hash


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 4", "version = 'one'", "clinical-1.version: expected a whole number"),
        ("gaussian_noise = { sigma =", "gaussian_noise = { sgima =", "gaussian_noise: expected the parameters sigma"),
        ("gaussian_noise = {", "gaussian_moise = {", "clinical-1.display.gaussian_moise: is not one of the types"),
        ("sigma = [0, 0.03, 0.07]", "sigma = [0, 0.03]", "gaussian_noise.sigma: expected a number, a word, or three"),
        ("sigma = [0, 0.03, 0.07]", "sigma = [0, true, 0.07]", "display.gaussian_noise.sigma: expected a number"),
        ("[clinical-1.hu]", "[clinical-1.uh]", "clinical-1.uh: unknown key"),
        ("[clinical-1]", "[clinical-1", "is not TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_reported_with_the_field(tmp_path: Path, old, new, message):
    text = SHIPPED_TABLE.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "mine.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(WardroundError) as refused:
        load_profile("mine.toml:clinical-1", tmp_path)
    assert message in str(refused.value)
    assert "mine.toml" in str(refused.value)


def test_unknown_profiles_and_files_are_refused_by_name(tmp_path):
    with pytest.raises(WardroundError, match="no severity profile 'mild'; there are clinical-1, medq-deg-estimated"):
        load_profile("mild")
    with pytest.raises(WardroundError, match="there is no such severity table"):
        load_profile("gone.toml", tmp_path)
