"""Wrong options that the patient's sex or age rules out: they are recognized without the case."""

from collections.abc import Iterable, Iterator

from wardround.building.audit.finding import Finding
from wardround.building.audit.shown_fields import clean_questions, wrong_options
from wardround.building.distractors.patient_fit import PatientFacts, why_impossible
from wardround.core.case import Case


def find_impossible_options(cases: Iterable[Case]) -> Iterator[Finding]:
    """One warning for each such option of a question."""
    for case in cases:
        patient = PatientFacts.of(case.patient.sex, case.patient.age) if case.patient else PatientFacts()
        for question in clean_questions(case):
            for option in wrong_options(question):
                if reason := why_impossible(option, patient):
                    what = f"the option {option!r} is ruled out: {reason}"
                    yield Finding("warning", "impossible_option", what, case.id, question.id)
