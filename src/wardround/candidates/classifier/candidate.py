"""`classifier`: the image classifier that a hospital already has, beside the large models on the same cases.

`model` is an ONNX file; a TOML file beside it (description.py) says how an image is prepared and which class is which
diagnosis. It answers choice questions whose options are all names of its classes, from the images that are sent, so
that image controls and degradations act on it; it reads no text. The probability of an option is that of its classes
among those of all options shown; of several images the mean counts. It takes the likeliest option; with a temperature
above 0 it samples from its probabilities at that temperature.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from wardround.asking.tellings import shown_image_numbers
from wardround.candidates.baselines import best_places, fitted_revision, uniform_shares
from wardround.candidates.candidate import Reply, Request, RequestRejected, settings_error
from wardround.candidates.classifier.description import ClassifierDescription
from wardround.candidates.classifier.network import Network, Probabilities, network_files
from wardround.candidates.local.weights import weights_revision
from wardround.candidates.sampled import OptionDistribution, SampledCandidate
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition
from wardround.core.errors import BadInput
from wardround.core.toml_table import parse_table, read_toml

LEAST = 1e-12  # probability of an option, so that each has a logarithm
MAX_CACHED = 100_000  # images whose class probabilities are kept
UNCOVERED = "the options are not all classes of the network"


class ImageClassifier(SampledCandidate):
    """A network and its description as a candidate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        settings = self.settings
        if not settings.model:
            raise settings_error(settings, "model is required (an .onnx file)")
        if not settings.sees:
            raise settings_error(settings, "a classifier answers from images alone: sees = false cannot hold")
        if unknown := settings.extra_body.keys() - {"description"}:
            raise settings_error(settings, f"extra_body.{min(unknown)} is not known; there is description")
        self._file = Path(settings.model)
        self._description_file = Path(settings.extra_body.get("description", self._file.with_suffix(".toml")))
        table = read_toml(self._description_file, "classifier's")
        self._description = parse_table(ClassifierDescription, table, self._description_file)
        self._modalities = {name.casefold() for name in self._description.modalities}
        hashes = weights_revision(*network_files(self._file), self._description_file)
        self.identity = replace(
            settings.identity,
            provider="classifier",
            model=self._file.name,
            revision=fitted_revision(settings.revision, hashes),
            extra_body={},
        )
        self._network: Network | None = None
        self._cache: dict[str, Probabilities] = {}

    async def prepare(self, cases: CaseSet) -> None:
        if self._network is None:
            self._network = await asyncio.to_thread(Network, self._file, self._description)
            await asyncio.to_thread(self._check_coverage, cases)

    def inapplicable_reason(self, condition: Condition, conditions: Sequence[Condition]) -> str | None:
        if not condition.sends_images:
            return "a classifier answers from images, and none are shown"
        if condition.evidence != "none":
            return "a classifier reads no literature"
        if condition.reasoning == "on":
            return "a classifier does not reason"
        return super().inapplicable_reason(condition, conditions)

    def question_reason(self, case: Case, question: Question, condition: Condition) -> str | None:
        if question.kind != "choice":
            return "a classifier answers no open questions"
        if self._description.classes_of_options(question.choices) is None:
            return UNCOVERED
        images = [case.images[number] for number in shown_image_numbers(case, question, condition)]
        if not images:
            return "a classifier answers from images, and the question has none"
        return None if any(map(self._is_for, images)) else "the network is not for images of this modality"

    async def answer(self, request: Request) -> Reply:
        return await asyncio.to_thread(self.reply, request)  # decoding and computing would block the event loop

    def choose(self, request: Request) -> OptionDistribution:
        classes = self._description.classes_of_options(request.options)
        images = self._own_images(request)
        if classes is None or not images:
            raise RequestRejected(UNCOVERED if images else "no image is for the network")
        probabilities = np.mean([self._class_probabilities(image) for image in images], axis=0)
        # classes of which one is right exclude each other; others do not, and the likeliest of them counts
        join = np.max if self._description.activation == "sigmoid" else np.sum
        joined = np.maximum([float(join(probabilities[list(numbers)])) for numbers in classes], LEAST)
        shares = uniform_shares(best_places(joined.tolist()), len(joined))
        if temperature := request.ask.sampling.temperature:
            tempered = np.exp(np.log(joined / joined.max()) / temperature)
            shares = (tempered / tempered.sum()).tolist()
        return OptionDistribution(shares, (joined / joined.sum()).tolist())

    def _own_images(self, request: Request) -> list[EncodedImage]:
        """Those of the images sent that the network is for."""
        if not self._modalities:
            return list(request.images)
        numbers = shown_image_numbers(request.case, request.question, request.condition)
        shown = zip(numbers, request.images, strict=False)  # images that did not fit are cut from the end
        return [image for number, image in shown if self._is_for(request.case.images[number])]

    def _is_for(self, image: Image) -> bool:
        return not self._modalities or (image.modality or "").casefold() in self._modalities

    def _class_probabilities(self, image: EncodedImage) -> Probabilities:
        assert self._network is not None, "prepare comes before the first Ask"
        if (probabilities := self._cache.get(image.sha256)) is None:
            try:
                probabilities = self._network.probabilities(image)
            except BadInput as error:
                raise RequestRejected(str(error)) from None
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            self._cache[image.sha256] = probabilities
        return probabilities

    def _check_coverage(self, cases: CaseSet) -> None:
        """Raises if no question can be answered, and warns of options that may lack a synonym."""
        missing: Counter[str] = Counter()
        covered = partly = 0
        for case in cases:
            for question in case.questions:
                uncovered = [option for option in question.options or () if not self._description.classes_of(option)]
                if question.options and len(uncovered) < len(question.options):
                    covered, partly = covered + (not uncovered), partly + bool(uncovered)
                missing.update(uncovered)
        if not covered:
            example = f", such as {missing.most_common(1)[0][0]!r}" if missing else ""
            raise BadInput(
                self._description_file,
                f"no question of {cases.file} has options that are all names of classes{example}; add synonyms",
            )
        if partly:
            example = missing.most_common(1)[0][0]
            questions = "1 question has" if partly == 1 else f"{partly:,} questions have"
            self.warnings.append(f"{questions} options that no class names, such as {example!r}; not asked")
