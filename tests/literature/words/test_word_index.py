"""The word index after any sequence of updates is that of the articles that are there."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardround.core.errors import WardroundError
from wardround.literature.index.build import build, compact_index, update
from wardround.literature.index.index import Index
from wardround.literature.search.filters import Filters
from wardround.literature.words import tables
from wardround.literature.words.lists import invert, merge, subtract
from wardround.literature.words.postings import decode_list
from wardround.literature.words.terms import Occurrences, find_terms

VOCABULARY = ("zinc", "iron", "copper", "gold", "lead", "tin")
QUERIES = ("zinc iron", "copper gold lead lead", "tin", "iron")
TYPES = ("Review", "Letter")

texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join)
pmids = st.integers(1, 12)
records = st.tuples(pmids, texts, st.sampled_from(TYPES))
deletions = st.tuples(pmids, st.none(), st.none())
updates = st.lists(st.lists(records | deletions, min_size=1, max_size=5), min_size=1, max_size=5)


def write_file(file: Path, changes: list[Any]) -> Path:
    """A PubMed file: the records, then the deletions."""
    articles = "".join(
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><ArticleTitle>{text}</ArticleTitle>'
        f"<PublicationTypeList><PublicationType>{kind}</PublicationType></PublicationTypeList></Article>"
        "</MedlineCitation></PubmedArticle>"
        for pmid, text, kind in changes
        if text
    )
    deleted = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid, text, _ in changes if text is None)
    file.write_text(f"<PubmedArticleSet>{articles}<DeleteCitation>{deleted}</DeleteCitation></PubmedArticleSet>")
    return file


def apply(current: dict[int, tuple[str, str]], changes: list[Any]) -> None:
    for pmid, text, kind in changes:
        if text:
            current[pmid] = (text, kind)
    for pmid, text, _ in changes:
        if text is None:
            current.pop(pmid, None)


def hits_of(index: Index, filters: Filters) -> list[list[tuple[str, float]]]:
    return [[(hit.pmid, hit.score) for hit in index.search(query, k=5, filters=filters)] for query in QUERIES]


def expected_hits(current: dict[int, tuple[str, str]], kinds: tuple[str, ...]) -> list[list[tuple[str, float]]]:
    """By the formula, in plain Python."""
    counts = {str(pmid): Counter(text.split()) for pmid, (text, _) in current.items()}
    mean = sum(count.total() for count in counts.values()) / max(1, len(counts))
    hit_lists = []
    for query in QUERIES:
        scores: dict[str, float] = Counter()
        for word in query.split():
            n = sum(word in count for count in counts.values())
            for pmid, count in counts.items():
                if word in count and (not kinds or current[int(pmid)][1] in kinds):
                    norm = 1.2 * (0.25 + 0.75 * count.total() / mean)
                    idf = math.log(1 + (len(counts) - n + 0.5) / (n + 0.5))
                    scores[pmid] += idf * 2.2 * count[word] / (count[word] + norm)
        hit_lists.append(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:5])
    return hit_lists


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(updates, st.integers(0, 4))
def test_an_updated_index_is_a_fresh_one(monkeypatch: pytest.MonkeyPatch, files: list[Any], compacted: int) -> None:
    monkeypatch.setattr(tables, "MAX_SMALL", 2)
    current: dict[int, tuple[str, str]] = {}
    with TemporaryDirectory() as folder:
        sources = [write_file(Path(folder, f"{place}.xml"), changes) for place, changes in enumerate(files)]
        for place, (source, changes) in enumerate(zip(sources, files, strict=True)):
            apply(current, changes)
            if place == 0:
                built = build([source], Path(folder, "index"), columns=())
            else:
                built = update(Path(folder, "index"), [source])
            if place == compacted:
                compact_index(Path(folder, "index"))
            assert built.articles == len(current)
        fresh = build(sources, Path(folder, "fresh"), columns=())
        assert fresh.fingerprint == built.fingerprint
        indices = [Index.open(Path(folder, name)) for name in ("index", "fresh")]
        for kinds in ((), ("Review",)):
            updated_hits, fresh_hits = (hits_of(index, Filters(publication_types=kinds)) for index in indices)
            assert updated_hits == fresh_hits
            for hits, expected in zip(updated_hits, expected_hits(current, kinds), strict=True):
                assert [score for _, score in hits] == pytest.approx([score for _, score in expected], rel=1e-5)


def test_an_index_without_articles_is_searched_and_filled(tmp_path: Path) -> None:
    files = [write_file(tmp_path / "a.xml", [(1, None, None)]), write_file(tmp_path / "b.xml", [(1, "tin", "Letter")])]
    build(files[:1], tmp_path / "index", columns=())
    assert Index.open(tmp_path / "index").search("tin") == []
    update(tmp_path / "index", files[1:])
    assert [hit.pmid for hit in Index.open(tmp_path / "index").search("tin")] == ["1"]


def make_index(folder: Path, count: int = 40) -> tuple[Path, list[Path]]:
    """An index of one file and two updates with revisions and a deletion."""
    rows = [(pmid, " ".join(VOCABULARY[: 1 + pmid % 6]), "Review") for pmid in range(1, count)]
    files = [
        write_file(folder / "a.xml", rows),
        write_file(folder / "b.xml", [(3, "gold gold tin", "Letter"), (4, None, None), (900, "iron tin", "Letter")]),
        write_file(folder / "c.xml", [(900, "lead", "Review"), (5, None, None)]),
    ]
    build(files[:1], folder / "index", columns=())
    return folder / "index", files


def test_many_queries_have_the_hits_of_each_alone_across_parts(tmp_path: Path) -> None:
    place, files = make_index(tmp_path)
    for file in files[1:]:
        update(place, [file])
    index = Index.open(place)
    filters = [Filters(), Filters(without=("900",)), Filters(publication_types=("Review",))] * 12
    queries = [query for query in QUERIES * 3 for _ in range(3)]

    together = index.search_all(queries, k=5, filters=filters)

    assert index._words._parts[1:]
    assert together == [index.search(query, k=5, filters=own) for query, own in zip(queries, filters, strict=True)]
    assert all(together)


def test_compaction_changes_nothing_visible(tmp_path: Path) -> None:
    location, files = make_index(tmp_path)
    for file in files[1:]:
        update(location, [file])
    before = Index.open(location)
    hits, sample = hits_of(before, Filters()), before.sample(5, "a")
    result = compact_index(location)
    assert (result.parts_before, result.parts) == (3, 1)
    after = Index.open(location)
    assert after.fingerprint == before.fingerprint
    assert (hits_of(after, Filters()), after.sample(5, "a")) == (hits, sample)
    assert hits_of(before, Filters()) == hits, "an open index lost its state"
    assert compact_index(location).parts == 1


@pytest.mark.slow
@pytest.mark.parametrize("function", ["_add_pages", "_described", "_numbers"])
def test_an_update_stopped_within_the_word_index_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    location, files = make_index(tmp_path)
    original = getattr(tables, function)

    def stop(*arguments: Any, **named: Any) -> Any:
        original(*arguments, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tables, function, stop)
        with pytest.raises(KeyboardInterrupt):
            update(location, files[1:])
    with pytest.raises(WardroundError, match="is incomplete"):
        Index.open(location)
    updated = update(location, files[1:])
    fresh = build(files, tmp_path / "fresh", columns=())
    assert updated.fingerprint == fresh.fingerprint
    assert hits_of(Index.open(location), Filters()) == hits_of(Index.open(tmp_path / "fresh"), Filters())


@pytest.mark.slow
def test_a_compaction_that_was_stopped_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location, files = make_index(tmp_path)
    update(location, files[1:])
    hits = hits_of(Index.open(location), Filters())
    with monkeypatch.context() as patched:
        patched.setattr(tables, "_add_pages", lambda *_: [][1])
        with pytest.raises(IndexError):
            compact_index(location)
    with pytest.raises(WardroundError, match="is incomplete"):
        Index.open(location)
    compact_index(location)
    assert hits_of(Index.open(location), Filters()) == hits


def test_a_build_continues_at_the_part_it_was_stopped_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(json.dumps({"pmid": pmid, "title": VOCABULARY[pmid % 6]}) + "\n" for pmid in range(60))
    (tmp_path / "a.jsonl").write_text(rows)
    monkeypatch.setattr(tables, "READ_TOGETHER", 5)
    monkeypatch.setattr(tables, "RUN", 10)
    monkeypatch.setattr(tables, "PART", 20)
    original = tables._add_pages
    parts: list[int] = []

    def stop_at_the_second(words: Any, part: int, *arguments: Any) -> None:
        original(words, part, *arguments)
        parts.append(part)
        if parts == [0, 20]:
            raise KeyboardInterrupt

    monkeypatch.setattr(tables, "_add_pages", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        build([tmp_path / "a.jsonl"], tmp_path / "index", columns=())
    build([tmp_path / "a.jsonl"], tmp_path / "index", columns=())
    assert parts == [0, 20, 20, 40]
    assert [hit.pmid for hit in Index.open(tmp_path / "index").search("iron")] == [
        str(pmid) for pmid in sorted(range(1, 60, 6), key=str)
    ]


def test_filters_hold_across_parts(tmp_path: Path) -> None:
    location, files = make_index(tmp_path)
    update(location, files[1:])
    index = Index.open(location)
    letters = index.search("gold iron tin", filters=Filters(publication_types=("Letter",)))
    assert [hit.pmid for hit in letters] == ["3"]
    assert "3" not in {hit.pmid for hit in index.search("gold", k=100, filters=Filters(publication_types=("Review",)))}


def test_an_index_of_an_earlier_version_is_refused_and_built_again(tmp_path: Path) -> None:
    from wardround.literature.index import about

    location, files = make_index(tmp_path)
    index = Index.open(location)
    articles = {name: value for name, value in index.about["articles"].items() if name != "versions"}
    about.write_about(index.connection, articles=articles)
    for use in (Index.open, compact_index, lambda place: update(place, files)):
        with pytest.raises(WardroundError, match="was built by an earlier version; build it again"):
            use(location)
    assert build(files[:1], location, columns=()).fingerprint == index.fingerprint


def random_occurrences(seed: int, documents: int, terms: int, words: int) -> Occurrences:
    draw = np.random.default_rng(seed)
    document = np.sort(draw.integers(0, documents, words))
    names = pl.Series("term", [f"t{number:04}" for number in range(terms)])
    term = np.minimum(draw.zipf(1.3, words) - 1, terms - 1)
    return Occurrences(names, term, document, np.bincount(document, minlength=documents))


def decoded(lists: Any, place: int) -> list[tuple[int, int]]:
    documents, counts = np.empty(lists.sizes[place], np.int64), np.empty(lists.sizes[place], np.int64)
    decode_list(lists.data, lists.starts[place], lists.sizes[place], documents, counts)
    return list(zip(documents.tolist(), counts.tolist(), strict=True))


def test_lists_are_the_counts_of_each_document_also_after_a_merge() -> None:
    parts = [random_occurrences(seed, 3_000, 50, 40_000) for seed in (1, 2)]
    lengths = np.concatenate([part.lengths for part in parts])
    (merged,) = merge([invert(part) for part in parts], [0, 3_000], lengths)
    for place in range(50):
        pairs = Counter(
            (int(document) + 3_000 * number)
            for number, part in enumerate(parts)
            for document in part.document[part.term == place]
        )
        assert decoded(merged, place) == sorted((document, min(count, 255)) for document, count in pairs.items())
        assert merged.added[place] == len(pairs)


def test_frequencies_of_removed_documents_are_subtracted() -> None:
    lists = subtract(invert(find_terms(pl.Series(["zinc iron", "iron"]))), find_terms(pl.Series(["iron tin", "tin"])))
    assert dict(zip(lists.terms, lists.added.tolist(), strict=True)) == {"iron": 1, "tin": -2, "zinc": 1}
    assert dict(zip(lists.terms, lists.sizes.tolist(), strict=True)) == {"iron": 2, "tin": 0, "zinc": 1}
