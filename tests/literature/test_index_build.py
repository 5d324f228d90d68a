"""An index built, killed, built on and brought up to date is the index of what is current."""

from __future__ import annotations

import fcntl
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pubmed_baseline import Baseline

from wardround.core.errors import WardroundError
from wardround.literature.index import articles as table
from wardround.literature.index.build import IndexBuild, build, update
from wardround.literature.index.index import Index

BUILD = """
import sys
from pathlib import Path
from wardround.literature.index import articles
from wardround.literature.index.build import build
if __name__ == "__main__":
    articles.COMMIT = int(sys.argv[3])
    def note(line):
        print(line, flush=True)
        sys.stdin.readline()  # goes on only when the test has heard it
    build([Path(sys.argv[1])], sys.argv[2], columns=(), note=note)
"""


def made(sources: Path | list[Path], place: Path) -> IndexBuild:
    return build(sources if isinstance(sources, list) else [sources], place, columns=())


def held(place: Path | str) -> dict[int, tuple[int, int]]:
    """Version and edition of each article."""
    rows = Index.open(place).table("articles").search().select(["pmid", "version", "title"]).limit(None).to_list()
    assert len({row["pmid"] for row in rows}) == len(rows)
    return {int(row["pmid"]): (row["version"], int(row["title"].rpartition("edition")[2])) for row in rows}


def top(place: Path | str, queries: list[str]) -> list[list[tuple[str, float]]]:
    index = Index.open(place)
    return [[(hit.pmid, hit.score) for hit in index.search(query)] for query in queries]


def start(script: Path, sources: Path, place: Path, commit: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(script), str(sources), str(place), str(commit)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def killed_and_resumed(
    folder: Path, files: int, articles: int, words: int, kills: int, queries: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What an index holds whose build was killed again and again at drawn moments, and what one holds that was not."""
    sources = folder / "sources"
    sources.mkdir()
    baseline = Baseline(sources, words=words, vocabulary=50_000)
    baseline.write(files, articles)
    commit = files * articles // 6
    script = folder / "build.py"
    script.write_text(BUILD)
    whole, broken = folder / "whole", folder / "broken"
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(table, "COMMIT", commit)
        build([sources], whole, columns=(), note=lines.append)
    draw = random.Random(kills)
    heard: list[str] = []
    for _ in range(kills):
        with start(script, sources, broken, commit) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            for _ in range(draw.randint(1, (len(lines) - 3) // kills)):
                heard.append(process.stdout.readline().rstrip())
                process.stdin.write("\n")
                process.stdin.flush()
            time.sleep(draw.uniform(0, 0.3))  # at any moment; it waits before its next line at the latest
            process.send_signal(signal.SIGKILL)
    with start(script, sources, broken, commit) as process:
        heard += process.communicate("\n" * 2 * len(lines))[0].splitlines()
    assert process.returncode == 0
    read = [line for line in heard if ".xml.gz: " in line]
    assert len(read) == len(set(read)), "a file was read twice"
    asked = baseline.queries(queries)
    resumed, uninterrupted = (
        {"articles": held(place), "fingerprint": Index.open(place).fingerprint, "top": top(place, asked)}
        for place in (broken, whole)
    )
    assert uninterrupted["articles"] == baseline.current
    assert sum(map(len, uninterrupted["top"])) > 7 * queries, "the queries find next to nothing"
    return resumed, uninterrupted


@pytest.mark.slow
def test_a_build_killed_and_resumed_is_an_uninterrupted_one(tmp_path: Path) -> None:
    resumed, uninterrupted = killed_and_resumed(tmp_path, files=6, articles=120, words=30, kills=1, queries=50)
    assert resumed == uninterrupted


@pytest.mark.slow
def test_a_build_of_50_000_killed_five_times_is_an_uninterrupted_one(tmp_path: Path) -> None:
    resumed, uninterrupted = killed_and_resumed(tmp_path, files=25, articles=2_000, words=60, kills=5, queries=200)
    assert resumed == uninterrupted


@pytest.mark.slow
def test_an_index_that_was_updated_finds_what_a_fresh_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "BATCH", 50)
    baseline = Baseline(tmp_path, words=30, vocabulary=5_000)
    first = baseline.write(2, 200)
    made(first, tmp_path / "index")
    before = Index.open(tmp_path / "index")
    queries = baseline.queries(100)
    old = before.search(queries[0])
    assert held(tmp_path / "index") == baseline.current
    then = baseline.write(2, 100)
    updated = update(tmp_path / "index", then)
    assert (updated.files, updated.read, updated.articles) == (4, 2, len(baseline.current))
    assert held(tmp_path / "index") == baseline.current
    fresh = made([*first, *then], tmp_path / "fresh")
    assert updated.fingerprint == fresh.fingerprint != before.fingerprint
    assert before.search(queries[0]) == old
    assert top(tmp_path / "index", queries) == top(tmp_path / "fresh", queries)


def test_an_update_that_was_stopped_is_told_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = Baseline(tmp_path, words=20, vocabulary=2_000)
    made(baseline.write(1, 100), tmp_path / "index")
    then = baseline.write(1, 50)
    with monkeypatch.context() as patched:
        patched.delattr(table, "create_indices")
        with pytest.raises(AttributeError):
            update(tmp_path / "index", then)
    with pytest.raises(WardroundError, match="is incomplete"):
        Index.open(tmp_path / "index")
    assert update(tmp_path / "index", then).read == 0
    assert held(tmp_path / "index") == baseline.current


def test_building_again_changes_nothing_and_reads_nothing(tmp_path: Path) -> None:
    files = Baseline(tmp_path, words=20, vocabulary=2_000).write(2, 50)
    built = made(files, tmp_path / "index")
    again = made(files, tmp_path / "index")
    assert (again.read, again.fingerprint, again.articles) == (0, built.fingerprint, built.articles)


def test_a_source_that_changed_is_read_again_and_the_table_made_anew(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "title": "old words"}\n{"pmid": 2, "title": "stays"}\n')
    made([source], tmp_path / "index")
    source.write_text('{"pmid": 1, "title": "new words"}\n')
    built = made([source], tmp_path / "index")
    assert (built.read, built.articles) == (1, 1)
    index = Index.open(tmp_path / "index")
    assert [hit.title for hit in index.search("words")] == ["new words"]
    assert index.search("stays") == []


def test_tables_that_were_killed_while_they_were_made_are_made_again(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "title": "fine"}\n')
    for name in ("about", "articles"):
        (tmp_path / "index" / f"{name}.lance" / "data").mkdir(parents=True)
        (tmp_path / "index" / f"{name}.lance" / "data" / "0.lance").write_bytes(b"half of it")
    with pytest.raises(WardroundError, match="is not a literature index"):
        Index.open(tmp_path / "index")
    made([source], tmp_path / "index")
    assert [hit.pmid for hit in Index.open(tmp_path / "index").search("fine")] == ["1"]


def test_problems_are_counted_and_named(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "title": "fine"}\n{"title": "nameless"}\nnot JSON\n')
    built = made([source], tmp_path / "index")
    assert (built.records, built.problems) == (1, 2)
    assert built.named[0].endswith("a.jsonl:2: has no pmid")


def test_what_cannot_be_built_is_told_in_one_line(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "title": "fine"}\n')
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("mine")
    for place, sources, message in (
        (tmp_path / "other", source, "is not a literature index"),
        (source, source, "is not a literature index"),
        (tmp_path / "new", tmp_path / "missing.jsonl", "does not exist"),
        (Path("/proc/wardround"), source, "cannot be made|cannot be written|No such file"),
    ):
        with pytest.raises(WardroundError, match=message) as raised:
            made([sources], place)
        assert "\n" not in str(raised.value)
    for place in (tmp_path / "nowhere", tmp_path / "other"):
        for opened in (Index.open, lambda place: update(place, [source])):
            with pytest.raises(WardroundError, match="is not a literature index"):
                opened(place)
    assert not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "new").exists()


def test_two_builds_on_one_index_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "title": "fine"}\n')
    work = tmp_path / "index" / "work"
    work.mkdir(parents=True)
    with (work / ".index.lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(WardroundError, match="another build"):
            made([source], tmp_path / "index")
    made([source], tmp_path / "index")


def test_an_update_without_the_records_of_its_index_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "title": "fine"}\n')
    made([source], tmp_path / "index")
    with pytest.raises(WardroundError, match="name their folder with --work"):
        update(tmp_path / "index", [source], work=tmp_path / "elsewhere")
