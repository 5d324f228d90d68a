"""Report-writing questions: a rubric made of the findings of a reference report.

Each sentence of the report is one finding; it is absent if the report denies most of its words, else present. The
points are our choice. A person should read the criteria before they count.
"""

from itertools import groupby
from typing import Any

from wardround.core.case import Case
from wardround.marking.evidence.document import read_document, split_sentences

PROMPT = "Write the findings section of the report on this examination."
PRESENT, ABSENT, CONTRADICTED = 2, 1, -2  # points
MIN_WORDS = 2  # of a sentence that is a finding


def report_case(case: Case) -> Case | None:
    """The case with one rubric question made of its findings, which are not shown any more; its others are left out.

    None if the case has no findings.
    """
    if not case.findings or not (criteria := finding_criteria(case.findings)):
        return None
    fields = case.as_written()
    del fields["findings"]
    question = {"id": "report", "kind": "rubric", "prompt": PROMPT, "gold": case.findings, "criteria": criteria}
    for image in fields.get("images", []):
        image.pop("findings", None)
    return Case.model_validate(fields | {"questions": [question]})


def finding_criteria(report: str) -> list[dict[str, Any]]:
    """Two criteria for each finding: one for stating it, one with negative points for contradicting it."""
    criteria: list[dict[str, Any]] = []
    for number, (finding, is_absent) in enumerate(split_findings(report), 1):
        quoted = f'"{finding}"'
        if is_absent:
            stated = (f"States, in these or other words, that this is absent as the reference says: {quoted}", ABSENT)
            against = f"Claims that something is present which the reference report denies: {quoted}"
        else:
            stated = (f"States this finding in these or other words: {quoted}", PRESENT)
            against = f"Contradicts this finding of the reference report: {quoted}"
        axis = "absent" if is_absent else "present"
        criteria.append({"id": f"{number}-stated", "text": stated[0], "points": stated[1], "axis": axis})
        criteria.append(
            {"id": f"{number}-contradicted", "text": against, "points": CONTRADICTED, "axis": "contradicted"}
        )
    return criteria


def split_findings(report: str) -> list[tuple[str, bool]]:
    """The findings of a report in its order, and whether the report denies each."""
    sentences = [" ".join(sentence.split()) for sentence in split_sentences(report)]
    words = {
        number: list(part) for number, part in groupby(read_document(report).words, key=lambda word: word.sentence)
    }
    return [
        (sentence, 2 * sum(word.is_denied for word in own) >= len(own))
        for number, sentence in enumerate(sentences)
        if len(own := words.get(number, [])) >= MIN_WORDS
    ]
