"""Saved pages as records: a file or a folder of them, with the images that a browser saved beside each."""

import codecs
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from wardround.building.distractors.options import clean_name, parse_name_list
from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.pipeline.source_files import list_source_files, read_records
from wardround.building.sources.eurorad.page import EuroradPage, PageFigure, read_page
from wardround.building.text.age import age_in_years
from wardround.building.text.modality import hinted_modality, modalities_in, modality_of
from wardround.core.canonical import blake
from wardround.marking.evidence.document import split_sentences

MAX_BYTES = 32 << 20  # of a page
SUFFIXES = (".html", ".htm", ".xhtml")
IMAGE_FOLDER = "_files"  # a browser saves the images of PAGE.html in PAGE_files
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_FIGURE = re.compile(r"\bfig(?:ure)?\.?\s*(\d+)", re.IGNORECASE)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_PATIENT = re.compile(
    r"(\d{1,3}(?:\.\d)?)[\s-]*(year|month|week|day)s?(?:[\s-]old)?\W*\b(male|female|man|woman)?", re.I
)
_NUMERIC = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)|\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b")
_WRITTEN = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3})[a-z]*\.?,?\s+(\d{4})|([A-Za-z]{3})[a-z]*\s+(\d{1,2}),\s*(\d{4})"
)


def read_pages(source: Path, build: Build) -> Iterator[Record]:
    """Each page as a record; other files are rejected."""
    return read_records(list_pages(source), source, _read_page_file, build, wanted="a Eurorad case page", unit="case")


def list_pages(source: Path) -> list[Path]:
    """The pages, without those that belong to another page."""

    def is_page(file: Path) -> bool:
        folders = file.relative_to(source).parts[:-1]
        return file.suffix.lower() in SUFFIXES and not any(folder.endswith(IMAGE_FOLDER) for folder in folders)

    return list_source_files(source, is_page, ".html or .htm")


def _read_page_file(file: Path) -> Record:
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(f"has more than {MAX_BYTES >> 20} MB")
    html = decode_page(file.read_bytes())
    page = read_page(html)
    if not {"history", "findings", "diagnosis"} & page.sections.keys():
        raise ValueError("has none of the headings Clinical History, Imaging Findings, Final Diagnosis")
    return make_record(page, html, file)


def decode_page(content: bytes) -> str:
    """The text of a page, by its byte order mark or charset; else UTF-8, else windows-1252, as browsers do."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return content.removeprefix(codecs.BOM_UTF8).decode(encoding, errors="replace")
    match = _CHARSET.search(content[:4096])
    charset = match[1].decode("ascii", errors="ignore").lower() if match else "utf-8"
    for encoding in (charset, "utf-8"):
        if encoding in ("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"):
            break  # pages that say so are windows-1252
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("cp1252", errors="replace")


def make_record(page: EuroradPage, html: str, file: Path) -> Record:
    """The parts of a page that a case needs."""
    number = page.number or _number_in(file.stem)
    age, sex = _patient(page)
    techniques = [line_modalities[0] for line in _technique_lines(page) if (line_modalities := modalities_in(line))]
    return {
        "id": f"eurorad-{number}" if number else f"eurorad-{blake(html).hex()[:10]}",  # a file name may be the title
        "section": next(iter(page.sections.get("section", [])), None),
        "published": publication_date(page),
        "age": age,
        "sex": sex,
        "history": page.text("history"),
        "findings": page.text("findings"),
        "diagnoses": [name for line in page.sections.get("diagnosis", []) if (name := clean_name(_strip_number(line)))],
        "candidates": parse_differential(page.sections.get("differential", [])),
        "pmids": page.pmids,
        "figures": len(page.figures),
        "images": _saved_images(page.figures, file, techniques, page.text("findings")),
    }


def _technique_lines(page: EuroradPage) -> list[str]:
    """The techniques of a page, one each: `CT-Angiography, MR`, `Ultrasound-Colour Doppler`."""
    return [part for line in page.sections.get("technique", []) for part in re.split(r"[,;]", line)]


def parse_differential(lines: list[str]) -> list[str]:
    """The names of a differential list: one per line, or all on one."""
    if len(lines) == 1:
        parts = [part for part in re.split(r"\s*[;•]\s*|\s(?=\d\.\s)", lines[0]) if part]
        lines = parts if len(parts) > 1 else [part for part in re.split(r",\s+(?:and\s+|or\s+)?", lines[0]) if part]
    return parse_name_list("\n".join(lines))


def _strip_number(line: str) -> str:
    return re.sub(r"^\s*(?:\d{1,2}\s*[.)]|[-*•])\s+", "", line)


def _number_in(stem: str) -> str | None:
    match = re.fullmatch(r"\D*?(\d{3,6})", stem)
    return match[1] if match else None


def _saved_images(figures: list[PageFigure], page: Path, techniques: list[str], findings: str) -> list[dict[str, Any]]:
    """The files that were saved, each once, with their modality."""
    images: dict[Path, dict[str, Any]] = {}
    modality_by_figure: dict[str, str] = {}
    for figure in figures:
        file = next((file for address in figure.addresses if (file := find_saved_file(address, page))), None)
        if file is not None:
            number = _FIGURE.search(" ".join(figure.texts))
            modality = figure_modality(figure.texts, techniques, findings)
            if number and modality:
                modality_by_figure.setdefault(number[1], modality)
            elif number:  # another panel of the same figure
                modality = modality_by_figure.get(number[1])
            images.setdefault(file, {"file": str(file), "modality": modality})
    return list(images.values())


def figure_modality(texts: list[str], techniques: list[str], findings: str) -> str | None:
    """By the caption's words, by what the findings say of the figure, or the page's only technique."""
    if named := modality_of(texts):
        return named
    caption = " ".join(texts)
    if hinted := hinted_modality(caption, techniques):
        return hinted
    if number := _FIGURE.search(caption):
        reference = re.compile(rf"\bfig(?:ure)?s?\.?\s*{number[1]}(?!\d)", re.IGNORECASE)
        about = [name for text in split_sentences(findings) if reference.search(text) for name in modalities_in(text)]
        if len(set(about)) == 1:
            return about[0]
    return techniques[0] if len(set(techniques)) == 1 else None


def find_saved_file(address: str, page: Path) -> Path | None:
    """The file that a browser saved for an address, beside the page."""
    parts = urlsplit(address)
    if parts.scheme in ("data", "javascript") or not parts.path:
        return None
    path = unquote(parts.path).replace("\\", "/")
    places = [page.parent / f"{page.stem}{IMAGE_FOLDER}" / path.rsplit("/", 1)[-1]]
    if not parts.scheme and not path.startswith("/"):
        places.insert(0, page.parent / path)
    folder = page.parent.resolve()
    for place in places:
        file = place.resolve()
        if "\0" not in str(place) and file.is_relative_to(folder) and file.is_file() and file != page.resolve():
            return file
    return None


def _patient(page: EuroradPage) -> tuple[int | float | None, str | None]:
    """Age in years and sex, after their labels or from a short line with the age."""
    labelled = [*page.sections.get("patient", []), *page.sections.get("age", []), *page.sections.get("sex", [])]
    short = [line for line in _label_lines(page) if len(line.split()) <= 6 and _PATIENT.search(line)]
    line = " ".join(labelled or short[:1])
    age = _PATIENT.search(line)
    sex = re.search(r"\b(?:(female|woman|girl)|(male|man|boy))\b", line, re.IGNORECASE)
    return age_in_years(age[1], age[2]) if age else None, ("F" if sex[1] else "M") if sex else None


def _label_lines(page: EuroradPage) -> list[str]:
    """The lines outside the texts of the case: what follows a label often has no label of its own."""
    return [*page.other, *(line for name in ("section", "technique") for line in page.sections.get(name, []))]


def publication_date(page: EuroradPage) -> str | None:
    """The date of publication in ISO form."""
    lines = [*page.sections.get("published", []), *([page.published] if page.published else [])]
    lines += [line for line in _label_lines(page) if re.search(r"\bpublish", line, re.IGNORECASE)]
    return next((day for line in lines if (day := _parse_date(line))), None)


def _parse_date(text: str) -> str | None:
    if match := _NUMERIC.search(text):
        year, month, day = (match[1], match[2], match[3]) if match[1] else (match[6], match[5], match[4])
    elif match := _WRITTEN.search(text):
        day, name, year = (match[1], match[2], match[3]) if match[1] else (match[5], match[4], match[6])
        month = str(MONTHS.index(name.lower()) + 1) if name.lower() in MONTHS else "0"
    else:
        return None
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
