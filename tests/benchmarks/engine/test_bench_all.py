"""`wardround bench all`: what a case set supports is run, and of the rest it is said what they lack."""

import json

import pytest
from bench_cases import cure_cases, write, xpcr_cases

from wardround.benchmarks.engine.bench_all import bench_all
from wardround.benchmarks.engine.inventory import SetInventory
from wardround.benchmarks.engine.named_study import named_studies
from wardround.benchmarks.engine.requirements import missing_requirement
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError

SIMULATED = [{"name": "one", "provider": "simulated"}]


def held(folder) -> SetInventory:
    return SetInventory.from_cases(CaseSet.open(folder))


def test_every_study_is_either_run_or_has_its_reason(tmp_path):
    every = bench_all(
        cases=cure_cases(tmp_path, 8), candidates=SIMULATED, runs=tmp_path / "runs", note=lambda text: None
    )
    ran = {each.name for each in every.results}
    assert ran | set(every.left_out) == set(named_studies())
    assert not ran & set(every.left_out)
    assert {"cure/table2", "cure/composition", "xpcr/composition"} <= ran
    assert every.left_out["cure/table1"] == "no --index is given"
    assert every.left_out["xpcr/table2"] == "no question belongs to a chain"
    assert every.left_out["medq-deg/table2"] == "no question has a degradation"
    assert every.exit_code == 0
    assert json.dumps(every.to_dict())


@pytest.mark.parametrize(
    ("study", "given", "why"),
    [
        ("xpcr/table2", {}, None),
        ("cure/table1", {"has_index": True}, "no case has references"),
        ("clinbench/table4", {}, "no case has a telling 'multimodal'"),
        ("medq-deg/dose-response", {}, "no --type is given"),
        ("medq-deg/dose-response", {"has_type": True}, None),
    ],
)
def test_what_a_set_of_chains_supports(tmp_path, study, given, why):
    assert missing_requirement(named_studies()[study].definition, held(xpcr_cases(tmp_path)), **given) == why


def test_a_set_without_images_or_choices(tmp_path):
    question = {"id": "open", "kind": "open", "prompt": "What is it?", "gold": "gout"}
    cases = held(write(tmp_path, [{"id": "one", "history": "Told.", "questions": [question]}]))
    assert missing_requirement(named_studies()["medq-deg/fig5a"].definition, cases) == "no case has an image"
    assert (
        missing_requirement(named_studies()["medq-deg/dose-response"].definition, cases, has_type=True)
        == "there are no choice questions"
    )
    assert missing_requirement(named_studies()["cure/table2"].definition, cases) == "no case has images"


def test_cases_without_images_are_told_in_text(tmp_path):
    question = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": ["gout", "flu"], "gold": 0}
    cases = held(write(tmp_path, [{"id": "one", "history": "Told.", "tags": ["rare"], "questions": [question]}]))
    assert missing_requirement(named_studies()["clinbench/table5"].definition, cases) is None
    assert (
        missing_requirement(named_studies()["clinbench/telling"].definition, cases)
        == "no case has a telling 'multimodal'"
    )


def test_it_needs_a_candidate(tmp_path):
    with pytest.raises(WardroundError, match="need a candidate"):
        bench_all(cases=cure_cases(tmp_path), candidates=[])
