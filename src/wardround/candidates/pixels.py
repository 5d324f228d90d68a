"""`pixels`: a small honest candidate that really looks, and knows no medicine and no language.

A multinomial logistic regression from image features (features.py) to the text of the right option, fitted on
the cases with split "train". In the examination it takes the images that were really sent, so the controls act
on it. An option that was never right in training counts as the least likely one that was; without an image
all options are equally likely. It takes the likeliest option, unless a temperature above 0 is given: then it
draws from its probabilities at that temperature. To an open question it lists the likeliest texts it knows.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from wardround.candidates.baselines import best, evenly, fitted_on, shown_options
from wardround.candidates.candidate import Reply, Request
from wardround.candidates.pixel_features import FEATURES, Values, features
from wardround.candidates.sampled import Choice, Drawn
from wardround.cases.encoded import Encoded
from wardround.cases.images import recipe_for, render
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake
from wardround.core.case import Case
from wardround.core.errors import BadInput, WardroundError

PENALTY = 1.0
LISTED = 5


@dataclass(frozen=True)
class Classifier:
    """Multinomial logistic regression on standardised features."""

    names: list[str]
    mean: Values
    scale: Values
    weights: Values  # features x classes
    intercept: Values

    def log_probabilities(self, seen: Values) -> Values:
        """Images x classes."""
        scores = (seen - self.mean) / self.scale @ self.weights + self.intercept
        found: Values = log_softmax(scores, axis=1)
        return found


class Pixels(Drawn):
    """Fitted on the training split, examined on the others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._classifier: Classifier | None = None

    async def prepare(self, cases: CaseSet) -> None:
        if self._classifier is None:
            self._classifier, data = await asyncio.to_thread(fitted, cases)
            revision = fitted_on(self.settings.revision, data)
            self.identity = replace(self.settings.identity, revision=revision)

    async def answer(self, request: Request) -> Reply:
        return await asyncio.to_thread(self.reply, request)  # decoding images would hold up the event loop

    def choose(self, request: Request) -> Choice:
        count = len(request.order)
        if not request.images:
            return Choice(evenly(range(count), count), evenly(range(count), count))
        known = self._looked(request.images)
        least = min(known.values())
        scores = np.array([known.get(text, least) for text in shown_options(request)])
        temperature = request.ask.sampling.temperature
        shares = softmax(scores / temperature).tolist() if temperature else evenly(best(scores.tolist()), count)
        return Choice(shares, softmax(scores).tolist())

    def listed(self, request: Request) -> list[tuple[str, float]]:
        if not request.images:
            return []
        known = self._looked(request.images)
        likeliest = sorted(known, key=lambda name: (-known[name], name))[:LISTED]
        return [(name, math.exp(known[name])) for name in likeliest]

    def _looked(self, images: Sequence[Encoded]) -> dict[str, float]:
        """The log-probability of every text it knows: the mean over the images, normalised."""
        assert self._classifier is not None, "prepare comes before the first Ask"
        seen = np.stack([features(image) for image in images])
        found = self._classifier.log_probabilities(seen).mean(axis=0)
        return dict(zip(self._classifier.names, log_softmax(found).tolist(), strict=True))


def fitted(cases: CaseSet) -> tuple[Classifier, str]:
    """The classifier of a case set's training split, and a hash of all that it was fitted on."""
    seen: list[Values] = []
    golds: list[list[str]] = []
    hashed: list[object] = [FEATURES, PENALTY]
    for image, texts in training(cases):
        seen.append(features(image))
        golds.append(texts)
        hashed.append([image.sha256, texts])
    if not seen:
        raise WardroundError(
            f"{cases.file}: pixels learns from choice questions with images in split 'train'; there are none"
        )
    names = sorted({text for texts in golds for text in texts})
    place = {name: index for index, name in enumerate(names)}
    counts = np.zeros((len(seen), len(names)))
    for row, texts in enumerate(golds):
        for text in texts:
            counts[row, place[text]] += 1
    return fit(np.stack(seen), counts, names), blake(hashed).hex()[:16]


def training(cases: CaseSet) -> Iterator[tuple[Encoded, list[str]]]:
    """Every image of the training split as it would be sent, with the right options of its case."""
    for case in cases:
        texts = right_texts(case) if case.split == "train" else []
        for image in case.images if texts else []:
            if image.degradations:
                continue  # it learns from clean images
            try:
                yield render(cases.image_path(image), image.frame, recipe_for(image)), texts
            except BadInput:
                continue  # nobody can be shown this image; `cases validate` names it


def right_texts(case: Case) -> list[str]:
    """The text of the right option of each choice question."""
    return [q.choices[q.gold] for q in case.questions if isinstance(q.gold, int)]


def fit(seen: Values, counts: Values, names: list[str]) -> Classifier:
    """The weights with the least log-loss plus half the penalty times their squares; intercepts are free.

    `counts` says, for each image, how often each class was right.
    """
    mean, scale = seen.mean(axis=0), seen.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    standard = (seen - mean) / scale
    shape = (seen.shape[1] + 1, len(names))
    weight_of = counts.sum(axis=1, keepdims=True)

    def loss(flat: Values) -> tuple[float, Values]:
        weights = flat.reshape(shape)
        scores = standard @ weights[:-1] + weights[-1]
        logs = log_softmax(scores, axis=1)
        wrong = np.exp(logs) * weight_of - counts
        slope = np.vstack([standard.T @ wrong + PENALTY * weights[:-1], wrong.sum(axis=0)])
        value = -(counts * logs).sum() + PENALTY / 2 * (weights[:-1] ** 2).sum()
        return float(value), slope.ravel()

    found = minimize(loss, np.zeros(math.prod(shape)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weights = found.x.reshape(shape)
    return Classifier(names, mean, scale, weights[:-1], weights[-1])
