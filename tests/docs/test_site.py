"""The documentation site builds without a warning, and links that leave docs/ are shown as code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"""<(?:script|img|iframe)[^>]*\ssrc="([^"]+)|<link[^>]*rel="stylesheet"[^>]*href="([^"]+)""")
sys.path.insert(0, str(ROOT / "tools"))

from site_links import turn_outside_links_into_code  # noqa: E402


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs-material is not installed")
def test_the_site_builds_with_all_links_right(tmp_path: Path) -> None:
    built = _build(ROOT / "mkdocs.yml", tmp_path / "site")

    assert built.returncode == 0, built.stderr
    assert "perf/README.md</code>" in (tmp_path / "site/literature.html").read_text()
    pages = [page.read_text() for page in (tmp_path / "site").rglob("*.html")]
    loaded = {address for page in pages for found in LOADED.findall(page) for address in found if address}
    assert loaded, "the pattern finds nothing"
    assert {address for address in loaded if "//" in address} == set()  # nothing from another host


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs-material is not installed")
def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("[gone](gone.md) and [outside](../src/gone.py)\n")
    settings = f"site_name: t\nplugins: []\nhooks: [{ROOT / 'tools/site_links.py'}]\n"
    (tmp_path / "mkdocs.yml").write_text(settings)

    built = _build(tmp_path / "mkdocs.yml", tmp_path / "site")

    assert built.returncode == 1
    assert "gone.md" in built.stderr
    assert "../src/gone.py" in built.stderr


def test_links_that_leave_the_docs_become_code_outside_of_fenced_blocks() -> None:
    page = "[the table](../src/wardround) [runs](runs.md#a) [gone](../no-such-file)\n```\n[a](../src)\n```\n"

    turned = turn_outside_links_into_code(page, "study.md", ROOT / "docs")

    assert turned == ("the table (`src/wardround`) [runs](runs.md#a) [gone](../no-such-file)\n```\n[a](../src)\n```\n")


def _build(settings: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*command, "--config-file", str(settings), "--site-dir", str(site)],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
