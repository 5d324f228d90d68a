"""Rare garbage collection leaves the collector as it was, and still frees cycles."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from wardround.cases import rare_collection as garbage
from wardround.cases.rare_collection import rare_collection


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as Python starts it, whatever other tests did to it."""
    before, was_enabled = gc.get_threshold(), gc.isenabled()
    gc.enable()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    if not was_enabled:
        gc.disable()


class Node:
    """Something that can refer to itself."""

    own: Node


def test_the_collector_is_as_before_even_after_an_error() -> None:
    before = gc.get_threshold()
    thresholds: list[int] = []

    def fail() -> None:
        with rare_collection():
            thresholds.append(gc.get_threshold()[0])
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert thresholds == [garbage.NEW_OBJECTS]
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_a_collector_that_is_turned_off_stays_off() -> None:
    gc.set_threshold(0)
    with rare_collection():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_cycles_of_the_block_are_freed_in_it_and_after_it() -> None:
    gc.collect(1)  # the count of new objects begins here
    with rare_collection(new_objects=1000):
        node = Node()
        node.own = node
        inside = weakref.ref(node)
        del node
        kept = [[] for _ in range(5000)]
        assert inside() is None
        node = Node()
        node.own = node
        left = weakref.ref(node)
        del node
    assert len(kept) == 5000
    gc.collect()
    assert left() is None
