"""Worker processes: results in order, and a crash costs only its own job."""

import os

from wardround.degrade.workers import map_in_order


def doubled(number: int) -> int:
    if number == 3:
        os._exit(9)
    return 2 * number


def threads(_: int) -> str | None:
    return os.environ.get("OMP_NUM_THREADS")


def test_results_come_in_order_and_a_crash_is_none():
    results = list(map_in_order(doubled, range(6), workers=2))
    assert results == [(0, 0), (1, 2), (2, 4), (3, None), (4, 8), (5, 10)]


def test_each_process_has_one_thread_and_the_parent_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert list(map_in_order(threads, [0], workers=1)) == [(0, "1")]
    assert os.environ["OMP_NUM_THREADS"] == "7"
