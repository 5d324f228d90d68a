"""Pace: learns from refusals, and is not fooled by faults that have nothing to do with load."""

from __future__ import annotations

import random

import pytest

from wardround.running.pacing.busy import BusyTime
from wardround.running.pacing.concurrency import Pace


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


def test_without_faults_the_limit_doubles_up_to_the_concurrency():
    limits = calls(Pace(100), 2000, 0.0, random.Random(0))
    assert sorted(set(limits)) == [4, 8, 16, 32, 64, 100]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.03, 0.1, 0.3, 0.6])
def test_faults_that_do_not_depend_on_load_do_not_keep_the_limit_low(share, seed):
    pace = Pace(64)
    limits = calls(pace, 8000, share, random.Random(seed))
    assert sum(limits[4000:]) / 4000 > 32


@pytest.mark.parametrize("capacity", [1, 3, 8, 20])
def test_the_limit_converges_to_the_capacity_of_the_server(capacity):
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


@pytest.mark.parametrize("seed", range(20))
def test_random_successes_do_not_raise_the_limit_above_the_capacity(seed):
    """A server that takes 8 on a busy machine: of what is let in, not all is there at once, so that more than 8
    often goes well for a while."""
    rng, pace, refused, asked = random.Random(seed), Pace(64), 0, 0
    while asked < 1400:
        busy_machine = rng.random() < 0.5
        for _ in range(pace.limit):
            there = sum(rng.random() > 0.3 * busy_machine for _ in range(pace.limit - 1))
            fault = there >= 8 and rng.random() < 1.2 * (pace.limit - 8) / pace.limit
            (pace.faulted() if fault else pace.succeeded(0.1))
            asked += 1
            refused += fault and asked > 200
    assert refused < 0.04 * (asked - 200)


def test_the_limit_follows_a_capacity_that_grows():
    pace = Pace(64)
    for capacity, windows in ((8, 200), (64, 300)):
        for _ in range(windows):
            for place in range(pace.limit):
                (pace.succeeded(0.1) if place < capacity else pace.faulted())
        assert pace.limit == pytest.approx(capacity, abs=1)


def test_after_an_outage_the_limit_starts_at_one_and_grows_again():
    pace = Pace(64)
    calls(pace, 500, 0.0, random.Random(0))
    pace.narrow()
    assert pace.limit == 1
    assert max(calls(pace, 500, 0.0, random.Random(0))) == 64


def test_a_slot_stays_closed_for_about_one_call_after_a_fault():
    pace = Pace(8)
    for _ in range(200):
        pace.succeeded(0.4)
    assert pace.pause_seconds == pytest.approx(0.4, abs=0.01)
    for _ in range(200):
        pace.succeeded(30.0)
    assert pace.pause_seconds == 1.0


def test_calls_that_overlap_count_once() -> None:
    """One call from 0 to 4 s, another from 1 to 6 s, a third from 9 to 10 s: 7 s."""
    times = iter([0.0, 6.0, 9.0, 10.0])
    busy = BusyTime(clock=lambda: next(times))
    first, second = busy.during_call(), busy.during_call()

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    with busy.during_call():
        pass

    assert busy.seconds == 7.0
