"""The sentences of a summary: each planted truth is claimed, and nothing is claimed where there is nothing to find."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom
from summary_worlds import STAGES, null_run, planted_run

from wardround.core.errors import WardroundError
from wardround.reporting.summary.claims import SummaryClaim, claims
from wardround.reporting.summary.figures import ALPHA, leaders, summary_figures
from wardround.reporting.summary.printing import write_summary
from wardround.reporting.summary.summary import as_markdown, summarise

World = tuple[dict[str, dict[str, Any]], dict[str, Any], list[tuple[str, str, str]]]
FULL = {"conditions": {"images": ["as-is", "swapped", "none"]}}
STATED = {"conditions": {"confidence": "verbal"}}
NOISE = {"conditions": {"degradation": ["none", "gaussian_noise@L1", "gaussian_noise@L2"]}}
# in each world: the candidates, the rest of the study, and (candidate, kind, finding) that must be claimed
WORLDS: dict[str, World] = {
    "one is good, one guesses": (
        {"good": {"accuracy": 0.8}, "guess": {"accuracy": 0.25, "mode": "independent"}},
        {},
        [("good", "chance", "above guessing"), ("good", "others", "none better shown"), ("guess", "others", "beaten")],
    ),
    "one is below guessing": (
        {"inverted": {"accuracy": 0.05}},
        {},
        [("inverted", "chance", "below guessing")],
    ),
    "one looks at the images": (
        {"looks": {"accuracy": 0.8, "by": [{"when": {"images": v}, "accuracy": 0.3} for v in ("swapped", "none")]}},
        FULL,
        [("looks", "images", "looks at the images")],
    ),
    "any image will do": (
        {"any": {"accuracy": 0.8, "by": [{"when": {"images": "none"}, "accuracy": 0.4}]}},
        FULL,
        [("any", "images", "any image will do")],
    ),
    "its images mislead it": (
        {"misled": {"accuracy": 0.4, "by": [{"when": {"images": "none"}, "accuracy": 0.8}]}},
        FULL,
        [("misled", "images", "misled by images")],
    ),
    "one leans on the options": (
        {"leans": {"accuracy": 0.6}, "reads": {"accuracy": 0.6, "seed": 3, "mode": "independent",
                                               "by": [{"when": {"stem": "options-only"}, "accuracy": 0.25}]}},
        {"conditions": {"stem": ["full", "options-only"]}},
        [("leans", "options", "leans on the options")],
    ),
    "noise breaks one": (
        {"fragile": {"accuracy": 0.8, "by": [{"when": {"severity": "L2"}, "accuracy": 0.5}]},
         "robust": {"accuracy": 0.8, "seed": 2}},
        NOISE,
        [("fragile", "degradation", "breaks: gaussian noise L2")],
    ),
    "one is worse in rare cases": (
        {"common": {"accuracy": 0.85, "by": [{"when": {"tag": "rare"}, "accuracy": 0.4}]}},
        {},
        [("common", "group", "breaks: tag rare")],
    ),
    "one is worse at a stage": (
        {"staged": {"accuracy": 0.9, "by": [{"when": {"stage": "DD"}, "accuracy": 0.5}]}},
        {"questions": list(STAGES)},
        [("staged", "stage", "breaks: stage DD")],
    ),
    "one is overconfident": (
        {"boastful": {"accuracy": 0.6, "confidence": 0.95, "mode": "independent"}},
        STATED,
        [("boastful", "confidence", "overconfident")],
    ),
    "one is underconfident": (
        {"modest": {"accuracy": 0.9, "confidence": 0.6, "mode": "independent"}},
        STATED,
        [("modest", "confidence", "underconfident")],
    ),
    "the confidence of one is of use": (
        {"discerning": {"accuracy": 0.6, "confidence": {"right": 0.7, "wrong": 0.45}, "mode": "independent"}},
        STATED,
        [("discerning", "confidence", "confidence is of use")],
    ),
}  # fmt: skip
# what is false in these worlds, and so must not be claimed; chance allows one in twenty, which the null worlds count:
# these respondents have seeds at which it does not happen
COUNTER = {
    "one leans on the options": [("reads", "options")],
    "noise breaks one": [("robust", "degradation")],
    "one is good, one guesses": [("guess", "chance")],
    "one is overconfident": [("boastful", "images")],
}


FAST = ("one is good, one guesses", "one looks at the images", "one is worse in rare cases", "one is overconfident")


@pytest.mark.parametrize(
    "world", [pytest.param(world, marks=[] if world in FAST else [pytest.mark.slow]) for world in WORLDS]
)
def test_a_planted_truth_is_claimed(world: str, tmp_path: Path) -> None:
    candidates, study, expected = WORLDS[world]
    run = planted_run(tmp_path, candidates, **study)
    figures = summary_figures(run)
    assert figures is not None

    made = {(name, claim.kind): claim for name in candidates for claim in claims(run, figures, name)}

    assert [(name, kind, made[name, kind].finding, made[name, kind].is_shown) for name, kind, _ in expected] == [
        (*claim, True) for claim in expected
    ]
    assert not any(made[key].is_shown for key in COUNTER.get(world, []) if key in made)


def test_sentences_carry_the_figures_of_the_tables(tmp_path: Path) -> None:
    candidates, study, _ = WORLDS["noise breaks one"]
    run = planted_run(tmp_path, candidates, **study)

    markdown = as_markdown(summarise(run))  # type: ignore[arg-type]

    line = run.find_line("accuracy", "fragile", {})
    degraded = run.find_line("accuracy", "fragile", {"degradation": "gaussian_noise@L2"})
    assert line is not None
    assert degraded is not None
    assert (
        f"Right in {100 * line.value:.1f}% of its answers ({100 * line.low:.1f} to {100 * line.high:.1f})" in markdown
    )
    assert f"gaussian noise L2: {100 * (line.value - degraded.value):.1f} points less" in markdown
    assert "All candidates are simulated respondents" in markdown


def false_claims(folder: Path, seeds: range) -> Counter[str]:
    """In how many null worlds a kind of claim is made of any candidate."""
    worlds: Counter[str] = Counter()
    for seed in seeds:
        run = null_run(folder / str(seed), seed)
        figures = summary_figures(run)
        assert figures is not None
        made: list[SummaryClaim] = [claim for name in ("a", "b", "c") for claim in claims(run, figures, name)]
        assert {"chance", "others", "images", "options", "degradation", "group", "stage", "confidence"} <= {
            claim.kind for claim in made
        }
        worlds.update({claim.kind for claim in made if claim.is_shown})
    return worlds


def test_few_null_worlds_have_a_false_claim(tmp_path: Path) -> None:
    assert max(false_claims(tmp_path, range(4)).values(), default=0) <= binom.ppf(0.9999, 4, ALPHA)


@pytest.mark.slow
def test_200_null_worlds_have_no_more_false_claims_of_a_kind_than_stated(tmp_path: Path) -> None:
    """At a true rate of 5% more than 20 of 200 worlds have a probability of 0.001."""
    worlds = false_claims(tmp_path, range(100, 300))

    assert {kind: count for kind, count in worlds.items() if count > binom.ppf(0.999, 200, ALPHA)} == {}


def test_leaders_are_those_that_none_beats(tmp_path: Path) -> None:
    candidates = {"first": {"accuracy": 0.85}, "second": {"accuracy": 0.84, "seed": 1}, "last": {"accuracy": 0.3}}
    run = planted_run(tmp_path, candidates)
    figures = summary_figures(run)
    assert figures is not None

    assert set(leaders(figures)) == {"first", "second"}
    assert "lead: none is shown to be better than any of them. The other is shown" in summarise(run).answer  # type: ignore[union-attr]


def test_the_summary_is_written_as_markdown_and_refuses_another_suffix(tmp_path: Path) -> None:
    run = planted_run(tmp_path, {"good": {"accuracy": 0.8}})

    assert write_summary(run.folder, tmp_path / "s.md").read_text(encoding="utf-8").startswith("# world: summary")
    with pytest.raises(WardroundError, match=r"expected a name that ends in \.pdf, \.md, \.html"):
        write_summary(run.folder, tmp_path / "s.docx")


def test_without_a_browser_a_pdf_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planted_run(tmp_path, {"good": {"accuracy": 0.8}})
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(WardroundError, match="a PDF needs Chromium or Chrome, and none is on the path"):
        write_summary(run.folder, tmp_path / "s.pdf")


def test_acceptance_verdicts_are_in_the_summary(tmp_path: Path) -> None:
    endpoints = {
        "safe": {"measure": "accuracy", "threshold": 0.6},
        "perfect": {"measure": "accuracy", "threshold": 0.99},
    }
    run = planted_run(tmp_path, {"good": {"accuracy": 0.8}}, acceptance=endpoints)

    summary = summarise(run)

    assert summary is not None
    decided = {verdict.endpoint: verdict.verdict for verdict in summary.candidates[0].verdicts}
    manifest = json.loads((run.folder / "manifest.json").read_text())
    stored = {entry["name"]: entry["candidates"][0]["verdict"] for entry in manifest["acceptance"]}
    assert decided == stored == {"safe": "pass", "perfect": "fail"}
