"""Reading saved pages: a file or a folder of them, with the images that a browser saved beside each."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from wardround.building.distractors.options import listed, tidy
from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.pipeline.source_files import records
from wardround.building.sources.eurorad.page import Figure, Page, read_page
from wardround.building.text.modality import modalities_in, modality_of
from wardround.core.canonical import blake
from wardround.core.errors import BadInput

LARGEST = 32 << 20  # bytes of a page
BESIDE = "_files"  # a browser saves the images of PAGE.html in PAGE_files
PER_YEAR = {"year": 1.0, "month": 12.0, "week": 52.18, "day": 365.25}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_PATIENT = re.compile(
    r"(\d{1,3}(?:\.\d)?)[\s-]*(year|month|week|day)s?(?:[\s-]old)?\W*\b(male|female|man|woman)?", re.I
)
_NUMERIC = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)|\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b")
_WRITTEN = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3})[a-z]*\.?,?\s+(\d{4})|([A-Za-z]{3})[a-z]*\s+(\d{1,2}),\s*(\d{4})"
)


def pages(source: Path, build: Build) -> Iterator[Record]:
    """Each page as a record; what cannot be one is told to the build."""
    return records(files(source), source, _record, build, wanted="a Eurorad case page", unit="case")


def files(source: Path) -> list[Path]:
    """The pages, without those that belong to another page."""
    if not source.exists():
        raise BadInput(source, "there is no such file or folder")
    if not source.is_dir():
        return [source]
    ends = (".html", ".htm", ".xhtml")
    found = sorted(
        file
        for file in source.rglob("*")
        if file.suffix.lower() in ends
        and file.is_file()
        and not any(part.endswith(BESIDE) for part in file.relative_to(source).parts[:-1])
    )
    if not found:
        raise BadInput(source, "there is no .html or .htm file in it")
    return found


def _record(file: Path) -> Record:
    if file.stat().st_size > LARGEST:
        raise ValueError(f"has more than {LARGEST >> 20} MB")
    html = decoded(file.read_bytes())
    page = read_page(html)
    if not {"history", "findings", "diagnosis"} & page.sections.keys():
        raise ValueError("has none of the headings Clinical History, Imaging Findings, Final Diagnosis")
    return record_of(page, html, file)


def decoded(content: bytes) -> str:
    """The text of a page: as its mark or its charset says, else UTF-8, else windows-1252 as browsers take it."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return content.removeprefix(codecs.BOM_UTF8).decode(encoding, errors="replace")
    said = _CHARSET.search(content[:4096])
    told = said[1].decode("ascii", errors="ignore").lower() if said else "utf-8"
    for encoding in (told, "utf-8"):
        if encoding in ("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"):
            break  # what pages call so is windows-1252
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("cp1252", errors="replace")


def record_of(page: Page, html: str, file: Path) -> Record:
    """What of a page is needed for a case; the rest is dropped here."""
    number = page.number or _number_in(file.stem)
    age, sex = _patient(page)
    modalities = [each for line in page.sections.get("technique", []) for each in modalities_in(line)]
    return {
        "id": f"eurorad-{number}" if number else f"eurorad-{blake(html).hex()[:10]}",  # file names tell titles
        "section": next(iter(page.sections.get("section", [])), None),
        "published": published(page),
        "age": age,
        "sex": sex,
        "history": page.text("history"),
        "findings": page.text("findings"),
        "diagnoses": [name for line in page.sections.get("diagnosis", []) if (name := tidy(_unnumbered(line)))],
        "candidates": differential(page.sections.get("differential", [])),
        "pmids": page.pmids,
        "figures": len(page.figures),
        "images": _images(page.figures, file, modalities),
    }


def differential(lines: list[str]) -> list[str]:
    """The names of a differential list: one a line, or all on one."""
    if len(lines) == 1:
        by_mark = [part for part in re.split(r"\s*[;•]\s*|\s(?=\d\.\s)", lines[0]) if part]
        lines = by_mark if len(by_mark) > 1 else [part for part in re.split(r",\s+(?:and\s+|or\s+)?", lines[0]) if part]
    return listed("\n".join(lines))


def _unnumbered(line: str) -> str:
    return re.sub(r"^\s*(?:\d{1,2}\s*[.)]|[-*•])\s+", "", line)


def _number_in(stem: str) -> str | None:
    found = re.fullmatch(r"\D*?(\d{3,6})", stem)
    return found[1] if found else None


def _images(figures: list[Figure], page: Path, modalities: list[str]) -> list[dict[str, Any]]:
    """The files that are there, each once, with the modality that its words tell, or the only one of the case."""
    found: dict[Path, dict[str, Any]] = {}
    only = modalities[0] if len(set(modalities)) == 1 else None
    for figure in figures:
        file = next((file for each in figure.addresses if (file := saved(each, page))), None)
        if file is not None:
            found.setdefault(file, {"file": str(file), "modality": modality_of(figure.words) or only})
    return list(found.values())


def saved(address: str, page: Path) -> Path | None:
    """The file that a browser saved for an address: beside the page, never elsewhere."""
    parts = urlsplit(address)
    if parts.scheme in ("data", "javascript") or not parts.path:
        return None
    path = unquote(parts.path).replace("\\", "/")
    beside = page.parent / f"{page.stem}{BESIDE}"
    places = [beside / path.rsplit("/", 1)[-1]]
    if not parts.scheme and not path.startswith("/"):
        places.insert(0, page.parent / path)
    inside = page.parent.resolve()
    for place in places:
        file = place.resolve()
        if "\0" not in str(place) and file.is_relative_to(inside) and file.is_file() and file != page.resolve():
            return file
    return None


def _patient(page: Page) -> tuple[int | float | None, str | None]:
    """Age in years and sex, from their labels or from a line that tells nothing else."""
    labelled = [*page.sections.get("patient", []), *page.sections.get("age", []), *page.sections.get("sex", [])]
    short = [line for line in _labels(page) if len(line.split()) <= 6 and _PATIENT.search(line)]
    line = " ".join(labelled or short[:1])
    told = _PATIENT.search(line)
    sex = re.search(r"\b(?:(female|woman|girl)|(male|man|boy))\b", line, re.IGNORECASE)
    age: int | float | None = None
    if told and (years := float(told[1]) / PER_YEAR[told[2].lower()]) <= 130:
        age = int(years) if years == int(years) else round(years, 2)
    return age, ("F" if sex[1] else "M") if sex else None


def _labels(page: Page) -> list[str]:
    """The lines that are no part of the text: what follows a label has often no label of its own."""
    return [*page.other, *(line for name in ("section", "technique") for line in page.sections.get(name, []))]


def published(page: Page) -> str | None:
    """The day of publication, year first."""
    lines = [*page.sections.get("published", []), *([page.published] if page.published else [])]
    lines += [line for line in _labels(page) if re.search(r"\bpublish", line, re.IGNORECASE)]
    return next((day for line in lines if (day := _day(line))), None)


def _day(text: str) -> str | None:
    if found := _NUMERIC.search(text):
        year, month, day = (found[1], found[2], found[3]) if found[1] else (found[6], found[5], found[4])
    elif found := _WRITTEN.search(text):
        day, name, year = (found[1], found[2], found[3]) if found[1] else (found[5], found[4], found[6])
        month = str(MONTHS.index(name.lower()) + 1) if name.lower() in MONTHS else "0"
    else:
        return None
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
