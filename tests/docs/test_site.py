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

from site_links import fit_links  # noqa: E402


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs-material is not installed")
def test_the_site_builds_with_all_links_right(tmp_path: Path) -> None:
    built = _build(ROOT / "mkdocs.yml", tmp_path / "site")

    assert built.returncode == 0, built.stderr
    assert "perf/README.md</code>" in (tmp_path / "site/literature.html").read_text()
    pages = [page.read_text() for page in (tmp_path / "site").rglob("*.html")]
    loaded = {address for page in pages for found in LOADED.findall(page) for address in found if address}
    assert loaded, "the pattern finds nothing"
    assert {address for address in loaded if "//" in address} == set()  # nothing from another host
    home = (tmp_path / "site/index.html").read_text()
    schemes = re.findall(r'<input[^>]*data-md-color-media="([^"]*)"', home)
    assert schemes == ["(prefers-color-scheme)", "(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"]


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

    turned = fit_links(page, "study.md", ROOT / "docs")

    assert turned == ("the table (`src/wardround`) [runs](runs.md#a) [gone](../no-such-file)\n```\n[a](../src)\n```\n")


def test_a_link_that_shows_a_file_name_shows_the_title_of_its_page() -> None:
    page = "[runs.md](../runs.md#batches), [stopping](../runs.md), `runs.md`\n```\n[runs.md](../runs.md)\n```\n"

    turned = fit_links(page, "tutorials/chains.md", ROOT / "docs")

    title = (ROOT / "docs/runs.md").read_text().partition("\n")[0].removeprefix("# ")
    assert turned == page.replace("[runs.md]", f"[{title}]", 1)


def _build(settings: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*command, "--config-file", str(settings), "--site-dir", str(site)],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
