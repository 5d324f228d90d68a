"""JSONL and CSV rows as records: what they tell survives, and what is wrong is named with its line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_articles import invented_articles, write_scifact

from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.literature.ingest.article_rows import read_csv, read_jsonl
from wardround.literature.ingest.record import ArticleRecord
from wardround.literature.ingest.sources import list_files, read_records

SCIFACT = Path(__file__).parents[4] / "shared" / "data" / "retrieval" / "scifact.zip"

line = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).map(
    lambda text: " ".join(text.split())
)
filled = line.filter(bool)
records = st.builds(
    ArticleRecord,
    pmid=filled,
    deleted=st.just(False),
    labels=st.just([]),
    more=st.none(),
    version=st.integers(1, 99),
    title=filled,
    abstract=st.lists(filled, max_size=3).map("\n".join),
    year=st.none(),
    published=st.one_of(st.none(), st.dates().map(str)),
    journal=st.one_of(st.none(), filled),
    mesh=st.lists(filled, max_size=2),
    publication_types=st.lists(filled, max_size=2),
    languages=st.lists(filled, max_size=2),
    doi=st.one_of(st.none(), filled),
).map(lambda record: record._replace(year=int(record.published[:4]) if record.published else None))


@given(st.lists(records, max_size=3))
def test_records_written_as_jsonl_are_read_back(given: list[ArticleRecord]) -> None:
    rows = [
        {name: value for name, value in each._asdict().items() if name not in ("deleted", "more")} for each in given
    ]
    lines = [json.dumps({name: value for name, value in row.items() if value is not None}).encode() for row in rows]
    assert list(read_jsonl(Path("a.jsonl"), lines)) == given


@given(st.lists(records, max_size=3))
def test_records_written_as_csv_are_read_back(given: list[ArticleRecord]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(
        [["pmid", "title", "abstract"], *((each.pmid, each.title, each.abstract) for each in given)]
    )
    found = list(read_csv(Path("a.csv"), file.getvalue().encode().splitlines(keepends=True)))
    assert found == [ArticleRecord(pmid=each.pmid, title=each.title, abstract=each.abstract) for each in given]


def test_more_survives_and_what_does_not_fit_is_kept_as_told(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    rows = [
        {"pmid": 7, "title": "T", "abstract": ["One.", "Two."], "year": "1999", "mesh": "Humans", "cited": [1, 2]},
        {
            "_id": "MED-10",
            "title": "U",
            "text": "METHODS: a\nb",
            "labels": ["METHODS", ""],
            "year": "long ago",
            "mesh": ["A", ""],
            "doi": None,
        },
    ]
    file.write_bytes(gzip.compress("\n\n".join(map(json.dumps, rows)).encode()))
    first, second = read_records(file)
    assert first == ArticleRecord(
        "7", title="T", abstract="One. Two.", year=1999, published="1999", more='{"mesh":"Humans","cited":[1,2]}'
    )
    assert (second.pmid, second.abstract, second.labels) == ("MED-10", "METHODS: a\nb", ["METHODS", ""])
    assert (second.mesh, json.loads(second.more or "")) == (["A"], {"year": "long ago"})


def test_a_broken_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    good = b'{"pmid": "1", "title": "T"}\n'
    file.write_bytes(
        b"\xef\xbb\xbf" + good + b"{broken\n[1]\n" + b'{"title": "no id"}\n{"pmid": 2, "title": ""}\n'
        b'{"pmid": 3, "title": 4}\n{"pmid": 4, "title": "\xff"}\n' + good
    )
    found = list(read_records(file))
    assert [each.pmid for each in found if isinstance(each, ArticleRecord)] == ["1", "1"]
    named = [(each.line, each.message) for each in found if isinstance(each, Problem)]
    assert [number for number, _ in named] == [2, 3, 4, 5, 6, 7]
    assert [message for _, message in named[1:5]] == [
        "is not an object",
        "has no pmid",
        "pmid 2 has neither title nor abstract",
        "title is not text",
    ]
    assert named[0][1].startswith("is not JSON")
    assert named[5][1].startswith("is not JSON")


def test_a_broken_row_is_named_by_the_line_on_which_it_begins(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b'pmid,title,abstract\n1,T,"two\nlines"\n2,too,many,cells\n3,\xff,a\n,T,a\n\n4,U,b\n')
    found = list(read_records(file))
    assert [(each.pmid, each.abstract) for each in found if isinstance(each, ArticleRecord)] == [
        ("1", "two\nlines"),
        ("4", "b"),
    ]
    assert [(each.line, each.message) for each in found if isinstance(each, Problem)] == [
        (4, "has 4 cells; the header names 3"),
        (5, "is not UTF-8"),
        (6, "has no pmid"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "is empty; expected a header line with a column pmid, doc_id or id"),
        ("name,text\n1,a\n2,b\n", 1, "expected a header line with a column pmid, doc_id or id, not name, text"),
    ],
)
def test_a_table_without_ids_is_one_problem(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text)
    assert list(read_records(file)) == [Problem(file, line, None, message)]


def test_truncated_rows_give_what_was_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    data = gzip.compress(b"".join(b'{"pmid": %d, "title": "T%d"}\n' % (each, each * 7919) for each in range(1000)))
    file.write_bytes(data[: len(data) // 2])
    *whole, problem = read_records(file)
    assert [each.pmid for each in whole] == [str(number) for number in range(len(whole))]
    assert len(whole) > 300
    assert "is truncated or damaged" in str(problem)


def test_a_printed_list_is_read_as_its_sentences() -> None:
    cells = [
        """['One isn\\'t it.'\n "Two isn't." 'Three.']""",
        "['One.', 'Two.']",
        "[Corrected] ['Not'] one",
        r"['\x']",
    ]
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows(
        [["doc_id", "title", "abstract"], *([number, "T", cell] for number, cell in enumerate(cells))]
    )
    found = list(read_csv(Path("a.csv"), lines.getvalue().encode().splitlines(keepends=True)))
    assert [each.abstract for each in found] == ["One isn't it. Two isn't. Three.", "One. Two.", *cells[2:]]


def test_a_corpus_in_the_layout_of_scifact_is_read_whole(tmp_path: Path) -> None:
    articles = invented_articles(200)
    write_scifact(tmp_path, articles)
    records = list(read_records(tmp_path / "corpus_train.csv"))
    assert [(record.pmid, record.title) for record in records] == [(str(each.pmid), each.title) for each in articles]
    assert [record.abstract for record in records] == [" ".join(article.sentences) for article in articles]


@pytest.mark.skipif(not SCIFACT.exists(), reason="real SciFact: ../shared/data is not here")
def test_scifact_is_read_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(SCIFACT) as inside:
        file = Path(inside.extract("corpus_train.csv", tmp_path))
    found = list(read_records(file))
    assert all(isinstance(each, ArticleRecord) for each in found)
    assert len({each.pmid for each in found}) == len(found) == 5183
    first = found[0]
    assert first.pmid == "4983"
    assert first.abstract.startswith("Alterations of the architecture of cerebral white matter in the developing human")
    assert "higher mean diffusion coefficients in the central white matter (1.4 +/- 0.24 versus" in first.abstract
    assert not [each.pmid for each in found if each.abstract.startswith(("['", '["')) or not each.abstract]


def test_files_are_found_in_order_and_once(tmp_path: Path) -> None:
    for name in ("n2.xml.gz", "n1.xml.gz", "n1.xml.gz.md5", "notes.txt", "deep/n0.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = list_files([tmp_path / "n2.xml.gz", tmp_path])
    assert [each.name for each in found] == ["n2.xml.gz", "n0.csv", "n1.xml.gz"]
    for wrong in ("notes.txt", "absent.xml", "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(BadInput):
            list_files([tmp_path / wrong])
    with pytest.raises(WardroundError, match="there is no such file"):
        next(read_records(tmp_path / "absent.xml"))
