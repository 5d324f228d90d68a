"""The same bytes from any process, in any order, whether its kernels are compiled now or were before."""

import hashlib
import os
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import golden_images as golden
import numpy as np
import pytest

from wardround.degrade import TYPES, degrade, load_profile
from wardround.degrade.types import WITHOUT_CHANCE
from wardround.degrade.workers import map_in_order

JOBS = [(type, level) for type in TYPES for level in ("L1", "L2")]


def digest(job: tuple[str, str]) -> str:
    """Of one render, wherever this is called."""
    type, level = job
    return hashlib.sha256(degrade(golden.scene(type), type, level).tobytes()).hexdigest()


@pytest.fixture(scope="module")
def digests() -> dict[tuple[str, str], str]:
    return {job: digest(job) for job in JOBS}


@pytest.mark.parametrize("type", TYPES)
def test_a_type_without_chance_needs_no_random_numbers(type):
    """The others do: they ask for some and fail."""
    function = getattr(import_module(f"wardround.degrade.types.{type}"), type)
    values = (golden.scene(type) / np.float32(255)).astype(np.float32)
    chance = nullcontext() if type in WITHOUT_CHANCE else pytest.raises(AttributeError)
    with chance:
        function(values, load_profile("clinical-1").at(type, 1.0), None)


def test_every_render_is_different(digests):
    assert len(set(digests.values())) == len(JOBS)


@pytest.mark.parametrize("workers", [2, pytest.param(1, marks=pytest.mark.slow)])
def test_workers_give_the_same_bytes_in_any_order(digests, workers):
    assert dict(map_in_order(digest, JOBS[::-1], workers)) == digests


KERNELS = ("sparse_view", "motion_blur", "object_rotation", "bubble")  # between them they use every one


@pytest.mark.parametrize(
    ("cache", "types"),
    [(None, TYPES), pytest.param("cold", KERNELS, marks=pytest.mark.slow)],
    ids=["compiled before", "compiled now"],
)
def test_a_fresh_process_gives_the_same_bytes(digests, tmp_path, cache, types):
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": str(tmp_path / cache)} if cache else {})}
    jobs = [job for job in JOBS if job[0] in types]
    program = f"import test_determinism as t; print(*(t.digest(job) for job in {jobs[::-1]!r}))"
    output = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output.split() == [digests[job] for job in jobs[::-1]]
    assert cache is None or len(list((tmp_path / cache).rglob("*.nbc"))) >= len(KERNELS)
