"""Files ingested once each, whole or not at all, and what is current of them."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from pubmed_files import pubmed, written

from wardround.core.errors import BadInput
from wardround.literature.ingest.current_records import current_records
from wardround.literature.ingest.ingest import ingest, ingest_file
from wardround.literature.ingest.ledger import LedgerEntry, plan_files, read_entries
from wardround.literature.ingest.record import ArticleRecord


def put(folder: Path, name: str, data: bytes) -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return file


def in_this_process(files: list[Path], folder: Path) -> list[LedgerEntry]:
    """What ingest does with new files, without its processes."""
    (folder / "records").mkdir(parents=True)
    plan_files(folder, files)
    return [ingest_file((file, folder / "records" / f"{place:05}")) for place, file in enumerate(files)]


def titles(folder: Path) -> dict[str, str]:
    found = pl.concat(current_records(folder))
    assert found["pmid"].is_unique().all()
    return dict(zip(found["pmid"], found["title"], strict=True))


def test_updates_replace_and_delete_what_the_baseline_told(tmp_path: Path) -> None:
    base = pubmed(*(written(number, f"base {number}") for number in (1, 2, 3, 4)), written(5, "second", version=2))
    update = pubmed(written(2, "revised"), written(5, "first", version=1), written(6, "new"), deleted=[(3, 1), (6, 1)])
    later = pubmed(written(3, "again"), deleted=[(5, 1), (404, 1)])
    given = [put(tmp_path, f"n{number}.xml.gz", data) for number, data in enumerate((base, update, later))]
    files = ingest([tmp_path], tmp_path / "out", workers=2)
    assert titles(tmp_path / "out") == {"1": "base 1", "2": "revised", "3": "again", "4": "base 4", "5": "second"}
    assert [(each.source, each.records, each.deletions, each.problems) for each in files] == [
        (str(given[0]), 5, 0, 0),
        (str(given[1]), 3, 2, 0),
        (str(given[2]), 1, 2, 0),
    ]


events = st.tuples(st.integers(1, 4), st.integers(1, 3), st.booleans())  # PMID, version, deleted


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(events, max_size=8), min_size=1, max_size=3), st.integers(1, 4))
def test_what_is_current_is_what_a_plain_loop_says(
    tmp_path_factory: pytest.TempPathFactory, editions: list[list[tuple[int, int, bool]]], part: int
) -> None:
    folder = tmp_path_factory.mktemp("events")
    files, kept, number = [], {}, 0
    for place, file in enumerate(editions):
        articles = [each for each in file if not each[2]]
        deletions = [each for each in file if each[2]]  # after the articles, as PubMed has them
        texts = []
        for pmid, version, deleted in articles + deletions:
            number += 1
            if not deleted:
                texts.append(written(pmid, f"title {number}", version=version))
            if version >= kept.get(pmid, (0, None))[0]:
                kept[pmid] = (version, None if deleted else f"title {number}")
        gone = [(pmid, version) for pmid, version, _ in deletions]
        files.append(put(folder, f"{place}.xml", pubmed(*texts, deleted=gone)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wardround.literature.ingest.ingest.PART", part)
        patch.setattr("wardround.literature.ingest.current_records.CHUNK_RECORDS", part)
        in_this_process(files, folder / "out")
        found = titles(folder / "out") if number else {}
    assert found == {str(pmid): title for pmid, (_, title) in kept.items() if title}


def test_what_is_read_comes_back_from_parquet(tmp_path: Path) -> None:
    article = ArticleRecord(
        pmid="1",
        version=2,
        title="T",
        abstract="A: b\nc",
        labels=["A", ""],
        year=1999,
        published="1999-03-02",
        journal="J",
        mesh=["M"],
        publication_types=["P"],
        languages=["eng"],
        doi="10.1/x",
        more='{"k":1}',
    )
    row = {**article._asdict(), "k": 1}
    del row["deleted"], row["more"]
    in_this_process([put(tmp_path, "a.jsonl", json.dumps(row).encode())], tmp_path / "out")
    (found,) = pl.concat(current_records(tmp_path / "out")).to_dicts()
    expected = article._asdict()
    del expected["deleted"]
    assert found == expected


def test_a_finished_file_is_not_read_again_and_a_changed_one_is(tmp_path: Path) -> None:
    one, two = (put(tmp_path, f"{name}.jsonl", b'{"pmid": "%s", "title": "old"}\n' % name.encode()) for name in "ab")
    out = tmp_path / "out"
    heard: list[LedgerEntry] = []
    ingest([two, one], out, note=heard.append)
    assert [Path(each.source).name for each in heard] == ["b.jsonl", "a.jsonl"]
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    heard.clear()
    os.utime(one, ns=(1, 1))  # another time, the same bytes
    three = put(tmp_path, "c.jsonl", b'{"pmid": "b", "title": "newest"}\n')
    put(tmp_path, "b.jsonl", b'{"pmid": "b", "title": "changed"}\n{"pmid": "d", "title": "more"}\n')
    files = ingest([one, three, two], out, note=heard.append)
    assert [Path(each.source).name for each in heard] == ["c.jsonl", "b.jsonl"]
    assert [Path(each.source).name for each in files] == ["b.jsonl", "a.jsonl", "c.jsonl"]
    assert titles(out) == {"a": "old", "b": "newest", "d": "more"}
    unread = out / "records" / "00001" / "00000.parquet"
    assert unread.stat().st_mtime_ns == before[unread]


def test_problems_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    file = put(tmp_path, "a.jsonl", b"broken\n" * 150 + b'{"pmid": 1, "title": "T"}\n')
    (entry,) = in_this_process([file], tmp_path / "out")
    assert (entry.records, entry.problems, len(entry.named)) == (1, 150, 100)
    assert entry.named[0].startswith(f"{file}:1: is not JSON")
    assert list(read_entries(tmp_path / "out").values()) == [entry]


@pytest.mark.parametrize("damage", [b"", b'{"source": "a.jsonl"}'])
def test_an_entry_that_cannot_be_relied_on_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    file = put(tmp_path, "a.jsonl", b'{"pmid": 1, "title": "T"}\n')
    (entry,) = in_this_process([file], tmp_path / "out")
    (tmp_path / "out" / "records" / "00000" / "entry.json").write_bytes(damage)
    assert read_entries(tmp_path / "out") == {}
    assert ingest([file], tmp_path / "out") == [entry]


def test_nothing_read_is_nothing_current(tmp_path: Path) -> None:
    in_this_process([put(tmp_path, "a.jsonl", b"")], tmp_path / "out")
    assert list(current_records(tmp_path / "out")) == []


CHILD = """
import sys
from pathlib import Path
from wardround.literature.ingest.ingest import ingest
if __name__ == "__main__":
    ingest([Path(name) for name in sys.argv[2:]], Path(sys.argv[1]), workers=2)
"""


def test_killed_at_any_moment_it_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    """Files that were read are kept as they are; those in progress are read again.

    Two sources are pipes that nobody writes to: both workers wait there until the process is killed.
    """
    draw = random.Random(5)
    sources, script = tmp_path / "sources", tmp_path / "child.py"
    sources.mkdir()
    script.write_text(CHILD)
    for number in range(12):
        articles = (
            written(draw.randrange(3000), f"{number} {each}", version=draw.randint(1, 3)) for each in range(1000)
        )
        put(sources, f"n{number:02}.xml.gz", pubmed(*articles, deleted=[(draw.randrange(3000), 2) for _ in range(300)]))
    files = sorted(sources.iterdir())
    out, records = tmp_path / "out", tmp_path / "out" / "records"
    kept: dict[Path, int] = {}
    for finished in (1, 5):
        pipes = files[finished : finished + 2]
        for file in pipes:
            file.rename(file.with_suffix(".aside"))
            os.mkfifo(file)
        child = subprocess.Popen([sys.executable, script, out, *files])
        while len(list(records.glob("0*"))) < finished:
            assert child.poll() is None
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()
        for file in pipes:
            file.with_suffix(".aside").replace(file)
        assert all(each.stat().st_mtime_ns == when for each, when in kept.items())
        kept = {each: each.stat().st_mtime_ns for each in records.glob("0*/*")}
        assert all((each.parent / "entry.json").exists() for each in kept)
    assert len(read_entries(out)) == 5
    ended = ingest([sources], out, workers=2)
    assert all(each.stat().st_mtime_ns == when for each, when in kept.items())
    assert ended == in_this_process(sorted(sources.iterdir()), tmp_path / "whole")
    assert_frame_equal(pl.concat(current_records(out)), pl.concat(current_records(tmp_path / "whole")))


def test_two_builds_at_once_are_refused(tmp_path: Path) -> None:
    file = put(tmp_path, "a.jsonl", b'{"pmid": 1, "title": "T"}\n')
    with pytest.raises(BadInput, match="another build"):
        ingest([file], tmp_path / "out", note=lambda _: ingest([file], tmp_path / "out"))
