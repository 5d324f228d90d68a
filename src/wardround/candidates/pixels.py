"""`pixels`: a small image classifier without medical knowledge or language.

A multinomial logistic regression from image features (pixel_features.py) to the text of the right option, fitted on
the cases with split "train". It answers from the images that are sent, so image controls act on it. An option that
was never right in training counts as the least likely one that was; without an image all options are equally likely.
It takes the likeliest option; with a temperature above 0 it samples from its probabilities at that temperature. To
an open question it lists the likeliest texts it knows.
"""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from wardround.candidates.baselines import best_places, fitted_revision, uniform_shares
from wardround.candidates.candidate import Reply, Request
from wardround.candidates.pixel_features import FEATURES_VERSION, Values, features
from wardround.candidates.sampled import OptionDistribution, SampledCandidate
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images import recipe_for, render
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError

L2_PENALTY = 1.0
MAX_DIAGNOSES = 5


@dataclass(frozen=True)
class Classifier:
    """Multinomial logistic regression on standardised features."""

    names: list[str]
    mean: Values
    scale: Values
    weights: Values  # features x classes
    intercept: Values

    def log_probabilities(self, rows: Values) -> Values:
        """Images x classes."""
        scores = (rows - self.mean) / self.scale @ self.weights + self.intercept
        values: Values = log_softmax(scores, axis=1)
        return values


class Pixels(SampledCandidate):
    """The candidate: fitted on the training split, examined on the others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._classifier: Classifier | None = None

    async def prepare(self, cases: CaseSet) -> None:
        if self._classifier is None:
            self._classifier, data_hash = await asyncio.to_thread(fit_training_split, cases)
            revision = fitted_revision(self.settings.revision, data_hash)
            self.identity = replace(self.settings.identity, revision=revision)

    async def answer(self, request: Request) -> Reply:
        return await asyncio.to_thread(self.reply, request)  # decoding images would block the event loop

    def choose(self, request: Request) -> OptionDistribution:
        count = len(request.order)
        if not request.images:
            return OptionDistribution([1 / count] * count, [1 / count] * count)
        logprobs = self._text_logprobs(request.images)
        lowest = min(logprobs.values())
        scores = np.array([logprobs.get(text, lowest) for text in request.options])
        shares = uniform_shares(best_places(scores.tolist()), count)
        if temperature := request.ask.sampling.temperature:
            shares = softmax(scores / temperature).tolist()
        return OptionDistribution(shares, softmax(scores).tolist())

    def list_diagnoses(self, request: Request) -> list[tuple[str, float]]:
        if not request.images:
            return []
        logprobs = self._text_logprobs(request.images)
        likeliest = sorted(logprobs, key=lambda name: (-logprobs[name], name))[:MAX_DIAGNOSES]
        return [(name, math.exp(logprobs[name])) for name in likeliest]

    def _text_logprobs(self, images: Sequence[EncodedImage]) -> dict[str, float]:
        """The log-probability of every text it knows: the mean over the images, normalised."""
        assert self._classifier is not None, "prepare comes before the first Ask"
        rows = np.stack([features(image) for image in images])
        mean = self._classifier.log_probabilities(rows).mean(axis=0)
        return dict(zip(self._classifier.names, log_softmax(mean).tolist(), strict=True))


def fit_training_split(cases: CaseSet) -> tuple[Classifier, str]:
    """The classifier of a case set's training split, and a hash of the data it was fitted on."""
    rows: list[Values] = []
    golds: list[list[str]] = []
    hashed: list[object] = [FEATURES_VERSION, L2_PENALTY]
    for image, texts in training_images(cases):
        rows.append(features(image))
        golds.append(texts)
        hashed.append([image.sha256, texts])
    if not rows:
        raise WardroundError(
            f"{cases.file}: pixels needs choice questions with images in split 'train'; there are none"
        )
    names = sorted({text for texts in golds for text in texts})
    counts = np.array([[texts.count(name) for name in names] for texts in golds], dtype=np.float64)
    return fit(np.stack(rows), counts, names), blake(hashed).hex()[:16]


def training_images(cases: CaseSet) -> Iterator[tuple[EncodedImage, list[str]]]:
    """Every image of the training split as it would be sent, with the right options of its case."""
    for case in cases:
        texts = [q.choices[q.gold] for q in case.questions if isinstance(q.gold, int)] if case.split == "train" else []
        for image in case.images if texts else []:
            if image.degradations:
                continue  # it is fitted on clean images
            try:
                yield render(cases.image_path(image), image.frame, recipe_for(image)), texts
            except BadInput:
                continue  # unreadable; `cases validate` names it


def fit(rows: Values, counts: Values, names: list[str]) -> Classifier:
    """The weights with the least log-loss plus half the penalty times their squares; intercepts are free.

    `counts` says, for each image, how often each class was right.
    """
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    standard = (rows - mean) / scale
    shape = (rows.shape[1] + 1, len(names))
    row_totals = counts.sum(axis=1, keepdims=True)

    def loss(flat: Values) -> tuple[float, Values]:
        weights = flat.reshape(shape)
        scores = standard @ weights[:-1] + weights[-1]
        logs = log_softmax(scores, axis=1)
        residual = np.exp(logs) * row_totals - counts
        gradient = np.vstack([standard.T @ residual + L2_PENALTY * weights[:-1], residual.sum(axis=0)])
        value = -(counts * logs).sum() + L2_PENALTY / 2 * (weights[:-1] ** 2).sum()
        return float(value), gradient.ravel()

    solution = minimize(loss, np.zeros(math.prod(shape)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weights = solution.x.reshape(shape)
    return Classifier(names, mean, scale, weights[:-1], weights[-1])
