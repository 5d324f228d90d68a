"""Whether a question can be asked under a condition: all rules, and the one function that composes them.

What a candidate cannot do, the candidate says itself (candidates/candidate.py).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import factorial

from wardround.asking.carry import wrong_text
from wardround.asking.degradation import REAL, degradation_labels, degradations_for
from wardround.asking.evidence import case_query, cited_pmids
from wardround.asking.probes import HALF_WORDS, MASKED, PROBE_AXES, Probes, halves
from wardround.asking.tellings import question_images, resolve_telling, shown_image_numbers
from wardround.asking.without import is_left_out
from wardround.core.case import Case, Image, Question
from wardround.core.condition import DEFAULTS, Condition
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.core.study_tables.literature import Literature
from wardround.core.text import LETTERS
from wardround.degrade.types import fits

AS_LABELLED = ("assigned", "stored")  # a question has the degradation that it or its image file names
DEGRADED_UNSEEN = "it is degraded, and the candidate does not see images"


@dataclass(frozen=True)
class StudyRules:
    """What of a study and its case set decides whether a question can be asked."""

    literature: Literature | None
    probes: Probes
    find_swap: Callable[[Case, int], object | None]  # another case's image to show instead of this one
    asks_undegraded: bool  # whether degradation = none is asked too


def conditions_for(candidate: CandidateSettings, conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions for a candidate: one that cannot see gets only one of those that differ in images alone.

    That is the first, but one that degrades images only if there is no other.
    """
    if candidate.sees:
        return list(conditions)
    distinct: dict[Condition, Condition] = {}
    for condition in sorted(conditions, key=lambda condition: condition.degradation not in ("none", *AS_LABELLED)):
        text = "+".join(part for part in ("history", "findings") if condition.shows(part))
        unseen = {} if condition.degradation in AS_LABELLED else {"degradation": "none"}
        distinct.setdefault(
            replace(condition, inputs=text or "images", images="as-is", without="none", **unseen), condition
        )
    return [condition for condition in conditions if condition in distinct.values()]


def unseen_reason(case: Case, question: Question, condition: Condition) -> str | None:
    """Why a question is not asked of a candidate that cannot see, or None: degraded, it differs in images alone."""
    return DEGRADED_UNSEEN if degradation_labels(case, question, condition) else None


def inapplicable_reason(
    case: Case, question: Question, condition: Condition, study: StudyRules | None = None
) -> str | None:
    """Why a question cannot be asked under a condition, or None if it can.

    Without `study` only the rules apply that need nothing but the case.
    """
    return next(_reasons(case, question, condition, study), None)


def _reasons(case: Case, question: Question, condition: Condition, study: StudyRules | None) -> Iterator[str]:
    if condition.telling != "own" and case.telling_named(condition.telling) is None:
        yield f"the case has no telling {condition.telling!r}"
    history, numbers = resolve_telling(case, condition)
    images = [case.images[number] for number in question_images(question, numbers)]
    yield from _inputs_reasons(case, condition, history, images)
    yield from _degradation_reasons(case, question, condition)
    yield from _without_reasons(condition, images)
    yield from _carry_reasons(case, question, condition)
    yield from _options_reasons(question, condition)
    if study is not None:
        yield from _probe_reasons(case, question, condition, study.probes)
        if condition.images == "swapped":
            shown = shown_image_numbers(case, question, condition)
            if any(study.find_swap(case, number) is None for number in shown):
                yield "no other case has an image of that modality"
        if (
            condition.degradation == "assigned"
            and study.asks_undegraded
            and not degradation_labels(case, question, condition)
        ):
            yield "no degradation is assigned to it"  # as it is, it is asked under degradation = none
        yield from _evidence_reasons(case, condition, study.literature)


def _inputs_reasons(case: Case, condition: Condition, history: str | None, images: Sequence[Image]) -> Iterator[str]:
    if condition.inputs != "all":
        inputs = {"history": history, "images": images, "findings": case.findings}
        yield from (f"the case has no {name}" for name in condition.inputs.split("+") if not inputs[name])
    if condition.images != "as-is" and not (condition.shows("images") and condition.stem == "full" and images):
        yield "no images are shown that could be changed"


def _degradation_reasons(case: Case, question: Question, condition: Condition) -> Iterator[str]:
    images = [case.images[number] for number in shown_image_numbers(case, question, condition)]
    is_stored = any(image.degradations for image in images)
    as_labelled = condition.degradation in AS_LABELLED
    if is_stored and not as_labelled:
        yield "its image is degraded already, which only degradation = stored or assigned asks"
    labels = degradation_labels(case, question, condition)
    if not labels:
        return
    if not as_labelled and question.degradations:
        yield "it is a degraded question itself, which only degradation = assigned asks"
    if not (condition.sends_images and images):
        yield "no images are shown that could be degraded"
    if condition.images == "blank":
        yield "a blank image cannot be degraded"
    if is_stored or all(name.startswith(REAL) for name in labels):
        return
    if condition.degradation == "stored":
        yield "its images are stored clean: degradation = assigned draws its degradation"
    yield from _unfit_reasons(question, condition, images)


def _unfit_reasons(question: Question, condition: Condition, images: Sequence[Image]) -> Iterator[str]:
    try:
        degradations = degradations_for(question, condition)
    except WardroundError as error:
        yield str(error)
        return
    for type, _ in degradations:
        if not any(fits(type, image.modality) for image in images):
            modalities = " and ".join(sorted({image.modality or "an unnamed modality" for image in images}))
            yield f"{type} does not fit {modalities}"


def _without_reasons(condition: Condition, images: Sequence[Image]) -> Iterator[str]:
    if condition.without == "none":
        return
    if not condition.sends_images or not any(is_left_out(image, condition) for image in images):
        yield f"no {condition.without} image is shown that could be left out"
    if all(is_left_out(image, condition) for image in images):
        yield f"only {condition.without} is shown: without it nothing would be left to compare"


def _carry_reasons(case: Case, question: Question, condition: Condition) -> Iterator[str]:
    if condition.carry == "own":
        return
    if question.chain is None and not question.given:
        yield "it stands alone: nothing is carried to it"
    if condition.stem == "options-only":
        yield "options alone show nothing that is carried"
    if condition.carry == "wrong":
        earlier = (other for other in case.questions if other.id in question.given)
        if any(wrong_text(case, other, 0) is None for other in earlier):
            yield "an earlier question has no wrong option that could be carried"


def _options_reasons(question: Question, condition: Condition) -> Iterator[str]:
    if len(question.options or ()) > len(LETTERS):
        yield f"there are more options than letters: {len(question.choices)}"
    if question.kind == "rubric":
        if condition.stem == "options-only" or condition.options != "as-given":
            yield "a rubric question has no options"
        if condition.confidence in ("verbal", "logprobs"):
            yield "a rubric answer is not right or wrong, so that no confidence fits it"
    if question.kind == "open":
        if condition.stem == "options-only":
            yield "an open question has no options to show alone"
        if condition.options != "as-given":
            yield "an open question has no options to reorder"
        if condition.confidence == "logprobs":
            yield "an open answer has no option log-probabilities"
    if condition.confidence == "logprobs" and condition.reasoning == "on":
        yield "log-probabilities of a first letter need reasoning off"
    if condition.confidence == "logprobs" and condition.options == "rotated":
        yield "log-probabilities come from one request, which cannot rotate options by trial"


def _probe_reasons(case: Case, question: Question, condition: Condition, probes: Probes) -> Iterator[str]:
    probe = condition.probe
    if probe == "none":
        return
    for axis, value in condition.values.items():
        if axis not in PROBE_AXES and value != DEFAULTS[axis]:
            yield f"a probe is put without {axis} = {value}"
    if question.chain is not None:
        yield "a probe is put to single questions, not to chains"
    if probe.startswith("options@"):
        if question.options is None:
            yield "an open question has no options to order"
        elif int(probe.removeprefix("options@")) >= factorial(min(len(question.options), 5)):
            yield "so few options have no further order"
    if (probe.endswith("-paraphrase") or probe.startswith(MASKED)) and not (question.rationale and question.paraphrase):
        yield "the question has no paraphrase of its rationale"
    if probe.startswith("rationale") and not question.rationale:
        yield "the question has no published rationale"
    if probe.startswith("second-half") and halves(case, question, condition) is None:
        yield f"the stem has fewer than {2 * HALF_WORDS} words"
    if ("-other" in probe or probe.startswith(MASKED)) and probes.find_counterpart(case, question, condition) is None:
        yield "no other case has such a text"


def _evidence_reasons(case: Case, condition: Condition, literature: Literature | None) -> Iterator[str]:
    evidence = condition.evidence
    if evidence == "none":
        return
    if condition.stem != "full":
        yield "evidence is shown with the full stem only"
    if evidence.startswith("reference") and not cited_pmids(case):
        yield "the case cites no literature"
    if evidence == "agent" and condition.confidence == "logprobs":
        yield "an agent's answer has no option log-probabilities"
    searches_by_case = literature is not None and literature.search_named(evidence).query == "case"
    if evidence.startswith("rag") and searches_by_case and not case_query(case, condition):
        yield "there is no history or finding to search with"
