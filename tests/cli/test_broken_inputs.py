"""Broken inputs: one clear line each, a non-zero exit, never a traceback."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer
from exam_study import WARDROUND, case, start, stored, wardround, write_cases, write_study
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

from wardround.cli.main import main

CHOICE = case(0)["questions"][0]
COMPARED = 'comparisons.x = {measure = "accuracy", between = "candidate"'
Broken = Callable[[Path], list[object]]  # breaks something in a folder with a good study; gives the command


def study(folder: Path, old: str, new: str) -> list[object]:
    file = folder / "study.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return ["run", "study.toml"]


def conditions(folder: Path, text: str) -> list[object]:
    write_study(folder, more=f"[conditions]\n{text}")
    return ["run", "study.toml"]


def line(folder: Path, text: str) -> list[object]:
    """Adds a line to the cases, which are then validated."""
    with (folder / "cases" / "cases.jsonl").open("a") as file:
        file.write(text + "\n")
    return ["cases", "validate", "cases"]


def one_case(folder: Path, **fields: Any) -> list[object]:
    write_cases(folder / "cases", [case(0, **fields)])
    return ["cases", "validate", "cases", "--workers", "1"]


def image(folder: Path, name: str, data: bytes) -> list[object]:
    (folder / "cases" / name).write_bytes(data)
    return one_case(folder, images=[{"path": name}])


def png_of(width: int, height: int) -> bytes:
    """A PNG that says it is large; there is no such image in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def dicom_without_pixels(folder: Path) -> list[object]:
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID = CTImageStorage
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID = generate_uid()
    dataset.save_as(folder / "cases" / "none.dcm", enforce_file_format=True)
    return one_case(folder, images=[{"path": "none.dcm"}])


def files(folder: Path, **texts: str) -> list[object]:
    for name, text in texts.items():
        (folder / name.replace("__", "/").replace("_", ".")).write_text(text)
    return ["run", "study.toml"]


def other_store(folder: Path) -> list[object]:
    (folder / "answers.sqlite").write_text("this is no database, but it is there\n" * 100)
    return ["run", "study.toml"]


MODEL = 'model = "exam"'
TWICE = f'{MODEL}\n[[candidates]]\nname = "twin"\nprovider = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n{MODEL}'
BROKEN: dict[str, tuple[Broken, str]] = {
    # case sets
    "bad JSON line": (lambda at: line(at, "{broken"), "cases.jsonl:3: is not JSON: key must be a string at column 2"),
    "duplicate id": (lambda at: line(at, (at / "cases/cases.jsonl").read_text().splitlines()[0]), "is there twice"),
    "gold out of range": (lambda at: one_case(at, questions=[CHOICE | {"gold": 9}]), "gold is 9, but there are"),
    "one option": (lambda at: one_case(at, questions=[CHOICE | {"options": ["x"], "gold": 0}]), "at least two options"),
    "missing image": (lambda at: one_case(at, images=[{"path": "no.png"}]), "'no.png': there is no such file"),
    "text named .png": (lambda at: image(at, "text.png", b"no image"), "'text.png' cannot be read as a PNG image"),
    "bomb": (lambda at: image(at, "bomb.png", png_of(30_000, 30_000)), "'bomb.png' is too large"),
    "DICOM without pixels": (dicom_without_pixels, "'none.dcm'"),
    "empty case set": (lambda at: [write_cases(at / "cases", []), "run", "study.toml"][1:], "contains no case"),
    "no case set": (lambda at: study(at, 'cases = "cases"', 'cases = "nowhere"'), "nowhere: there is no such case set"),
    "strict": (lambda at: [line(at, "[]"), "run", "study.toml", "--strict"][1:], "cases.jsonl:3: input should be"),
    # studies
    "no study": (lambda at: ["run", "other.toml"], "other.toml: there is no such study file"),
    "a folder as study": (lambda at: ["run", "cases"], "cases: is a folder; expected a file"),
    "bad TOML": (lambda at: files(at, study_toml="name = = 1"), "study.toml: is not TOML"),
    "not text": (
        lambda at: [(at / "study.toml").write_bytes(b"\xff\xfe"), "run", "study.toml"][1:],
        "is not UTF-8 text",
    ),
    "no candidates": (lambda at: files(at, study_toml='name = "x"\ncases = "cases"\n'), "candidates: is required"),
    "unknown key": (lambda at: study(at, MODEL, f"{MODEL}\nmodle = 1"), "candidates[0].modle: unknown key"),
    "unknown provider": (lambda at: study(at, '"openai"', '"opneai"'), "unknown provider 'opneai'; there are openai"),
    "missing API key": (
        lambda at: study(at, MODEL, f'{MODEL}\napi_key_env = "NO_SUCH"'),
        "variable NO_SUCH is not set",
    ),
    "key in the study": (
        lambda at: study(at, MODEL, f'{MODEL}\nheaders = {{Authorization = "Bearer x"}}'),
        "looks like a secret",
    ),
    "no address": (lambda at: study(at, "http://127", "127"), "is not an address"),
    "unknown axis": (lambda at: conditions(at, 'image = "blank"'), "unknown axis 'image'"),
    "unknown condition": (
        lambda at: conditions(at, 'images = "blnak"'),
        "images = 'blnak': expected one of as-is, blank, swapped, none",
    ),
    "refused value": (
        lambda at: conditions(at, 'carry = ["own", "silver"]'),
        "carry = 'silver': expected one of own, gold, wrong, none",
    ),
    "evidence without literature": (
        lambda at: conditions(at, 'evidence = ["none", "rag"]'),
        "evidence = 'rag' needs [literature] with an `index`",
    ),
    "no such index": (
        lambda at: conditions(at, 'evidence = "rag"\n[literature]\nindex = "nowhere"'),
        "nowhere: is not a literature index",
    ),
    "no such search": (
        lambda at: conditions(at, 'evidence = "rag@fine"\n[literature]\nindex = "nowhere"'),
        "evidence = 'rag@fine': there is no [literature.searches.fine]",
    ),
    "unknown prompt": (
        lambda at: conditions(at, 'prompt = "terse"'),
        "prompt = 'terse': there is no prompts/terse/choice.txt",
    ),
    "comparison of nothing": (
        lambda at: study(
            at, 'name = "exam"', 'name = "exam"\ncomparisons.x = {measure = "acuracy", between = "candidate"}'
        ),
        "comparisons.x: unknown measure 'acuracy'",
    ),
    "comparison with nobody": (
        lambda at: study(at, 'name = "exam"', f'name = "exam"\n{COMPARED}, reference = "zoe"}}'),
        "comparisons.x: reference = 'zoe': expected one of server",
    ),
    "duplicate candidates": (lambda at: study(at, MODEL, TWICE), "'server' and 'twin' would share their answers"),
    "no such question": (lambda at: study(at, 'cases = "cases"', 'cases = "cases"\nquestions = "mqc"'), "'mqc'"),
    "a name that is a path": (lambda at: study(at, 'name = "exam"', 'name = "../exam"'), "study.toml: name: "),
    "temperature below zero": (lambda at: study(at, MODEL, f"{MODEL}\ntemperature = -1"), "candidates[0].temperature"),
    # places
    "store that is none": (other_store, "answers.sqlite: is not an answer store (it is not an SQLite file)"),
    "run folder that is none": (lambda at: ["mark", "cases"], "cases: is not a run folder"),
    "report of nothing": (lambda at: ["report", "cases"], "cases"),
    "no such case": (lambda at: ["cases", "show", "cases", "case-7"], "has no usable case 'case-7'"),
    "runs is a file": (lambda at: [*files(at, runs="x")], "runs/exam: the run folder cannot be written"),
    "runs under /proc": (lambda at: ["run", "study.toml", "--runs", "/proc/runs", "--answers", "a.db"], "/proc/runs"),
    "store under /proc": (lambda at: ["run", "study.toml", "--answers", "/proc/a.sqlite"], "/proc/a.sqlite"),
}
IN_A_PROCESS = [
    "bad JSON line",
    "bomb",
    "unknown key",
    "missing API key",
    "refused value",
    "bad TOML",
    "store that is none",
]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch) -> Path:
    """A folder with two good cases and a good study; nobody is at the study's address."""
    write_cases(tmp_path / "cases", 2)
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_one_line(out: str, err: str, expected: str, validating: bool) -> None:
    """One line with the problem: on stderr or, for `cases validate`, on stdout above the counts."""
    assert "Traceback" not in out + err
    lines = (out.splitlines()[:-1] if validating else []) + err.splitlines()
    assert len(lines) == 1, lines
    assert expected in lines[0]
    assert validating or (lines[0].startswith("wardround: ") and out == "")


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_input_gets_one_clear_line(workspace, kind, monkeypatch, capfd):
    breaks, expected = BROKEN[kind]
    arguments = breaks(workspace)
    monkeypatch.setattr("sys.argv", ["wardround", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    output = capfd.readouterr()
    assert_one_line(output.out, output.err, expected, arguments[0] == "cases" and arguments[1] == "validate")


@pytest.mark.parametrize(
    "kind", [IN_A_PROCESS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in IN_A_PROCESS[1:])]
)
def test_a_broken_input_gets_one_clear_line_in_its_own_process(workspace, kind):
    breaks, expected = BROKEN[kind]
    arguments = breaks(workspace)
    ended = wardround(*arguments, cwd=workspace, command=WARDROUND)
    assert ended.returncode == 1
    assert_one_line(ended.stdout, ended.stderr, expected, arguments[0] == "cases")


def test_check_reports_a_broken_study_in_one_line(workspace, monkeypatch, capfd):
    for kind in ("unknown key", "unknown provider", "missing API key", "comparison of nothing", "bad TOML"):
        write_study(workspace)
        breaks, expected = BROKEN[kind]
        breaks(workspace)
        monkeypatch.setattr("sys.argv", ["wardround", "check", "study.toml"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        output = capfd.readouterr()
        assert_one_line(output.out, output.err, expected, False)


def test_an_unknown_option_exits_with_2(workspace):
    ended = wardround("run", "study.toml", "--fast", cwd=workspace)
    assert ended.returncode == 2
    assert "--fast" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_run_is_incomplete_if_its_server_cannot_be_reached(workspace):
    """One server refuses connections, one never replies. Both runs take a while, so they run at once."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = []
        for _ in range(3):  # the queue is full and nothing accepts: further connections get no reply
            waiting.append(client := socket.socket())
            client.setblocking(False)
            client.connect_ex(address)
        runs = []
        for name, port in (("refuses", 9), ("silent", address[1])):
            write_cases(workspace / name / "cases", 2)
            write_study(workspace / name, f"http://127.0.0.1:{port}/v1")
            runs.append(start("run", "study.toml", "--json", cwd=workspace / name))
        for process in runs:
            out, err = process.communicate(timeout=120)
            assert process.returncode == 3, err
            assert "Traceback" not in err
            assert '"status": "incomplete"' in out
            assert "cannot be reached" in out
            assert float(out.split("given up after ")[1].split()[0]) >= 20
        for client in waiting:
            client.close()
    for name in ("refuses", "silent"):
        assert (workspace / name / "runs" / "exam" / "measures.csv").exists()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a small file system in memory; skips where this is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a tmpfs")
    places: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"mounted-{len(places)}"
        place.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
        if made.returncode:
            pytest.skip(f"a tmpfs cannot be mounted here: {made.stderr.decode().strip()}")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", place], check=True)


def test_a_read_only_folder_is_named(workspace, mounted):
    place = mounted("size=1m,ro")
    for more in (["--runs", place / "runs"], ["--runs", place / "runs", "--answers", "answers.sqlite"]):
        ended = wardround("run", "study.toml", *more, cwd=workspace)
        assert ended.returncode == 1
        assert_one_line(ended.stdout, ended.stderr, str(place), False)
        assert "Read-only file system" in ended.stderr or "unable to open" in ended.stderr


def test_a_disk_that_fills_during_a_run_loses_no_committed_answer(workspace, mounted):
    write_cases(workspace / "cases", 400)
    place = mounted("size=1m")
    long_answers = {"message": {"role": "assistant", "content": "B. " + "because " * 1000}}
    with ExamServer(lambda body, index: long_answers) as server:
        write_study(workspace, server.url)
        run = ["run", "study.toml", "--runs", "runs", "--answers", str(place / "answers.sqlite")]
        ended = wardround(*run, cwd=workspace)
        assert ended.returncode == 1
        assert "Traceback" not in ended.stderr
        last = ended.stderr.splitlines()[-1]
        assert last.startswith(f"wardround: {place / 'answers.sqlite'}: answers cannot be written")
        assert "full" in last
        assert [line for line in ended.stderr.splitlines() if line.startswith("wardround: ")] == [last]
        kept = stored(place / "answers.sqlite")
        assert 20 < len(kept) < 200
        assert server.succeeded - len(kept) <= 16  # at most what was in flight

        subprocess.run(["mount", "-o", "remount,size=64m", place], check=True)
        ended = wardround(*run, cwd=workspace)
        assert ended.returncode == 0, ended.stderr
        now = stored(place / "answers.sqlite")
    assert len(now) == 400
    assert set(kept) <= set(now)


def test_a_disk_that_fills_while_the_run_folder_is_written_loses_no_answer(workspace, mounted):
    place = mounted("size=64k")
    (place / "ballast").write_bytes(b"x" * 60_000)
    with ExamServer() as server:
        write_study(workspace, server.url)
        run = ["run", "study.toml", "--runs", str(place / "runs"), "--answers", "answers.sqlite"]
        ended = wardround(*run, cwd=workspace)
        assert ended.returncode == 1
        assert "Traceback" not in ended.stderr
        assert "No space left on device" in ended.stderr.splitlines()[-1]
        (place / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", place], check=True)
        ended = wardround(*run, cwd=workspace)
        assert ended.returncode == 0, ended.stderr
    assert len(stored(workspace / "answers.sqlite")) == 2
