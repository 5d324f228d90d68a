"""Leaks of the answer into what is shown: its names, the ids of diseases and articles, genes."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from wardround.building.audit.finding import Finding
from wardround.building.audit.mentions import WordedText, find_core, find_mention, split_words
from wardround.building.audit.shown_fields import (
    answer_names,
    answer_text,
    clean_questions,
    shown_fields,
    shown_prompts,
    wrong_options,
)
from wardround.building.text.diagnosis_core import (
    ORGANS,
    diagnosis_cores,
    further_nouns,
    has_adjective_ending,
    head_noun,
    with_initials,
)
from wardround.building.text.short_names import short_names
from wardround.core.case import Case, Question
from wardround.core.names import NO_SYNONYMS, Synonyms, content_words

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
LONG_NUMBER = re.compile(r"\b\d{5,}\b")  # an id without its prefix


def find_leaks(cases: Iterable[Case], synonyms: Synonyms = NO_SYNONYMS) -> Iterator[Finding]:
    """Leaks in the texts of the cases."""
    for case in cases:
        fields = [(field, split_words(text)) for field, text in shown_fields(case)]
        for question in clean_questions(case):
            own = [(field, split_words(text)) for field, text in shown_prompts(case, question)]
            revealed = list(_names(case, question, [*fields, *own], synonyms))
            yield from revealed or _initials(case, question, fields) or _words_of_the_answer(case, question, fields)
        prompts = [
            (f"questions.{question.id}.prompt", split_words(question.prompt)) for question in clean_questions(case)
        ]
        yield from _ids_and_genes(case, [*fields, *prompts], synonyms)


def _names(
    case: Case, question: Question, fields: list[tuple[str, WordedText]], synonyms: Synonyms
) -> Iterator[Finding]:
    names = answer_names(case, question, synonyms)
    for field, text in fields:
        mention = next(((name, kind) for name in names if (kind := find_mention(name, text))), None)
        if mention is None or _names_every_option(question, text):
            continue
        name, kind = mention
        core = find_core(name, text) if kind == "leak_core" else None
        if core and _is_shared(core, wrong_options(question)):
            continue
        what = {
            "leak_name": f"names {name!r}",
            "leak_words": f"has nearly all words of {name!r} together",
            "leak_core": f"names {core!r}, the core of {name!r}",
        }
        yield Finding("error", kind, f"{field} {what[kind]}", case.id, question.id)


def _is_shared(core: str, others: Iterable[str]) -> bool:
    """Whether a wrong option is a form of the same disease: then its core does not tell which is right."""
    words = frozenset(content_words(core))
    return any(words == frozenset(content_words(name)) for other in others for name in [other, *diagnosis_cores(other)])


def _initials(case: Case, question: Question, fields: list[tuple[str, WordedText]]) -> list[Finding]:
    """The initials of the answer (`SLE`), which may mean something else; not if a wrong option has them too."""
    answer = answer_text(question)
    others = {short for other in wrong_options(question) for short in _short_names(other)}
    for short in _short_names(answer):
        if short in others:
            continue
        pattern = re.compile(rf"(?<![\w-]){re.escape(short)}(?![\w-])", 0 if short.isupper() else re.IGNORECASE)
        for field, text in fields:
            if pattern.search(text.raw):
                what = f"{field} has {short}, as {answer!r}"
                return [Finding("warning", "leak_initials", what, case.id, question.id)]
    return []


def _short_names(name: str) -> list[str]:
    """The initials of a name and of its core, and what else people write for them (`HCC`, `heart attack`)."""
    usual = [short for form in (name, *diagnosis_cores(name)) for short in short_names(form)]
    return list(dict.fromkeys([*with_initials([name])[1:], *usual]))


def _words_of_the_answer(case: Case, question: Question, fields: list[tuple[str, WordedText]]) -> Iterator[Finding]:
    """A kind of disease (`ataxia`) or a person (`Takayasu`) that the text names and that only the right option has."""
    answer, others = answer_text(question), wrong_options(question)
    if not others:
        return
    others_words = {word for other in others for word in content_words(other)}
    nouns = [noun for noun in (head_noun(answer), *further_nouns(answer)) if noun and noun not in others_words]
    persons = [word for word in re.findall(r"[A-Z][a-zà-ÿ]{3,}", answer) if not others_words & set(content_words(word))]
    for field, text in fields:
        if _names_every_option(question, text):
            continue
        if noun := next((noun for noun in nouns if _has_noun(noun, text)), None):
            yield Finding(
                "warning", "head_noun", f"{field} has {noun!r}, as only the answer does", case.id, question.id
            )
            return
        person = next((word for word in persons if _has_person(word, answer, text.raw)), None)
        if person is not None:
            yield Finding(
                "warning", "head_noun", f"{field} has {person!r}, as only the answer does", case.id, question.id
            )
            return


def _has_noun(noun: str, text: WordedText) -> bool:
    """Whether a text has a kind of disease, or the organism that it is named after: `Nocardia` of `nocardiosis`."""
    stem = re.sub(r"(?:iosis|iasis|osis)$", "", noun)
    of_organism = re.compile(rf"{stem}(?:a|i|us|um|ia|es|is)?$") if stem != noun and len(stem) >= 6 else None
    return noun in text.present or (of_organism is not None and any(map(of_organism.match, text.present)))


def _has_person(person: str, answer: str, text: str) -> bool:
    """Whether a text has a person's name: with a capital inside a sentence, or anywhere as its disease is spoken of.

    People write `crohns`, `Crohn's` and `Crohn` of the same disease.
    """
    is_owner = re.search(rf"\b{person}(?:['’]s?(?!\w)|\s+disease\b)", answer) and not ORGANS & set(
        content_words(person)
    )
    stem = person.removesuffix("s") if is_owner else person
    if _is_organism(person, answer) and re.search(rf"\b{person}\b", text):
        return True
    if not has_adjective_ending(person.lower()) and re.search(rf"\b{stem}\s+(?:disease|syndrome)\b", text):
        return True
    if re.search(rf"[a-z0-9,;)]\s+{stem}(?:['’]?s)?\b", text) or re.search(rf"\b{stem}['’]s\b", text):
        return True
    return bool(is_owner) and re.search(rf"\b{stem}(?:s\b|['’]s\b)", text, re.IGNORECASE) is not None


def _is_organism(word: str, answer: str) -> bool:
    """Whether a word is the genus of a species: `Pneumocystis` of `Pneumocystis jirovecii`."""
    return re.search(rf"\b{word} [a-z]{{3,}}(?:ii|ri|ae|ans|ensis|icum|eus|inum|lytica)\b", answer) is not None


def _names_every_option(question: Question, text: WordedText) -> bool:
    """A text that names all options ("benign or malignant?") does not reveal which one is right."""
    return question.options is not None and all(find_mention(option, text) for option in question.options)


def _ids_and_genes(case: Case, fields: list[tuple[str, WordedText]], synonyms: Synonyms) -> Iterator[Finding]:
    names = [name for question in clean_questions(case) for name in answer_names(case, question, synonyms)]
    extra = list(_unknown_fields(case))
    ids = {number for _, value in extra if DISEASE_ID.search(value) for number in re.findall(r"\d+", value)}
    ids |= set(case.origin.pmids if case.origin else ())
    genes = {symbol for name in names for symbol in IS_SYMBOL.findall(name)}
    genes |= {symbol for key, value in extra if "gene" in key.lower() for symbol in re.findall(rf"\b{SYMBOL}\b", value)}
    for field, text in fields:
        numbers = LONG_NUMBER.findall(text.raw)
        leaked = [*DISEASE_ID.findall(text.raw), *(number for number in numbers if number in ids)]
        if leaked:
            yield Finding("error", "leak_id", f"{field} has the id {leaked[0].strip()!r}", case.id)
        words = set(re.findall(rf"\b{SYMBOL}\b", text.raw))
        if leaked_genes := sorted(words & genes):
            yield Finding("error", "leak_gene", f"{field} names the gene {leaked_genes[0]}", case.id)
        elif gene := _in_genetic_context(text.raw):
            yield Finding("warning", "gene_named", f"{field} has {gene!r}", case.id)


def _in_genetic_context(text: str) -> str | None:
    symbol = IN_CONTEXT.search(text)
    if symbol:
        return symbol[0]
    variant = HGVS.search(text)
    return variant[0] if variant else None


def _unknown_fields(case: Case) -> Iterator[tuple[str, str]]:
    """The texts of fields that wardround does not know, with their keys: builds keep ids and genes there."""
    records = [case, case.origin, case.patient, *case.questions]
    for record in records:
        yield from _texts("", record.model_extra if record is not None else None)


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(f"{key}.{name}", member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(key, member)
