"""The degraded images of a case set, simulated or real, rendered as candidates receive them."""

from collections.abc import Iterator
from typing import NamedTuple

from wardround.asking.degradation import parse_degradation
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images import recipe_for
from wardround.cases.set import CaseSet
from wardround.degrade.modalities import parse_modality
from wardround.degrade.recipe import add_degradations, render_degraded
from wardround.degrade.severities import Profile

REAL = "real"


class DegradedImage(NamedTuple):
    """One degraded image with its cluster, modality and degradation."""

    cluster: str
    modality: str
    degradation: str  # TYPE@severity
    image: EncodedImage

    @property
    def is_real(self) -> bool:
        return self.degradation.startswith(f"{REAL}@")


def degraded_images(cases: CaseSet, profile: Profile) -> Iterator[DegradedImage]:
    """The images stored degraded and those that degraded questions assign, each once."""
    for case in cases:
        yielded = set[tuple[int, str]]()
        for number, image in enumerate(case.images):
            modality = parse_modality(image.modality) or image.modality or "unnamed"
            path, recipe = cases.image_path(image), recipe_for(image)
            for degradation in image.degradations[:1]:
                yield DegradedImage(case.cluster_id, modality, degradation, render_degraded(path, image.frame, recipe))
            if image.degradations:
                continue
            for question in case.questions:
                is_shown = question.images is None or number in question.images
                for degradation in question.degradations if is_shown else []:
                    if (number, degradation) in yielded:
                        continue
                    yielded.add((number, degradation))
                    degraded_recipe = add_degradations(recipe, image, [parse_degradation(degradation)], profile)
                    if len(degraded_recipe) > len(recipe):
                        yield DegradedImage(
                            case.cluster_id, modality, degradation, render_degraded(path, image.frame, degraded_recipe)
                        )
