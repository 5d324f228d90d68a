"""The examples of the checkout run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def test_the_script_runs_a_study_and_plots_a_figure(tmp_path: Path) -> None:
    script = EXAMPLES / "notebook.py"

    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "pixels" in done.stdout
    assert "vega" in (tmp_path / "accuracy.html").read_text(encoding="utf-8")
    assert "died" not in done.stdout + done.stderr  # worker processes do not run the script again


@pytest.mark.slow  # the script runs the same cells, and test_api.py tests what a notebook shows
def test_the_notebook_runs_and_shows_its_results(tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)

    NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()

    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    html = "".join(str(data.get("text/html", "")) for data in shown)
    assert "<progress value=" in html
    assert "<iframe srcdoc=" in html
    assert "vegaEmbed" in html
