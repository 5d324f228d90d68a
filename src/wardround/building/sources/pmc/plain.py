"""Text or Markdown, as converters make it of a PDF, as an article."""

from __future__ import annotations

import re
from pathlib import Path

from wardround.building.sources.pmc.article import CLOSE, OPEN, PMC, Article, Figure, Section, clean, mark
from wardround.building.sources.pmc.jats import beside
from wardround.building.sources.pmc.xml import LARGEST, NotUsable
from wardround.core.canonical import sha256_file

# headings that a text without any markup has on a line of their own
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
_NUMBERS = r"\d+\s?[a-z]?(?:\s*(?:,|and|&|[-–])\s*(?:\d+\s?[a-z]?|[a-z])\b)*"
_REFERS = re.compile(rf"\bfig(?:ure)?s?\.?\s*({_NUMBERS})", re.IGNORECASE)
_CITED = re.compile(r" ?\[\d+(?:\s*[,–-]\s*\d+)*\]")


def read_plain(file: Path) -> Article:
    """The article of a file."""
    if file.stat().st_size > LARGEST:
        raise NotUsable(f"has more than {LARGEST >> 20} MB")
    try:
        text = file.read_text(encoding="utf-8-sig").replace(OPEN, "").replace(CLOSE, "")
    except UnicodeDecodeError as error:
        raise NotUsable(f"is not UTF-8: {error.reason} at byte {error.start}") from None
    figures: dict[str, Figure] = {}
    text = _IMAGE.sub(lambda found: _figure(found, figures, file), text)
    sections = list(sections_of(text, figures))
    title = _title(text, sections)
    number = PMC.search(file.stem)
    return {
        "id": f"pmc-{number[1]}" if number else f"pmc-{sha256_file(file)[:10]}",
        "pmid": None,
        "type": "",
        "subjects": [],
        "title": title,
        "abstract": " ".join(p for each in sections if _is(each, "abstract") for p in each["paragraphs"]),
        "published": None,
        "sections": [each for each in sections if not _is(each, "abstract|references") and each["titles"] != [title]],
        "figures": list(figures.values()),
        "references": [],
    }


def sections_of(text: str, figures: dict[str, Figure]) -> list[Section]:
    """The sections of a text. Lines that are captions go to their figures."""
    found: list[Section] = []
    titles: list[tuple[int, str]] = []
    marked = any(_HEADING.match(line) for line in text.splitlines())
    for block in re.split(r"\n\s*\n|\n(?=#)|(?<=\n)(?=\s*\**fig(?:ure)?\.?\s*\d+\s*[.:|])", text, flags=re.IGNORECASE):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip()]
        while lines and (heading := _heading(lines[0], marked)):
            level, title = heading
            titles = [*(each for each in titles if each[0] < level), (level, title)]
            lines = lines[1:]
        paragraph = _CITED.sub("", clean(" ".join(lines)))
        if caption := _CAPTION.fullmatch(paragraph):
            figure = figures.setdefault(caption[1], {"id": caption[1], "caption": "", "file": None})
            figure["caption"] = caption[2]
        elif paragraph:
            named = [title for _, title in titles]
            if not found or found[-1]["titles"] != named:
                found.append({"titles": named, "paragraphs": []})
            found[-1]["paragraphs"].append(paragraph)
    for section in found:
        section["paragraphs"] = [_marked(each, figures) for each in section["paragraphs"]]
    return found


def _heading(line: str, marked: bool) -> tuple[int, str] | None:
    if found := _HEADING.fullmatch(line):
        return len(found[1]), clean(found[2].strip("*_ "))
    bare = line.strip("*_: ")
    return (2, bare) if (not marked or line.startswith("**")) and TITLES.fullmatch(bare) else None


def _figure(found: re.Match[str], figures: dict[str, Figure], file: Path) -> str:
    told = _CAPTION.fullmatch(found[1].strip())
    id = told[1] if told else str(len(figures) + 1)
    there = beside(found[2], file)
    figures[id] = {"id": id, "caption": clean(told[2] if told else found[1]), "file": str(there) if there else None}
    return ""


def _marked(text: str, figures: dict[str, Figure]) -> str:
    """`Fig. 1` and `Figures 1 and 2` as marks, where there is such a figure."""

    def refers(found: re.Match[str]) -> str:
        numbers = [number for number in re.findall(r"\d+", found[1]) if number in figures]
        return " ".join(map(mark, numbers)) or found[0]

    return _REFERS.sub(refers, text)


def _title(text: str, sections: list[Section]) -> str:
    """The first heading, or the first line."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    heading = _HEADING.fullmatch(first)
    return clean(heading[2] if heading else first)[:400]


def _is(section: Section, names: str) -> bool:
    return any(re.fullmatch(rf"(?:\d+\.?\s*)?(?:{names})", title, re.IGNORECASE) for title in section["titles"])
