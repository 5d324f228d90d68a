"""Pace: learns from refusals, and is not fooled by faults that have nothing to do with load."""

from __future__ import annotations

import random

import pytest

from wardround.running.pace import Pace


def calls(pace: Pace, count: int, share: float, rng: random.Random) -> list[int]:
    """So many calls of which a share faults; the limits on the way."""
    limits = []
    for _ in range(count):
        if rng.random() < share:
            pace.faulted()
        else:
            pace.succeeded(0.1)
        limits.append(pace.limit)
    return limits


def test_it_doubles_while_all_is_well_up_to_the_most():
    limits = calls(Pace(100), 2000, 0.0, random.Random(0))
    assert sorted(set(limits)) == [4, 8, 16, 32, 64, 100]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_faults_that_do_not_depend_on_load_do_not_keep_it_low(share, seed):
    pace = Pace(64)
    limits = calls(pace, 8000, share, random.Random(seed))
    assert sum(limits[4000:]) / 4000 > 16


@pytest.mark.parametrize("capacity", [1, 3, 8, 20])
def test_it_settles_at_what_a_server_takes(capacity):
    """A server that refuses what is above its capacity, as many of every window as are too many."""
    pace = Pace(64)
    limits = []
    for _ in range(400):
        limit = pace.limit
        for place in range(limit):
            (pace.succeeded(0.1) if place < capacity else pace.faulted())
        limits.append(pace.limit)
    late = limits[200:]
    assert sum(late) / len(late) == pytest.approx(capacity, abs=1)


def test_after_a_server_was_down_it_starts_with_one_and_grows_again():
    pace = Pace(64)
    calls(pace, 500, 0.0, random.Random(0))
    pace.narrow()
    assert pace.limit == 1
    assert max(calls(pace, 500, 0.0, random.Random(0))) == 64


def test_a_slot_stays_closed_for_about_a_call_after_a_fault():
    pace = Pace(8)
    for _ in range(200):
        pace.succeeded(0.4)
    assert pace.hold == pytest.approx(0.4, abs=0.01)
    for _ in range(200):
        pace.succeeded(30.0)
    assert pace.hold == 1.0
