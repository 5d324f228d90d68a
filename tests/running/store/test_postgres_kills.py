"""Several processes on one store, whose server is killed and started again: nothing is lost, duplicates are counted."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest
import store_asker

from wardround.running.store import AnswerStore
from wardround.running.store.verification import find_problems


def start_asker(address, asks: int | str, seed: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, store_asker.__file__, address.url, str(asks), seed, str(folder / f"{seed}.txt")]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run_askers(address, asks: int, processes: int, folder: Path, moments: list[int], act) -> None:
    """Calls `act` when about so many answers are stored."""
    askers = [start_asker(address, asks, f"asker-{number}", folder) for number in range(processes)]
    lines: SimpleQueue[bool] = SimpleQueue()

    def follow(asker: subprocess.Popen[str]) -> None:
        for _ in asker.stdout:
            lines.put(True)
        lines.put(False)

    def read_errors(asker: subprocess.Popen[str]) -> None:
        errors.append(asker.stderr.read())

    errors: list[str] = []
    threads = [threading.Thread(target=work, args=(asker,)) for asker in askers for work in (follow, read_errors)]
    for thread in threads:
        thread.start()
    stored, running, moments = 0, processes, list(moments)
    while running:
        if lines.get():
            stored += 100
        else:
            running -= 1
        if moments and stored >= moments[0]:
            moments.pop(0)
            act()
    for thread in threads:
        thread.join()
    assert [asker.wait() for asker in askers] == [0] * processes, errors
    assert moments == []


def check_store(address, asks: int, folder: Path) -> int:
    """Every Ask has an answer, and every answer that was bought is counted in a call. Returns the duplicates."""
    bought = [int(line) for log in folder.glob("asker-*.txt") for line in log.read_text().split()]
    with closing(AnswerStore(address, must_exist=True)) as store:
        assert all(store.has(store_asker.ask_key(number)) for number in range(asks))
        rows, calls, answers, duplicates = store.connection.execute(
            "select (select count(*) from answers), count(*), cast(sum(answers) as bigint), "
            "cast(sum(duplicates) as bigint) from calls"
        ).fetchone()
        assert list(find_problems(store)) == []
    assert rows == asks == len(set(bought))
    assert calls == answers == len(bought)
    assert duplicates == len(bought) - asks
    return duplicates


def test_two_processes_and_a_server_that_is_killed_once(address, postgres, tmp_path):
    run_askers(address, 600, 2, tmp_path, [300], postgres.restart)
    check_store(address, 600, tmp_path)


@pytest.mark.slow
def test_four_processes_20_000_asks_and_a_server_that_is_killed_twice(address, postgres, tmp_path):
    run_askers(address, 20_000, 4, tmp_path, [7_000, 14_000], postgres.restart)
    duplicates = check_store(address, 20_000, tmp_path)
    print(f"bought twice: {duplicates} of 20,000")
    assert duplicates <= 2 * 4 * store_asker.AT_ONCE  # at most what was under way at the two kills


def test_a_process_that_is_killed_while_the_server_is_away_loses_nothing(address, postgres, tmp_path):
    asker = start_asker(address, "one", "asker-0", tmp_path)
    asker.stdout.readline()
    postgres.kill()
    try:
        asker.stdin.write("\n")
        asker.stdin.flush()
        said = asker.stderr.readline()  # it prints this when its answer is in the file
        asker.send_signal(signal.SIGKILL)
        asker.communicate()
    finally:
        postgres.start()
    assert "1 answers are kept" in said
    [unsent] = (tmp_path / "state").rglob("*.json")

    for _ in range(2):
        with closing(AnswerStore(address, must_exist=True)) as store:
            assert store.get(store_asker.ask_key(0)).text == "0 by asker-0"
            assert store.spent("exam", "asker-0").calls == 1
    assert not unsent.exists()


def test_what_waits_for_a_commit_is_kept_while_a_read_waits_for_the_server(address, postgres, tmp_path, monkeypatch):
    """The server is away for the read and starts again when the file is there."""
    import asyncio

    from wardround.core.ask import Answer
    from wardround.running.store import Call
    from wardround.running.store.postgres import PostgresConnection

    kept: list[int] = []
    reconnect = PostgresConnection.reconnect

    def start_and_reconnect(connection: PostgresConnection) -> None:
        if not kept:
            kept.append(len(list((tmp_path / "state").rglob("*.json"))))
            postgres.start()
        reconnect(connection)

    async def read_while_a_write_is_pending(store: AnswerStore) -> None:
        put = asyncio.create_task(store.put([store_asker.ask_key(0)], [Answer("A")], Call("exam", "server", 1, 1)))
        await asyncio.sleep(0)  # it is pending now; the commit has not begun
        assert store.get(store_asker.ask_key(1)) is None
        await put

    with closing(AnswerStore(address)) as store:
        monkeypatch.setattr(PostgresConnection, "reconnect", start_and_reconnect)
        postgres.kill()
        asyncio.run(read_while_a_write_is_pending(store))
        assert kept == [1]
        assert store.spent("exam", "server").calls == 1
    assert list((tmp_path / "state").rglob("*.json")) == []
