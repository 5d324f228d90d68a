"""The report as a page: what stands where, read by a parser."""

from __future__ import annotations

import csv
from html.parser import HTMLParser
from pathlib import Path

from simulated_run import write_run

from wardround.reporting import report

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Every element with its attributes and text; unbalanced tags fail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[int] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {[self.elements[place][0] for place in self.open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open[-1]][0] == tag, f"</{tag}> closes <{self.elements[self.open[-1]][0]}>"
        self.open.pop()
        if tag in ("td", "th", "strong", "title", "figcaption", "small"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for place in self.open:
            self.elements[place][2].append(data)

    def find(self, tag: str, name: str = "") -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, " ".join("".join(text).split()))
            for tag_name, attributes, text in self.elements
            if tag_name == tag and name in ["", *(attributes.get("class") or "").split()]
        ]


def read_page(folder: Path) -> Page:
    """The report that is in a run's folder."""
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def written(folder: Path, **manifest: object) -> Page:
    write_run(folder, **manifest)
    report(folder)
    return read_page(folder)


def unanswered_anchors(page: Page) -> list[str]:
    ids = [attributes["id"] for _, attributes, _ in page.elements if attributes.get("id")]
    assert len(set(ids)) == len(ids)
    links = [attributes.get("href") or "" for attributes, _ in page.find("a")]
    return [link for link in links if link.startswith("#") and link[1:] not in ids]


def printed(row: dict[str, str]) -> str:
    """What a cell must show, from the text of the CSV file alone."""
    if row["n"] == "0":
        return "not asked"

    def hundredfold(text: str) -> str:
        return f"{float(text) * 100:.1f}".replace("-", "−")

    interval = f"({hundredfold(row['low'])} to {hundredfold(row['high'])})" if row["low"] else "no interval"
    return f"{hundredfold(row['value'])} {interval}"


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
