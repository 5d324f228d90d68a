"""Case sets by their names on the Hub: the real client fetches them from an imitation on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from exam_study import WARDROUND, wardround
from hub_imitation import HubImitation, HubRepo

from wardround.cases.hub.hub_name import HubName, parse_hub_name
from wardround.core.errors import WardroundError

pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")

CARD = b"---\nlicense: cc-by-4.0\n---\n# A set\n"
NAME = "lab/questions"


def rows(split: str, count: int = 3) -> bytes:
    lines = [
        {"question": f"What has {split} patient {number}?", "A": "gout", "B": "flu", "C": "lupus", "answer": "B"}
        for number in range(count)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.fixture
def hub() -> Iterator[HubImitation]:
    repo = HubRepo({"README.md": CARD, "test.jsonl": rows("test"), "train.jsonl": rows("train", 5)})
    with HubImitation({NAME: repo}) as imitation:
        yield imitation


def command(hub: HubImitation, folder: Path, *arguments: object, process: bool = False, **variables: str):
    """With a client of its own, because it reads its environment when it is imported; or in a process of its own."""
    own = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_TOKEN": ""}
    if process:
        return wardround(*arguments, cwd=folder, command=WARDROUND, **(own | variables))
    with own_client():
        return wardround(*arguments, cwd=folder, **(own | variables))


@contextmanager
def own_client() -> Iterator[None]:
    """huggingface_hub is imported anew in the block; after it, what others have imported is there again."""
    others = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "huggingface_hub"}
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "huggingface_hub"]:
            del sys.modules[name]
        sys.modules.update(others)


def cases_in(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hf:a/b", HubName("a/b")),
        ("hf:a/b.c-d@v1.0", HubName("a/b.c-d", "v1.0")),
        ("hf:a/b@refs/convert/parquet#test", HubName("a/b", "refs/convert/parquet", "test")),
        ("hf:a/b#validation", HubName("a/b", "main", "validation")),
    ],
)
def test_a_name_has_a_repository_a_revision_and_a_split(text, name):
    assert parse_hub_name(text) == name


@pytest.mark.parametrize("text", ["hf:b", "hf:a/b/c", "hf:a/b@", "hf:a/b#", "hf:a/../b"])
def test_another_form_is_refused(text):
    with pytest.raises(WardroundError, match="expected hf:owner/name"):
        parse_hub_name(text)


def test_a_set_without_a_map_is_guessed_and_its_licence_is_shown_and_recorded(hub, tmp_path):
    result = command(hub, tmp_path, "cases", "get", f"hf:{NAME}#test", "--out", "set")

    commit = hub.repos[NAME].commit
    assert result.returncode == 0, result.stderr
    assert f"{NAME} at commit {commit}; licence: cc-by-4.0" in result.stderr
    cases = cases_in(tmp_path / "set")
    assert len(cases) == 3
    assert {case["origin"]["licence"] for case in cases} == {"cc-by-4.0"}
    assert {case["origin"]["hub"] for case in cases} == {f"{NAME}@{commit}"}
    assert cases[0]["questions"][0]["options"] == ["gout", "flu", "lupus"]
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text())
    assert manifest["license"] == "cc-by-4.0"
    assert manifest["hub"] == {"repo": NAME, "revision": "main", "commit": commit, "split": "test"}


def test_a_study_names_a_set_and_the_run_records_its_licence_then_needs_no_network(hub, tmp_path):
    commit = hub.repos[NAME].commit
    study = f'name = "exam"\ncases = "hf:{NAME}@{commit}#test"\n[[candidates]]\nname = "r"\nprovider = "random"\n'
    (tmp_path / "study.toml").write_text(study)

    first = command(hub, tmp_path, "run", "study.toml", process=True)
    asked = len(hub.requests)
    second = command(hub, tmp_path, "run", "study.toml", process=True)

    assert first.returncode == 0, first.stderr
    assert second.returncode == 0, second.stderr
    assert len(hub.requests) == asked > 0
    assert f"{NAME} at commit {commit}; licence: cc-by-4.0" in first.stderr + first.stdout
    manifest = json.loads((tmp_path / "runs" / "exam" / "manifest.json").read_text())
    assert manifest["cases"]["cases"] == 3
    assert manifest["cases"]["source"]["license"] == "cc-by-4.0"
    assert manifest["cases"]["source"]["hub"]["commit"] == commit


def test_offline_takes_the_cache_and_asks_nobody(hub, tmp_path):
    command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "first")
    asked = len(hub.requests)

    by_option = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "second", "--offline")
    by_variable = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "third", HF_HUB_OFFLINE="1")

    assert (by_option.returncode, by_variable.returncode) == (0, 0), by_option.stderr + by_variable.stderr
    assert len(hub.requests) == asked
    assert cases_in(tmp_path / "first") == cases_in(tmp_path / "second") == cases_in(tmp_path / "third")


def test_an_offline_study_without_the_set_in_the_cache_is_refused(hub, tmp_path):
    study = f'name = "exam"\noffline = true\ncases = "hf:{NAME}"\n[[candidates]]\nname = "r"\nprovider = "random"\n'
    (tmp_path / "study.toml").write_text(study)

    result = command(hub, tmp_path, "run", "study.toml")

    assert result.returncode == 1
    assert (
        result.stderr.strip()
        .splitlines()[-1]
        .endswith(
            f"hf:{NAME}@main: is not in the cache of huggingface_hub; fetch it once without offline and HF_HUB_OFFLINE"
        )
    )
    assert hub.requests == []


def test_a_gated_set_needs_a_token_that_may_read_it(hub, tmp_path):
    hub.repos[NAME].gated = True

    without = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "set")
    wrong = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "set", HF_TOKEN="hf_other")
    right = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "set", HF_TOKEN="hf_valid")

    for refused in (without, wrong):
        assert refused.returncode == 1
        assert f"hf:{NAME}@main: is gated: accept its conditions at " in _only_line(refused)
    assert right.returncode == 0, right.stderr
    assert "hf_valid" not in "".join(file.read_text() for file in (tmp_path / "set").glob("*.json*"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hf:lab/missing", "hf:lab/missing@main: there is no such data set, or it is private"),
        (f"hf:{NAME}@v9", f"hf:{NAME}@v9: has no revision 'v9'; expected a branch, a tag or a commit"),
        (f"hf:{NAME}#gold", f"hf:{NAME}@main#gold: has no case of split 'gold'; its splits are test, train"),
        ("vqa-red", "unknown set 'vqa-red'; expected hf:owner/name, or one of "),
    ],
)
def test_what_is_not_there_is_one_line(hub, tmp_path, name, message):
    result = command(hub, tmp_path, "cases", "get", name, "--out", "set")

    assert result.returncode == 1
    assert message in _only_line(result)
    assert not (tmp_path / "set").exists()


def test_a_broken_download_is_one_line_and_the_next_one_succeeds(hub, tmp_path):
    hub.repos[NAME].broken = "train.jsonl"
    broken = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "set")
    hub.repos[NAME].broken = ""

    mended = command(hub, tmp_path, "cases", "get", f"hf:{NAME}", "--out", "set")

    assert broken.returncode == 1
    assert f"hf:{NAME}@main: the download broke off" in _only_line(broken)
    assert mended.returncode == 0, mended.stderr
    assert len(cases_in(tmp_path / "set")) == 8


def test_columns_that_nobody_can_guess_are_named_and_a_map_reads_them(hub, tmp_path):
    hub.repos["lab/odd"] = HubRepo({"test.jsonl": b'{"foo": "Is it?", "bar": "yes"}\n'})
    (tmp_path / "map.toml").write_text('question = "foo"\nanswer = "bar"\nanswer_form = "text"\n')

    guessed = command(hub, tmp_path, "cases", "get", "hf:lab/odd", "--out", "set")
    mapped = command(hub, tmp_path, "cases", "get", "hf:lab/odd", "--out", "set", "--map", "map.toml")

    assert guessed.returncode == 1
    assert "hf:lab/odd@main: test.jsonl: no column looks like the answer; its columns are foo, bar" in _only_line(
        guessed
    )
    assert mapped.returncode == 0, mapped.stderr
    assert cases_in(tmp_path / "set")[0]["questions"][0]["options"] == ["yes", "no"]


def test_without_the_extra_the_command_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    result = wardround("cases", "get", "vqa-rad", "--out", "set", cwd=tmp_path)

    assert result.returncode == 1
    assert "data sets of the Hub need huggingface_hub: pip install 'wardround[hub]'" in _only_line(result)


def test_without_a_name_the_registry_is_listed(tmp_path):
    result = wardround("cases", "get", cwd=tmp_path)

    assert result.returncode == 0
    assert any(
        line.split()[:3] == ["vqa-rad", "flaviagiammarino/vqa-rad", "cc0-1.0"] for line in result.stdout.splitlines()
    )


def _only_line(result) -> str:
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, result.stderr
    return lines[0]
