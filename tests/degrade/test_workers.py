"""Worker processes: results in order, and a crash costs only its own job."""

import os

import pytest
from plain_jobs import die_often, doubled, threads

from wardround.degrade.workers import JOBS_PER_WORKER, map_in_order

pytestmark = pytest.mark.usefixtures("own_workers")


def test_several_crashes_cost_only_their_own_jobs():
    results = list(map_in_order(die_often, range(30), workers=2))
    assert results == [(number, None if number % 7 == 5 else number) for number in range(30)]


def test_jobs_are_taken_as_the_workers_need_them():
    taken = []
    jobs = (taken.append(number) or number for number in range(10_000))
    results = map_in_order(abs, jobs, workers=1)
    for number in range(3):
        assert next(results) == (number, number)
    results.close()
    assert len(taken) == JOBS_PER_WORKER + 2  # one for each result but the last, which is still being used


def test_results_come_in_order_and_a_crash_is_none():
    results = list(map_in_order(doubled, range(6), workers=2))
    assert results == [(0, 0), (1, 2), (2, 4), (3, None), (4, 8), (5, 10)]


def test_each_process_has_one_thread_and_the_parent_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert list(map_in_order(threads, [0], workers=1)) == [(0, "1")]
    assert os.environ["OMP_NUM_THREADS"] == "7"
