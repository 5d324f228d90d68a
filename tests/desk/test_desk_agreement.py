"""Agreement: against scikit-learn, against Krippendorff's own example, and with a careless reader."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from wardround.desk.results.agreement import ALPHA, KAPPA, batch_agreements, reader_agreements

# Krippendorff's example of four observers and twelve units (2011, Computing Krippendorff's alpha-reliability)
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def units(observers) -> list[dict[str, str]]:
    return [
        {f"r{number}": str(said[place]) for number, said in enumerate(observers) if said[place] is not None}
        for place in range(len(observers[0]))
    ]


def test_krippendorffs_own_example():
    (agreement,) = batch_agreements({"batch": units(OBSERVERS)})
    assert (agreement.figure, agreement.readers, agreement.items) == (ALPHA, 4, 11)
    assert agreement.value == pytest.approx(0.743, abs=0.0005)
    assert agreement.low < agreement.value < agreement.high


def test_two_readers_have_cohens_kappa():
    random = np.random.default_rng(1)
    one = random.choice(["keep", "edit", "discard"], 200, p=[0.7, 0.2, 0.1])
    other = np.where(random.random(200) < 0.8, one, random.choice(["keep", "edit", "discard"], 200))
    batch = [{"a": x, "b": y} for x, y in zip(one, other, strict=True)] + [{"a": "keep"}]
    (agreement,) = batch_agreements({"batch": batch})
    assert (agreement.figure, agreement.items) == (KAPPA, 200)
    assert agreement.value == pytest.approx(cohen_kappa_score(one, other))
    assert agreement.same == pytest.approx(np.mean(one == other))
    assert agreement.low < agreement.value < agreement.high


def test_who_always_say_the_same_have_no_kappa():
    (agreement,) = batch_agreements({"batch": [{"a": "keep", "b": "keep"}] * 10})
    assert np.isnan(agreement.value)
    assert agreement.low is None


def test_batches_and_all_of_them():
    batch = [{"a": "x", "b": "x"}, {"a": "y", "b": "y"}]
    assert [agreement.batch for agreement in batch_agreements({"two": batch, "one": batch, "alone": [{"a": "x"}]})] == [
        "one",
        "two",
        "all",
    ]


@pytest.mark.parametrize("careless", [None, "r2"])
def test_a_careless_reader_stands_out(careless):
    """Four readers with 5% slips; the planted one guesses. Without the plant nobody stands out."""
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 300)
    labels = {}
    for name in ("r1", "r2", "r3", "r4"):
        slips = random.random(300) < (0.5 if name == careless else 0.05)
        labels[name] = np.where(slips, 1 - truth, truth)
    batch = [{name: str(said[place]) for name, said in labels.items()} for place in range(300)]
    agreements = {agreement.reader: agreement for agreement in reader_agreements({"batch": batch})}
    apart = [
        name
        for name, agreement in agreements.items()
        if agreement.high < min(o.low for n, o in agreements.items() if n != name)
    ]
    assert apart == ([careless] if careless else [])


def test_few_items_without_a_disagreement_do_not_give_an_interval_of_no_width():
    """23 items, 12 and 11 of two classes, all agreed on. Wilson: 23 / (23 + 1.96^2) = 0.857; chance agrees in
    (12^2 + 11^2) / 23^2 = 0.501; so kappa is at least 1 - 0.143 / 0.499 = 0.713."""
    batch = [{"Ann": kind, "Bob": kind} for kind in ["a"] * 12 + ["b"] * 11]
    (agreement,) = batch_agreements({"pairs": batch})
    lowest = 1 - (1 - 23 / (23 + 1.959964**2)) / (1 - (12**2 + 11**2) / 23**2)
    assert (agreement.value, agreement.high) == (1.0, 1.0)
    assert agreement.low == pytest.approx(lowest, abs=1e-6)


def test_kappa_of_one_class_is_undefined_and_has_no_interval():
    (agreement,) = batch_agreements({"pairs": [{"Ann": "a", "Bob": "a"}] * 12})
    assert np.isnan(agreement.value)
    assert (agreement.low, agreement.high) == (None, None)
