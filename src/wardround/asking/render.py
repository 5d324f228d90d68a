"""Rendering: a question under a condition becomes an Ask."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from wardround.asking.applicable import StudyRules, inapplicable_reason
from wardround.asking.ask_frame import OPTIONS_PLACE, QUESTION_PLACE, AskFrame, fits, make_frame
from wardround.asking.carry import carried_texts, format_carried
from wardround.asking.case_cache import CaseCache
from wardround.asking.degradation import (
    Degradations,
    check_degraded_images,
    degradations_for,
    parse_degradation,
)
from wardround.asking.options import format_options, option_order
from wardround.asking.probes import SCORING, Probes, asks_logprob
from wardround.asking.prompt_slots import IMAGES
from wardround.asking.prompts import Prompts, prompt_kind
from wardround.asking.tellings import list_modalities, shown_image_numbers, shown_texts
from wardround.cases.images.recipe import PIXEL_BUDGET, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.ask import Ask, Identity, ImagePart, Message, Sampling, ask_json, parts_json
from wardround.core.canonical import hash_text
from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Evidence, fence_texts
from wardround.core.random import seeded
from wardround.core.study import CandidateSettings, Study
from wardround.core.text import LETTERS
from wardround.degrade.recipe import add_degradations
from wardround.degrade.severities import CLINICAL, Profile, load_profile

# alternatives of the first token: as many as common servers return; a model in our own memory can give more
LOGPROBS, LOCAL_LOGPROBS = 20, 1500
COMPUTED_HERE = ("local", "transformers", "classifier")  # providers that give as many as are asked for
# our estimates, for candidates with a `context`: no tokenizer is used
CHARACTERS_PER_TOKEN = 3.5
TOKENS_PER_IMAGE = 1200
CACHED_IMAGES = 1024
CACHED_ENTRIES = 6144  # of the latest cases: contents, reasons and Asks
MIN_FRAMED = 3  # questions of a case, for which a frame is worth making
ANY_NUMBER = "any number of"  # of times that an agent may search, in words of its prompt
IMAGE_PLACE = "\0images\0"  # in the text of a prompt, until the images take their place


class RenderedAsk(NamedTuple):
    """An Ask, the order of its options, and the documents that fitted into it."""

    ask: Ask
    order: tuple[int, ...]
    evidence: Evidence = NO_EVIDENCE
    is_intermediate: bool = False


class CaseContent(NamedTuple):
    """What the questions of a case share under one condition: its image parts, and its texts by slot."""

    parts: list[ImagePart]
    slots: dict[str, str]


class Turn(NamedTuple):
    """One turn of an agent: its prompt, the messages since the case was shown, and the tools that are offered."""

    prompt: str | None = None
    is_intermediate: bool = False  # not the answer: it may be longer
    transcript: tuple[Message, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()


ONLY_TURN = Turn()


class Renderer:
    """Renders the Asks of one study. `fingerprint` gives the SHA-256 of an image file."""

    def __init__(self, study: Study, cases: CaseSet, prompts: Prompts, fingerprint: Callable[[str], str]) -> None:
        self._study, self._cases, self._prompts, self._fingerprint = study, cases, prompts, fingerprint
        self._probes = Probes(cases, study.seed)
        degradations = study.conditions.get("degradation", [])
        if study.severities != CLINICAL:  # a table that cannot be read is refused even if no condition uses it
            _ = self.profile
        for value in degradations:
            if "@" in value:  # an unknown type, or one that the profile lacks, is refused before anything is asked
                self.profile.at(*parse_degradation(value))
        self._samplings: dict[tuple[str, str], Sampling] = {}
        # most questions of a case share content and reasons, and trials share Asks: these are computed once
        self._cache = CaseCache(CACHED_ENTRIES if cases.is_in_memory else CACHED_ENTRIES // 4)
        self._framed_case: Case | None = None  # the latest one, and its frames
        self._frames: dict[tuple[str, str, str, str], tuple[AskFrame, bool]] = {}
        # one image is shown many times
        self._parts: dict[tuple[Any, ...], tuple[dict[str, Any], ImagePart]] = {}
        self._swap = lru_cache(CACHED_IMAGES)(self._find_swap)
        self._rules = StudyRules(study.literature, self._probes, self.find_swap, "none" in degradations)

    @cached_property
    def profile(self) -> Profile:
        """The severities of degradations."""
        return load_profile(self._study.severities, self._prompts.folder)

    def render(
        self,
        case: Case,
        question: Question,
        condition: Condition,
        candidate: CandidateSettings,
        identity: Identity,
        trial: int,
        carried: Mapping[str, str] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        turn: Turn = ONLY_TURN,
    ) -> RenderedAsk:
        """The Ask of a question in a trial. Trials whose options have the same order share one."""
        order = self.order(case, question, condition, trial)
        if evidence is not NO_EVIDENCE or turn is not ONLY_TURN:
            return self._render(case, question, condition, candidate, identity, order, carried, evidence, turn)
        key = (question.id, condition.json, candidate.name, identity.json, order, tuple((carried or {}).items()))
        cache = self._cache.of(case)
        if key not in cache:
            cache[key] = self._render(case, question, condition, candidate, identity, order, carried, evidence, turn)
        rendered: RenderedAsk = cache[key]
        return rendered

    def _render(
        self,
        case: Case,
        question: Question,
        condition: Condition,
        candidate: CandidateSettings,
        identity: Identity,
        order: tuple[int, ...],
        carried: Mapping[str, str] | None,
        evidence: Evidence,
        turn: Turn,
    ) -> RenderedAsk:
        sampling = self._sampling(candidate, condition)
        if condition.probe != "none":
            messages = self._probe_messages(case, question, condition, sampling)
            return RenderedAsk(Ask(identity, sampling, messages), order)
        content = self._content(case, question, condition, candidate.sees)
        options = format_options(question.options, order) if question.options else ""
        kind, slots = self._prompt_of(content, question, condition, (question.prompt, options), turn)
        parts = content.parts
        if turn.is_intermediate and self._study.literature is not None:
            sampling = replace(sampling, max_tokens=self._study.literature.agent.step_tokens)
        if carried:
            slots["given"] = format_carried(case, carried)
        shown, cut = evidence, list[str]()
        earlier = tuple(Message(said.role, (said.content,)) for said in question.conversation)
        while True:
            text, transcript = self._texts(condition.prompt, kind, slots, shown, turn)
            fitting = _count_fitting_images(text, sampling, candidate.context, (*earlier, *transcript))
            if fitting >= len(parts) or not shown.documents:
                break
            cut.append(f"document {shown.documents[-1].pmid}")
            shown = replace(shown, documents=shown.documents[:-1])  # documents go before images do
        cut += [f"image {number + 1}" for number in range(max(fitting, 0), len(parts))]
        message = Message("user", _place_images(text, parts[: max(fitting, 0)]))
        ask = Ask(identity, sampling, (*earlier, message, *transcript), turn.tools, tuple(cut))
        return RenderedAsk(ask, order, shown, turn.is_intermediate)

    def plain_key(
        self,
        case: Case,
        question: Question,
        condition: Condition,
        candidate: CandidateSettings,
        identity: Identity,
        order: tuple[int, ...],
    ) -> tuple[bytes, bool]:
        """The key of the Ask that `render` makes of a question for which `is_plain` holds; whether it shows images."""
        texts = question.prompt, format_options(question.options, order) if question.options else ""
        has_own_content = question.images is not None or condition.degradation != "none"
        can_be_framed = not has_own_content and len(case.questions) >= MIN_FRAMED and fits(texts[0]) and fits(texts[1])
        place = (question.kind, condition.json, candidate.name, identity.json)
        if can_be_framed:
            if self._framed_case is not case:
                self._framed_case, self._frames = case, {}
            if (known := self._frames.get(place)) is not None:
                return known[0].key(*texts), known[1]
        content = self._content(case, question, condition, candidate.sees)
        check_degraded_images(case, question, condition, content.parts)
        with_images = bool(content.parts)
        if can_be_framed:
            places = (QUESTION_PLACE, OPTIONS_PLACE)
            frame = make_frame(self._plain_json(content, question, condition, candidate, identity, places))
            if frame is not None:
                self._frames[place] = frame, with_images
                return frame.key(*texts), with_images
        return hash_text(self._plain_json(content, question, condition, candidate, identity, texts)), with_images

    def _plain_json(
        self,
        content: CaseContent,
        question: Question,
        condition: Condition,
        candidate: CandidateSettings,
        identity: Identity,
        texts: tuple[str, str],
    ) -> str:
        """The canonical JSON of the Ask of a plain question with these texts for question and options."""
        kind, slots = self._prompt_of(content, question, condition, texts, ONLY_TURN)
        parts = _place_images(self._prompts.fill(condition.prompt, kind, slots), content.parts)
        message = f'{{"content":[{parts_json(parts)}],"role":"user"}}'
        return ask_json(identity, self._sampling(candidate, condition), message)

    def _prompt_of(
        self, content: CaseContent, question: Question, condition: Condition, texts: tuple[str, str], turn: Turn
    ) -> tuple[str, dict[str, str]]:
        """The kind of a question's prompt and its slots, without carried answers; `texts` are question and options."""
        parts, shared = content
        slots = {**shared, "given": "", "question": texts[0], "options": texts[1]}
        kind = prompt_kind(question.kind, condition, shows_images=bool(shared["images"]))
        kind = self._prompts.resolve(condition.prompt, kind)
        if parts and IMAGES in kind and turn.prompt is None:
            slots["images"] = IMAGE_PLACE
        return kind, slots

    def _content(self, case: Case, question: Question, condition: Condition, sees: bool) -> CaseContent:
        degradations = degradations_for(question, condition)
        key = (condition.json, sees, degradations, question.images if question.images is None else (*question.images,))
        cache = self._cache.of(case)
        if key not in cache:
            images = self.images(case, question, condition) if sees else []
            blank = condition.images == "blank"
            parts = [self._part(image, blank, degradations) for _, image in images] if condition.sends_images else []
            modalities = list_modalities([image for _, image in images])
            listed = f"Images, in order: {modalities}" if modalities else ""
            cache[key] = CaseContent(parts, {"images": listed, **shown_texts(case, condition)})
        content: CaseContent = cache[key]
        return content

    def inapplicable_reason(self, case: Case, question: Question, condition: Condition) -> str | None:
        """`inapplicable_reason` for this study; what the plain questions of a case share is decided once."""
        is_plain = question.images is None and not question.degradations and len(question.options or ()) <= len(LETTERS)
        if is_plain and condition.is_ordinary:
            for image in case.images:
                if image.degradations:
                    break
            else:
                return None
        if not is_plain or condition.probe != "none" or condition.carry != "own":
            return inapplicable_reason(case, question, condition, self._rules)
        key = (condition.json, question.kind)
        cache = self._cache.of(case)
        if key not in cache:
            cache[key] = inapplicable_reason(case, question, condition, self._rules)
        reason: str | None = cache[key]
        return reason

    def order(self, case: Case, question: Question, condition: Condition, trial: int) -> tuple[int, ...]:
        """The order in which the options are shown."""
        return option_order(case, question, condition, trial, self._study.seed)

    def carried_texts(
        self, case: Case, question: Question, condition: Condition, own: Mapping[str, str | None]
    ) -> dict[str, str]:
        """The texts carried from earlier questions, by id; `own` are the candidate's answers to them."""
        return carried_texts(case, question, condition, self._study.seed, own)

    def images(self, case: Case, question: Question, condition: Condition) -> list[tuple[Case, Image]]:
        """The images that the condition shows with a question, each with its case."""
        if not (condition.shows("images") and condition.stem == "full"):
            return []
        numbers = shown_image_numbers(case, question, condition)
        if condition.images != "swapped":
            return [(case, case.images[number]) for number in numbers]
        swaps = [self.find_swap(case, number) for number in numbers]
        return [swap for swap in swaps if swap is not None]

    def find_swap(self, case: Case, number: int) -> tuple[Case, Image] | None:
        """Another case's image of the same modality and stored degradation; None if there is none."""
        return self._swap(case.images[number], case.id, case.cluster_id, number)

    def _find_swap(self, own: Image, case_id: str, cluster_id: str, number: int) -> tuple[Case, Image] | None:
        others = self._cases.images_of_modality(own.modality)
        start = seeded("swapped", self._study.seed, case_id, number).randrange(max(1, len(others)))
        for step in range(len(others)):
            index, image_number = others[(start + step) % len(others)]
            other = self._cases.case(int(index))
            image = other.images[int(image_number)]
            if other.cluster_id != cluster_id and image.path != own.path and image.degradations == own.degradations:
                return other, image
        return None

    def _part(self, image: Image, blank: bool, degradations: Degradations) -> ImagePart:
        """The part of an image; the latest ones are kept. Equal fields are compared, in a fifth of a model's time."""
        key = (image.path, image.frame, blank, degradations)
        known = self._parts.get(key)
        if known is None or known[0] != image.__dict__:
            if len(self._parts) >= CACHED_IMAGES:
                del self._parts[next(iter(self._parts))]
            known = self._parts[key] = (image.__dict__, self._make_part(image, blank, degradations))
        return known[1]

    def _make_part(self, image: Image, blank: bool, degradations: Degradations) -> ImagePart:
        file = self._cases.image_file(image)
        recipe = recipe_for(image, blank=blank, pixels=None if self._study.image_size == "native" else PIXEL_BUDGET)
        if degradations and not image.degradations:
            recipe = add_degradations(recipe, image, degradations, self.profile)
        return ImagePart(file, self._fingerprint(file), recipe, image.frame, image.degradations)

    def _sampling(self, candidate: CandidateSettings, condition: Condition) -> Sampling:
        sampling = self._samplings.get((candidate.name, condition.json))
        if sampling is None:
            sampling = self._study.sampling_for(candidate, condition)
            if condition.confidence == "logprobs":
                is_local = candidate.provider.startswith(COMPUTED_HERE)
                alternatives = LOCAL_LOGPROBS if is_local else LOGPROBS
                sampling = first_letter_sampling(sampling, alternatives)
            if asks_logprob(condition.probe):
                sampling = SCORING
            self._samplings[candidate.name, condition.json] = sampling
        return sampling

    def _probe_messages(
        self, case: Case, question: Question, condition: Condition, sampling: Sampling
    ) -> tuple[Message, ...]:
        """A probe has text alone; a text to be scored is the candidate's own message."""
        prompt, slots, text = self._probes.prompt(case, question, condition)
        message = Message("user", (self._prompts.fill(condition.prompt, prompt, slots),))
        return (message, Message("assistant", (text,))) if sampling is SCORING else (message,)

    def _texts(
        self, prompt: str, kind: str, slots: dict[str, str], evidence: Evidence, turn: Turn
    ) -> tuple[str, tuple[Message, ...]]:
        """The text of the first message, and the messages after it."""
        if evidence.documents:
            texts = [
                f"[{number}] PMID {document.pmid}. {document.title}\n{document.text}"
                for number, document in enumerate(evidence.documents, 1)
            ]
            slots = {**slots, "evidence": fence_texts(texts)}
        if turn.prompt is None:
            return self._prompts.fill(prompt, kind, slots), turn.transcript
        if self._study.literature is not None:
            searches = self._study.literature.agent.searches
            slots = {**slots, "searches": ANY_NUMBER if searches == "unlimited" else str(searches)}
        text = self._prompts.fill(prompt, turn.prompt, slots)
        if turn.is_intermediate:
            return text, turn.transcript
        return text, _append_user_text(turn.transcript, self._prompts.fill(prompt, kind, slots))


def is_plain(question: Question, condition: Condition, candidate: CandidateSettings) -> bool:
    """Whether a question is one message that depends on nothing but case, condition and the order of its options."""
    return (
        question.chain is None
        and not question.given
        and not question.conversation
        and condition.evidence == "none"
        and condition.confidence != "logprobs"
        and condition.probe == "none"
        and candidate.context is None
    )


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Our own estimate of the number of tokens."""
    parts = [part for message in messages for part in message.parts]
    characters = sum(len(part) for part in parts if isinstance(part, str))
    images = sum(isinstance(part, ImagePart) for part in parts)
    return round(characters / CHARACTERS_PER_TOKEN) + TOKENS_PER_IMAGE * images


def first_letter_sampling(sampling: Sampling, alternatives: int) -> Sampling:
    """The sampling, all of it explicit, under which log-probabilities are the distribution of votes."""
    return replace(sampling, temperature=1.0, top_p=1.0, top_k=-1, max_tokens=1, stop=None, logprobs=alternatives)


def _place_images(text: str, parts: Sequence[ImagePart]) -> tuple[str | ImagePart, ...]:
    """The images where the prompt has them, otherwise before the text."""
    before, place, after = text.partition(IMAGE_PLACE)
    if not place:
        return (*parts, text)
    message: list[str | ImagePart] = [before.rstrip(), *parts, after.lstrip("\n")]
    return tuple(part for part in message if part != "")


def _append_user_text(transcript: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """Adds a text of ours, to the last message if that is ours too: many chat formats demand alternating roles."""
    if transcript and transcript[-1].role == "user":
        return (*transcript[:-1], Message("user", (f"{transcript[-1].parts[0]}\n\n{text}",)))
    return (*transcript, Message("user", (text,)))


def _count_fitting_images(text: str, sampling: Sampling, context: int | None, transcript: Sequence[Message]) -> int:
    """How many images fit into the candidate's context with the text; negative if the text itself does not."""
    if context is None:
        return 1_000_000
    tokens_left = context - len(text) / CHARACTERS_PER_TOKEN - estimated_tokens(transcript) - (sampling.max_tokens or 0)
    return int(tokens_left // TOKENS_PER_IMAGE)
