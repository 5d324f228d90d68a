"""`wardround literature eval`: what it prints, and what it says about judgements that do not fit."""

from __future__ import annotations

import json

import pytest

from wardround.cli.main import main
from wardround.literature.index.build import build

ARTICLES = ["Optic neuritis", "Optic glioma", "Appendicitis"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("eval")
    rows = [{"pmid": str(number), "title": title, "abstract": ""} for number, title in enumerate(ARTICLES, 1)]
    (folder / "articles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([folder / "articles.jsonl"], folder / "index", columns=[])
    (folder / "queries.tsv").write_text("a\toptic neuritis\nb\tappendicitis\nc\tgout\n")
    (folder / "qrels.txt").write_text("a 0 1 1\na 0 88 1\nb 0 3 1\nb 0 99 0\nz 0 1 1\n")
    return folder


@pytest.fixture
def evaluated(folder, monkeypatch, capfd):
    def run(*more):
        monkeypatch.chdir(folder)
        files = ["--index", "index", "--queries", "queries.tsv", "--qrels", "qrels.txt"]
        monkeypatch.setattr("sys.argv", ["wardround", "literature", "eval", *files, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capfd.readouterr()

    return run


def test_json_has_the_figures_and_stderr_what_is_left_out(evaluated):
    code, out, err = evaluated("--k", "1", "--json")
    document = json.loads(out)
    assert (code, list(document)) == (0, ["bm25", "fused", "fused-paper", "fused - bm25"])
    assert document["bm25"]["recall@1"] == {"value": 0.75, "low": 0.5, "high": 1.0}
    assert document["fused - bm25"]["map"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert "1 queries without judgements are left out: c" in err
    assert "1 judged queries are not among the queries: z" in err
    assert "2 judged documents are not in the index; relevant ones count as not found: 88, 99" in err


def test_the_table_is_printed_as_text(evaluated):
    code, out, _ = evaluated()
    assert code == 0
    assert out.startswith("Means over 2 queries, with 95% intervals")
    assert "[0.5000, 1.0000]" in out


def test_an_unknown_retriever_is_one_line(evaluated):
    code, out, err = evaluated("--retriever", "bge", "bm25")
    assert (code, out) == (1, "")
    assert err == "wardround: the index has no retriever bge; it has bm25\n"
