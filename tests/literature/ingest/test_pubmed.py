"""PubMed files read as xml.etree reads them, with every oddity that they are known for."""

from __future__ import annotations

import gzip
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pubmed_files import HEAD, INDENTED, ODD, by_etree, pubmed, written

from wardround.core.errors import Problem
from wardround.literature.ingest.pubmed_article import UnusualMarkup, parse_article, parse_with_etree, scan_article
from wardround.literature.ingest.record import ArticleRecord
from wardround.literature.ingest.sources import read_records

REAL = Path(__file__).parents[4] / "shared" / "data" / "xml" / "pubmed-29768149.xml"


def split_sections(abstract: str, labels: list[str]) -> list[tuple[str, str]]:
    """The sections (label and text) of an abstract: the inverse of join_sections."""
    lines = abstract.split("\n") if abstract else []
    return [(label, line.removeprefix(f"{label}: ")) for line, label in zip_longest(lines, labels, fillvalue="")]


def put(folder: Path, data: bytes, name: str = "a.xml") -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return file


def fields_of(record: ArticleRecord) -> dict[str, object]:
    kept = {name: value for name, value in record._asdict().items() if name not in ("deleted", "labels", "more")}
    kept["sections"] = split_sections(kept.pop("abstract"), record.labels)
    return kept


def problems(file: Path) -> list[str]:
    return [str(each).removeprefix(f"{file}: ") for each in read_records(file) if isinstance(each, Problem)]


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz"])
def test_every_oddity_is_read_as_a_parser_reads_it(tmp_path: Path, name: str) -> None:
    file = put(tmp_path, pubmed(ODD), name)
    records = list(read_records(file))
    assert [fields_of(each) for each in records] == by_etree(file)
    first, second, third, fourth = records
    assert first.title == "The BRCA1 gene, H2O and β-blockers at p < 0.05 – \"a\" 'view'."
    assert first.abstract == "AIMS & METHODS: We asked 1st.\nNo label.\nRESULTS: x > y &amp; so."
    assert first.labels == ["AIMS & METHODS", "", "RESULTS"]
    assert (first.doi, first.journal, first.mesh) == ("10.1/right", "Brain & spine", ["Humans", "Drugs & Doses"])
    assert (second.version, second.abstract, second.year, second.doi) == (2, "", 1998, "10.2/SICI<1::AID>3.0")
    assert (third.title, third.abstract, third.year) == ("Über die Ärzte.", "E = mc holds.", None)
    assert (fourth.pmid, fourth.version, fourth.journal, fourth.doi) == ("4", 4, "Cells & <Organs>", "10.4/x")


def test_what_nlm_writes_is_scanned_and_the_rest_is_parsed() -> None:
    articles = [f"{each}</PubmedArticle>".strip().encode() for each in ODD.split("</PubmedArticle>")[:-1]]
    for usual in articles[:2]:
        assert scan_article(usual) == parse_with_etree(usual)
    for unusual in articles[2:]:
        with pytest.raises(UnusualMarkup):
            scan_article(unusual)


def test_an_indented_record_is_scanned_as_a_parser_reads_it(tmp_path: Path) -> None:
    file = put(tmp_path, f"{HEAD}{INDENTED}</PubmedArticleSet>".encode())
    (record,) = read_records(file)
    assert [fields_of(record)] == by_etree(file)
    assert scan_article(INDENTED.strip().encode()) == record
    assert (record.year, record.doi) == (2019, "10.5/inv.2019")
    assert record.labels == ["BACKGROUND", "RESULTS"]
    assert record.abstract == "BACKGROUND: A β 2-agonist, as invented.\nRESULTS: Better (34.4% vs. 31.1%)."


@pytest.mark.skipif(not REAL.exists(), reason="a real PubMed record: ../shared/data is not here")
def test_a_real_record_is_scanned_as_a_parser_reads_it() -> None:
    (record,) = read_records(REAL)
    assert [fields_of(record)] == by_etree(REAL)
    source = REAL.read_bytes()
    start, end = source.index(b"<PubmedArticle>"), source.index(b"</PubmedArticleSet>")
    assert scan_article(source[start:end].strip()) == record
    assert (record.year, record.doi) == (2018, "10.1056/NEJMoa1715274")
    assert record.labels == ["BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"]


visible = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1, max_size=30
).map(lambda text: " ".join(text.split()))
labels = st.one_of(st.just(""), visible.filter(lambda text: text != "UNLABELLED"))
told_sections = st.lists(st.tuples(labels, visible.filter(bool)), max_size=4)


@given(
    visible.filter(bool),
    told_sections,
    st.one_of(st.none(), st.integers(1500, 2099)),
    st.lists(visible.filter(bool), max_size=3),
    st.one_of(st.none(), visible.filter(bool)),
    st.integers(1, 999),
)
def test_what_is_written_is_read_back(
    title: str, sections: list[tuple[str, str]], year: int | None, mesh: list[str], doi: str | None, version: int
) -> None:
    source = written(7, title, sections, version=version, year=year, mesh=mesh, types=mesh, doi=doi).strip().encode()
    record = scan_article(source)
    assert record == parse_with_etree(source)
    assert split_sections(record.abstract, record.labels) == sections
    assert (record.pmid, record.version, record.title) == ("7", version, title)
    assert (record.year, record.mesh, record.publication_types, record.doi) == (year, mesh, mesh, doi)


def test_deletions_follow_the_articles(tmp_path: Path) -> None:
    file = put(tmp_path, pubmed(written(1, "One"), deleted=[(2, 1), (3, 2)]))
    assert [(each.pmid, each.version, each.deleted) for each in read_records(file)] == [
        ("1", 1, False),
        ("2", 1, True),
        ("3", 2, True),
    ]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (written(2, "Two").replace("Two", "a < b"), "record 2: is not well-formed: "),
        (written(2, "Two").replace("Two", "a &nbsp; b"), "record 2: is not well-formed: undefined entity"),
        (written(2, "Two").replace("Two", "&#0;"), "record 2: is not well-formed: "),
        (written(2, "Two").replace("</ArticleTitle>", ""), "record 2: is not well-formed: "),
        (written("x", "Two"), "record 2: has no PMID"),
        (written(2, "Two").replace('Version="1"', 'Version="one"'), "record 2: PMID 2 has the version 'one'"),
        (written(2, ""), "record 2: PMID 2 has neither title nor abstract"),
        (written(2, "Two").replace("</PubmedArticle>", ""), "record 2: has no end"),
        (written(2, "Two").replace("<PubmedArticle>", ""), "record 2: has no beginning"),
        ("<PubmedBookArticle></PubmedBookArticle>", "books and book chapters are not read"),
    ],
)
def test_a_broken_record_is_named_and_the_others_are_read(tmp_path: Path, broken: str, reason: str) -> None:
    file = put(tmp_path, pubmed(written(1, "One"), broken, written(3, "Three")))
    found = list(read_records(file))
    assert [each.pmid for each in found if isinstance(each, ArticleRecord)] == ["1", "3"]
    (problem,) = problems(file)
    assert problem.startswith(reason)


def test_bytes_that_are_not_utf8_are_a_problem_of_their_record(tmp_path: Path) -> None:
    file = put(tmp_path, pubmed(written(1, "One"), written(2, "Two")).replace(b"Two", b"Tw\xff"))
    assert [each.pmid for each in read_records(file) if isinstance(each, ArticleRecord)] == ["1"]
    assert problems(file)[0].startswith("record 2: is not well-formed")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_truncated_gzip_gives_what_was_whole_and_one_line(tmp_path: Path, share: float) -> None:
    whole = put(tmp_path, pubmed(*(written(number, f"Title {number * 7919}") for number in range(1, 400))), "a.xml.gz")
    expected = [fields_of(each) for each in read_records(whole)]
    cut = tmp_path / "cut.xml.gz"
    cut.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
    found = list(read_records(cut))
    records = [fields_of(each) for each in found if isinstance(each, ArticleRecord)]
    assert 0 < len(records) <= 399
    assert records == expected[: len(records)]
    assert len(records) >= share * 399 - 60  # what is lost is the end that was not whole
    assert len(problems(cut)) == 1
    assert "is truncated or damaged" in problems(cut)[0]


def test_a_file_that_ends_early_says_so(tmp_path: Path) -> None:
    data = pubmed(written(1, "One"), written(2, "Two"))
    assert problems(put(tmp_path, data[: data.rindex(b"<ArticleTitle>")])) == ["record 2: has no end"]
    assert problems(put(tmp_path, data.replace(b"</PubmedArticleSet>", b""))) == [
        "ends after record 2 without </PubmedArticleSet>"
    ]
    assert problems(put(tmp_path, b"<html></html>")) == ["contains no PubMed articles"]
    assert problems(put(tmp_path, b"not gzip", "b.xml.gz").with_name("b.xml.gz")) != []
    assert problems(put(tmp_path, f"{HEAD}</PubmedArticleSet>".encode())) == []


def test_pieces_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path, pubmed(ODD, deleted=[(9, 1)]))
    expected = list(read_records(file))
    for size in (1, 17, 1000):
        monkeypatch.setattr("wardround.literature.ingest.sources.CHUNK", size)
        assert list(read_records(file)) == expected


def test_an_article_is_one_function() -> None:
    assert parse_article(written(5, "Five").strip().encode()).title == "Five"
