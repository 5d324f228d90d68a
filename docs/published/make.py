"""Writes ../published.md from the notes that stand at the papers' figures: `python docs/published/make.py`."""

from __future__ import annotations

from pathlib import Path

from wardround.benchmarks.engine.published import load_published, published_names

PAGE = Path(__file__).parent.parent / "published.md"
HEAD = """# Figures that the papers print inconsistently

wardround includes the papers' tables as they were printed (`wardround published`). A note marks every figure that
contradicts another figure, the text or the stated formula, or that needs an explanation. This page lists all notes;
the tests recompute every average and sum that the tables allow. `docs/published/make.py` writes this page.
"""


def page() -> str:
    """One table of notes for each published table that has any."""
    lines, source = [HEAD], ""
    for table in map(load_published, published_names()):
        if not table.notes:
            continue
        if table.source != source:
            source = table.source
            lines.append(f"## {source}\n")
        lines.append(f"**`{table.name}`**: {table.info.title}\n")
        lines.append("| where | note |\n|---|---|")
        for note in table.notes:
            place = ", ".join(part for part in (note.row, note.column) if part) or "the whole table"
            lines.append(f"| {_cell(place)} | {_cell(note.note)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
