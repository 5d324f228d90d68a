"""The answer store on a PostgreSQL server: the guarantees of the file, over a connection that can be lost."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import closing
from pathlib import Path

import pytest
from exam_server import ExamServer
from exam_study import wardround, write_cases, write_study

from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.core.store.location import PostgresAddress, read_location
from wardround.core.study import load_study
from wardround.running.store import AnswerKey, AnswerStore, Call, schema
from wardround.running.store.batches import BatchRecords, all_batches
from wardround.running.store.merging import copy_all, merge
from wardround.running.store.rows import RowFilter, read_rows
from wardround.running.store.verification import find_problems

KEY = AnswerKey(b"\xab" * 32, 0, 0)
CALL = Call("exam", "server", 10, 2, "host/v1")


def put(store: AnswerStore, key: AnswerKey = KEY, text: str = "A") -> Answer:
    async def commit() -> Answer:
        return (await store.put([key], [Answer(text, model="m")], CALL))[0]

    return asyncio.run(commit())


def table(store: AnswerStore, columns: str, name: str) -> list[tuple]:
    return store.connection.execute(f"select {columns} from {name} order by {columns}").fetchall()


def test_the_first_committed_answer_wins_and_the_second_is_counted(address):
    with closing(AnswerStore(address)) as first, closing(AnswerStore(address)) as second:
        assert put(first, text="A").text == "A"
        assert put(second, text="B").text == "A"
        spent = first.spent("exam", "server")
    assert (spent.calls, spent.answers, spent.duplicates, spent.tokens_in) == (2, 2, 1, 20)


def test_every_kind_of_row_is_stored_and_read(address):
    with closing(AnswerStore(address)) as store:

        async def write():
            await store.put_result(AnswerKey(b"t" * 32, 0, 0), {"result": [1]})
            await store.put_call(KEY.ask, CALL)
            store.count_fault("exam", "server", "timeout", "first")
            store.count_fault("exam", "server", "timeout", "last\0")
            await store.flush()

        asyncio.run(write())
        put(store)
        store.put_sentinel("exam", KEY, Answer("A again"))
        store.save_files([("a.png", 3, 2**60, "00"), ("a.png", 4, 2**60, "01")])
        assert store.result(AnswerKey(b"t" * 32, 0, 0)) == {"result": [1]}
        assert [tuple(fault) for fault in store.faults("exam", "server")] == [("timeout", 2, "last")]
        assert store.known_file("a.png") == (4, 2**60, "01")
        assert store.latest_calls("server", 5) == [(KEY.ask, 1, 10, 2)]
        assert store.spent_on([KEY.ask, b"x"]).calls == 2
        assert [row.key for row in read_rows(store.connection, RowFilter(ask="AbC"))] == []
        assert [row.key for row in read_rows(store.connection, RowFilter(ask="AbA"))] == [KEY]
        with store.snapshot():
            assert store.has(KEY)
        assert list(find_problems(store)) == []


def test_batches_are_recorded(address):
    with closing(AnswerStore(address)) as store:
        records = BatchRecords(store, "exam", "server", None)
        records.add("t1", ["a", "b"], (100, 20))
        records.confirm("t1", "batch-1")
        assert records.has_open("a")
        assert [batch.id for batch in records.open_batches()] == ["batch-1"]
        records.end("t1", 1)
        assert records.count_ended("a") == 1
        assert [(batch.answered, batch.failed) for batch in all_batches(store)] == [(1, 1)]


def test_a_lease_of_another_connection_is_waited_for_until_its_answer_is_stored(address):
    async def wait_for_the_other(first: AnswerStore, second: AnswerStore) -> Answer | None:
        looked = asyncio.Event()

        def is_stored() -> bool:
            looked.set()
            return second.has(KEY)

        async def ask_second() -> Answer | None:
            async with second.leases.hold(KEY.ask, 0, is_stored, max_wait=60):
                return second.get(KEY)

        async with first.leases.hold(KEY.ask, 0, lambda: False, max_wait=0):
            waiting = asyncio.create_task(ask_second())
            await looked.wait()
            assert not waiting.done()
            with pytest.raises(WardroundError, match="a run is asking now"), second.leases.hold_all():
                pass
            await first.put([KEY], [Answer("A")], CALL)
        return await waiting

    with closing(AnswerStore(address)) as first, closing(AnswerStore(address)) as second:
        answer = asyncio.run(wait_for_the_other(first, second))
        assert answer is not None
        assert answer.text == "A"
        with second.leases.hold_all():  # nobody asks now
            assert not first.leases.lock(1)
        assert first.leases.lock(1)


def test_a_store_is_copied_to_a_file_and_back(address, postgres, tmp_path):
    with closing(AnswerStore(address)) as store:
        for number in range(3):
            put(store, AnswerKey(bytes([number]) * 32, number, 0), f"text {number}\0")
        BatchRecords(store, "exam", "server", "host/v1").add("t1", ["a"])
        store.put_sentinel("exam", KEY, Answer("A"))
    file, again = tmp_path / "copy.sqlite", postgres.new_database()
    for source, target in ((address, file), (file, again), (address, file), (again, address)):
        copy_all(source, target)

    columns = "ask, trial, turn, body, run, candidate, address, model, time, tokens_in"
    with closing(AnswerStore(address)) as ours, closing(AnswerStore(file)) as copy, closing(AnswerStore(again)) as back:
        for names, name in (
            (columns, "answers"),
            ("run, ask, time", "calls"),
            ("token", "batches"),
            ("item", "batch_items"),
        ):
            rows = table(ours, names, name)
            assert rows
            assert table(copy, names, name) == table(back, names, name) == rows
        with pytest.raises(WardroundError, match="is this answer store itself"):
            merge(ours, address)


def test_another_answer_that_is_merged_goes_into_the_bin(address, tmp_path):
    with closing(AnswerStore(address)) as ours, closing(AnswerStore(tmp_path / "their.sqlite")) as theirs:
        put(ours, text="A")
        put(theirs, text="B")
        counts = merge(ours, tmp_path / "their.sqlite")
        assert (counts.answers, counts.conflicts) == (0, [KEY])
        assert ours.dropped_keys() == {KEY}
        assert ours.get(KEY).text == "A"


def test_a_study_runs_on_it_and_every_command_works(address, tmp_path):
    write_cases(tmp_path / "cases", 12)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, top={"answers": address.url})
        assert wardround("run", study, cwd=tmp_path).returncode == 0
        asked = server.calls
        assert wardround("run", study, cwd=tmp_path).returncode == 0
        assert server.calls == asked
    store = ("--answers", address.url)
    assert not (tmp_path / "answers.sqlite").exists()
    assert json.loads((tmp_path / "runs/exam/manifest.json").read_text())["answers"] == str(address)

    def ask_for(*command: str) -> dict:
        done = wardround("answers", *command, *store, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert ask_for("list")["rows"] == 12
    assert ask_for("verify", "--runs", "runs")["problems"] == []
    size = ask_for("size")
    assert size["rows"]["answers"] == 12
    assert size["bytes"] > 0
    assert ask_for("export", "rows.parquet")["rows"] == 12
    assert ask_for("drop", "--candidate", "server", "--yes")["dropped"] == 12
    assert ask_for("drop", "--restore")["restored"] == 12
    assert ask_for("prune", "--runs", "runs", "--yes")["dropped"] == 0
    assert ask_for("prune", "--bin", "--yes")["removed"] == 0
    assert ask_for("copy", "packed.sqlite", "--run", "runs/exam")["copied"] == 12
    assert wardround("mark", "runs/exam", cwd=tmp_path).returncode == 0  # by the address in the study


def test_a_newer_store_is_refused_in_one_line(address):
    with closing(AnswerStore(address)) as store:
        store.connection.set_version(schema.VERSION + 1)
    with pytest.raises(WardroundError, match="a newer wardround wrote this answer store") as refused:
        AnswerStore(address)
    assert "\n" not in str(refused.value)


def test_a_database_without_a_store_is_not_changed_by_upkeep(address):
    with pytest.raises(WardroundError, match="there is no answer store in this database"):
        AnswerStore(address, must_exist=True)


def test_four_connections_may_create_it_at_once(address):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: AnswerStore(address), range(4)))
    for number, store in enumerate(stores):
        put(store, AnswerKey(b"a" * 32, number, 0), str(number))
    try:
        assert [stores[0].get(AnswerKey(b"a" * 32, number, 0)).text for number in range(4)] == ["0", "1", "2", "3"]
    finally:
        for store in stores:
            store.close()


def test_a_password_is_read_from_the_environment_and_never_shown(postgres, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    database = postgres.new_database()
    with closing(AnswerStore(database)) as store:
        store.connection.execute("create role locked login superuser password 'geheim/1'")
    address = read_location(database.url.replace("postgres@", "locked:$LAB_PASSWORD@"))
    monkeypatch.setenv("LAB_PASSWORD", "geheim/1")
    with closing(AnswerStore(address, must_exist=True)) as store:
        assert "geheim" not in str(store.location)
        assert "LAB_PASSWORD" not in str(store.location)
    monkeypatch.setenv("LAB_PASSWORD", "wrong/2")
    with pytest.raises(WardroundError) as refused:
        AnswerStore(address)
    assert "wrong" not in str(refused.value)
    monkeypatch.delenv("LAB_PASSWORD")
    with pytest.raises(WardroundError, match="LAB_PASSWORD, which holds its password, is not set"):
        AnswerStore(address)


@pytest.mark.parametrize("url", ["postgresql://lab:geheim@host/db", "postgresql://lab@host/db?password=geheim"])
def test_a_password_in_an_address_is_refused_without_repeating_it(url, tmp_path):
    write_cases(tmp_path / "cases", 1)
    for open_it in (lambda: read_location(url), lambda: load_study(write_study(tmp_path, top={"answers": url}))):
        with pytest.raises(WardroundError, match="a password stands in the address") as refused:
            open_it()
        assert "geheim" not in str(refused.value)


def test_a_study_names_a_file_by_the_option_only(tmp_path):
    with pytest.raises(WardroundError, match="name a file by --answers PATH"):
        load_study(write_study(tmp_path, top={"answers": "answers.sqlite"}))


def test_a_server_that_cannot_be_reached_is_one_line(tmp_path, monkeypatch):
    pytest.importorskip("psycopg")
    with pytest.raises(WardroundError, match="cannot be reached") as refused:
        AnswerStore(PostgresAddress(f"postgresql://postgres@/none?host={tmp_path}"))
    assert "\n" not in str(refused.value)


def unsent_files(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "state").rglob("*.json"))


def wait_for_unsent(tmp_path: Path) -> None:
    """Until a file is there; the test fails by its own time limit if none comes."""
    expires = time.monotonic() + 60
    while not unsent_files(tmp_path):
        assert time.monotonic() < expires


def test_an_answer_that_a_killed_server_did_not_take_is_stored_when_it_is_back(address, postgres, tmp_path):
    async def put_while_it_is_away(store: AnswerStore) -> Answer:
        put = asyncio.create_task(store.put([KEY], [Answer("A")], CALL))
        await asyncio.to_thread(wait_for_unsent, tmp_path)
        assert not put.done()
        await asyncio.to_thread(postgres.start)
        return (await put)[0]

    with closing(AnswerStore(address)) as store:
        postgres.kill()
        stored = asyncio.run(put_while_it_is_away(store))
        assert stored.text == "A"
        assert store.get(KEY) == stored  # the connection that reads was lost, too
        assert store.spent("exam", "server").answers == 1
        assert unsent_files(tmp_path) == []


def test_a_lease_is_held_again_when_the_server_is_back(address, postgres):
    with closing(AnswerStore(address)) as first:
        assert first.leases.lock(7)
        postgres.restart()
        assert first.get(KEY) is None
        with closing(AnswerStore(address)) as second:
            assert not second.leases.lock(7)
            first.leases.unlock(7)
            assert second.leases.lock(7)


def test_a_commit_whose_confirmation_was_lost_is_counted_once(address, monkeypatch):
    from wardround.running.store import postgres as module

    execute, lost = module.PostgresConnection.execute, []

    def lose_the_confirmation(connection, sql, values=()):
        result = execute(connection, sql, values)
        if sql == "commit" and not lost:
            lost.append(sql)
            connection.close()
            raise module.ServerLost("lost")
        return result

    with closing(AnswerStore(address)) as store:
        monkeypatch.setattr(module.PostgresConnection, "execute", lose_the_confirmation)
        assert put(store).text == "A"
        assert lost == ["commit"]
        spent = store.spent("exam", "server")
        assert (spent.calls, spent.answers, spent.duplicates) == (1, 1, 0)
