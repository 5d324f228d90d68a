"""Endpoints in a whole run: checked before it, frozen, decided after it, in the report and the closing lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from exam_study import case, write_cases

import wardround as wr
from wardround.cli.output import run_record
from wardround.core.errors import WardroundError

ENDPOINTS = {
    "enough": {"measure": "accuracy", "threshold": 0.6, "primary": True},
    "not worse": {
        "measure": "accuracy",
        "test": "non-inferiority",
        "against": "weak",
        "margin": 0.05,
        "groups": ["sex"],
    },
}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> wr.Study:
    write_cases(tmp_path / "cases", [case(n, patient={"sex": "FM"[n % 2], "age": 40}) for n in range(60)])
    monkeypatch.chdir(tmp_path)
    bodies = {"able": {"accuracy": 0.95, "seed": 1}, "weak": {"accuracy": 0.4, "seed": 2}}
    candidates = [wr.Candidate(name=name, provider="simulated", extra_body=body) for name, body in bodies.items()]
    return wr.Study(name="first", cases="cases", candidates=candidates, acceptance=ENDPOINTS)


def test_a_run_says_who_passes(study: wr.Study) -> None:
    run = wr.run(study, quiet=True, note=lambda line: None)
    table = run.acceptance
    verdicts = table.filter(candidate="able", slice="{}").select("endpoint", "verdict").rows()
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    section = re.search(r'<section id="acceptance".*?</section>', page, re.DOTALL)

    assert verdicts == [("enough", "pass"), ("not worse", "pass")]
    assert table.filter(endpoint="not worse")["slice"].to_list() == ["{}", '{"sex":"F"}', '{"sex":"M"}']
    assert page.index('<section id="acceptance"') < page.index('<section id="scores"')
    assert section is not None
    for line in table.iter_rows(named=True):
        assert f">{100 * line['value']:.1f}<".replace("-", "\N{MINUS SIGN}") in section[0]
        assert line["verdict"] in section[0]
    assert (
        "Non-inferiority: Accuracy minus that of weak must be above \N{MINUS SIGN}5.0; in every group by sex, too."
        in section[0]
    )
    assert section[0].count("neither the score test nor the sign-flip test") == 1  # of the endpoint with a margin
    closing = run_record(run.folder, run.manifest)["closing"]
    assert closing[0].startswith("acceptance (enough, primary): able pass, weak ")
    assert closing[1] == "acceptance (not worse): able pass"


def test_an_endpoint_is_bound_and_frozen_like_comparisons(study: wr.Study) -> None:
    frozen = wr.check(study, freeze=True, note=lambda line: None).summary["frozen"]
    wr.run(study, quiet=True, note=lambda line: None)
    lenient = ENDPOINTS["enough"] | {"threshold": 0.1}
    changed = study.model_copy(
        update={"acceptance": study.acceptance | {"enough": type(study.acceptance["enough"])(**lenient)}}
    )

    assert set(frozen) == {"study", "cases", "comparisons", "acceptance"}
    with pytest.raises(WardroundError, match="another version of this study"):
        wr.run(changed, quiet=True, note=lambda line: None)
    amended = wr.run(changed, amend=True, quiet=True, note=lambda line: None)
    assert {"study", "acceptance"} <= set(amended.manifest["exploratory"])


def test_an_endpoint_that_cannot_be_decided_stops_check_and_run(study: wr.Study) -> None:
    endpoint = type(study.acceptance["enough"])(measure="accuracy", against="stronger")
    wrong = study.model_copy(update={"acceptance": {"e": endpoint}})

    for command in (wr.check, wr.run):
        with pytest.raises(WardroundError, match=r"acceptance\.e: against = 'stronger'"):
            command(wrong)


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ({"measure": "hit@1", "threshold": 0.5}, "nothing is asked that hit@1 measures; it needs open questions"),
        ({"measure": "ece", "threshold": 0.1}, 'it needs choice questions and confidence = "verbal", or '),
        ({"measure": "ece", "threshold": 0.1}, ", or several trials"),
        ({"measure": "harm", "threshold": 0.1}, "it needs choice questions and questions with an importance"),
        (
            {"measure": "accuracy", "threshold": 0.5, "groups": ["specialty"]},
            "no case that is asked states 'specialty'",
        ),
        ({"measure": "accuracy", "threshold": 0.5, "groups": ["tag"]}, "the group tag = 'rare' has 3 clusters"),
    ],
)
def test_an_endpoint_that_the_cases_cannot_decide_stops_check_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: dict[str, Any], problem: str
) -> None:
    write_cases(tmp_path / "cases", [case(n, tags=["rare"] if n < 3 else ["common"]) for n in range(12)])
    monkeypatch.chdir(tmp_path)
    candidate = wr.Candidate(name="able", provider="simulated", extra_body={"accuracy": 0.9})
    study = wr.Study(name="first", cases="cases", candidates=[candidate], acceptance={"e": endpoint})

    for command in (wr.check, wr.run):
        with pytest.raises(WardroundError, match=r"acceptance\.e: ") as refusal:
            command(study)
        assert problem in str(refusal.value)
    assert not (tmp_path / "answers.sqlite").exists()


def test_a_study_without_endpoints_has_no_section_and_no_file(study: wr.Study) -> None:
    run = wr.run(study.model_copy(update={"acceptance": {}, "name": "plain"}), quiet=True, note=lambda line: None)

    assert not (run.folder / "acceptance.csv").exists()
    assert '<section id="acceptance"' not in (run.folder / "report.html").read_text(encoding="utf-8")
    assert run_record(run.folder, run.manifest)["closing"] == []
