"""The gallery says of every simulated respondent what it is."""

from __future__ import annotations

from pathlib import Path

from wardround.gallery import make_gallery
from wardround.reporting import read_run
from wardround.reporting.summary.summary import summarise


def test_the_gallery_finds_every_planted_fault(tmp_path: Path) -> None:
    outcome = make_gallery(tmp_path, note=lambda line: None)

    summary = summarise(read_run(outcome.folder))

    assert summary is not None
    findings = {candidate.name: {claim.finding for claim in candidate.claims} for candidate in summary.candidates}
    assert {"looks at the images", "confidence is of use", "breaks: gaussian noise L2", "breaks: tag rare"} <= findings[
        "good"
    ]
    assert "not shown to look" in findings["blind"]
    assert "overconfident" in findings["overconfident"]
    assert "leans on the options" in findings["leaning on the options"]
    assert all(candidate.is_simulated for candidate in summary.candidates)
    assert "simulated respondents" in (outcome.folder / "report.html").read_text(encoding="utf-8")
