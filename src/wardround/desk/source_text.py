"""The source of a case as plain text, whatever it is written in."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from wardround.cases.set import leaves_folder

MARKUP = (".html", ".htm", ".xml", ".nxml")
MAX_SOURCE = 200_000


def source_text(folder: Path, case: str) -> str | None:
    """The source of a case as plain text, from the file of the case's id; None if there is none."""
    if leaves_folder(case) or "/" in case:
        return None
    for suffix in (".txt", ".md", *MARKUP):
        if (file := folder / f"{case}{suffix}").is_file():
            text = file.read_text(encoding="utf-8", errors="replace")[:MAX_SOURCE]
            return _without_markup(text) if suffix in MARKUP else text
    return None


class _Text(HTMLParser):
    """The text between tags; blocks on lines of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._silent += tag in ("script", "style")
        if tag in ("p", "div", "br", "h1", "h2", "h3", "h4", "li", "tr", "sec", "title"):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style") and self._silent > 0

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)


def _without_markup(text: str) -> str:
    parser = _Text()
    parser.feed(text)
    lines = ("".join(parser.pieces)).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
