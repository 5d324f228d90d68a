"""Vector columns: filled, killed and resumed, following their articles, and searched."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pubmed_files import pubmed
from tiny_models import save_bert

from wardround.core.errors import WardroundError
from wardround.literature.encoders import make_encoder
from wardround.literature.encoders.encoder import Article, Encoder, Vectors
from wardround.literature.index.build import build, update
from wardround.literature.index.embedding import embed
from wardround.literature.index.index import Index
from wardround.literature.index.vectors import count_partitions
from wardround.literature.search.filters import Filters

pytestmark = pytest.mark.skipif(find_spec("lancedb") is None, reason="needs the extra literature")
WORDS = ["fever", "cough", "lung", "heart", "pain", "liver", "bone", "child", "woman", "trial", "dose", "risk"]


def rows(count: int, seed: int = 0) -> list[dict[str, object]]:
    draw = np.random.default_rng(seed)
    return [
        {
            "pmid": str(1000 + place),
            "title": f"{WORDS[place % 12]} {place}",
            "abstract": " ".join(draw.choice(WORDS, size=int(draw.integers(1, 60)))),
            "year": 1990 + place % 30,
        }
        for place in range(count)
    ]


def written(file: Path, articles: list[dict[str, object]]) -> Path:
    file.write_text("\n".join(json.dumps(row) for row in articles))
    return file


def column(place: Path, name: str = "wordllama") -> pl.DataFrame:
    """What a column holds, by PMID."""
    return pl.from_arrow(Index.open(place).table(f"vectors_{name}").to_arrow()).sort("pmid")


class Counting(Encoder):
    """Counts what it is given; a vector is made of the article's own letters."""

    name, dimension, batch = "counting", 4, 8
    spec = {"encoder": "counting", "dimension": 4}

    def __init__(self, stop_after: int = 1_000_000) -> None:
        self.seen: list[Article] = []
        self._stop_after = stop_after

    def _queries(self, texts: list[str]) -> Vectors:
        return np.array([[text.count(letter) for letter in "aeio"] for text in texts], np.float32)

    def _documents(self, articles: list[Article]) -> Vectors:
        if len(self.seen) >= self._stop_after:
            raise KeyboardInterrupt
        self.seen += articles
        return self._queries([title + abstract for title, abstract in articles])


def test_every_article_gets_the_vector_that_its_encoder_gives(tmp_path: Path) -> None:
    articles = rows(300)
    build([written(tmp_path / "a.jsonl", articles)], tmp_path / "index", columns=["wordllama"])
    held = column(tmp_path / "index")
    assert held["pmid"].to_list() == [row["pmid"] for row in articles]
    assert held["year"].to_list() == [row["year"] for row in articles]
    wanted = make_encoder("wordllama").documents([(row["title"], row["abstract"]) for row in articles])
    assert np.array_equal(held["vector"].to_numpy(), wanted)


def test_a_search_is_exact_filtered_and_ordered(tmp_path: Path) -> None:
    articles = rows(200)
    articles += [{**row, "pmid": f"2{row['pmid']}"} for row in articles[:5]]  # the same texts again: ties
    build([written(tmp_path / "a.jsonl", articles)], tmp_path / "index", columns=["words=wordllama"])
    index = Index.open(tmp_path / "index")
    encoder = make_encoder("wordllama")
    query = "Does the child's \"liver\" hurt? (pain OR fever) '; DROP TABLE"
    scores = encoder.documents([(row["title"], row["abstract"]) for row in articles]) @ encoder.queries([query])[0]
    order = sorted(zip(-scores.astype(float).round(6), (row["pmid"] for row in articles), strict=True))
    found = index.search(query, "words", 20)
    assert [hit.pmid for hit in found] == [pmid for _, pmid in order[:20]]
    assert np.allclose([hit.score for hit in found], [-score for score, _ in order[:20]], atol=1e-5)
    left = [hit.pmid for hit in found if hit.year >= 2005][2:]
    filters = Filters(since="2005", without=tuple(hit.pmid for hit in found if hit.year >= 2005)[:2])
    assert [hit.pmid for hit in index.search(query, "words", len(left), filters)] == left
    assert index.search("   ", "words") == []
    assert index.search("\ud800", "words", 1)


def test_a_stopped_embedding_goes_on_and_is_the_same(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", rows(500))
    for name in ("whole", "stopped"):
        build([source], tmp_path / name, columns=[])
    whole = Counting()
    embed(Index.open(tmp_path / "whole"), whole)
    stopped = Counting(stop_after=200)
    with pytest.raises(KeyboardInterrupt):
        embed(Index.open(tmp_path / "stopped"), stopped)
    assert Index.open(tmp_path / "stopped").retrievers == ["bm25"]  # half a column finds nothing
    rest = Counting()
    lines: list[str] = []
    done = embed(Index.open(tmp_path / "stopped"), rest, batch=3, note=lines.append)
    assert done.embedded == len(rest.seen)
    assert 0 < 500 - done.embedded <= len(stopped.seen) < 300  # what was committed, of what was made
    assert lines[-1].startswith(f"counting: {done.embedded} of {done.embedded} articles embedded")
    assert column(tmp_path / "stopped", "counting").equals(column(tmp_path / "whole", "counting"))
    assert Index.open(tmp_path / "stopped").fingerprint == Index.open(tmp_path / "whole").fingerprint
    again = Counting()
    assert embed(Index.open(tmp_path / "whole"), again).embedded == 0
    assert not again.seen


@pytest.mark.slow
def test_a_killed_embedding_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "index"
    build([written(tmp_path / "a.jsonl", rows(1_500))], place, columns=[])
    program = (
        "import sys; from wardround.literature.index.index import Index; "
        "from wardround.literature.index import embedding;"
        "from wardround.literature.encoders import make_encoder; embedding.COMMIT = 0;"
        "embedding.embed(Index.open(sys.argv[1]), make_encoder('wordllama'), batch=16,"
        "watch=lambda done, total: (print(done, flush=True), sys.stdin.readline()))"
    )
    for _ in range(2):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        before = _held(place)
        with subprocess.Popen([sys.executable, "-c", program, str(place)], text=True, **pipes) as running:
            while _held(place) < before + 64:  # it waits after each pass until it may go on
                assert running.stdout.readline()
                running.stdin.write("\n")
                running.stdin.flush()
            running.kill()
    kept = _held(place)
    assert 128 <= kept < 1_500
    done = embed(Index.open(place), make_encoder("wordllama"))
    assert done.embedded == 1_500 - kept
    build([tmp_path / "a.jsonl"], tmp_path / "whole", columns=["wordllama"])
    assert column(place).equals(column(tmp_path / "whole"))


def _held(place: Path) -> int:
    index = Index.open(place)
    return index.table("vectors_wordllama").count_rows() if (place / "vectors_wordllama.lance").exists() else 0


def test_revised_articles_are_embedded_again_and_deleted_ones_leave(tmp_path: Path) -> None:
    articles = rows(100)
    place = tmp_path / "index"
    build([written(tmp_path / "a.jsonl", articles)], place, columns=["wordllama"])
    before = Index.open(place)
    revised = [{**row, "abstract": "wholly other words"} for row in articles[:3]]
    revised.append({**articles[3], "year": 1950})  # the same text, but other filters
    (tmp_path / "deleted.xml").write_bytes(pubmed(deleted=[(int(row["pmid"]), 1) for row in articles[4:6]]))
    update(place, [written(tmp_path / "b.jsonl", [*revised, *rows(103)[100:]]), tmp_path / "deleted.xml"])
    held = column(place)
    current = {row["pmid"]: row for row in [*articles[:4], *articles[6:], *rows(103)[100:]]} | {
        r["pmid"]: r for r in revised
    }
    assert held["pmid"].to_list() == sorted(current)
    assert held.filter(pmid=articles[3]["pmid"])["year"].item() == 1950
    ordered = [current[pmid] for pmid in sorted(current)]
    wanted = make_encoder("wordllama").documents([(row["title"], row["abstract"]) for row in ordered])
    assert np.array_equal(held["vector"].to_numpy(), wanted)
    assert Index.open(place).fingerprint != before.fingerprint


def test_a_column_is_of_one_model(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    save_bert(tmp_path / "one", 1)
    save_bert(tmp_path / "two", 2)
    place = tmp_path / "index"
    build([written(tmp_path / "a.jsonl", rows(20))], place, columns=[f"m=medcpt:{tmp_path}/one,{tmp_path}/one"])
    with pytest.raises(WardroundError, match="column 'm' was made with another model"):
        embed(Index.open(place), make_encoder(f"m=medcpt:{tmp_path}/two,{tmp_path}/two"))
    (tmp_path / "one").rename(tmp_path / "gone")
    (tmp_path / "two").rename(tmp_path / "one")
    with pytest.raises(WardroundError, match="is not the model of the column"):
        Index.open(place).search("fever", "m")


def test_columns_stand_beside_each_other(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    save_bert(tmp_path / "bert", 1)
    place = tmp_path / "index"
    specs = ["wordllama", f"medcpt:{tmp_path}/bert,{tmp_path}/bert"]
    build([written(tmp_path / "a.jsonl", rows(60))], place, columns=specs)
    index = Index.open(place)
    assert index.retrievers == ["bm25", "medcpt", "wordllama"]
    encoder = make_encoder(specs[1])
    scores = encoder.documents([(row["title"], row["abstract"]) for row in rows(60)]) @ encoder.queries(["lung"])[0]
    assert [hit.pmid for hit in index.search("lung", "medcpt", 5)] == [
        str(1000 + each) for each in np.argsort(-scores)[:5]
    ]


@pytest.mark.slow
def test_ray_embeds_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    place = tmp_path / "index"
    build([written(tmp_path / "a.jsonl", rows(2_000))], place, columns=["here=wordllama"])
    done = embed(Index.open(place), make_encoder("there=wordllama"), engine="ray", workers=2, batch=4)
    assert done.embedded == 2_000
    here, there = (Index.open(place).table(f"vectors_{name}").to_arrow() for name in ("here", "there"))
    assert there.equals(here)  # in the same order, too


@pytest.mark.parametrize(("count", "partitions"), [(100, 1), (100_000, 24), (1_000_000, 257), (10_000_000, 2_441)])
def test_partitions_are_few_or_trained_one_within_the_other(count: int, partitions: int) -> None:
    """LanceDB trains up to 256 partitions all at once: 250 took four times the CPU of 260."""
    assert count_partitions(count) == partitions


def test_a_large_column_is_searched_by_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large is made small here: 16 partitions, of which the nearest four are looked into."""
    for name, value in {"EXACT": 1_000, "PARTITION": 128, "PROBES": 4}.items():
        monkeypatch.setattr(f"wardround.literature.index.vectors.{name}", value)
    place = tmp_path / "index"
    build([written(tmp_path / "a.jsonl", rows(2_048))], place, columns=["wordllama"])
    index = Index.open(place)
    (vector_index,) = index.table("vectors_wordllama").list_indices()
    assert (vector_index.index_type, vector_index.num_unindexed_rows) == ("IvfRq", 0)
    assert str(index.table("vectors_wordllama").schema.field("vector").type.value_type) == "halffloat"
    held = column(place)
    encoder = make_encoder("wordllama")
    queries = [f"{one} {other} in a {third}" for one, other, third in zip(WORDS, WORDS[3:], WORDS[5:], strict=False)]
    hits = 0
    for query, vector in zip(queries, encoder.queries(queries), strict=True):
        scores = dict(zip(held["pmid"], held["vector"].to_numpy() @ vector, strict=True))
        found = index.search(query, "wordllama", 10)
        assert np.allclose(
            [hit.score for hit in found], [scores[hit.pmid] for hit in found], atol=1e-4
        )  # half precision
        hits += len({hit.pmid for hit in found} & set(sorted(scores, key=scores.get, reverse=True)[:10]))
        rare = index.search(query, "wordllama", 40, Filters(since="2019"))  # hardly any in the nearest partitions
        assert len(rare) == 40
        assert {hit.year for hit in rare} == {2019}
    assert hits >= 8 * len(queries)
