"""Agreement: against scikit-learn, against Krippendorff's own example, and with a careless reader."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from wardround.desk.results.agreement import ALPHA, KAPPA, agreements, one_against_others

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
    (found,) = agreements({"batch": units(OBSERVERS)})
    assert (found.figure, found.readers, found.items) == (ALPHA, 4, 11)
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert found.low < found.value < found.high


def test_two_readers_have_cohens_kappa():
    random = np.random.default_rng(1)
    one = random.choice(["keep", "edit", "discard"], 200, p=[0.7, 0.2, 0.1])
    other = np.where(random.random(200) < 0.8, one, random.choice(["keep", "edit", "discard"], 200))
    batch = [{"a": x, "b": y} for x, y in zip(one, other, strict=True)] + [{"a": "keep"}]
    (found,) = agreements({"batch": batch})
    assert (found.figure, found.items) == (KAPPA, 200)
    assert found.value == pytest.approx(cohen_kappa_score(one, other))
    assert found.same == pytest.approx(np.mean(one == other))
    assert found.low < found.value < found.high


def test_who_always_say_the_same_have_no_kappa():
    (found,) = agreements({"batch": [{"a": "keep", "b": "keep"}] * 10})
    assert np.isnan(found.value)
    assert found.low is None


def test_batches_and_all_of_them():
    batch = [{"a": "x", "b": "x"}, {"a": "y", "b": "y"}]
    assert [each.batch for each in agreements({"two": batch, "one": batch, "alone": [{"a": "x"}]})] == [
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
    found = {each.reader: each for each in one_against_others({"batch": batch})}
    apart = [name for name, each in found.items() if each.high < min(o.low for n, o in found.items() if n != name)]
    assert apart == ([careless] if careless else [])
