"""Every citation of a section or equation of the four papers: listed here, and checked against the paper's text.

The numbers of headings in docs/protocols.md are our own and are not citations.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from wardround.benchmarks.engine.fidelity import all_fidelity
from wardround.measuring.measures.catalogue import find_record

ROOT = Path(__file__).parents[2]
PAPERS = ROOT.parent / "shared" / "papers"
FILES = {"CURE": "cure", "X-PCR": "xpcr", "MedQ-Deg": "medq-deg", "ClinBench": "clinbench"}
SCANNED = ("src/wardround", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
SUFFIXES = {".py", ".md", ".toml", ".html"}
PLACE = r"eqs?\.? \d+(?:[-–]\d+)?|[Ss]ection \d(?:\.\d)*|[Aa]ppendix (?:0\.)?[A-F](?:\.\d)*|\d\.\d(?:\.\d)*"
CITATION = re.compile(rf"\b(CURE|X-PCR|MedQ-Deg|ClinBench)(?:'s)?,? (?:\(?paper,? )?({PLACE})(?![\d.]*[%\d])")
FIDELITY_PLACE = r"eqs?\. \d+|\b(?:[Aa]ppendix )?(?:0\.)?[A-F](?:\.\d)+|\b[Aa]ppendix [A-F]|(?<![\d.])\d\.\d(?:\.\d)*"
IN_A_FOLDER = re.compile(
    r"\b([Ss]ection \d(?:\.\d)+|[Aa]ppendix (?:0\.)?[A-F](?:\.\d)*)"
)  # of the benchmark's own paper


class Citation(NamedTuple):
    """What is said, where the paper has it, and words that stand there."""

    paper: str
    place: str
    says: str
    words: str


CITATIONS = (
    Citation("MedQ-Deg", "eq. 2", "accuracy", "Acc(f,"),
    Citation("MedQ-Deg", "eq. 3", "C = 1 - H / log K", "C(x)=1-H(x)/{\\log K}"),
    Citation("MedQ-Deg", "eq. 4", "calibration shift", "\\Delta_{\\text{calib}}(f,\\mathcal{D})="),
    Citation("MedQ-Deg", "eq. 5", "Dunning-Kruger effect within a model", "\\mathcal{D}_{\\text{L2}}"),
    Citation("MedQ-Deg", "eq. 6", "Dunning-Kruger effect between models", "(f_{2},\\mathcal{D})"),
    Citation("MedQ-Deg", "section 3.1", "30 skills", "30 fine-grained capabilities"),
    Citation("MedQ-Deg", "appendix 0.A.1", "8.3% of the pairs discarded", "8.3%"),
    Citation("MedQ-Deg", "appendix 0.B", "the prompt, and the rule by which replies are read", "single-letter match"),
    Citation("CURE", "2.2", "composition of the case set", "21.3%"),
    Citation("CURE", "2.3", "Hit@k", "Hit@3"),
    Citation("CURE", "3.3", "coverage, and the four outcomes", "coverage 92.1%"),
    Citation("ClinBench", "3.1", "composition of the case set", "specialt"),
    Citation("ClinBench", "4.5", "worst@k", "worst@"),
    Citation("ClinBench", "appendix D.3", "perplexity and leakage", "perplexity (PPL)"),
    Citation("ClinBench", "appendix E.2", "sensitivity and specificity", "Sensitivity"),
)
MEASURES = {
    "accuracy": "MedQ-Deg eq. 2",
    "confidence": "MedQ-Deg eq. 3",
    "calibration_shift": "MedQ-Deg eq. 4",
    "dke_intra": "MedQ-Deg eq. 5",
    "dke_inter": "MedQ-Deg eq. 6",
    "hit@1": "CURE 2.3",
    **dict.fromkeys(
        ("coverage", "grounded", "evidence_based_correct", "evidence_misled", "knowledge_based_correct"), "CURE 3.3"
    ),
    "hallucination": "CURE 3.3",
    "worst@2": "ClinBench 4.5",
    **dict.fromkeys(("ppl", "rouge_l", "eds"), "ClinBench appendix D.3"),
    **dict.fromkeys(("sensitivity", "specificity"), "ClinBench appendix E.2"),
}
BENCHMARKS = {"cure": "CURE", "xpcr": "X-PCR", "medq_deg": "MedQ-Deg", "clinbench": "ClinBench"}


def plain(place: str) -> str:
    """A place without its word for section: `Section 3.1`, `section 3.1` and `3.1` are one."""
    return re.sub(r"^section ", "", place.lower()).replace("eqs", "eq")


def cited_places() -> set[tuple[str, str, str]]:
    """File, paper and place of every citation in code and documentation."""
    cited = set()
    for start in SCANNED:
        path = ROOT / start
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.suffix not in SUFFIXES or file.name in ("fidelity.toml", "fidelity.md"):
                continue
            text, name = file.read_text(encoding="utf-8"), str(file.relative_to(ROOT))
            cited |= {(name, paper, plain(place)) for paper, place in CITATION.findall(text)}
            folder = file.relative_to(ROOT).parts[3:4]
            if name.startswith("src/wardround/benchmarks/") and folder and folder[0] in BENCHMARKS:
                cited |= {(name, BENCHMARKS[folder[0]], plain(place)) for place in IN_A_FOLDER.findall(text)}
    return cited


def test_every_citation_is_in_the_table_and_the_table_has_no_other() -> None:
    cited, listed = cited_places(), {(citation.paper, plain(citation.place)) for citation in CITATIONS}
    assert {entry for entry in cited if entry[1:] not in listed} == set()
    assert listed - {entry[1:] for entry in cited} == set()


def test_every_measure_of_a_paper_cites_its_place() -> None:
    origins = {name: find_record(name) for name in MEASURES}
    assert {name: place for name, place in MEASURES.items() if place not in getattr(origins[name], "origin", "")} == {}


@cache
def lines_of(paper: str) -> list[str]:
    file = PAPERS / f"{FILES[paper]}.txt"
    if not file.is_file():
        pytest.skip("needs the texts of the papers (shared/papers)")
    return file.read_text(encoding="utf-8").splitlines()


def text_at(paper: str, place: str) -> str | None:
    """The equation's line, or the text of a section up to the next heading of its rank; None if there is none."""
    lines = lines_of(paper)
    if equation := re.fullmatch(r"eq\.? (\d+)", place):
        return next((line for line in lines if line.rstrip().endswith(f" ({equation[1]})")), None)
    number = place.removeprefix("appendix ").upper()
    heading = re.compile(rf"(?:Appendix )?(?:0\.)?{re.escape(number.removeprefix('0.'))}\.? [*]*[A-Z]")
    other = re.compile(r"(?:Appendix )?(?:0\.)?(?:\d|[A-F])(?:\.\d)* [A-Z]")
    starts = [index for index, line in enumerate(lines) if heading.match(line)]
    if not starts:
        return None
    rest = lines[starts[0] + 1 :]
    rank = number.count(".")
    ends = [i for i, line in enumerate(rest) if other.match(line) and line.split()[0].count(".") <= rank]
    return "\n".join(rest[: ends[0]] if ends else rest)


@pytest.mark.parametrize("citation", CITATIONS, ids=lambda citation: f"{citation.paper} {citation.place}")
def test_the_paper_has_it_there(citation: Citation) -> None:
    text = text_at(citation.paper, plain(citation.place))
    assert text is not None, f"{citation.paper} has no {citation.place}"
    assert citation.words.lower() in text.lower()


def test_every_place_in_the_fidelity_lists_exists() -> None:
    missing = []
    for paper in all_fidelity():
        name = next(name for name, file in FILES.items() if file == paper.benchmark.name)
        whole = "\n".join(lines_of(name))
        for element in paper.elements:
            for place in re.findall(FIDELITY_PLACE, element.section):
                if text_at(name, plain(place)) is None:
                    missing.append(f"{name}: {element.section}")
            for kind, number in re.findall(r"\b(Table|Fig(?:ure|\.)) (\d+)", element.section):
                if not re.search(rf"\b{'Table' if kind == 'Table' else 'Fig(ure|[.])'} ?{number}\b", whole):
                    missing.append(f"{name}: {kind} {number}")
    assert missing == []
