"""The desk with 50 people at once: nothing acknowledged is lost or doubled, and how long a page takes.

Each thinks for 1 to 3 seconds, opens the next case and keeps it, for --seconds (120). The peer is a static file of
the same desk, asked for by one more visitor in the same run. In the middle the desk is killed and started again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from perf.bars import bar
from wardround.cases.set import write_case_set
from wardround.core.case import Case
from wardround.desk.desk import Desk
from wardround.desk.tasks.rounds import CRITERIA

PEOPLE, CASES = 50, 6_000
COMMAND = [sys.executable, "-c", "from wardround.cli.main import main; main()", "desk", "--json", "--root"]
STATES = {f"is:{name}": "yes" for name in CRITERIA["student"]}
FORM = {"verdict": "keep", "criterion": list(CRITERIA["student"]), "comment": "", **STATES}


@dataclass
class Seen:
    """What the visitors saw."""

    pages: list[float] = field(default_factory=list)
    verdicts: list[float] = field(default_factory=list)
    static: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    refused: int = 0


def main(arguments: list[str]) -> bool:
    options = argparse.ArgumentParser(prog="perf desk")
    options.add_argument("--seconds", type=float, default=120)
    figures = measure(options.parse_args(arguments).seconds)
    print(json.dumps(figures, indent=2), flush=True)
    return all(
        [
            bar("verdicts acknowledged and lost", figures["lost"], at_most=0),
            bar("verdicts doubled", figures["doubled"], at_most=0),
            bar("answers that were errors", figures["refused"], at_most=0),
            bar("p99 of a page / p99 of a static file", figures["page_to_static_p99"], at_most=10),
        ]
    )


def measure(seconds: float) -> dict[str, Any]:
    """The whole of it: half the time, a kill, and the other half."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "desk"
        task, visitors, cookie = furnish(root)
        seen = Seen()
        for half in range(2):
            process, url = start(root)
            try:
                asyncio.run(work(url, task, visitors, cookie, seen, seconds / 2, process if half == 0 else None))
            finally:
                process.kill()
                process.wait()
        kept = sqlite3.connect(root / "desk.sqlite")
        there = [row[0] for row in kept.execute("SELECT once FROM verdicts")]
        items = [row[0] for row in kept.execute("SELECT item FROM verdicts")]
        whole = kept.execute("PRAGMA integrity_check").fetchone()[0]
        kept.close()
    p99 = {name: float(np.quantile(getattr(seen, name), 0.99)) for name in ("pages", "verdicts", "static")}
    return {
        "people": PEOPLE,
        "seconds": seconds,
        "acknowledged": len(seen.acknowledged),
        "kept": len(there),
        "lost": len(set(seen.acknowledged) - set(there)),
        "doubled": len(items) - len(set(items)),
        "refused": seen.refused,
        "database": whole,
        "p50_ms": {name: round(1000 * float(np.median(getattr(seen, name))), 1) for name in p99},
        "p99_ms": {name: round(1000 * value, 1) for name, value in p99.items()},
        "page_to_static_p99": round(p99["pages"] / p99["static"], 2),
    }


def furnish(root: Path) -> tuple[int, list[tuple[str, str]], str]:
    """A desk with people who are logged in and cases enough for all; the task, cookies and tokens."""
    choice = {"id": "mcq", "kind": "choice", "prompt": "What is it?", "options": ["gout", "lupus"], "gold": 0}
    cases = ({"id": f"c{n}", "history": f"Patient {n}. " * 40, "questions": [choice]} for n in range(CASES))
    write_case_set(map(Case.model_validate, cases), root / "set")
    desk = Desk(root)
    admin = desk.accounts.join(desk.accounts.invite("administrator"), "Ada", "correct horse")
    kind = desk.kinds["review"]
    settings = {setting.name: setting.default for setting in kind.settings} | {"share": 0.0}
    fields = {"project": "P", "kind": "review", "name": "N", "source": "set", "settings": settings}
    task = desk.tasks.get_task(desk.tasks.create(fields, kind.make_items(root / "set", settings, desk.root), admin))
    assert task is not None
    desk.tasks.assign(task, ["role:student"], admin)
    visitors = []
    for number in range(PEOPLE):
        person = desk.accounts.join(desk.accounts.invite("student", admin), f"S{number}", "correct horse")
        id = desk.accounts.open_session(person)
        visitors.append((desk.visits.sign(id), desk.visits.form_token(id)))
    cookie = desk.visits.cookie
    desk.close()
    return task.id, visitors, cookie


def start(root: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([*COMMAND, str(root)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["url"]


async def work(
    url: str,
    task: int,
    visitors: list[tuple[str, str]],
    cookie: str,
    seen: Seen,
    seconds: float,
    killed: subprocess.Popen[str] | None,
) -> None:
    """Everybody works until the time is over, or the desk is killed."""
    until = time.monotonic() + seconds
    people = [asyncio.create_task(person(url, task, visitor, cookie, seen, until)) for visitor in visitors]
    people.append(asyncio.create_task(looks(url, seen, until)))
    if killed is not None:
        await asyncio.sleep(seconds)
        os.kill(killed.pid, signal.SIGKILL)
    await asyncio.gather(*people)


async def person(url: str, task: int, visitor: tuple[str, str], cookie: str, seen: Seen, until: float) -> None:
    draw = random.Random(visitor[1])
    async with aiohttp.ClientSession(
        cookies={cookie: visitor[0]}, cookie_jar=aiohttp.CookieJar(unsafe=True)
    ) as browser:
        await asyncio.sleep(draw.uniform(0, 2))
        while time.monotonic() < until + 1:
            try:
                await read_one(browser, url, task, visitor[1], seen)
            except (aiohttp.ClientError, ConnectionError):
                return  # killed
            await asyncio.sleep(draw.uniform(1, 3))


async def read_one(browser: aiohttp.ClientSession, url: str, task: int, token: str, seen: Seen) -> None:
    began = time.perf_counter()
    async with browser.get(f"{url}/tasks/{task}/next") as page:
        text, there = await page.text(), str(page.url)
    seen.pages.append(time.perf_counter() - began)
    once_field = re.search(r'name="once" value="([^"]+)"', text)
    if page.status != 200 or once_field is None:
        seen.refused += 1
        return
    form = [("csrf", token), ("once", once_field[1])]
    form += [(name, part) for name, value in FORM.items() for part in ([value] if isinstance(value, str) else value)]
    began = time.perf_counter()
    async with browser.post(there, data=form, allow_redirects=False) as answer:
        await answer.read()
    seen.verdicts.append(time.perf_counter() - began)
    if answer.status == 303:
        seen.acknowledged.append(once_field[1])
    else:
        seen.refused += 1


async def looks(url: str, seen: Seen, until: float) -> None:
    """One who asks for a static file, again and again."""
    async with aiohttp.ClientSession() as browser:
        while time.monotonic() < until:
            began = time.perf_counter()
            try:
                async with browser.get(f"{url}/static/desk.css") as answer:
                    await answer.read()
            except (aiohttp.ClientError, ConnectionError):
                return
            seen.static.append(time.perf_counter() - began)
            await asyncio.sleep(0.1)
