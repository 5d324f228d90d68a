"""`wardround literature build`, `update` and `search`, as a person calls them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wardround.cli.main import main

Said = tuple[object, str, str]


@pytest.fixture
def literature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    (tmp_path / "a.jsonl").write_text('{"pmid": 1, "title": "Zinc", "year": 1999}\n{"pmid": 22, "title": "Iron"}\nno\n')
    (tmp_path / "b.csv").write_text("pmid,title,publication_types\n1,Zinc again,\n3,Zinc and iron,\n")

    def run(*arguments: str) -> Said:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["wardround", "literature", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capfd.readouterr()

    return run


def test_an_index_is_made_searched_and_brought_up_to_date(literature: Callable[..., Said]) -> None:
    code, out, err = literature("build", "a.jsonl", "--out", "index", "--column", "none")
    assert code == 0
    assert "1 file, 1 of them read now: 2 records, 0 deletions, 1 problem\n" in out
    assert "a.jsonl:3: is not JSON" in out
    assert "2 articles, searchable by bm25\nindex (fingerprint " in out
    assert "2 articles written" in err
    code, out, _ = literature("search", "zinc", "--index", "index")
    assert out.split()[:2] + out.split()[3:] == ["1", "1", "1999", "Zinc"]
    code, out, err = literature("update", "index", "b.csv")
    assert "1 articles added, 1 revised, 0 deleted" in err
    code, out, _ = literature("search", "zinc iron", "--index", "index", "--without", "1", "3", "--json")
    assert [hit["pmid"] for hit in json.loads(out)["hits"]] == ["22"]
    assert literature("search", "?", "--index", "index")[:2] == (0, "nothing found\n")


def test_the_queries_of_a_file_are_searched_together(literature: Callable[..., Said], tmp_path: Path) -> None:
    literature("build", "a.jsonl", "--out", "index", "--column", "none")
    (tmp_path / "queries.tsv").write_text("q1\tzinc\nq2\tnothing\nq3\tiron\n")

    _, run, _ = literature("search", "--queries", "queries.tsv", "--index", "index")
    _, document, _ = literature("search", "--queries", "queries.tsv", "--index", "index", "--json")
    _, alone, _ = literature("search", "iron", "--index", "index", "--json")

    assert [line.split()[:4] + line.split()[5:] for line in run.splitlines()] == [
        ["q1", "Q0", "1", "1", "bm25"],
        ["q3", "Q0", "22", "1", "bm25"],
    ]
    assert [(query["id"], len(query["hits"])) for query in json.loads(document)["queries"]] == [
        ("q1", 1),
        ("q2", 0),
        ("q3", 1),
    ]
    assert json.loads(document)["queries"][2]["hits"] == json.loads(alone)["hits"]


def test_mistakes_are_told_in_one_line(literature: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    literature("build", "a.jsonl", "--out", "index", "--column", "none")
    for arguments, message in (
        (["build", "c.jsonl", "--out", "new"], "c.jsonl: does not exist"),
        (["build", "a.jsonl", "--out", "new", "--column", "wardllama"], "wardllama"),
        (["update", "a.jsonl", "b.csv"], "a.jsonl: is not a literature index"),
        (["search", "--index", "index"], "expected a query, or --queries FILE"),
        (["search", "x", "--queries", "a.jsonl", "--index", "index"], "expected a query, or --queries FILE"),
        (["search", "x", "--index", "nowhere"], "nowhere: is not a literature index"),
        (["search", "x", "--index", "index", "--retriever", "dense"], "has no retriever"),
    ):
        code, out, err = literature(*arguments)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert message in err
    monkeypatch.setitem(sys.modules, "lancedb", None)
    code, _, err = literature("search", "x", "--index", "index")
    assert (code, err.count("\n")) == (1, 1)
    assert "pip install 'wardround[literature]'" in err
