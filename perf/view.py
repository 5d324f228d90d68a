"""The case explorer over 600,000 marks: what the server takes for the first page, a filter and "A right, B wrong".

25,000 cases, 6 candidates, 4 conditions, with their case set, images and answers; the reader is a real Chromium. The
peer of the export is `wardround report --with-cases` on the first 200 of these cases.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image

from perf.bars import bar, versions
from wardround.core.canonical import blake
from wardround.core.condition import Condition
from wardround.marking.run_marks import write_run_marks
from wardround.running.store import AnswerStore
from wardround.running.stored_run import StoredRun

CANDIDATES, IMAGES, SIDE = 6, 200, 256
DEGRADATIONS = ("none", "gaussian_blur@L1", "gaussian_blur@L2", "motion_blur@L2")
MODALITIES = ("CT", "Histopathology", "MRI", "X-Ray")
OPTIONS = ("adenocarcinoma", "lymphoma", "granuloma", "abscess")
COMMAND = [sys.executable, "-c", "from wardround.cli.main import main; main()"]
FIRST = "() => document.querySelectorAll('.space .row .snippet:not(:empty)').length > 5"
PARTS = 100_000


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf view")
    parser.add_argument("--cases", type=int, default=25_000)
    parser.add_argument("--exported", type=int, default=200, help="Cases of the export.")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'polars', 'fastapi', 'playwright')}")
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "large", options.cases)
        explored = explore(run)
        small = write_run(Path(folder) / "small", options.exported, is_really_run=True)
        sizes = export_sizes(small, Path(folder))
    print(json.dumps(explored | sizes, indent=2))
    return all(
        [
            *(bar(f"server CPU of {name} in ms", explored[name]["server_cpu_ms"], at_most=150) for name in STEPS),
            bar("memory of the server in MB", explored["memory_mb"], at_most=600),
            bar("export / report --with-cases, bytes", sizes["export_to_with_cases"], at_most=1),
        ]
    )


STEPS = ("first page", "filter", "A right, B wrong")


def explore(run: Path) -> dict[str, Any]:
    """CPU of the server and time until it is drawn, for each step."""
    from playwright.sync_api import sync_playwright

    started = time.perf_counter()
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, "view", str(run), "--json"], text=True, **pipes) as server:
        try:
            assert server.stdout is not None
            link = json.loads(server.stdout.readline())["url"]
            measured: dict[str, Any] = {"start_s": time.perf_counter() - started}
            cpu = cpu_seconds(server.pid)
            assert server.stderr is not None
            next(line for line in server.stderr if "all texts are read" in line)  # else steps would be billed for it
            measured["search_cpu_s"] = cpu_seconds(server.pid) - cpu
            with sync_playwright() as playwright:
                path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
                page = browser.new_context(bypass_csp=True, viewport={"width": 1440, "height": 900}).new_page()
                page.set_default_timeout(300_000)

                def step(name: str, act: Callable[[], object], drawn: Callable[[], object]) -> None:
                    cpu, wall = cpu_seconds(server.pid), time.perf_counter()
                    act()
                    drawn()
                    shown = time.perf_counter()
                    page.wait_for_load_state("networkidle")
                    used = 1000 * (cpu_seconds(server.pid) - cpu)
                    measured[name] = {"server_cpu_ms": used, "until_drawn_ms": 1000 * (shown - wall)}

                step(STEPS[0], lambda: page.goto(link), lambda: page.wait_for_function(FIRST))
                step(STEPS[1], lambda: page.get_by_role("button", name="Histopathology").click(), lambda: settle(page))
                step(
                    STEPS[2],
                    lambda: page.get_by_role("button", name=STEPS[2]).click(),
                    lambda: page.locator(".figure[data-value]").wait_for(),
                )
                step(
                    "back to all",
                    lambda: page.get_by_role("button", name="Histopathology").click(),
                    lambda: settle(page),
                )
                page.locator(".figure[data-value]").wait_for()
                measured["shown"] = [page.locator(".count").inner_text(), page.locator(".figure").inner_text()]
                step(
                    "a question",
                    lambda: page.locator(".space .row a").first.click(),
                    lambda: page.locator(".replies").wait_for(),
                )
                browser.close()
            measured["memory_mb"] = peak_mb(server.pid)
        finally:
            server.terminate()
    return measured


def settle(page: Any) -> None:
    page.wait_for_function("() => document.querySelector('main').dataset.drawn === location.hash")


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def export_sizes(run: Path, folder: Path) -> dict[str, Any]:
    """The bytes of an export and of the pages of `report --with-cases`, of the same run."""
    subprocess.run([*COMMAND, "view", str(run), "--export", str(folder / "site")], check=True, capture_output=True)
    report = [*COMMAND, "report", str(run), "--with-cases", "--out", str(folder / "pages" / "report.html")]
    subprocess.run(report, check=True, capture_output=True)
    site, pages = size(folder / "site"), size(folder / "pages" / "cases")
    index = (folder / "pages" / "cases" / "index.html").stat().st_size
    return {
        "export_bytes": site,
        "export_table_bytes": (folder / "site" / "data" / "table.js").stat().st_size,
        "with_cases_bytes": pages,
        "with_cases_index_bytes": index,
        "export_to_with_cases": site / pages,
    }


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def write_run(workspace: Path, count: int, *, is_really_run: bool = False) -> Path:
    """A workspace with a case set, images, answers and a run of them; asking 600,000 times would take long."""
    random = np.random.default_rng(1)
    (workspace / "cases" / "images").mkdir(parents=True)
    for number in range(min(IMAGES, count)):
        values = np.kron(random.integers(0, 255, (32, 32), dtype=np.uint8), np.ones((SIDE // 32,) * 2, np.uint8))
        Image.fromarray(values).save(workspace / "cases" / "images" / f"{number}.png")
    with (workspace / "cases" / "cases.jsonl").open("w") as file:
        for number in range(count):
            file.write(json.dumps(case(number)) + "\n")
    names = [f"model-{number}" for number in range(CANDIDATES)]
    study = "\n".join(
        [
            f'name = "large"\ncases = "cases"\n[conditions]\ndegradation = {json.dumps(DEGRADATIONS)}',
            *(f'[[candidates]]\nname = "{name}"\nprovider = "simulated"\nmodel = "{name}"' for name in names),
        ]
    )
    (workspace / "study.toml").write_text(study)
    run = workspace / "runs" / "large"
    if is_really_run:
        subprocess.run([*COMMAND, "run", "study.toml"], cwd=workspace, check=True, capture_output=True)
        return run
    run.mkdir(parents=True)
    (run / "study.toml").write_text(study)
    write_answers(workspace, run, names, count, random)
    with StoredRun.open(run) as stored:
        write_run_marks(stored, None, "strict", False, lambda marks, folder: marks)
    return run


def case(number: int) -> dict[str, Any]:
    text = f"A patient of {20 + number % 60} years with complaints for {number % 13 + 1} weeks. " * 6
    question = {"id": "mcq", "kind": "choice", "prompt": "What is the diagnosis?", "options": OPTIONS}
    return {
        "id": f"case-{number:06}",
        "specialty": f"specialty {number % 9}",
        "tags": ["rare"] if number % 7 == 0 else [],
        "history": text,
        "images": [{"path": f"images/{number % IMAGES}.png", "modality": MODALITIES[number % 4]}],
        "questions": [{**question, "gold": number % 4}],
    }


def write_answers(workspace: Path, run: Path, names: list[str], count: int, random: np.random.Generator) -> None:
    """The answers and used.parquet: candidates are right more or less often, degraded less."""
    conditions = [Condition(degradation=value).json for value in DEGRADATIONS]
    AnswerStore(workspace / "answers.sqlite").close()
    store = sqlite3.connect(workspace / "answers.sqlite")
    store.execute("pragma synchronous = off")
    parts = []
    for place, name in enumerate(names):
        for level, condition in enumerate(conditions):
            asks = [blake([name, condition, number]) for number in range(count)]
            right = random.random(count) < 0.8 - 0.06 * place - 0.05 * level
            letters = [(number if good else number + 1 + number % 3) % 4 for number, good in enumerate(right)]
            rows = [
                (ask, 0, 0, b'{"text":"The answer is %s."}' % b"ABCD"[letter : letter + 1], "large", name)
                for ask, letter in zip(asks, letters, strict=True)
            ]
            store.executemany(
                "insert into answers (ask, trial, turn, body, run, candidate) values (?, ?, ?, ?, ?, ?)", rows
            )
            parts.append(
                pl.DataFrame(
                    {"case": [f"case-{number:06}" for number in range(count)], "ask": [ask.hex() for ask in asks]}
                )
                .with_columns(candidate=pl.lit(name), condition=pl.lit(condition), question=pl.lit("mcq"))
                .with_columns(trial=pl.lit(0, pl.Int32), turn=pl.lit(0, pl.Int16), scored=pl.lit(True))
            )
    store.commit()
    store.close()
    order = ("candidate", "case", "question", "condition", "trial", "ask", "turn", "scored")
    pl.concat(parts).select(order).write_parquet(run / "used.parquet")
    entries = [{"name": name, "provider": "simulated", "sees": True, "asks": 4 * count, "failed": 0} for name in names]
    cases = workspace / "cases" / "cases.jsonl"
    manifest = {
        "study": {"name": "large", "hash": "00", "folder": str(workspace)},
        "status": "complete",
        "prompts": {},
        "cases": {"path": "cases", "folder": str(cases.parent), "file": str(cases), "hash": "00", "cases": count},
        "candidates": entries,
    }
    (run / "manifest.json").write_text(json.dumps(manifest))
