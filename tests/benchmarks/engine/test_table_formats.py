"""Tables as text, LaTeX and Markdown, against what was written out by hand."""

from __future__ import annotations

import csv
import io

from wardround.reporting.tables.csv_text import as_csv
from wardround.reporting.tables.latex import as_latex
from wardround.reporting.tables.markdown import as_markdown
from wardround.reporting.tables.table import Cell, Column, Table, TableRow
from wardround.reporting.tables.terminal import as_text

TABLE = Table(
    title="A_1: 50% & more",
    labels=("Candidate",),
    columns=[
        Column("Hit@1", over="History"),
        Column("MCQ", over="History", notes=(1,)),
        Column("shift", unit="fraction", decimals=3),
        Column("n", unit="count"),
    ],
    rows=[
        TableRow(
            ("a_b",), [Cell(0.625, 0.51, 0.731, n=40), Cell(text="not asked"), Cell(-0.0714, -0.2, 0.1), Cell(1234)]
        ),
        TableRow(("GPT|5",), [Cell(0.254), Cell(0.874, notes=(0,)), Cell(), Cell()], published=True),
    ],
    notes=["Does not add up.", "Of 500 cases.", "Brackets are 95% intervals."],
)

TEXT = """\
A_1: 50% & more

                           History
Candidate                 Hit@1    MCQ [2]            shift      n
------------------------------------------------------------------
a_b                        62.5  not asked           −0.071  1,234
                   [51.0, 73.1]             [−0.200, 0.100]
------------------------------------------------------------------
GPT|5 (published)          25.4   87.4 [1]                –      –

[1] Does not add up.
[2] Of 500 cases.
Brackets are 95% intervals."""

LATEX = r"""% needs \usepackage{booktabs}
\begin{table}
\centering
\caption{A\_1: 50\% \& more}
\begin{tabular}{lrrrr}
\toprule
 & \multicolumn{2}{c}{History} & \multicolumn{2}{c}{} \\
\cmidrule(lr){2-3}
Candidate & Hit@1 & MCQ$^{2}$ & shift & n \\
\midrule
a\_b & 62.5 & not asked & $-$0.071 & 1,234 \\
 & {\scriptsize [51.0, 73.1]} &  & {\scriptsize [$-$0.200, 0.100]} &  \\
\midrule
\textit{GPT\textbar{}5 (published)} & 25.4 & 87.4$^{1}$ & -- & -- \\
\bottomrule
\end{tabular}

\smallskip{\footnotesize $^{1}$Does not add up.}

\smallskip{\footnotesize $^{2}$Of 500 cases.}

\smallskip{\footnotesize Brackets are 95\% intervals.}
\end{table}
"""

MARKDOWN = r"""**A\_1: 50% & more**

| Candidate | History Hit@1 | History MCQ<sup>2</sup> | shift | n |
| :-- | --: | --: | --: | --: |
| a\_b | 62.5 \[51.0, 73.1\] | not asked | −0.071 \[−0.200, 0.100\] | 1,234 |
| *GPT\|5 (published)* | 25.4 | 87.4<sup>1</sup> | – | – |

<sup>1</sup> Does not add up.

<sup>2</sup> Of 500 cases.

Brackets are 95% intervals.
"""


def test_the_text_table_is_as_drawn_here() -> None:
    assert as_text(TABLE) == TEXT


def test_the_latex_table_is_as_written_here() -> None:
    assert as_latex(TABLE) == LATEX


def test_the_markdown_table_is_as_written_here() -> None:
    assert as_markdown(TABLE) == MARKDOWN


def test_csv_keeps_figures_unrounded() -> None:
    first, second = csv.DictReader(io.StringIO(as_csv(TABLE)))
    assert (first["source"], first["Candidate"], first["History Hit@1"], first["History Hit@1 n"]) == (
        "run",
        "a_b",
        "0.625",
        "40",
    )
    assert (first["History MCQ"], first["shift low"]) == ("", "-0.2")
    assert (second["source"], second["Candidate"], second["History MCQ"]) == ("published", "GPT|5", "0.874")


def test_text_too_wide_goes_on_below_with_shared_headings_whole() -> None:
    columns = [Column(f"c{place}", over=f"group {place // 3}") for place in range(12)]
    table = Table("t", ("Candidate",), columns, [TableRow(("model",), [Cell(0.5, 0.25, 0.75)] * 12)])
    text = as_text(table, width=100)
    assert max(map(len, text.splitlines())) <= 100
    heads = [line.split()[1:] for line in text.splitlines() if line.startswith("Candidate")]
    assert heads == [[f"c{place}" for place in range(6)], [f"c{place}" for place in range(6, 12)]]
    assert text.count("model") == 2
    overs = [line.split() for line in text.splitlines() if "group" in line]
    assert overs == [["group", "0", "group", "1"], ["group", "2", "group", "3"]]
