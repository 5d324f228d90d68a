"""Many at once: people take the exam while slow sockets and guessed passwords press on the same desk."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import aiohttp
import pytest
from desk_process import DeskProcess
from desk_site import PASSWORD, QUICK, case, write_set

from wardround.desk.auth import accounts
from wardround.desk.desk import Desk
from wardround.desk.slow_connections import REQUEST_SECONDS

CASES = 4
MAX_MEMORY = 700  # MB


def furnish(root: Path, people: int) -> tuple[int, list[str], str]:
    """A desk with an exam; the task, the cookie of each person, and the name of the cookie."""
    write_set(root / "set", [case(number) for number in range(CASES)])
    desk = Desk(root)
    admin = desk.accounts.join(desk.accounts.invite("administrator"), "Ada", PASSWORD)  # with a hash as it should be
    accounts._hasher = lambda: QUICK
    kind = desk.kinds["exam"]
    settings = {setting.name: setting.default for setting in kind.settings} | {"cases": CASES}
    record = {"project": "P", "kind": "exam", "name": "Exam", "source": "set", "settings": settings}
    task = desk.tasks.create(record, kind.make_items(root / "set", settings, desk.root), admin)
    desk.tasks.assign(desk.tasks.get_task(task), ["role:student"], admin)
    cookies = []
    for number in range(people):
        person = desk.accounts.join(desk.accounts.invite("student", admin), f"S{number}", PASSWORD)
        cookies.append(desk.visits.sign(desk.accounts.open_session(person)))
    name = desk.visits.cookie
    desk.close()
    return task, cookies, name


async def sit(url: str, task: int, cookie: tuple[str, str]) -> int:
    """One person's exam, page after page; the number of pages. Any answer that is not a page is an error."""
    async with aiohttp.ClientSession(url, cookies=dict([cookie]), timeout=aiohttp.ClientTimeout(600)) as session:
        for number in range(CASES + 3):
            async with session.get(f"/tasks/{task}/next") as answer:
                assert answer.status == 200, await answer.text()
                address, page = answer.url.path, await answer.text()
            if "/items/" not in address:
                return number
            fields = dict(re.findall(r'name="(csrf|once)" value="([^"]+)"', page))
            form = {"agreed": "yes", "ai": "no", "option": "0", "confidence": "70", "seconds": "1", **fields}
            async with session.post(address, data=form, allow_redirects=False) as answer:
                assert answer.status == 303, await answer.text()
    raise AssertionError("the exam did not end")


async def hold(host: str, port: int, opened: asyncio.Queue[None]) -> bytes:
    """A socket that never ends its headers; what came before the desk closed it."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    await writer.drain()
    opened.put_nowait(None)
    data = await reader.read()
    writer.close()
    return data


async def guess(url: str, number: int) -> int:
    jar = aiohttp.CookieJar(unsafe=True)  # also of an address without a name
    async with aiohttp.ClientSession(url, cookie_jar=jar, timeout=aiohttp.ClientTimeout(600)) as session:
        async with session.get("/login") as answer:
            token = re.findall(r'name="csrf" value="([^"]+)"', await answer.text())[0]
        form = {"csrf": token, "name": "Ada" if number % 2 else f"S{number}", "password": f"guess {number} of many"}
        async with session.post("/login", data=form, allow_redirects=False) as answer:
            return answer.status


async def press(url: str, task: int, cookies: list[tuple[str, str]], sockets: int, guesses: int):
    host, port = url.removeprefix("http://").split(":")
    opened: asyncio.Queue[None] = asyncio.Queue()
    slow = [asyncio.create_task(hold(host, int(port), opened)) for _ in range(sockets)]
    for _ in range(sockets):
        await opened.get()  # all of them are open before the first page is asked for
    pages, statuses = await asyncio.gather(
        asyncio.gather(*(sit(url, task, cookie) for cookie in cookies)),
        asyncio.gather(*(guess(url, number) for number in range(guesses))),
    )
    return pages, statuses, slow


@pytest.mark.parametrize(
    ("people", "sockets", "guesses"),
    [(4, 20, 12), pytest.param(50, 300, 100, marks=pytest.mark.slow)],
)
def test_the_exam_goes_on_under_slow_sockets_and_guesses(tmp_path, monkeypatch, people, sockets, guesses):
    monkeypatch.setattr(accounts, "_hasher", accounts._hasher)  # put back afterwards
    task, cookies, name = furnish(tmp_path / "desk", people)

    async def scenario(url: str) -> tuple[list[int], list[int], list[bytes]]:
        pages, statuses, slow = await press(url, task, [(name, cookie) for cookie in cookies], sockets, guesses)
        closed = await asyncio.gather(*slow) if people > 10 else []  # takes REQUEST_SECONDS
        for one in slow:
            one.cancel()
        return list(pages), list(statuses), list(closed)

    with DeskProcess(tmp_path / "desk") as served:
        pages, statuses, closed = asyncio.run(scenario(served.url))
        status = Path(f"/proc/{served.process.pid}/status").read_text()
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
    print(f"{people} people, {sockets} slow sockets, {guesses} guesses: peak memory {peak:.0f} MB")
    assert pages == [CASES + 2] * people  # the rules, the questions, the end
    assert set(statuses) <= {401, 429}
    assert 401 in statuses
    assert peak < MAX_MEMORY
    assert all(data == b"" for data in closed)  # closed without an answer, after REQUEST_SECONDS
    assert REQUEST_SECONDS <= 20


def test_what_was_answered_under_pressure_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(accounts, "_hasher", accounts._hasher)
    task, cookies, name = furnish(tmp_path / "desk", 2)
    with DeskProcess(tmp_path / "desk") as served:
        asyncio.run(sit(served.url, task, (name, cookies[0])))
        served.kill()
    desk = Desk(tmp_path / "desk")
    assert len(desk.tasks.verdicts(desk.tasks.get_task(task))) == CASES + 2
    desk.close()
