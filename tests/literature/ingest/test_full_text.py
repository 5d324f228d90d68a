"""PMC full text: the article and its passages, alone and in packages."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from wardround.core.errors import Problem
from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.literature.ingest.record import ArticleRecord
from wardround.literature.ingest.sources import read_records
from wardround.literature.search.filters import Filters

REAL = Path(__file__).parents[4] / "shared" / "data" / "xml"
LONG = " ".join(["word"] * 200)
ARTICLE = f"""<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><journal-meta><journal-title-group>
<journal-title>Invented reports</journal-title></journal-title-group></journal-meta><article-meta>
<article-id pub-id-type="pmid">77</article-id><article-id pub-id-type="pmc">PMC7</article-id>
<article-id pub-id-type="doi">10.1/x</article-id>
<title-group><article-title>On <italic>zinc</italic></article-title></title-group>
<pub-date pub-type="ppub"><month>5</month><year>2020</year></pub-date>
<pub-date pub-type="epub"><day>7</day><month>5</month><year>2020</year></pub-date>
<abstract abstract-type="summary"><p>For everyone.</p></abstract>
<abstract><sec><title>Aims</title><p>To ask.</p></sec><sec><title>Results</title><p>Answered.</p></sec></abstract>
</article-meta></front><body><p>Before all sections.</p>
<sec><title>Methods</title><p>First<xref ref-type="bibr" rid="r1">1</xref>.</p>
<fig><caption><p>A picture.</p></caption></fig><p>{LONG}</p><p>{LONG}</p>
<sec><title>Patients</title><list><list-item><p>One.</p></list-item><list-item><p>Two.</p></list-item></list></sec>
</sec></body></article>"""


def records(path: Path) -> list[ArticleRecord]:
    read = list(read_records(path))
    assert all(isinstance(record, ArticleRecord) for record in read)
    return read


def test_an_article_comes_with_its_passages(tmp_path: Path) -> None:
    path = tmp_path / "a.nxml"
    path.write_text(ARTICLE)
    article, *passages = records(path)
    assert (article.pmid, article.title, article.abstract) == ("77", "On zinc", "Aims: To ask.\nResults: Answered.")
    assert (article.published, article.journal, article.doi) == ("2020-05-07", "Invented reports", "10.1/x")
    assert [(passage.pmid, passage.title, passage.abstract) for passage in passages] == [
        ("77#1", "On zinc", "Before all sections."),
        ("77#2", "On zinc: Methods", f"First.\n{LONG}"),
        ("77#3", "On zinc: Methods", LONG),
        ("77#4", "On zinc: Methods - Patients", "One.\nTwo."),
    ]
    assert all(passage.published == "2020-05-07" for passage in passages)


def test_a_package_is_read_and_what_is_not_an_article_is_named(tmp_path: Path) -> None:
    path = tmp_path / "oa.tar.gz"
    members = {
        "PMC1/a.nxml": ARTICLE,
        "b.xml": "<article/>",
        "c.txt": "x",
        "d.nxml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>',
    }
    with tarfile.open(path, "w:gz") as package:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            package.addfile(member, io.BytesIO(content.encode()))
    read = list(read_records(path))
    assert [record.pmid for record in read if isinstance(record, ArticleRecord)] == [
        "77",
        "77#1",
        "77#2",
        "77#3",
        "77#4",
    ]
    problems = [str(problem) for problem in read if isinstance(problem, Problem)]
    assert [problem.split(": ")[1] for problem in problems] == ["b.xml", "d.nxml"]


def test_half_a_package_keeps_its_articles_and_says_so(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as package:
        for number in range(2):
            content = ARTICLE.replace(">77<", f">{number + 1}<").encode()
            member = tarfile.TarInfo(f"{number}.nxml")
            member.size = len(content)
            package.addfile(member, io.BytesIO(content))
    path = tmp_path / "half.tar"
    path.write_bytes(whole.getvalue()[:4000])
    *kept, problem = read_records(path)
    assert kept[0].pmid == "1"
    assert isinstance(problem, Problem)


def test_what_excludes_an_article_excludes_its_passages(tmp_path: Path) -> None:
    (tmp_path / "a.nxml").write_text(ARTICLE)
    (tmp_path / "b.jsonl").write_text('{"pmid": "8", "title": "Zinc again, in other patients"}\n')
    build([tmp_path / "a.nxml", tmp_path / "b.jsonl"], tmp_path / "index", columns=["wordllama"])
    index = Index.open(tmp_path / "index")
    assert {hit.pmid for hit in index.search("zinc patients")} == {"77", "77#1", "77#2", "77#3", "77#4", "8"}
    for retriever in index.retrievers:
        assert [hit.pmid for hit in index.search("zinc", retriever, filters=Filters(without=("77",)))] == ["8"]
    assert [hit.pmid for hit in index.sample(5, "seed", without=("77",))] == ["8"]


@pytest.mark.skipif(not REAL.exists(), reason="real PMC articles: ../shared/data is not here")
@pytest.mark.parametrize("path", sorted(REAL.glob("*.nxml")), ids=lambda path: path.stem)
def test_a_real_article_is_read_whole(path: Path) -> None:
    article, *passages = records(path)
    assert article.pmid.isdecimal()
    assert article.published
    assert len(article.published) == 10
    assert len(passages) > 10
    assert [passage.pmid for passage in passages] == [f"{article.pmid}#{n}" for n in range(1, len(passages) + 1)]
    assert all(passage.abstract and passage.title.startswith(article.title) for passage in passages)
