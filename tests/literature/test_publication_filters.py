"""Dates to the day and languages: what PubMed states, and what a search returns."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.core.dates import parse_partial_date
from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.literature.ingest.publication_date import published_date
from wardround.literature.search.filters import Filters

DATES = {
    ("2016 Jan 5", ""): "2016-01-05",
    ("2016 09", ""): "2016-09",
    ("2016 Jun 31", ""): "2016-06",  # there is no such day
    ("2015 Nov-Dec", ""): "2015",
    ("2000 Spring", ""): "2000",
    ("1998 Dec-1999 Jan", ""): "1998",
    ("", "2019 01 02"): None,
    ("2019 May", "2019 05 30"): "2019-05-30",
    ("2019 May", "2019 04 30"): "2019-05",  # online in another month: the issue counts
    ("2019", "2018 12 30"): "2019",
    ("2019 May 2", "2019 05 01"): "2019-05-02",
}
ARTICLES = [
    {"pmid": "1", "title": "Zinc", "published": "2024-03-14", "languages": ["eng"]},
    {"pmid": "2", "title": "Zinc", "published": "2024-03-15", "languages": ["ger", "eng"]},
    {"pmid": "3", "title": "Zinc", "published": "2024-03", "languages": ["fre"]},
    {"pmid": "4", "title": "Zinc", "year": 2024},
    {"pmid": "5", "title": "Zinc", "published": "2024-12-31"},
    {"pmid": "6", "title": "Zinc"},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("dates")
    (folder / "a.jsonl").write_text("".join(json.dumps(article) + "\n" for article in ARTICLES))
    build([folder / "a.jsonl"], folder / "index", columns=[])
    return Index.open(folder / "index")


def pmids(index: Index, **filters: object) -> str:
    return "".join(sorted(hit.pmid for hit in index.search("zinc", filters=Filters(**filters))))


@pytest.mark.parametrize(("issue", "electronic"), DATES)
def test_the_date_is_as_precise_as_it_is_stated(issue: str, electronic: str) -> None:
    assert published_date(issue, electronic) == DATES[issue, electronic]


def test_an_article_passes_a_limit_only_if_all_days_of_its_date_do(index: Index) -> None:
    assert pmids(index, since="2024-03-15") == "25"
    assert pmids(index, until="2024-03-15") == "12"
    assert pmids(index, since="2024-03", until="2024-03") == "123"
    assert pmids(index, since="2024", until="2024") == "12345"
    assert pmids(index, since="2025") == ""
    assert pmids(index, until="2023-12-31") == ""


@given(first=st.dates(), last=st.dates())
def test_texts_compare_as_days_do(first: date, last: date) -> None:
    assert (parse_partial_date(first) <= parse_partial_date(str(last))) == (first <= last)


@pytest.mark.parametrize("value", ["2024-13", "24", "2024-02-30", "2024-3-1", "soon", "", 12345, -1, True, None, 1.5])
def test_anything_but_a_date_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected 2025, 2025-03 or 2025-03-01"):
        parse_partial_date(value)


def test_an_article_in_any_of_the_languages_is_returned(index: Index) -> None:
    assert pmids(index, languages=("eng",)) == "12"
    assert pmids(index, languages=("ger", "fre")) == "23"
