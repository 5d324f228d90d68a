"""The degraded images of a case set, simulated or real, rendered as they would be sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wardround.asking.degradation import parsed
from wardround.cases.encoded import Encoded
from wardround.cases.images import recipe_for
from wardround.cases.set import CaseSet
from wardround.degrade.recipe import render_degraded, with_degradations
from wardround.degrade.severities import Profile
from wardround.degrade.types import modality_named

REAL = "real"


class DegradedImage(NamedTuple):
    """One degraded image: where it comes from, what was done to it, and the image."""

    cluster: str
    modality: str
    degradation: str  # TYPE@severity
    image: Encoded

    @property
    def is_real(self) -> bool:
        return self.degradation.startswith(f"{REAL}@")


def degraded_images(cases: CaseSet, profile: Profile) -> Iterator[DegradedImage]:
    """Images that are stored degraded, and those that degraded questions assign; each once."""
    for case in cases:
        seen = set[tuple[int, str]]()
        for number, image in enumerate(case.images):
            modality = modality_named(image.modality) or image.modality or "unnamed"
            path, recipe = cases.image_path(image), recipe_for(image)
            for degradation in image.degradations[:1]:
                yield DegradedImage(
                    case.resampled_as, modality, degradation, render_degraded(path, image.frame, recipe)
                )
            if image.degradations:
                continue
            for question in case.questions:
                shown = question.images is None or number in question.images
                for degradation in question.degradations if shown else []:
                    if (number, degradation) in seen:
                        continue
                    seen.add((number, degradation))
                    done = with_degradations(recipe, image, [parsed(degradation)], profile)
                    if len(done) > len(recipe):
                        yield DegradedImage(
                            case.resampled_as, modality, degradation, render_degraded(path, image.frame, done)
                        )
