"""A question under a condition becomes an Ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from wardround.asking.applicable import shown_images, told, why_not
from wardround.asking.carry import carried, established
from wardround.asking.degradation import Degradations, parsed, to_be_done
from wardround.asking.evidence import why_no_evidence
from wardround.asking.options import LETTERS, option_order, seeded, written
from wardround.asking.probes import FORETELLING, Probes, foretells
from wardround.asking.prompts import Prompts, kind_of
from wardround.cases.images.recipe import recipe_for
from wardround.cases.set import CaseSet
from wardround.core.ask import Ask, Identity, ImagePart, Message, Sampling
from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Evidence, fenced
from wardround.core.study import CandidateSettings, Study
from wardround.degrade.recipe import with_degradations
from wardround.degrade.severities import profile_named

# alternatives of the first token: as many as common servers return; a model in this memory can give more
LOGPROBS, LOCAL_LOGPROBS = 20, 1500
# our estimates, for candidates whose `context` is given: no tokenizer is asked
CHARACTERS_A_TOKEN = 3.5
TOKENS_AN_IMAGE = 1200
RECENT = 1024  # images of which what was found out is kept


class Rendered(NamedTuple):
    """An Ask, the order in which it shows the options, and the documents that fitted into it."""

    ask: Ask
    order: tuple[int, ...]
    evidence: Evidence = NO_EVIDENCE
    on_the_way: bool = False  # to the answer


class Put(NamedTuple):
    """What the questions of a case share under one condition: its images, made sendable and listed, and its texts."""

    parts: list[ImagePart]
    slots: dict[str, str]


class Turn(NamedTuple):
    """One turn of several: the prompt that tells how to go on, what was said before, the tools that are offered."""

    prompt: str | None = None
    on_the_way: bool = False  # to the answer: it may say more than an answer may
    after: tuple[Message, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()


ONLY_TURN = Turn()


class Renderer:
    """Renders the Asks of one study. `fingerprint` gives the SHA-256 of an image file."""

    def __init__(self, study: Study, cases: CaseSet, prompts: Prompts, fingerprint: Callable[[str], str]) -> None:
        self._study, self._cases, self._prompts, self._fingerprint = study, cases, prompts, fingerprint
        self._probes = Probes(cases, study.seed)
        self.profile = profile_named(study.severities, prompts.folder)
        degradations = study.conditions.get("degradation", [])
        for value in degradations:  # an unknown type is refused before anything is asked
            if "@" in value:
                parsed(value)
        self._asks_undegraded = "none" in degradations
        self._samplings: dict[tuple[str, str], Sampling] = {}
        # most questions of a case are put alike: what they share is found out once
        self._case: Case | None = None
        self._shared: dict[Any, Any] = {}
        # one image is asked about many times: everything about it is found out once
        self._part = lru_cache(RECENT)(self._new_part)
        self._another = lru_cache(RECENT)(self._find_another)

    def render(
        self,
        case: Case,
        question: Question,
        condition: Condition,
        candidate: CandidateSettings,
        identity: Identity,
        trial: int,
        given: Mapping[str, str] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        turn: Turn = ONLY_TURN,
    ) -> Rendered:
        order = self.order(case, question, condition, trial)
        sampling = self._sampling(candidate, condition)
        if condition.probe != "none":
            return Rendered(Ask(identity, sampling, self._probe(case, question, condition, sampling)), order)
        parts, shared = self._put(case, question, condition, candidate.sees)
        if turn.on_the_way and self._study.literature is not None:
            sampling = replace(sampling, max_tokens=self._study.literature.agent.step_tokens)
        slots = {
            **shared,
            "given": established(case, given) if given else "",
            "question": question.prompt,
            "options": written(question.options, order) if question.options else "",
        }
        kind, shown, cut = kind_of(question.kind, condition), evidence, list[str]()
        while True:
            text, after = self._said(condition.prompt, kind, slots, shown, turn)
            fitting = _fitting(text, sampling, candidate.context, after)
            if fitting >= len(parts) or not shown.documents:
                break
            cut.append(f"document {shown.documents[-1].pmid}")
            shown = shown.cut_to(len(shown.documents) - 1)  # documents go before images do
        cut += [f"image {number + 1}" for number in range(max(fitting, 0), len(parts))]
        message = Message("user", (*parts[: max(fitting, 0)], text))
        ask = Ask(identity, sampling, (message, *after), turn.tools, tuple(cut))
        return Rendered(ask, order, shown, turn.on_the_way)

    def _of_case(self, case: Case) -> dict[Any, Any]:
        """What was found out about this case so far."""
        if case is not self._case:
            self._case, self._shared = case, {}
        return self._shared

    def _put(self, case: Case, question: Question, condition: Condition, sees: bool) -> Put:
        degradations = to_be_done(question, condition)
        key = (condition.json, sees, degradations, question.images if question.images is None else (*question.images,))
        shared = self._of_case(case)
        if key not in shared:
            images = self.images(case, question, condition) if sees else []
            blank = condition.images == "blank"
            parts = [self._part(image, blank, degradations) for _, image in images] if condition.looks else []
            history, _ = told(case, condition)
            slots = {
                "images": _listed([image for _, image in images]),
                "history": (history or "") if condition.shows("history") else "",
                "findings": (case.findings or "") if condition.shows("findings") else "",
            }
            shared[key] = Put(parts, slots)
        put: Put = shared[key]
        return put

    def why_not(self, case: Case, question: Question, condition: Condition) -> str | None:
        """Why this question cannot be asked under this condition, or None if it can."""
        plain = question.images is None and not question.degradations and len(question.options or ()) <= len(LETTERS)
        plain = plain and condition.probe == "none"
        if not plain or condition.carry != "own":
            return self._why_not(case, question, condition)
        key = (condition.json, question.kind)
        shared = self._of_case(case)
        if key not in shared:
            shared[key] = self._why_not(case, question, condition)
        reason: str | None = shared[key]
        return reason

    def _why_not(self, case: Case, question: Question, condition: Condition) -> str | None:
        reason = why_not(case, question, condition)
        if reason is not None:
            return reason
        if condition.probe != "none" and (reason := self._probes.why_not(case, question, condition)):
            return reason
        if condition.images == "swapped":
            numbers = shown_images(case, question, condition)
            if any(self.swapped(case, number) is None for number in numbers):
                return "no other case has an image of that modality"
        if condition.degradation == "assigned" and not question.degradations and self._asks_undegraded:
            return "no degradation is assigned to it"  # as it is, it is asked under degradation = none
        return why_no_evidence(case, condition, self._study.literature)

    def order(self, case: Case, question: Question, condition: Condition, trial: int) -> tuple[int, ...]:
        """The order in which the options are shown."""
        return option_order(case, question, condition, trial, self._study.seed)

    def carried(
        self, case: Case, question: Question, condition: Condition, own: Mapping[str, str | None]
    ) -> dict[str, str]:
        """What a question is told of those before it, by their ids; `own` is what the candidate answered to them."""
        return carried(case, question, condition, self._study.seed, own)

    def images(self, case: Case, question: Question, condition: Condition) -> list[tuple[Case, Image]]:
        """The images that the condition shows with a question, each with the case that it belongs to."""
        if not (condition.shows("images") and condition.stem == "full"):
            return []
        numbers = shown_images(case, question, condition)
        if condition.images != "swapped":
            return [(case, case.images[number]) for number in numbers]
        swapped = [self.swapped(case, number) for number in numbers]
        return [image for image in swapped if image is not None]

    def swapped(self, case: Case, number: int) -> tuple[Case, Image] | None:
        """Another case's image of the same modality; None if there is none."""
        return self._another(case.images[number], case.id, case.resampled_as, number)

    def _find_another(self, own: Image, case_id: str, resampled_as: str, number: int) -> tuple[Case, Image] | None:
        others = self._cases.images_of_modality(own.modality)
        start = seeded("swapped", self._study.seed, case_id, number).randrange(max(1, len(others)))
        for step in range(len(others)):
            index, image_number = others[(start + step) % len(others)]
            other = self._cases.case(int(index))
            image = other.images[int(image_number)]
            if other.resampled_as != resampled_as and image.path != own.path:
                return other, image
        return None

    def _new_part(self, image: Image, blank: bool, degradations: Degradations) -> ImagePart:
        file = self._cases.image_file(image)
        recipe = recipe_for(image, blank=blank)
        if degradations:
            recipe = with_degradations(recipe, image, degradations, self.profile)
        return ImagePart(file, self._fingerprint(file), recipe, image.frame)

    def _sampling(self, candidate: CandidateSettings, condition: Condition) -> Sampling:
        known = self._samplings.get((candidate.name, condition.json))
        if known is None:
            known = self._study.sampling_for(candidate, condition)
            if condition.confidence == "logprobs":
                known = first_letter(known, LOCAL_LOGPROBS if candidate.provider.startswith("local") else LOGPROBS)
            if foretells(condition.probe):
                known = FORETELLING
            self._samplings[candidate.name, condition.json] = known
        return known

    def _probe(self, case: Case, question: Question, condition: Condition, sampling: Sampling) -> tuple[Message, ...]:
        """What a probe says: words alone, and the text that is to be foretold as the candidate's own."""
        prompt, slots, text = self._probes.put(case, question, condition)
        asked = Message("user", (self._prompts.fill(condition.prompt, prompt, slots),))
        return (asked, Message("assistant", (text,))) if sampling is FORETELLING else (asked,)

    def _said(
        self, prompt: str, kind: str, slots: dict[str, str], evidence: Evidence, turn: Turn
    ) -> tuple[str, tuple[Message, ...]]:
        """The text of the first message, and the messages after it."""
        if evidence.documents:
            listed = (
                f"[{n}] PMID {each.pmid}. {each.title}\n{each.text}" for n, each in enumerate(evidence.documents, 1)
            )
            slots = {**slots, "evidence": fenced([*listed])}
        if turn.prompt is None:
            return self._prompts.fill(prompt, kind, slots), turn.after
        if self._study.literature is not None:
            slots = {**slots, "searches": str(self._study.literature.agent.searches)}
        text = self._prompts.fill(prompt, turn.prompt, slots)
        return text, turn.after if turn.on_the_way else _then(turn.after, self._prompts.fill(prompt, kind, slots))


def estimated_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens messages are, by our own estimate."""
    parts = [part for message in messages for part in message.parts]
    characters = sum(len(part) for part in parts if isinstance(part, str))
    images = sum(isinstance(part, ImagePart) for part in parts)
    return round(characters / CHARACTERS_A_TOKEN) + TOKENS_AN_IMAGE * images


def first_letter(sampling: Sampling, alternatives: int) -> Sampling:
    """The sampling under which log-probabilities are the distribution of votes, all of it explicit."""
    return replace(sampling, temperature=1.0, top_p=1.0, top_k=-1, max_tokens=1, stop=None, logprobs=alternatives)


def _then(after: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """What was said, and then a text of ours; in one message where the last was ours, as many chat formats demand."""
    if after and after[-1].role == "user":
        return (*after[:-1], Message("user", (f"{after[-1].parts[0]}\n\n{text}",)))
    return (*after, Message("user", (text,)))


def _listed(images: list[Image]) -> str:
    if not images:
        return ""
    named = "; ".join(f"{number}. {image.modality or 'image'}" for number, image in enumerate(images, 1))
    return f"Images, in order: {named}"


def _fitting(text: str, sampling: Sampling, context: int | None, after: Sequence[Message]) -> int:
    """How many images fit the candidate's context beside the text; negative where not even the text does."""
    if context is None:
        return 1_000_000
    room = context - len(text) / CHARACTERS_A_TOKEN - estimated_tokens(after) - (sampling.max_tokens or 0)
    return int(room // TOKENS_AN_IMAGE)
