"""Tables in LaTeX fit the page: measured on the text that is written, part by part."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from wardround.benchmarks.engine.named_study import NamedStudy, named_studies
from wardround.benchmarks.engine.published_rows import RunProtocol, add_published_rows
from wardround.reporting.tables.latex import as_latex
from wardround.reporting.tables.latex_page import TEXT_HEIGHT, TEXT_WIDTH, break_lines, text_width
from wardround.reporting.tables.measured import ColumnSpec
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

FONT_WIDTHS = {"62.5": 17.78, "Accuracy": 40.58, "Hit@1": 26.95}  # summed by hand from the metrics of cmr10
SCALES = {r"\small": (0.928, 11.0), r"\footnotesize": (0.85, 9.5)}  # digits of cmr9 and cmr8 in points, over 5
PLAIN = {r"\textbar{}": "|", r"\textless{}": "<", r"\textgreater{}": ">", "$-$": "−", "--": "–", r"\_": "_", r"\%": "%"}
STUDIES = {name: study for name, study in named_studies().items() if study.definition.columns}


def test_widths_are_those_of_the_font() -> None:
    for text, width in FONT_WIDTHS.items():
        assert text_width(text) == pytest.approx(width, abs=0.02)


def test_lines_are_broken_between_words_and_nothing_is_lost() -> None:
    text = "Overall (the paper's Non-Rare), an unbreakablyverylongwordthatisleftwhole at the end"
    lines = break_lines(text, 62)
    assert " ".join(lines) == text
    assert [line for line in lines if text_width(line) > 62] == ["unbreakablyverylongwordthatisleftwhole"]


def table_of(study: NamedStudy) -> Table:
    """The table of a study with three candidates, every column filled, and the paper's rows."""
    definition, specs = study.definition, list[ColumnSpec]()
    for spec in study.column_specs:
        values = list(spec.headings.values()) or ["first value", "second value", "third"]
        for value in values if spec.by else [""]:
            names = {part: getattr(spec, part) for part in ("heading", "over", "published")}
            specs.append(replace(spec, **{part: text.replace("{}", value) for part, text in names.items() if text}))
    labels = ["gpt-4o-2024-11-20", "qwen3-vl-8b-instruct (text only)", "smollm2"]
    cells = [Cell(-0.123, -0.456, 0.21) if spec.unit == "fraction" else Cell(0.625, 0.51, 0.731) for spec in specs]
    rows = [TableRow((label, *("history+images" for _ in definition.rows[1:])), cells) for label in labels]
    headings = tuple(key.capitalize() for key in definition.rows)
    table = Table(study.label, headings, [spec.column for spec in specs], rows, ["A note. " * 20] * 6)
    if study.published is None:
        return table
    put = study.template
    settings = {"trials": put.trials, "questions": put.questions, "conditions": put.conditions}
    settings |= {"sampling": put.sampling.explicit_sampling}
    return add_published_rows(table, specs, definition, study.published, RunProtocol(settings))


def printed_width(cell: str, scale: float) -> float:
    """The width of a cell as it is written; broken lines count by the widest, small print as in cmr7."""
    small = re.search(r"\{\\scriptsize (.*?)\}$", cell)
    text = cell[: small.start()].rstrip() if small else cell
    text = re.sub(r"^\\textit\{(.*)\}$", r"\1", text.strip())
    stacked = re.fullmatch(r"\\shortstack\[.\]\{(.*)\}(\$\^.*)?", text)
    lines = stacked[1].split(r" \\ ") if stacked else [text]
    width = scale * max(text_width(_plain(line)) for line in lines)
    return width + (0.797 * text_width(_plain(small[1])) + (3.3 * scale if text else 0) if small else 0)


def _plain(text: str) -> str:
    for command, character in PLAIN.items():
        text = text.replace(command, character)
    return re.sub(r"\$\^\{.*?\}\$", "", text)


def parts(latex: str) -> list[tuple[float, float]]:
    """Width and height of every tabular, with its caption."""
    sizes = []
    for block in re.findall(r"\\begin\{table\}(.*?)\\end\{table\}", latex, re.DOTALL):
        if r"\begin{tabular}" not in block:
            continue
        scale, line = next((size for command, size in SCALES.items() if f"\n{command}\n" in block), (1.0, 12.0))
        body = block.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
        rows = [row.removesuffix(r" \\").split(" & ") for row in body.splitlines() if row.endswith(r"\\")]
        single = [row for row in rows if not any(r"\multicolumn" in cell for cell in row)]
        widths = [max(printed_width(row[index], scale) for row in single) + 12 for index in range(len(single[0]))]
        for row in rows:
            _widen(widths, row, scale)
        heights = [max(cell.count(r" \\ ") + 1 for cell in row) for row in rows]
        sizes.append((sum(widths), 70 + line * sum(heights)))
    return sizes


def _widen(widths: list[float], row: list[str], scale: float) -> None:
    """What spans several columns and is wider than they are widens the last, as TeX does it."""
    place = 0
    for cell in row:
        spanning = re.fullmatch(r"\\multicolumn\{(\d+)\}\{.\}\{(.*)\}", cell)
        span, text = (int(spanning[1]), spanning[2]) if spanning else (1, "")
        if spanning:
            bold = re.fullmatch(r"\\textbf\{(.*)\}", text)
            width = 1.15 * scale * text_width(_plain(bold[1])) if bold else printed_width(text, scale)
            widths[place + span - 1] += max(0.0, width + 12 - sum(widths[place : place + span]))
        place += span


@pytest.mark.parametrize("name", STUDIES)
def test_every_part_of_every_table_fits_the_page(name: str) -> None:
    sizes = parts(as_latex(table_of(STUDIES[name])))
    assert sizes
    assert max(width for width, _ in sizes) <= TEXT_WIDTH + 0.1
    assert max(height for _, height in sizes) <= TEXT_HEIGHT + 0.1


def test_all_rows_and_columns_are_in_the_parts_once() -> None:
    columns = [Column(f"c{number}", over=f"group {number // 3}") for number in range(12)]
    rows = [
        TableRow((f"row {number}",), [Cell((number + place) / 1000, 0.0, 1.0) for place in range(12)])
        for number in range(70)
    ]
    latex = as_latex(Table("Wide and long", ("Candidate",), columns, rows, ["Last."]))
    printed = [
        cell.strip()
        for line in latex.splitlines()
        if re.match(r"row \d+ &", line)
        for cell in line.removesuffix(r" \\").split(" & ")[1:]
    ]
    wanted = [f"{(number + place) / 10:.1f}" for number in range(70) for place in range(12)]
    assert sorted(printed) == sorted(wanted)
    assert latex.count("Last.") == 1
    assert r"\caption{Wide and long (1 of " in latex


def test_a_shared_heading_over_narrow_columns_is_broken_and_counted() -> None:
    columns = [Column(f"s{number}", over=f"Change from L0 to L{number} by skill and type") for number in range(12)]
    rows = [TableRow(("candidate",), [Cell(0.5) for _ in columns])]
    latex = as_latex(Table("Narrow", ("Candidate",), columns, rows))
    assert latex.count(r"\begin{tabular}") > 1
    assert r"\shortstack[c]{Change \\ from L0" in latex
    assert max(width for width, _ in parts(latex)) <= TEXT_WIDTH + 0.1


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_latex_itself_finds_nothing_too_wide_or_too_high(tmp_path: Path) -> None:
    tables = [as_latex(table_of(study)) + "\\clearpage\n" for study in STUDIES.values()]
    text = "\n".join([r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *tables])
    (tmp_path / "tables.tex").write_text(text + "\\end{document}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "tables.log").read_text(encoding="latin-1")
    assert ended.returncode == 0, log[-2_000:]
    assert re.findall(r"Overfull .*|.*Float too large.*", log) == []
