"""The audit finds every planted leak and shortcut, and nothing in the clean twin."""

from __future__ import annotations

import json
from dataclasses import asdict

import nibabel
import numpy as np
import pytest
from building.audit_set import PLANTS, SHORTCUT_PLANTS, clean_cases, gold, write_clean
from exam_study import write_cases

from wardround.building.audit.audit import audit
from wardround.building.audit.file_text import file_texts
from wardround.building.audit.finding import KINDS
from wardround.building.audit.shortcuts import measure_shortcuts
from wardround.cli.main import main
from wardround.core.case import Case
from wardround.core.errors import BadInput


def test_every_kind_has_a_plant():
    assert {kind for kind, *_ in PLANTS.values()} == set(KINDS) - {"shortcut", "other_question", "bad_case"}


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
    assert [shortcut.flagged for shortcut in clean.shortcuts] == [False] * 6
    expected = {(kind, severity, cases[number]["id"]) for kind, severity, number, _ in PLANTS.values()}
    planted = audit(tmp_path / "planted", tmp_path / "audit", workers=1)
    assert {(finding.kind, finding.severity, finding.case) for finding in planted.findings} == expected | {
        ("bad_case", "error", None)
    }
    assert planted.errors + planted.warnings == len(PLANTS) + 1
    written = [json.loads(line) for line in (tmp_path / "audit" / "findings.jsonl").read_text().splitlines()]
    assert written == [asdict(finding) for finding in planted.findings]
    assert json.loads((tmp_path / "audit" / "audit.json").read_text()) == planted.to_dict()
    page = (tmp_path / "audit" / "audit.html").read_text()
    assert all(finding.what.split("'")[0] in page for finding in planted.findings)
    assert "Musterfrau" not in page + str(written)  # an audit does not repeat what it warns of


@pytest.mark.parametrize("name", SHORTCUT_PLANTS)
def test_each_shortcut_is_found(name):
    cases = clean_cases()
    for number, case in enumerate(cases):
        SHORTCUT_PLANTS[name](case, number)
    planted = {shortcut.name: shortcut for shortcut in measure_shortcuts([Case.model_validate(case) for case in cases])}
    clean = {
        shortcut.name: shortcut for shortcut in measure_shortcuts([Case.model_validate(case) for case in clean_cases()])
    }
    assert planted[name].flagged
    assert not clean[name].flagged
    assert clean[name].chance == pytest.approx(0.25)


def test_errors_decide_the_exit_code_and_warnings_do_not(tmp_path, monkeypatch, capsys):
    cases = clean_cases(40)
    cases[3]["history"] = cases[4]["history"]
    write_cases(tmp_path / "set", cases)
    assert _exit_code(tmp_path, monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == {"duplicate_text": {"errors": 0, "warnings": 1}}
    cases[7]["history"] += f" It is {gold(cases[7])}."
    write_cases(tmp_path / "set", cases)
    assert _exit_code(tmp_path, monkeypatch) == 1
    output = json.loads(capsys.readouterr().out)
    assert (output["errors"], output["warnings"]) == (1, 1)
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


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_the_texts_of_a_nifti_header_are_read(tmp_path, kind):
    image = kind(np.zeros((2, 3, 4), np.int16), np.eye(4))
    image.header["descrip"] = b"known gout"
    nibabel.save(image, tmp_path / "volume.nii.gz")
    assert file_texts(tmp_path / "volume.nii.gz") == [("NIfTI descrip", "known gout")]


def test_a_missing_set_is_one_line(tmp_path):
    with pytest.raises(BadInput, match="there is no such case set"):
        audit(tmp_path / "nowhere")


def test_the_same_set_gives_the_same_bytes(tmp_path):
    write_cases(tmp_path / "set", clean_cases(40))
    for out in ("one", "two"):
        audit(tmp_path / "set", tmp_path / out, seed=5)
    for name in ("audit.html", "audit.json", "croissant.json", "findings.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
