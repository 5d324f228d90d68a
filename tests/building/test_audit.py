"""The audit finds every planted leak and shortcut, and is silent on the clean twin."""

from __future__ import annotations

import json

import pytest
from building.audit_set import PLANTS, SHORTCUT_PLANTS, clean_cases, gold, write_clean
from exam_study import write_cases

from wardround.building.audit.audit import audit
from wardround.building.audit.finding import KINDS
from wardround.building.audit.shortcuts import shortcuts
from wardround.cli.main import main
from wardround.core.case import Case
from wardround.core.errors import BadInput


def test_every_kind_has_a_plant():
    assert {kind for kind, *_ in PLANTS.values()} == set(KINDS) - {"shortcut", "bad_case"}


def test_a_clean_set_is_silent_and_each_plant_in_its_twin_is_found(tmp_path):
    write_clean(tmp_path / "clean", clean_cases())
    cases = write_clean(tmp_path / "planted", clean_cases())
    for _, _, number, plant in PLANTS.values():
        plant(tmp_path / "planted", cases[number], cases)
    write_cases(tmp_path / "planted", cases)
    with (tmp_path / "planted" / "cases.jsonl").open("a") as file:
        file.write("{broken\n")
    clean = audit(tmp_path / "clean", workers=1)
    assert clean.findings == []
    assert [each.flagged for each in clean.shortcuts] == [False] * 6
    expected = {(kind, severity, cases[number]["id"]) for kind, severity, number, _ in PLANTS.values()}
    found = audit(tmp_path / "planted", tmp_path / "audit", workers=1)
    assert {(each.kind, each.severity, each.case) for each in found.findings} == expected | {
        ("bad_case", "error", None)
    }
    assert found.errors + found.warnings == len(PLANTS) + 1
    written = [json.loads(line) for line in (tmp_path / "audit" / "findings.jsonl").read_text().splitlines()]
    assert written == [each.told() for each in found.findings]
    assert json.loads((tmp_path / "audit" / "audit.json").read_text()) == found.told()
    page = (tmp_path / "audit" / "audit.html").read_text()
    assert all(each.what.split("'")[0] in page for each in found.findings)
    assert "Musterfrau" not in page + str(written)  # an audit does not spread what it warns of


@pytest.mark.parametrize("name", SHORTCUT_PLANTS)
def test_each_shortcut_is_found(name):
    cases = clean_cases()
    for number, case in enumerate(cases):
        SHORTCUT_PLANTS[name](case, number)
    planted = {each.name: each for each in shortcuts([Case.model_validate(case) for case in cases])}
    clean = {each.name: each for each in shortcuts([Case.model_validate(case) for case in clean_cases()])}
    assert planted[name].flagged
    assert not clean[name].flagged
    assert clean[name].chance == pytest.approx(0.25)


def test_errors_decide_the_exit_code_and_warnings_do_not(tmp_path, monkeypatch, capsys):
    cases = clean_cases(30)
    cases[3]["history"] = cases[4]["history"]
    write_cases(tmp_path / "set", cases)
    assert _exit_code(tmp_path, monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == {"duplicate_text": {"errors": 0, "warnings": 1}}
    cases[7]["history"] += f" It is {gold(cases[7])}."
    write_cases(tmp_path / "set", cases)
    assert _exit_code(tmp_path, monkeypatch) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["errors"], told["warnings"]) == (1, 1)
    names = sorted(file.name for file in (tmp_path / "set" / "audit").iterdir())
    assert names == ["audit.html", "audit.json", "croissant.json", "findings.jsonl"]


def _exit_code(folder, monkeypatch) -> int:
    monkeypatch.setattr("sys.argv", ["wardround", "cases", "audit", str(folder / "set"), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_a_table_of_synonyms_is_used(tmp_path, monkeypatch, capsys):
    cases = clean_cases(30)
    cases[2]["history"] += " Called wandering fever by her mother."
    write_cases(tmp_path / "set", cases)
    (tmp_path / "names.csv").write_text(f"name,same_as\n{gold(cases[2])},wandering fever\n")
    called = ["wardround", "cases", "audit", str(tmp_path / "set"), "--synonyms", str(tmp_path / "names.csv")]
    monkeypatch.setattr("sys.argv", called)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "leak_name" in capsys.readouterr().out


def test_a_set_that_is_none_is_said_in_one_line(tmp_path):
    with pytest.raises(BadInput, match="there is no such case set"):
        audit(tmp_path / "nowhere")


def test_the_same_set_gives_the_same_bytes(tmp_path):
    write_cases(tmp_path / "set", clean_cases(40))
    for out in ("one", "two"):
        audit(tmp_path / "set", tmp_path / out, seed=5)
    for name in ("audit.html", "audit.json", "croissant.json", "findings.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
