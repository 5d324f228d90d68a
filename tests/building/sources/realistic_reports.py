"""Invented case reports in the layouts of different journals, as JATS with their figure files.

The reports are in reports/*.toml: first.toml was written before the rules of `build pmc` were changed, later.toml
after, unseen.toml before they read it.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path
from typing import Any

from jats_articles import picture

REPORTS = Path(__file__).parent / "reports"
FIGURE = re.compile(r"\s*\[((?:F|f|DC|FIG|Fig|fig|ccr)[\w-]*\d)\]")
CITATION = re.compile(r"\[(\d[\d,\s-]*)\]")


def read_reports(name: str) -> list[dict[str, Any]]:
    reports = tomllib.loads((REPORTS / f"{name}.toml").read_text(encoding="utf-8"))["report"]
    offset = {"first": 1, "later": 101, "unseen": 201}[name]
    return [report | {"number": offset + place} for place, report in enumerate(reports)]


def save_reports(folder: Path, reports: list[dict[str, Any]]) -> None:
    """Writes each report into a folder of its own."""
    for report in reports:
        place = folder / f"PMC{report['number']}"
        place.mkdir(parents=True)
        (place / "main.nxml").write_text(as_jats(report), encoding="utf-8")
        for index, (id, _) in enumerate(report["figures"]):
            picture(report["number"] * 100 + index).save(place / f"{_file(report, id)}.jpg", quality=95)


def as_jats(report: dict[str, Any]) -> str:
    layout, number = report["layout"], report["number"]
    kind = report.get("type") or ("case-report" if number % 3 else "other")
    id_type = "pmcid" if number % 2 else "pmc"
    groups = "".join(f"<subject>{escape(subject)}</subject>" for subject in report["subjects"])
    if layout == "plain sections":  # nested groups
        first, *others = report["subjects"]
        nested = "".join(f"<subj-group><subject>{escape(subject)}</subject></subj-group>" for subject in others)
        groups = f"<subject>{escape(first)}</subject>{nested}"
    keywords = "".join(f"<kwd>{escape(word)}</kwd>" for word in report["keywords"])
    figures = {id: _figure(report, id, caption, place) for place, (id, caption) in enumerate(report["figures"], 1)}
    body, floats = _body(report, figures)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Archiving DTD v1.2//EN" "JATS-archivearticle1.dtd">\n'
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{kind}" xml:lang="en"><front><journal-meta>'
        "<journal-title-group><journal-title>Invented Reports</journal-title></journal-title-group></journal-meta>"
        f'<article-meta><article-id pub-id-type="{id_type}">{8_000_000 + number}</article-id>'
        f'<article-categories><subj-group subj-group-type="heading">{groups}</subj-group></article-categories>'
        f"<title-group><article-title>{escape(report['title'])}</article-title></title-group>"
        '<contrib-group><contrib contrib-type="author"><name><surname>Invented</surname></name></contrib>'
        "</contrib-group>"
        '<pub-date pub-type="collection"><year>2024</year></pub-date>'
        '<pub-date pub-type="epub"><day>5</day><month>3</month><year>2024</year></pub-date>'
        f"{_abstract(report)}{f'<kwd-group><title>Keywords</title>{keywords}</kwd-group>' if keywords else ''}"
        f"</article-meta></front><body>{body}</body>"
        '<back><ref-list><ref id="B1"><element-citation><pub-id pub-id-type="pmid">11111111</pub-id></element-citation>'
        f"</ref></ref-list></back>{f'<floats-group>{floats}</floats-group>' if floats else ''}</article>"
    )


def _abstract(report: dict[str, Any]) -> str:
    parts = "".join(
        f"<sec><title>{escape(title)}</title><p>{escape(text)}</p></sec>" if title else f"<p>{escape(text)}</p>"
        for title, text in report["abstract"]
    )
    return f"<abstract>{parts}</abstract>" if parts else ""


def _body(report: dict[str, Any], figures: dict[str, str]) -> tuple[str, str]:
    """The body, and what follows it as floating figures."""
    layout, parts, opened = report["layout"], [], ""
    for title, *paragraphs in report["body"]:
        text = "".join(_paragraph(paragraph, report, figures) for paragraph in paragraphs if paragraph)
        outer, _, own = title.partition("/") if layout == "subsections" else (title, "", "")
        if own:
            parts.append(f'<sec id="s{len(parts)}"><title>{escape(own)}</title>{text}</sec>')
            opened = outer
            continue
        if opened:
            parts.append("</sec>")
            opened = ""
        if not title:
            parts.append(text)
        elif layout == "subsections" and any(other[0].startswith(f"{title}/") for other in report["body"]):
            parts.append(f'<sec sec-type="cases"><title>{escape(title)}</title>{text}')
            opened = title
        elif layout == "numbered, floats":
            number, _, rest = title.partition(" ")
            parts.append(f"<sec><label>{number}</label><title>{escape(rest)}</title>{text}</sec>")
        else:
            parts.append(f"<sec><title>{escape(title)}</title>{text}</sec>")
    left = "".join(figures.values())
    return "".join([*parts, "</sec>" if opened else "", "" if layout == "numbered, floats" else left]), (
        left if layout == "numbered, floats" else ""
    )


def _paragraph(text: str, report: dict[str, Any], figures: dict[str, str]) -> str:
    ids = FIGURE.findall(text)
    text = escape(text, quote=False)
    numbers = {id: place for place, (id, _) in enumerate(report["figures"], start=1)}
    style = report["number"] % 3
    wording = {0: "Figure {}", 1: "Fig. {}", 2: "figure {}"}[style]

    def refer(match: re.Match[str]) -> str:
        label = wording.format(numbers[match[1]])
        return f' (<xref ref-type="fig" rid="{match[1]}">{label}</xref>)'

    text = FIGURE.sub(refer, text)
    sup = report["layout"] == "plain sections"
    citation = (
        '<sup><xref rid="B1" ref-type="bibr">{}</xref></sup>' if sup else '[<xref ref-type="bibr" rid="B1">{}</xref>]'
    )
    text = CITATION.sub(lambda match: citation.format(match[1]), text)
    anchored = "".join(figures.pop(id, "") for id in ids) if report["layout"] == "anchored figures" else ""
    return f"<p>{text}</p>{anchored}"


def _figure(report: dict[str, Any], id: str, caption: str, place: int) -> str:
    title = f"<title>{escape(caption)}</title>" if report["number"] % 4 == 0 else f"<p>{escape(caption)}</p>"
    return (
        f'<fig id="{id}" position="float"><label>Figure {place}</label><caption>{title}</caption>'
        f'<graphic xlink:href="{_file(report, id)}"/></fig>'
    )


def _file(report: dict[str, Any], id: str) -> str:
    return f"article{report['number']}-g{id}"
