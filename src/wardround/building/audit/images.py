"""What is wrong with single images, and what their files give away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from wardround.building.audit.file_text import who_it_is
from wardround.building.audit.finding import Finding
from wardround.building.audit.look import Images, Look
from wardround.building.audit.mentions import as_text, mentioned
from wardround.building.audit.shown import asked_once, names_of_answer
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms


def image_findings(cases: CaseSet, images: Images, synonyms: Synonyms = NO_SYNONYMS) -> Iterator[Finding]:
    """What is wrong with single images, and what their files give away."""
    told = set[tuple[str, str]]()  # what is said of a file is said once
    for case in cases:
        repeated: defaultdict[str, list[str]] = defaultdict(list)
        looks = images.of(case)
        for image, look in zip(case.images, looks, strict=True):
            if look.print is not None and not look.blank:
                repeated[look.print.exact].append(image.path)
            for finding in _of_look(case, image.path, look):
                if (finding.kind, finding.what) not in told:
                    told.add((finding.kind, finding.what))
                    yield finding
        for paths in repeated.values():
            if len(paths) > 1:
                yield Finding("warning", "repeated_image", f"{' and '.join(paths)} are the same pixels", case.id)
        if case.images:
            yield from _answers(case, looks, synonyms)


def _of_look(case: Case, path: str, look: Look) -> Iterator[Finding]:
    if look.print is None:
        yield Finding("error", "unreadable_image", f"{path} {look.message}", case.id)
    if look.blank:
        yield Finding("warning", "blank_image", f"{path} is blank or almost", case.id)
    for where, text in look.texts:
        if severity := who_it_is(where, text):
            # the value itself stays in its file: an audit is passed on more freely than the images are
            yield Finding(severity, "patient_identity", f"{path}: {where} is filled in", case.id)


def _answers(case: Case, looks: list[Look], synonyms: Synonyms) -> Iterator[Finding]:
    for question in asked_once(case):
        names = names_of_answer(case, question, synonyms)
        shown = range(len(case.images)) if question.images is None else question.images
        for place in shown:
            path, look = case.images[place].path, looks[place]
            for kind, where, text in [
                ("leak_file_name", "its name", path),
                *(("leak_file_text", where, text) for where, text in look.texts),
            ]:
                read = as_text(text)
                if name := next((name for name in names if mentioned(name, read)), None):
                    yield Finding("error", kind, f"{path}: {where} holds {name!r}", case.id, question.id)
