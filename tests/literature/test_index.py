"""Any text finds articles, filters hold, ties are broken by PMID, draws are those of the seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.core.errors import WardroundError
from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.literature.search.filters import Filters

ROWS = [
    {"pmid": "1", "title": "Zinc for children", "year": 1999, "publication_types": ["Review"], "journal": "J"},
    {"pmid": "2", "title": "Zinc for mothers", "abstract": "Zinc, and zinc.", "year": 2005},
    {"pmid": "3", "title": "Iron for mothers", "year": 2010, "publication_types": ["Letter", "Case Reports"]},
    {"pmid": "o'4", "title": "Müller's running fevers", "publication_types": ["O'Neill's type"]},
    *({"pmid": str(number), "title": "The same copper", "year": 2000 + number % 3} for number in range(100, 160)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("literature")
    source = folder / "a.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    build([source], folder / "index", columns=())
    return Index.open(folder / "index")


def pmids(index: Index, query: str, **filters: object) -> list[str]:
    return [hit.pmid for hit in index.search(query, filters=Filters(**filters))]  # type: ignore[arg-type]


def test_words_are_found_by_their_stems_without_accents_or_case(index: Index) -> None:
    assert set(pmids(index, "ZINC")) == {"1", "2"}
    assert pmids(index, "muller runs a fever") == ["o'4"]
    assert pmids(index, "the for and of") == []
    assert index.search("zinc", k=1)[0][2:] == ("Zinc for mothers", "Zinc, and zinc.", 2005, None)


def test_filters_exclude_other_articles(index: Index) -> None:
    assert pmids(index, "zinc mothers", since="2005") == ["2", "3"]
    assert pmids(index, "zinc mothers", until="2004") == ["1"]
    assert pmids(index, "zinc mothers", since="2000", until="2009") == ["2"]
    assert pmids(index, "zinc mothers", publication_types=("Case Reports", "none such")) == ["3"]
    assert pmids(index, "fever", publication_types=("O'Neill's type",)) == ["o'4"]
    assert pmids(index, "zinc mothers", since="2000", publication_types=("Review",)) == []
    assert pmids(index, "zinc mothers", without=("2", "3", "404")) == ["1"]


def test_excluded_articles_are_replaced_by_the_next(index: Index) -> None:
    gone = tuple(str(number) for number in range(100, 150))
    assert pmids(index, "copper", without=gone) == [str(number) for number in range(150, 160)]


def test_ties_are_broken_by_pmid_however_many_are_asked_for(index: Index) -> None:
    same = [str(number) for number in range(100, 160)]
    for k in (1, 7, 59, 60, 200):
        hits = index.search("copper", k=k)
        assert [hit.pmid for hit in hits] == same[:k]
        assert len({hit.score for hit in hits}) == 1
    assert pmids(index, "copper", since="2002") == [each for each in same if int(each) % 3 == 2][:10]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_query(index: Index, query: str) -> None:
    for hit in index.search(query):
        assert hit.score > 0


@pytest.mark.parametrize(
    "query", ["", " \n", "\ud800", "\x00", '"zinc', "zinc AND (", "title:zinc", "zinc* ~2 ^3 -iron"]
)
def test_no_text_is_a_query_language(index: Index, query: str) -> None:
    assert set(pmids(index, query)) >= ({"1", "2"} if "zinc" in query else set())


def test_a_history_of_thousands_of_words_is_a_query(index: Index) -> None:
    assert pmids(index, "zinc " + "and then the patient said nothing more " * 2_000)[:1] == ["2"]


def test_articles_come_by_their_pmids(index: Index) -> None:
    found = index.articles(["3", "404", "o'4", "1"])
    assert list(found) == ["3", "o'4", "1"]
    assert found["1"] == ("1", 0.0, "Zinc for children", "", 1999, "J")
    assert index.articles([]) == {}


def test_a_sample_is_determined_by_its_seed(index: Index) -> None:
    drawn = index.sample(5, "a")
    assert drawn == index.sample(5, "a") == index.sample(9, "a")[:5]
    assert drawn != index.sample(5, "b")
    without = [hit.pmid for hit in drawn[:2]]
    assert index.sample(3, "a", without) == drawn[2:]
    assert len({hit.pmid for hit in index.sample(1_000, "a")}) == len(ROWS)
    often = {hit.pmid for number in range(400) for hit in index.sample(1, f"seed {number}")}
    assert len(often) > len(ROWS) // 2


def test_an_unknown_retriever_is_named(index: Index) -> None:
    assert index.retrievers == ["bm25"]
    with pytest.raises(WardroundError, match="has no retriever 'dense'; it has bm25"):
        index.search("zinc", "dense")


def test_the_fingerprint_is_that_of_the_content(index: Index, tmp_path: Path) -> None:
    prints = {index.fingerprint}
    for number, rows in enumerate((ROWS[::-1], ROWS[1:], [{**ROWS[0], "journal": "K"}, *ROWS[1:]])):
        source = tmp_path / f"{number}.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        built = build([source], tmp_path / f"index{number}", columns=())
        assert (built.fingerprint in prints) == (number == 0)
        prints.add(built.fingerprint)
