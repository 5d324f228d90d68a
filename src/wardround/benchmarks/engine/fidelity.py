"""Fidelity: for every element that a paper describes, where it is done, and whole or how it differs (fidelity.toml)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from textwrap import fill
from typing import Any, Literal

from pydantic import Field, model_validator

from wardround.benchmarks.engine.benchmark import Benchmark, benchmarks
from wardround.benchmarks.engine.named_study import NamedStudy, studies_of
from wardround.benchmarks.engine.published import published_source
from wardround.core.errors import BadInput
from wardround.core.toml_table import StrictTable, parse_table, read_toml

FILE = "fidelity.toml"
STATUSES = {"whole": "as the paper describes it", "differs": "done in another way", "absent": "not done"}


class FidelityElement(StrictTable):
    """One thing that a paper describes. Without `studies` it bears on all of them."""

    section: str = Field(min_length=1)
    element: str = Field(min_length=1)
    status: Literal["whole", "differs", "absent"]
    studies: list[str] = Field(default_factory=list)
    where: list[str] = Field(default_factory=list)  # files of the repository, or commands
    test: str | None = None  # tests/FILE.py::NAME
    difference: str | None = None

    @model_validator(mode="after")
    def _check_status(self) -> FidelityElement:
        if self.status == "whole" and (self.test is None or not self.where):
            raise ValueError("status = 'whole' needs `where` and a `test`")
        if self.status != "whole" and not self.difference:
            raise ValueError(f"status = {self.status!r} needs a `difference`: how it differs, and why")
        if self.status == "differs" and not self.where:
            raise ValueError("status = 'differs' needs `where`")
        return self


class FidelityList(StrictTable):
    """fidelity.toml of a benchmark."""

    elements: list[FidelityElement]


@dataclass(frozen=True)
class PaperFidelity:
    """The elements of one paper."""

    benchmark: Benchmark
    source: str
    elements: list[FidelityElement]

    @property
    def counts(self) -> Counter[str]:
        return Counter(element.status for element in self.elements)

    def elements_of(self, study: str) -> list[FidelityElement]:
        """The elements that name this study; those without studies bear on all and are not among them."""
        return [element for element in self.elements if study in element.studies]

    @property
    def general_elements(self) -> list[FidelityElement]:
        """The elements that bear on all studies."""
        return [element for element in self.elements if not element.studies]

    def to_dicts(self) -> list[dict[str, Any]]:
        return [{"benchmark": self.benchmark.name, **element.model_dump()} for element in self.elements]


@cache
def read_fidelity(benchmark: Benchmark) -> PaperFidelity | None:
    """The fidelity of a benchmark to its paper; None if it has no fidelity.toml."""
    file = benchmark.folder / FILE
    if not file.is_file():
        return None
    elements = parse_table(FidelityList, read_toml(file, "fidelity"), file).elements
    known = {study.key for study in studies_of(benchmark).values()}
    for number, element in enumerate(elements):
        if unknown := [name for name in element.studies if name not in known]:
            raise BadInput(file, f"there is no study {unknown[0]!r}", field=f"elements[{number}].studies")
    return PaperFidelity(benchmark, published_source(benchmark) or benchmark.name, elements)


def all_fidelity() -> list[PaperFidelity]:
    """That of every benchmark that has one."""
    return [paper for benchmark in benchmarks().values() if (paper := read_fidelity(benchmark)) is not None]


def fidelity_text(studies: Mapping[str, NamedStudy], width: int = 120) -> str:
    """By paper: its counts, what bears on all studies, and each study with its own elements."""
    blocks: list[str] = []
    for benchmark in dict.fromkeys(study.benchmark for study in studies.values()):
        paper = read_fidelity(benchmark)
        if paper is None:
            blocks.append(f"{benchmark.name}: has no {FILE}")
            continue
        blocks.append(f"{paper.source}: {_count_text(paper)}")
        blocks.append("\n".join(["all studies", *(_line(element, width) for element in paper.general_elements)]))
        for study in studies.values():
            if study.benchmark == benchmark:
                own = paper.elements_of(study.key)
                lines = [_line(element, width) for element in own] or ["  no element of its own"]
                blocks.append("\n".join([study.label, *lines]))
    return "\n\n".join(blocks)


def fidelity_records(studies: Iterable[NamedStudy]) -> list[dict[str, Any]]:
    """The elements of these studies' papers."""
    papers = [read_fidelity(benchmark) for benchmark in dict.fromkeys(study.benchmark for study in studies)]
    return [record for paper in papers if paper is not None for record in paper.to_dicts()]


def fidelity_markdown() -> str:
    """docs/fidelity.md: one line for every element of every paper."""
    papers = all_fidelity()
    lines = [
        "# Fidelity to the papers",
        "",
        "One line for every element that the papers describe: where it is done, and whether it is done as the paper "
        "describes it (*whole*, with the test that shows it), in another way (*differs*) or not at all (*absent*), and "
        "why. `wardround bench list --fidelity` prints the same for each named study. This page is made from "
        "`src/wardround/benchmarks/*/fidelity.toml` by `wardround bench list --fidelity --markdown`.",
        "",
        "| paper | elements | whole | differs | absent |",
        "|---|---|---|---|---|",
    ]
    for paper in papers:
        lines.append(f"| {_cell(paper.source)} | {len(paper.elements)} | {_numbers(paper)} |")
    for paper in papers:
        lines += [
            "",
            f"## {paper.source}",
            "",
            "| in the paper | element | status | where | test, or difference | studies |",
        ]
        lines.append("|---|---|---|---|---|---|")
        lines += [_row(element) for element in paper.elements]
    return "\n".join(lines) + "\n"


def _row(element: FidelityElement) -> str:
    where = ", ".join(f"`{place}`" for place in element.where)
    test = f"`{element.test}`" if element.test else ""
    shown = "; ".join(part for part in (element.difference and _cell(element.difference), test) if part)
    studies = ", ".join(element.studies) or "all"
    return f"| {_cell(element.section)} | {_cell(element.element)} | {element.status} | {where} | {shown} | {studies} |"


def _line(element: FidelityElement, width: int) -> str:
    difference = f" {element.difference}" if element.difference else ""
    start = f"  {element.status:<7}  "
    text = f"{element.section}: {element.element}{difference}"
    return fill(text, width, initial_indent=start, subsequent_indent=" " * len(start))


def _count_text(paper: PaperFidelity) -> str:
    counts = [f"{paper.counts[status]} {status}" for status in STATUSES]
    return f"{len(paper.elements)} elements: {', '.join(counts)}"


def _numbers(paper: PaperFidelity) -> str:
    return " | ".join(str(paper.counts[status]) for status in STATUSES)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
