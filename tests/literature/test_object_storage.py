"""An index in an object store, emulated on the loopback: built, searched, updated, with deletions."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from wardround.core.errors import WardroundError
from wardround.literature.index.build import build, update
from wardround.literature.index.index import Index
from wardround.literature.index.location import work_folder
from wardround.literature.search.filters import Filters

if find_spec("moto") is None:  # loaded by the fixture: it takes long
    pytest.skip("moto is not installed", allow_module_level=True)
ARTICLES = '{"pmid": 1, "title": "zinc for children"}\n{"pmid": 2, "title": "zinc for mothers"}\n'
UPDATE = """<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">1</PMID><Article>
<ArticleTitle>iron for children</ArticleTitle></Article></MedlineCitation></PubmedArticle>
<DeleteCitation><PMID Version="1">2</PMID></DeleteCitation></PubmedArticleSet>"""


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }.items():
            monkeypatch.setenv(name, value)
        boto3.client("s3").create_bucket(Bucket="articles")
        yield "s3://articles"
    finally:
        server.stop()


def test_an_index_in_a_store_is_built_searched_and_updated(tmp_path: Path, bucket: str) -> None:
    first, then = tmp_path / "a.jsonl", tmp_path / "b.xml"
    first.write_text(ARTICLES)
    then.write_text(UPDATE)
    place = f"{bucket}/some/index"
    built = build([first], place)
    assert built.work == str(work_folder(place))
    assert Path(built.work).is_relative_to(tmp_path / "cache")
    index = Index.open(place)
    assert index.retrievers == ["bm25", "wordllama"]
    assert [hit.pmid for hit in index.search("zinc", filters=Filters(without=("1",)))] == ["2"]
    assert [hit.pmid for hit in index.search("mothers", "wordllama", k=1)] == ["2"]
    updated = update(place, [then])
    assert updated.articles == 1
    index = Index.open(place)
    assert index.search("zinc") == []
    assert [hit.title for hit in index.search("children")] == ["iron for children"]
    assert [hit.title for hit in index.search("children", "wordllama")] == ["iron for children"]
    assert updated.fingerprint == build([first, then], tmp_path / "local").fingerprint


def test_what_is_not_in_a_store_is_told_in_one_line(bucket: str) -> None:
    for place, message in (
        (f"{bucket}/nothing", "is not a literature index"),
        ("s3://no-such-bucket/x", "bucket does not exist"),
    ):
        with pytest.raises(WardroundError, match=message) as raised:
            Index.open(place)
        assert "\n" not in str(raised.value)
