"""Estimates before a run stand near the bill after it, for servers that bill in different ways."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from billing_server import Bill, by_patches, by_tiles, flat
from exam_server import ExamServer
from exam_study import case, examine, write_cases, write_study
from PIL import Image

from wardround.cases.images.recipe import recipe_for
from wardround.cases.images.render import render
from wardround.cases.images.sent_size import sent_size
from wardround.core.ask import ImagePart
from wardround.core.case import Image as CaseImage
from wardround.preflight import check_study
from wardround.running.closing import closing_lines

SIZES = [(300, 200), (640, 480), (1024, 768), (1500, 1500), (2000, 900), (220, 220)]
PRICES = {"price_in": 2.0, "price_out": 8.0}


def write_mixed_cases(folder: Path, count: int = 30) -> None:
    """Histories from one line to a page; no image, one or two, of six sizes."""
    rng = random.Random(5)
    records = []
    folder.mkdir(parents=True)
    for width, height in SIZES:
        Image.new("L", (width, height), 99).save(folder / f"{width}.png")
    for number in range(count):
        images = [{"path": f"{rng.choice(SIZES)[0]}.png"} for _ in range(number % 3)]
        history = "The patient coughs and has had a fever since Monday. " * rng.randint(1, 40)
        records.append(case(number, history=history, images=images))
    write_cases(folder, records)


def billed_and_estimated(tmp_path: Path, bill: Bill, *, checked: bool, **study: Any) -> tuple[dict, dict, dict]:
    """The manifest's entry, its estimate, and the closing manifest of a run, after a check or without."""
    write_mixed_cases(tmp_path / "cases")
    with ExamServer(replying=bill) as server:
        candidate = PRICES | study.pop("candidate", {})
        file = write_study(tmp_path, server.url, candidate=candidate, sampling={"temperature": 0}, **study)
        if checked:
            result = check_study(file, runs=tmp_path / "runs", note=lambda line: None)
            assert result.ready, result.summary
        manifest = examine(file)
    (entry,) = manifest["candidates"]
    return entry, entry["estimate"], manifest


@pytest.mark.parametrize(
    ("trials", "image_tokens"),
    [
        *((1, by_tiles), (3, by_patches), (1, flat)),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in ((3, by_tiles), (1, by_patches), (3, flat))),
    ],
)
def test_after_a_check_the_estimate_is_within_15_percent_of_the_bill(tmp_path: Path, image_tokens, trials: int) -> None:
    bill = Bill(image_tokens=image_tokens, hidden=25)

    entry, estimate, _ = billed_and_estimated(tmp_path, bill, checked=True, top={"trials": trials})

    assert (entry["tokens_in"], entry["tokens_out"]) == (bill.tokens_in, bill.tokens_out)
    assert estimate["tokens_in"] == pytest.approx(bill.tokens_in, rel=0.15)
    assert estimate["tokens_out"] == pytest.approx(bill.tokens_out, rel=0.15)
    assert estimate["cost"] == pytest.approx(entry["cost"], rel=0.15)


def test_the_prompt_counts_once_for_several_trials_and_for_each_call_of_a_server_that_takes_fewer(
    tmp_path: Path,
) -> None:
    shared = billed_and_estimated(tmp_path / "shared", Bill(), checked=True, top={"trials": 4})[1]
    paired = Bill(max_n=2)

    _, estimate, _ = billed_and_estimated(tmp_path / "pairs", paired, checked=True, top={"trials": 4})

    assert estimate["tokens_in"] == pytest.approx(paired.tokens_in, rel=0.15)
    assert estimate["tokens_in"] > 1.5 * shared["tokens_in"]


def test_without_a_check_prompts_are_estimated_by_rule_and_replies_by_max_tokens(tmp_path: Path) -> None:
    bill = Bill(image_tokens=by_patches)
    write_mixed_cases(tmp_path / "cases")
    with ExamServer(replying=bill) as server:
        file = write_study(tmp_path, server.url, sampling={"temperature": 0, "max_tokens": 700})
        manifest = examine(file)

    (entry,) = manifest["candidates"]
    assert entry["estimate"]["tokens_in"] == pytest.approx(bill.tokens_in, rel=0.15)
    assert entry["estimate"]["tokens_out"] == pytest.approx(30 * 700, rel=0.02)
    assert entry["estimate"]["is_measured"] is False


def test_a_candidate_may_say_what_its_images_take(tmp_path: Path) -> None:
    bill = Bill(image_tokens=flat)

    _, estimate, _ = billed_and_estimated(tmp_path, bill, checked=False, candidate={"tokens_per_image": 258})

    assert estimate["tokens_in"] == pytest.approx(bill.tokens_in, rel=0.15)


def test_tokens_that_a_server_does_not_report_are_estimated_and_labelled(tmp_path: Path) -> None:
    bill = Bill(image_tokens=by_patches, characters=4.0, reports=False)

    entry, estimate, manifest = billed_and_estimated(tmp_path, bill, checked=True)

    assert entry["tokens_estimated"] == entry["calls"] > 0
    assert entry["tokens_in"] == pytest.approx(bill.tokens_in, rel=0.15)
    assert entry["tokens_out"] == pytest.approx(bill.tokens_out, rel=0.15)
    assert estimate["cost"] == pytest.approx(entry["cost"], rel=0.15)
    assert "are our own estimate, because the server reported none" in closing_lines(manifest)[0]


def test_the_estimate_of_the_first_start_is_kept(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 12)
    bill = Bill()
    with ExamServer(replying=bill) as server:
        file = write_study(tmp_path, server.url, budget={"requests": 5})
        first = examine(file)["candidates"][0]
        file = write_study(tmp_path, server.url)
        second = examine(file)["candidates"][0]

    assert second["tokens_in"] > first["tokens_in"]
    assert second["estimate"] == first["estimate"]
    manifest = json.loads((tmp_path / "runs" / "exam" / "manifest.json").read_text())
    assert manifest["candidates"][0]["estimate"] == first["estimate"]


@pytest.mark.parametrize("size", [(3000, 2000), (1536, 1536), (17, 9)])
def test_the_header_gives_the_size_of_the_image_that_is_sent(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.fromarray(np.zeros(size[::-1], np.uint8)).save(tmp_path / "a.png")
    recipe = recipe_for(CaseImage(path="a.png"))

    sent = render(tmp_path / "a.png", None, recipe)

    assert sent_size(ImagePart(str(tmp_path / "a.png"), "", recipe)) == (sent.width, sent.height)


def test_an_image_that_cannot_be_read_does_not_stop_the_estimate(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("no image")

    assert sent_size(ImagePart(str(tmp_path / "a.png"), "", ())) == (1024, 1024)
