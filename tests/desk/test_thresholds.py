"""Thresholds of readers: planted ones come back within their intervals, and a careless reader is seen."""

from __future__ import annotations

import numpy as np
import pytest

from wardround.degrade.severities import load_profile
from wardround.desk.results.severity_table import severity_toml
from wardround.desk.results.thresholds import Mark, _alphas, compare_readers, mark_agreement, thresholds


def simulated(chance, readers=5, images=8, l1=0.7, l2=1.4, careless=0, type="gaussian_blur") -> list[Mark]:
    """Readers whose marks are logistic around a threshold of their own, on images of their own difficulty."""
    tolerant, easy = chance.normal(0, 0.08, readers), chance.normal(0, 0.1, images)
    marks = []
    for reader in range(readers):
        for image in range(images):
            shift = tolerant[reader] + easy[image]
            both = np.array([l1, l2]) + shift + chance.logistic(0, 0.05, 2)
            marks.append(Mark(f"reader {reader}", image, type, *np.clip(np.sort(both), 0, 2)))
    for number in range(careless):
        for image in range(images):
            marks.append(Mark(f"careless {number}", image, type, *np.sort(chance.uniform(0, 2, 2))))
    return marks


def test_planted_thresholds_come_back_as_often_as_the_interval_says():
    chance, inside = np.random.default_rng(1), []
    for _ in range(400):
        for threshold, planted in zip(thresholds(simulated(chance)), (0.7, 1.4), strict=True):
            inside.append(threshold.low <= planted <= threshold.high)
    assert 0.92 <= np.mean(inside) <= 0.995


def test_a_careless_reader_does_not_move_the_truth_out_of_the_interval():
    chance, inside = np.random.default_rng(2), []
    for _ in range(200):
        for threshold, planted in zip(thresholds(simulated(chance, careless=1)), (0.7, 1.4), strict=True):
            inside.append(threshold.low <= planted <= threshold.high)
    assert np.mean(inside) >= 0.9


def test_a_careless_reader_is_seen_and_a_careful_one_is_not():
    lower = 0
    for seed in range(20):
        readers = {
            reader.reader: reader for reader in compare_readers(simulated(np.random.default_rng(seed), careless=1))
        }
        careless = readers.pop("careless 0")
        assert careless.scatter > 1.5 * max(reader.scatter for reader in readers.values())
        lower += careless.agreement < min(reader.agreement for reader in readers.values()) - 0.2
        careful = [reader.scatter for reader in compare_readers(simulated(np.random.default_rng(seed)))]
        assert max(careful) < 0.2 < careless.scatter  # nobody stands out where all are careful
    assert lower >= 19  # agreement alone takes one careful reader in a hundred, who is far stricter, for careless


def test_a_reader_who_is_only_stricter_is_told_by_the_shift():
    marks = [
        Mark(name, image, "t", 0.5 + 0.1 * image + by, 1 + 0.1 * image + by)
        for image in range(6)
        for name, by in (("a", 0.0), ("b", 0.0), ("strict", -0.3))
    ]
    readers = {reader.reader: reader for reader in compare_readers(marks)}
    assert readers["strict"].shift == pytest.approx(-0.3)
    assert readers["strict"].scatter == pytest.approx(0)
    assert readers["a"].shift == pytest.approx(0.15)


def test_alpha_is_krippendorffs_for_intervals():
    """The example of Krippendorff's 2011 note: four observers, twelve units; alpha for intervals is 0.849."""
    missing = np.nan
    observers = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, missing, missing, missing],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, missing, 3],
            [missing, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, missing],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, missing],
        ]
    )
    table = np.repeat(observers.T[:, :, None], 2, axis=2)
    table = table[(~np.isnan(table[:, :, 0])).sum(axis=1) > 1]
    assert _alphas(table, np.ones((1, len(table)))) == pytest.approx(0.849, abs=0.0005)


def test_agreement_needs_two_readers():
    assert mark_agreement([Mark("a", 1, "t", 0.5, 1.0)]) is None
    assert mark_agreement([]) is None
    marks = [Mark(reader, image, "t", 0.1 * image, 1 + 0.1 * image) for reader in "abc" for image in range(5)]
    assert mark_agreement(marks).alpha == pytest.approx(1.0)


def test_intervals_are_over_what_there_is_more_than_one_of():
    (first, _) = thresholds([Mark("a", 1, "t", 0.5, 1.0)])
    assert (first.value, first.low, first.high) == (0.5, None, None)
    (first, _) = thresholds([Mark("a", image, "t", 0.4 + 0.1 * image, 2.0) for image in range(3)])
    # one reader: Student's interval over the three images, by hand: 0.5 -+ 4.303 * 0.1 / sqrt(3)
    assert first.low == pytest.approx(0.5 - 4.3027 * 0.1 / 3**0.5, abs=1e-3)
    last = thresholds([Mark("a", image, "t", 0.4, 2.0) for image in range(3)])[1]
    assert last.at_end == 3


def test_the_table_is_read_as_any_other(tmp_path):
    base = load_profile()
    marks = [Mark(reader, image, "gaussian_blur", 0.5, 1.5) for reader in "ab" for image in (1, 2)]
    marks += [Mark(reader, 3, "low_dose", 1.0, 2.0) for reader in "ab"]
    file = tmp_path / "severities.toml"
    file.write_text(severity_toml(base, thresholds(marks), "mine", "about\nit"))
    new = load_profile("severities.toml:mine", tmp_path)
    assert new.at("gaussian_blur", 1.0)["sigma"] == pytest.approx(base.at("gaussian_blur", 0.5)["sigma"], rel=1e-5)
    assert new.at("gaussian_blur", 2.0)["sigma"] == pytest.approx(base.at("gaussian_blur", 1.5)["sigma"], rel=1e-5)
    assert new.at("gaussian_blur", 0.0) == base.at("gaussian_blur", 0.0)
    for space in ("display", "hu"):
        assert new.rows[space]["low_dose"] == base.rows[space]["low_dose"]  # marked where they were
        for type in base.rows[space]:
            if type != "gaussian_blur":
                assert new.rows[space][type] == base.rows[space][type]
