"""The summary alone, as a file: PDF by a headless Chromium, a page, or Markdown."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from wardround.core.errors import WardroundError
from wardround.core.files import write_file
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.summary.summary import as_markdown, summarise
from wardround.reporting.templating import page, write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
SUFFIXES = (".pdf", ".md", ".html")
MAX_SECONDS = 120


def write_summary(folder: Path, out: Path) -> Path:
    """Writes the summary of a run; the suffix of `out` is the format."""
    if out.suffix not in SUFFIXES:
        raise WardroundError(f"{out}: expected a name that ends in {', '.join(SUFFIXES)}")
    run = read_run(folder)
    if (summary := summarise(run)) is None:
        raise WardroundError(f"{folder}: has no score to summarise; see `wardround report {folder}`")
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".md":
        write_file(out, as_markdown(summary))
    elif out.suffix == ".html":
        write_page(out, _page(run, summary))
    else:
        _print_pdf(_page(run, summary), out)
    return out


def find_browser() -> str | None:
    """A Chromium on the path."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _page(run: RunFiles, summary: object) -> str:
    return page("summary/page.html", run=run, summary=summary)


def _print_pdf(html: str, out: Path) -> None:
    browser = find_browser()
    if browser is None:
        raise WardroundError(
            f"{out}: a PDF needs Chromium or Chrome, and none is on the path; write summary.html or summary.md, or "
            "print report.html#summary from a browser"
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        source, printed = Path(temporary) / "summary.html", Path(temporary) / "summary.pdf"
        write_page(source, html)
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={printed}"]
        command += [f"--user-data-dir={temporary}/profile", "--no-first-run", "--disable-background-networking"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run as root with its sandbox
        try:
            done = subprocess.run([*command, source.as_uri()], capture_output=True, timeout=MAX_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise WardroundError(f"{out}: {browser} did not print the page: {error}") from None
        if not printed.is_file():
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise WardroundError(f"{out}: {browser} did not print the page: {last or f'exit code {done.returncode}'}")
        shutil.copyfile(printed, out)
