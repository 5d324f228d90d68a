"""Leaks of the answer into what is shown: its names, ids of diseases and articles, genes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from wardround.building.audit.finding import Finding
from wardround.building.audit.mentions import Text, as_text, mentioned
from wardround.building.audit.shown import asked_once, names_of_answer, shown_fields, shown_prompts
from wardround.core.case import Case, Question
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms

DISEASE_ID = re.compile(
    r"\b(?:(?:O?MIM|ORPHA(?:NET)?|MONDO|DOID|SNOMED(?:[ -]?CT)?)\s*[:#_-]?\s*\d{2,}"
    r"|ICD-?(?:9|10|11)(?:-?CM)?\s*(?:code)?\s*[:#_-]?\s*[A-Z]?\d[0-9A-Z]{1,3}(?:\.\w{1,4})?)\b",
    re.IGNORECASE,
)
SYMBOL = r"[A-Z][A-Z0-9]{1,9}"
IN_CONTEXT = re.compile(
    rf"\b({SYMBOL})\b(?=[\s-]+(?:gene|genes|mutations?|haploinsufficiency)\b)"
    rf"|\b(?:mutations?|variants?|deletions?)\s+(?:in|of)\s+(?:the\s+)?({SYMBOL})\b"
)
HGVS = re.compile(
    r"\b(?:N[MPCG]_\d+(?:\.\d+)?|[cgp]\.(?:\(?[A-Z][a-z]{2}\d+|[*-]?\d+[_+-]?\d*(?:[ACGT]>|del|dup|ins)))"
)
IS_SYMBOL = re.compile(r"(?=\w*\d)(?=\w*[A-Z]\w*[A-Z])[A-Z][A-Z0-9]{2,9}")
LONG_NUMBER = re.compile(r"\b\d{5,}\b")  # an id is known by it without its prefix


def leaks(cases: Iterable[Case], synonyms: Synonyms = NO_SYNONYMS) -> Iterator[Finding]:
    """What the cases give away in their texts."""
    for case in cases:
        fields = [(field, as_text(text)) for field, text in shown_fields(case)]
        for question in asked_once(case):
            own = [(field, as_text(text)) for field, text in shown_prompts(case, question)]
            yield from _names(case, question, [*fields, *own], synonyms)
        asked = [(f"questions.{question.id}.prompt", as_text(question.prompt)) for question in asked_once(case)]
        yield from _ids_and_genes(case, [*fields, *asked], synonyms)


def _names(case: Case, question: Question, fields: list[tuple[str, Text]], synonyms: Synonyms) -> Iterator[Finding]:
    names = names_of_answer(case, question, synonyms)
    for field, text in fields:
        found = next(((name, kind) for name in names if (kind := mentioned(name, text))), None)
        if found is None or _names_every_option(question, text):
            continue
        name, kind = found
        told = (
            f"{field} names {name!r}" if kind == "leak_name" else f"{field} has nearly all words of {name!r} together"
        )
        yield Finding("error", kind, told, case.id, question.id)


def _names_every_option(question: Question, text: Text) -> bool:
    """A text that names all options ("benign or malignant?") does not tell which one is right."""
    return question.options is not None and all(mentioned(option, text) for option in question.options)


def _ids_and_genes(case: Case, fields: list[tuple[str, Text]], synonyms: Synonyms) -> Iterator[Finding]:
    names = [name for question in asked_once(case) for name in names_of_answer(case, question, synonyms)]
    extra = list(_unknown_fields(case))
    ids = {number for _, value in extra if DISEASE_ID.search(value) for number in re.findall(r"\d+", value)}
    ids |= set(case.origin.pmids if case.origin else ())
    genes = {symbol for name in names for symbol in IS_SYMBOL.findall(name)}
    genes |= {symbol for key, value in extra if "gene" in key.lower() for symbol in re.findall(rf"\b{SYMBOL}\b", value)}
    for field, text in fields:
        numbers = LONG_NUMBER.findall(text.raw)
        told = [*DISEASE_ID.findall(text.raw), *(number for number in numbers if number in ids)]
        if told:
            yield Finding("error", "leak_id", f"{field} has the id {told[0].strip()!r}", case.id)
        words = set(re.findall(rf"\b{SYMBOL}\b", text.raw))
        if known := sorted(words & genes):
            yield Finding("error", "leak_gene", f"{field} names the gene {known[0]}", case.id)
        elif named := _in_genetic_context(text.raw):
            yield Finding("warning", "gene_named", f"{field} has {named!r}", case.id)


def _in_genetic_context(text: str) -> str | None:
    symbol = IN_CONTEXT.search(text)
    if symbol:
        return symbol[0]
    variant = HGVS.search(text)
    return variant[0] if variant else None


def _unknown_fields(case: Case) -> Iterator[tuple[str, str]]:
    """The texts in fields that wardround does not know, each with its key: where a build keeps ids and genes."""
    records = [case, case.origin, case.patient, *case.questions]
    for record in records:
        yield from _texts("", record.model_extra if record is not None else None)


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(f"{key}.{name}", each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(key, each)
