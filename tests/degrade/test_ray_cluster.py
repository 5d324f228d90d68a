"""Jobs on a Ray cluster: the results of worker processes, in the same order, also if workers are killed."""

from __future__ import annotations

import hashlib
import os
import signal
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wardround.degrade.folder import degrade_files
from wardround.degrade.ray_cluster import join_cluster
from wardround.degrade.workers import map_in_order

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'wardround[ray]'")


def square(number: int) -> int:
    return number * number


def square_or_die(job: tuple[int, str]) -> int:
    """The worker of job 5 is killed the first time."""
    number, folder = job
    marker = Path(folder) / "died"
    if number == 5 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def cluster():
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with join_cluster("auto"):
        yield


def test_ray_that_is_missing_is_one_line(monkeypatch):
    monkeypatch.setattr("wardround.degrade.ray_cluster.find_spec", lambda name: None)
    with pytest.raises(Exception, match=r"pip install 'wardround\[ray\]'"), join_cluster("auto"):
        pass


def copies(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@needs_ray
def test_degraded_copies_are_the_same_bytes_as_without(tmp_path):
    generator = np.random.default_rng(0)
    (tmp_path / "images").mkdir()
    for number in range(3):
        pixels = generator.integers(0, 256, (64, 64), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / f"{number}.png")
    options = {"types": ["motion_blur", "gaussian_noise"], "levels": ["L1", "L2"], "modality": "MRI"}
    degrade_files(tmp_path / "images", tmp_path / "without", workers=2, **options)
    with join_cluster("auto"):
        degrade_files(tmp_path / "images", tmp_path / "with", workers=2, **options)
    assert copies(tmp_path / "with") == copies(tmp_path / "without")
    assert len(list((tmp_path / "with").rglob("*.png"))) == 12


@needs_ray
def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    jobs = [(number, str(tmp_path)) for number in range(40)]
    results = [result for _, result in map_in_order(square_or_die, jobs, 2)]
    assert (tmp_path / "died").exists()
    assert results == [square(number) for number in range(40)]


@needs_ray
def test_a_job_that_kills_every_worker_costs_only_itself(cluster):
    assert [result for _, result in map_in_order(always_die, range(4), 2)] == [0, None, 2, 3]
