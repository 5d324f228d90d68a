"""The patches: nothing leaks, only looking helps, and swapped images take that help away."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Picture

from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.building.sources import patches as building
from wardround.building.sources.patches import OPTIONS, SOURCES, PatchSource, build_patches, cut_patches
from wardround.candidates.candidate import Candidate, Request
from wardround.candidates.registry import make_candidate
from wardround.cases.images import render
from wardround.cases.set import CaseSet
from wardround.core.canonical import sha256_file
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.parser.choice import parse_choice

BLIND = ("random", "position", "longest", "overlap")
CHANCE = 1 / len(OPTIONS)
LOOKING = Condition()
Scores = NDArray[np.float64]


class Exam:
    """Puts the test split to candidates: real Asks, real images, no run."""

    def __init__(self, cases: CaseSet) -> None:
        candidates = [{"name": provider, "provider": provider} for provider in (*BLIND, "pixels")]
        self.study = Study.model_validate({"name": "patches", "cases": str(cases.folder), "candidates": candidates})
        self.cases = cases
        self.test = [case for case in cases if case.split == "test"]
        self.renderer = Renderer(self.study, cases, Prompts(), sha256_file)
        self.loop = asyncio.new_event_loop()
        self._scores: dict[tuple[str, Condition], Scores] = {}
        self.candidates: dict[str, Candidate] = {}
        for settings in self.study.candidates:
            candidate = self.candidates[settings.name] = make_candidate(settings)
            self.loop.run_until_complete(candidate.prepare(cases))

    def scores(self, name: str, condition: Condition = LOOKING) -> Scores:
        """1 for each right answer, 0 for each wrong one."""
        if (name, condition) not in self._scores:
            scores = [self._right(self.candidates[name], case, condition) for case in self.test]
            self._scores[name, condition] = np.array(scores, dtype=float)
        return self._scores[name, condition]

    def _right(self, candidate: Candidate, case: Case, condition: Condition) -> bool:
        question = case.questions[0]
        rendered = self.renderer.render(case, question, condition, candidate.settings, candidate.identity, trial=0)
        images = tuple(render(part.path, part.frame, part.recipe) for part in rendered.ask.images)
        assert bool(images) == (candidate.settings.sees and condition.images != "none")
        request = Request(rendered.ask, case, question, condition, rendered.order, (0,), 0, images)
        (answer,) = self.loop.run_until_complete(candidate.answer(request)).answers
        return parse_choice(answer.text, question.choices).option == question.gold

    def interval(self, values: Scores) -> tuple[float, float]:
        """95% bootstrap interval of the mean, drawn by block of the source image."""
        clusters = sorted({case.cluster_id for case in self.test})
        of_case = np.array([clusters.index(case.cluster_id) for case in self.test])
        sums, sizes = np.bincount(of_case, values), np.bincount(of_case)
        drawn = np.random.default_rng(0).integers(len(clusters), size=(4000, len(clusters)))
        low, high = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), (0.025, 0.975))
        return float(low), float(high)


@pytest.fixture(scope="module")
def patches(tmp_path_factory: pytest.TempPathFactory) -> CaseSet:
    folder = tmp_path_factory.mktemp("patches")
    build_patches(folder)
    return CaseSet.open(folder, strict=True)


@pytest.fixture(scope="module")
def exam(patches: CaseSet) -> Exam:
    return Exam(patches)


def examination(case: Case) -> str:
    question = case.questions[0]
    assert isinstance(question.gold, int)
    return question.choices[question.gold]


def test_the_set_is_balanced_and_only_pixels_help(patches: CaseSet) -> None:
    cases = list(patches)
    for split, count in (("train", 12), ("test", 24)):
        chosen = [case for case in cases if case.split == split]
        assert Counter(examination(case) for case in chosen) == dict.fromkeys(OPTIONS, count)
        assert Counter(case.questions[0].gold for case in chosen) == dict.fromkeys(range(len(OPTIONS)), count)
    assert {image.modality for case in cases for image in case.images} == {"patch"}
    assert len({case.questions[0].prompt for case in cases}) == 1
    assert {tuple(sorted(case.questions[0].choices)) for case in cases} == {tuple(sorted(OPTIONS))}
    files = [Picture.open(patches.image_path(case.images[0])) for case in cases]
    assert {(file.size, file.mode) for file in files} == {((96, 96), "RGB")}


def test_patches_stay_inside_blocks_that_no_other_split_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def chequered(source: PatchSource) -> NDArray[np.uint8]:
        """Every block has a colour of its own, and blue margins."""
        place = np.arange(8 * source.block)
        colours = (40 + 20 * (place // source.block)).astype(np.uint8)
        edge = (place % source.block < 4) | (place % source.block >= source.block - 4)
        image = np.zeros((len(place), len(place), 3), np.uint8)
        image[..., 0], image[..., 1] = colours[:, None], colours[None, :]
        image[..., 2] = 255 * (edge[:, None] | edge[None, :])
        return image

    monkeypatch.setattr(building, "load_source", chequered)
    for source in SOURCES:
        colours: dict[str, set[tuple[int, ...]]] = {"train": set(), "test": set()}
        clusters = {}
        for patch in cut_patches(source, random.Random(3)):
            assert (patch.pixels == patch.pixels[0, 0]).all()
            colour = tuple(patch.pixels[0, 0].tolist())
            assert colour[2] == 0
            colours[patch.split].add(colour)
            assert clusters.setdefault(patch.cluster, colour) == colour
        assert len(set(clusters.values())) == len(clusters) == 18
        assert not colours["train"] & colours["test"]


def test_clusters_do_not_cross_splits(patches: CaseSet) -> None:
    of_split = {split: {c.cluster_id for c in patches if c.split == split} for split in ("train", "test")}
    assert {split: len(clusters) for split, clusters in of_split.items()} == {"train": 30, "test": 60}
    assert not of_split["train"] & of_split["test"]


def test_the_same_seed_builds_the_same_set(patches: CaseSet, tmp_path: Path) -> None:
    build_patches(tmp_path / "again")
    build_patches(tmp_path / "other", seed=1)
    assert CaseSet.open(tmp_path / "again").hash == patches.hash != CaseSet.open(tmp_path / "other").hash
    for case in patches:
        path = case.images[0].path
        assert (tmp_path / "again" / path).read_bytes() == (patches.folder / path).read_bytes()


@pytest.mark.parametrize("blind", BLIND)
def test_baselines_are_at_chance_and_pixels_beats_them(exam: Exam, blind: str) -> None:
    low, high = exam.interval(exam.scores(blind))
    assert low <= CHANCE <= high
    low, high = exam.interval(exam.scores("pixels") - exam.scores(blind))
    assert low > 0


def test_swapped_images_bring_pixels_down_to_chance(exam: Exam) -> None:
    """A swapped image is that of any other block: in one of about five cases of the same examination."""
    swapped = Condition(images="swapped")
    low, high = exam.interval(exam.scores("pixels", swapped))
    assert low <= CHANCE <= high
    low, high = exam.interval(exam.scores("pixels") - exam.scores("pixels", swapped))
    assert low > 0.3


def test_what_is_right_with_swapped_images_is_right_by_the_other_image(exam: Exam) -> None:
    swapped = Condition(images="swapped")
    same = [
        examination(exam.renderer.images(case, case.questions[0], swapped)[0][0]) == examination(case)
        for case in exam.test
    ]
    scores = exam.scores("pixels", swapped)
    assert scores[np.array(same)].mean() > 0.8
    assert scores[~np.array(same)].mean() < 0.1


@pytest.mark.parametrize("images", ["blank", "none"])
def test_without_images_pixels_is_at_chance(exam: Exam, images: str) -> None:
    low, high = exam.interval(exam.scores("pixels", Condition(images=images)))
    assert low <= CHANCE <= high
