"""Reads an article from plain text or Markdown, as converters make it from a PDF."""

import re
from pathlib import Path

from wardround.building.sources.pmc.article import (
    CLOSE,
    OPEN,
    PMC,
    ArticleFigure,
    ArticleSection,
    PmcArticle,
    clean,
    mark_references,
)
from wardround.building.sources.pmc.jats import find_figure_file
from wardround.core.canonical import sha256_file
from wardround.core.safe_xml import MAX_BYTES, UnusableFile

# headings of a text without markup, on a line of their own
TITLES = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s+)?(?:abstract|background|introduction|case (?:presentation|report|description|history)"
    r"|patient (?:information|presentation)|clinical (?:findings|presentation|history|examination)|physical examination"
    r"|investigations?|laboratory (?:findings|results|tests)|imaging(?: findings| studies)?|diagnostic assessment"
    r"|(?:final |differential )?diagnosis|treatment|management|therapeutic intervention|follow-up(?: and outcomes?)?"
    r"|outcomes?|discussion|conclusions?|references|acknowledge?ments?|consent|funding|conflicts? of interest)s?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_IMAGE = re.compile(r"!\[([^\]]*)\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_CAPTION = re.compile(r"\**(?:fig(?:ure)?\.?)\s*(\d+)\**\s*[.:|–-]\s*(.+)", re.IGNORECASE)
_TABLE = re.compile(r"<(table|details)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_CITATION = re.compile(r" ?\[\d+(?:\s*[,–-]\s*\d+)*\]")


def read_plain(file: Path) -> PmcArticle:
    """The article of a file."""
    return parse_text(read_utf8(file), file)


def read_utf8(file: Path) -> str:
    """The text of a file, if it is not too large."""
    if file.stat().st_size > MAX_BYTES:
        raise UnusableFile(f"has more than {MAX_BYTES >> 20} MB")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"is not UTF-8: {error.reason} at byte {error.start}") from None


def parse_text(text: str, file: Path) -> PmcArticle:
    """The article of a text; images are beside its file. Tables in HTML are left out: cells are not sentences."""
    text = _TABLE.sub("", text.replace(OPEN, "").replace(CLOSE, ""))
    figures: dict[str, ArticleFigure] = {}
    text = _IMAGE.sub(lambda match: _add_figure(match, figures, file), text)
    sections = list(split_sections(text, figures))
    title = _title(text)
    number = PMC.search(file.stem)
    abstracts = [section for section in sections if _is_titled(section, "abstract")]
    body = [section for section in sections if not _is_titled(section, "abstract|references")]
    return {
        "id": f"pmc-{number[1]}" if number else f"pmc-{sha256_file(file)[:10]}",
        "pmid": None,
        "type": "",
        "subjects": [],
        "keywords": [],
        "title": title,
        "abstract": " ".join(text for section in abstracts for text in section["paragraphs"]),
        "published": None,
        "sections": [section for section in body if section["titles"] != [title]],
        "figures": list(figures.values()),
        "references": [],
    }


def split_sections(text: str, figures: dict[str, ArticleFigure]) -> list[ArticleSection]:
    """The sections of a text. Captions are added to their figures."""
    sections: list[ArticleSection] = []
    titles: list[tuple[int, str]] = []
    has_headings = any(_HEADING.match(line) for line in text.splitlines())
    for block in re.split(r"\n\s*\n|\n(?=#)|(?<=\n)(?=\s*\**fig(?:ure)?\.?\s*\d+\s*[.:|])", text, flags=re.IGNORECASE):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip()]
        while lines and (heading := _heading(lines[0], has_headings)):
            level, title = heading
            titles = [*(outer for outer in titles if outer[0] < level), (level, title)]
            lines = lines[1:]
        paragraph = _CITATION.sub("", clean(" ".join(lines)))
        if caption := _CAPTION.fullmatch(paragraph):
            figure = figures.setdefault(caption[1], {"id": caption[1], "caption": "", "file": None})
            figure["caption"] = caption[2]
        elif paragraph:
            section_titles = [title for _, title in titles]
            if not sections or sections[-1]["titles"] != section_titles:
                sections.append({"titles": section_titles, "paragraphs": []})
            sections[-1]["paragraphs"].append(paragraph)
    ids_by_number = {id: [id] for id in figures}
    for section in sections:
        section["paragraphs"] = [mark_references(text, ids_by_number) for text in section["paragraphs"]]
    return sections


def _heading(line: str, has_headings: bool) -> tuple[int, str] | None:
    if match := _HEADING.fullmatch(line):
        return len(match[1]), clean(match[2].strip("*_ "))
    bare = line.strip("*_: ")
    return (2, bare) if (not has_headings or line.startswith("**")) and TITLES.fullmatch(bare) else None


def _add_figure(match: re.Match[str], figures: dict[str, ArticleFigure], article_file: Path) -> str:
    caption = _CAPTION.fullmatch(match[1].strip())
    number = caption or _CAPTION.match(match.string[match.end() :].lstrip())
    id = number[1] if number else str(len(figures) + 1)
    file = find_figure_file(match[2], article_file)
    text = clean(caption[2] if caption else match[1])
    figures[id] = {"id": id, "caption": text, "file": str(file) if file else None}
    return ""


def _title(text: str) -> str:
    """The first heading, or the first line."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    heading = _HEADING.fullmatch(first)
    return clean(heading[2] if heading else first)[:400]


def _is_titled(section: ArticleSection, names: str) -> bool:
    return any(re.fullmatch(rf"(?:\d+\.?\s*)?(?:{names})", title, re.IGNORECASE) for title in section["titles"])
