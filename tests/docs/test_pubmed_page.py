"""The commands of docs/pubmed.md, run on small files in place of the NLM's server."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pubmed_baseline import Baseline
from shell_command import run_script, write_program

PAGE = Path(__file__).parents[2] / "docs/pubmed.md"
BLOCK = re.compile(r"^<!-- not run: tests/docs/test_pubmed_page.py .*? -->\n```bash\n(.*?)^```$", re.M | re.S)
# stands for wget: copies the files of the folder that has the name of the server's
WGET = """#!/bin/sh
for word; do case "$before" in --directory-prefix) target=$word;; esac; before=$word; done
mkdir -p "$target" && cp -u "$SERVER/$(basename "$before")"/* "$target"
"""


def write_server(folder: Path) -> tuple[Path, Path]:
    """Two baseline files and an update, each with its checksum as the NLM writes it; and a second update."""
    folder.mkdir()
    baseline = Baseline(folder, words=40, vocabulary=2_000)
    files = baseline.write(4, 40)
    for part, members in {"baseline": files[:2], "updatefiles": files[2:3], "later": files[3:]}.items():
        (folder / part).mkdir()
        for file in members:
            moved = file.rename(folder / part / file.name)
            digest = hashlib.md5(moved.read_bytes()).hexdigest()
            moved.with_name(f"{file.name}.md5").write_text(f"MD5({file.name})= {digest}\n")
    return folder, folder / "later"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands that the page uses."""
    folder = tmp_path_factory.mktemp("pubmed")
    write_server(folder / "server")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "wget").write_text(WGET)
    (programs / "wget").chmod(0o755)
    write_program(programs / "wardround")
    return folder


def run(workshop: Path, block: str) -> subprocess.CompletedProcess[str]:
    path = f"{workshop / 'bin'}:{os.environ['PATH']}"
    return run_script(block, workshop, {**os.environ, "PATH": path, "SERVER": str(workshop / "server")})


def test_the_page_leads_from_the_files_to_an_updated_index_and_its_copy(workshop: Path) -> None:
    fetch, verify, build, embed, daily, copy = BLOCK.findall(PAGE.read_text(encoding="utf-8"))

    assert run(workshop, fetch).returncode == 0
    checked = run(workshop, verify)
    assert (checked.returncode, checked.stdout) == (0, "")

    file = next((workshop / "pubmed/baseline").glob("*.gz"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    damaged = run(workshop, verify)
    assert damaged.returncode == 1
    assert file.name in damaged.stdout
    file.write_bytes(whole)

    built = run(workshop, build)
    assert built.returncode == 0, built.stderr
    assert "3 files, 3 of them read now" in built.stdout
    embedded = run(workshop, embed)
    assert "wordllama (256 dimensions)" in embedded.stdout, embedded.stderr

    for later in (workshop / "server/later").iterdir():
        shutil.copy(later, workshop / "server/updatefiles")
    updated = run(workshop, daily)
    assert updated.returncode == 0, updated.stderr
    assert "4 files, 1 of them read now" in updated.stdout
    assert "searchable by bm25, wordllama" in updated.stdout

    copied = run(workshop, copy)
    assert copied.returncode == 0, copied.stderr
    compare = 'wardround literature search x --index {} --json | grep -o \'"fingerprint": *"[0-9a-f]*\''
    prints = {run(workshop, compare.format(name)).stdout for name in ("pubmed-index", "pubmed-index-backup")}
    assert len(prints) == 1
    assert prints != {""}
