"""Every command prints one JSON document with --json; the command tree is walked, so that none is forgotten."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import case, write_cases, write_study
from hospital import hospital
from PIL import Image

from wardround.cli.main import main, root_command
from wardround.core.store.location import read_location
from wardround.literature.index.build import build

# one good call of every command; a new command fails here until it has one
CALLS: dict[str, list[str]] = {
    "cases validate": ["cases"],
    "cases convert": ["cases", "--out", "copy"],
    "cases import": ["questions.csv", "--guess"],
    "cases show": ["cases", "case-1"],
    "cases audit": ["cases"],
    "cases get": [],
    "cases rubric": ["described", "--out", "rubrics"],
    "build starter": ["--out", "starter"],
    "build table": ["studies.csv", "--map", "studies.toml", "--out", "studies", "--options", "2", "--no-ocr"],
    "build medq-deg": ["pool", "--out", "medq-deg"],
    "build phenopackets": ["packets.jsonl", "--out", "rare", "--options", "3"],
    "build ophthalmic": ["eyes.csv", "--out", "chains"],
    "build review": ["cases", "--out", "reviewed", "--to-read", "to_read.jsonl"],
    "build eurorad": ["page.html", "--out", "eurorad"],
    "build pmc": ["report.md", "--out", "pmc", "--skip", "specialty", "rare"],
    "degrade": ["pool/scan.png", "--out", "degraded", "--types", "exposure"],
    "check": ["study.toml"],
    "run": ["study.toml"],
    "mark": ["runs/exam"],
    "report": ["runs/exam"],
    "methods": ["runs/exam"],
    "site": ["runs/exam", "--out", "site"],
    "export": ["runs/exam", "--to", "parquet", "--out", "answers.parquet"],
    "judge validate": ["runs/open", "--labels", "labels.csv"],
    "judge criteria": ["graded", "--labels", "verdicts.csv"],
    "judge compare": ["runs/open", "runs/open"],
    "judge support": [],
    "judge errors": ["named", "--labels", "kinds.csv"],
    "answers list": [],
    "answers size": [],
    "answers verify": ["--runs", "runs"],
    "answers export": ["answers.parquet"],
    "answers copy": ["answers-copy.sqlite", "--run", "runs/exam"],
    "answers merge": ["answers-copy.sqlite"],
    "answers drop": ["--study", "none"],
    "answers prune": ["--bin"],
    "batches list": [],
    "batches cancel": ["study.toml"],
    "bench": ["list"],
    "grid": [
        *("--cases", "cases", "--candidate", "random"),
        *("--axis", "options=as-given,shuffled", "--axis", "stem=full,options-only"),
    ],
    "published": ["cure/table1"],
    "power": ["--difference", "0.1"],
    "prompts list": [],
    "prompts show": ["clinbench"],
    "plugins": [],
    "licences": [],
    "literature build": ["articles.jsonl", "--out", "index", "--column", "none"],
    "literature update": ["index", "articles.jsonl"],
    "literature compact": ["index"],
    "literature embed": ["index", "--column", "wordllama"],
    "literature search": ["gout", "--index", "index"],
    "literature mesh": ["index", "desc.xml"],
    "literature tune": ["tuned-index", "--queries", "many-queries.tsv", "--qrels", "many-qrels.txt"],
    "literature eval": ["--index", "index", "--queries", "queries.tsv", "--qrels", "qrels.txt"],
}
POOL = [case(0, images=[{"path": "scan.png", "modality": "CT"}])]
SLOW = {
    "build dicom": ["archive", "--histories", "histories.csv", "--out", "dicom"],
    "demo": ["--out", "demo"],
    "selfcheck": [],
}
# print their address and do not end: test_serving.py, test_desk_serving.py, test_view_serving.py
SERVERS = {"literature serve", "desk", "view"}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(commands(root_command()))


def test_every_command_has_a_call_here_and_takes_json():
    assert set(ALL) == set(CALLS) | set(SLOW) | SERVERS
    for name, command in ALL.items():
        assert any("--json" in parameter.opts for parameter in command.params), name
        assert command.help, name


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Iterator[Path]:
    """A folder in which the study has been run once."""
    folder = tmp_path_factory.mktemp("workspace")
    write_cases(folder / "cases", 4)
    Image.fromarray(np.eye(8, dtype=np.uint8) * 255).save(write_cases(folder / "pool", POOL) / "scan.png")
    (folder / "packets.jsonl").write_text("".join(json.dumps(phenopacket(name)) + "\n" for name in ("Ab", "Cd", "Ef")))
    hospital(folder, slices=1)
    (folder / "eyes.csv").write_text("image,modality,disease,grade\npool/scan.png,CFP,glaucoma,2\n")
    (folder / "questions.csv").write_text("question,A,B,answer\nWhich?,flu,gout,B\n")
    studies(folder)
    published(folder)
    named_errors(folder)
    (folder / "articles.jsonl").write_text('{"pmid": "1", "title": "Gout", "abstract": "Crystals."}\n')
    (folder / "queries.tsv").write_text("a\tgout\n")
    (folder / "qrels.txt").write_text("a 0 1 1\n")
    build([folder / "articles.jsonl"], folder / "index", columns=[])
    judged_queries(folder)
    graded_run(folder)
    (folder / "desc.xml").write_text(
        "<DescriptorRecordSet><DescriptorRecord><DescriptorName><String>Gout</String></DescriptorName>"
        "</DescriptorRecord></DescriptorRecordSet>"
    )
    with ExamServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for study in (write_study(folder, server.url), judged_study(folder)):
            patch.setattr("sys.argv", ["wardround", "run", str(study), "--runs", str(folder / "runs")])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == 0
        yield folder


def graded_run(folder: Path) -> None:
    """Cases with findings, and the marks of one graded answer with a person's verdict on it."""
    write_cases(folder / "described", [case(0, findings="There is a mass. There is no effusion.")])
    mark = {
        "candidate": "one",
        "case": "c",
        "question": "q",
        "trial": 0,
        "cluster": "c",
        "judge": "j",
        "condition": "{}",
    }
    criteria = [{"id": "ecg", "points": 1.0, "axis": None, "met": True}]
    (folder / "graded").mkdir()
    pl.DataFrame([mark | {"criteria": criteria}]).write_parquet(folder / "graded" / "marks.parquet")
    (folder / "verdicts.csv").write_text("candidate,case,question,criterion,met\none,c,q,ecg,yes\n")


def judged_queries(folder: Path) -> None:
    """As many queries as tuning needs, on an index with two retrievers."""
    (folder / "many-queries.tsv").write_text("".join(f"{number}\tgout\n" for number in range(25)))
    (folder / "many-qrels.txt").write_text("".join(f"{number} 0 1 1\n" for number in range(25)))
    build([folder / "articles.jsonl"], folder / "tuned-index", columns=["wordllama"])


def studies(folder: Path) -> None:
    """Eight patients with one of four diagnoses, and a map of the table."""
    rows = ["patient,finding,file"]
    for number in range(8):
        noise = np.random.default_rng(number).integers(0, 255, (64, 64), np.uint8)
        Image.fromarray(noise).save(folder / f"film-{number}.png")
        rows.append(f"p{number},{('gout', 'flu', 'lupus', 'measles')[number % 4]},film-{number}.png")
    (folder / "studies.csv").write_text("\n".join(rows) + "\n")
    keys = {
        "patient": "patient",
        "diagnosis": "finding",
        "images": "file",
        "modality_is": "X-Ray",
        "region_is": "chest",
    }
    (folder / "studies.toml").write_text("".join(f'{key} = "{value}"\n' for key, value in keys.items()))


def phenopacket(name: str) -> dict[str, Any]:
    """One patient with a disease of this name."""
    signs = [{"type": {"id": f"HP:{number}", "label": label}} for number, label in enumerate(["Gout", "Ptosis", name])]
    disease = {"id": f"OMIM:{name}", "label": f"{name}-Xy syndrome"}
    return {"id": name, "phenotypicFeatures": signs, "diseases": [{"term": disease}]}


def published(folder: Path) -> None:
    """A page and an article about the same patient."""
    history = "A man of 60 years had fever, cough and night sweats for two weeks."
    findings = "CT of the chest showed a cavity of 3 cm in the left lung with a thick wall and two smaller nodules."
    others = ["Lymphoma", "Sarcoidosis", "Nocardiosis", "Amyloidosis", "Thymoma"]
    headings = {"Clinical history": history, "Imaging findings": findings, "Final diagnosis": "Aspergilloma"}
    headings["Differential diagnosis list"] = "<br>".join(others)
    page = "".join(f"<h3>{name}</h3><p>{text}</p>" for name, text in headings.items())
    (folder / "page.html").write_text(f'{page}<figure><img src="pool/scan.png"><p>CT</figure>')
    parts = {"Patient information": history, "Investigations": f"{findings[:-1]} (Fig. 1)."}
    parts |= {"Diagnosis": "The final diagnosis was aspergilloma.", "Treatment": "He was treated by surgery."}
    parts["Discussion"] = f"The differential diagnosis includes {', '.join(others)}."
    article = "\n\n".join(f"## {name}\n\n{text}" for name, text in parts.items())
    (folder / "report.md").write_text(f"# A cavity: a case report\n\n{article}\n\n![CT](none.png)\n")


def named_errors(folder: Path) -> None:
    """The mark of a wrong answer with an error class by a judge, and one by a person."""
    mark = {"candidate": "m", "case": "c", "cluster": "c", "question": "q", "condition": "{}", "trial": 0}
    (folder / "named").mkdir()
    marks = pl.DataFrame([mark | {"error_class": "priority_judgment_error"}])
    marks.write_parquet(folder / "named" / "marks.parquet")
    (folder / "kinds.csv").write_text("candidate,case,question,class\nm,c,q,4\n")


def judged_study(folder: Path) -> Path:
    """A study of open questions with the offline judge, and labels for it."""
    question = {"id": "open", "kind": "open", "prompt": "What is it?", "gold": "gout"}
    write_cases(folder / "open" / "cases", [{"id": f"case-{n}", "questions": [question]} for n in range(4)])
    (folder / "labels.csv").write_text("gold,diagnosis,same\ngout,gout,yes\n")
    respondent = {"provider": "simulated", "extra_body": {"hit1": 1.0}}
    return write_study(folder / "open", top={"name": "open"}, candidate=respondent, judge={"provider": "lexical"})


@pytest.mark.parametrize("name", [*CALLS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_one_json_document_on_stdout(workspace, name, monkeypatch, capfd):
    monkeypatch.chdir(workspace)
    monkeypatch.setattr("sys.argv", ["wardround", *name.split(), *(CALLS | SLOW)[name], "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capfd.readouterr()
    assert ended.value.code == 0, output.err
    assert isinstance(json.loads(output.out), dict)


# what a file that is not what was expected may not be told in
JARGON = re.compile(
    r"Errno|codec|Traceback|database file|not a database|(?<!\.)parquet:|polars|"
    r"Is a directory|Not a directory|File exists"
)
WITHOUT_PATHS = (
    *("published", "plugins", "licences", "literature search", "literature embed", "prompts list", "prompts show"),
)
QUICK = ("check", "mark", "power", "cases validate", "judge compare")  # the rest is slow together
WRONG = ("folder", "binary", "empty", "missing", "unreadable")


def wrong_path(folder: Path, kind: str) -> Path:
    path = folder / kind
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes(b"" if kind == "empty" else bytes(range(128, 256)) * 20)
        path.chmod(0o000 if kind == "unreadable" else 0o644)
    return path


def takes_a_path(parameter: Any) -> bool:
    """Whether a parameter is a path, or an answer store, which is a file or an address of PostgreSQL."""
    descriptor = parameter.type_descriptor
    return "Path" in str(descriptor.annotation) or descriptor.parameter_info.parser is read_location


def call_with(name: str, parameter: Any, value: Path, out: Path) -> list[str]:
    """The good call of a command with one path replaced; whatever it writes goes to `out`."""
    arguments = [p for p in ALL[name].params if p.param_type_name == "argument"]
    call = list(CALLS[name])
    if "--out" in call:
        call[call.index("--out") + 1] = str(out)
    if parameter in arguments:
        place = arguments.index(parameter)
        return [*call[:place], str(value), *call[place + 1 :]]
    option = parameter.opts[0]
    return (
        [*call, option, str(value)]
        if option not in call
        else [str(value) if before == option else word for before, word in zip(["", *call], call, strict=False)]
    )


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK)) for n in CALLS])
def test_a_wrong_file_is_told_in_one_plain_line(workspace, tmp_path, name, monkeypatch, capfd):
    """Every path that a command takes: a folder for a file, a file for a folder, binary for text, and so on."""
    monkeypatch.chdir(workspace)
    paths = [parameter for parameter in ALL[name].params if takes_a_path(parameter)]
    assert paths or name in WITHOUT_PATHS
    for number, (parameter, kind) in enumerate(product(paths, WRONG)):
        if kind == "unreadable" and os.geteuid() == 0:
            continue  # root may read everything
        folder = tmp_path / str(number)
        folder.mkdir()
        call = call_with(name, parameter, wrong_path(folder, kind), folder / "out")
        monkeypatch.setattr("sys.argv", ["wardround", *name.split(), *call])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capfd.readouterr()
        assert not JARGON.search(output.out + output.err), call
        if ended.value.code == 1 and output.err:
            assert output.err.splitlines()[-1].strip(), call


@pytest.mark.parametrize("name", ["cases validate", "run", "check"])
def test_problems_leave_one_json_document_on_stdout(tmp_path, name, monkeypatch, capfd):
    """A bad line among the cases and a server that always fails."""
    write_cases(tmp_path / "cases", 2)
    with (tmp_path / "cases" / "cases.jsonl").open("a") as file:
        file.write("{broken\n")
    monkeypatch.chdir(tmp_path)
    with ExamServer(fault_rate=1.0) as server:
        write_study(tmp_path, server.url, candidate={"attempts": 1, "timeout": 1})
        monkeypatch.setattr("sys.argv", ["wardround", *name.split(), *CALLS[name], "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == (1 if name == "cases validate" else 3)
    document = json.loads(capfd.readouterr().out)
    if name != "run":
        assert "is not JSON" in str(document["problems"])
    if name == "check":
        assert [candidate["answers"] for candidate in document["candidates"]] == [False]
    if name == "run":
        assert document["status"] == "incomplete"
