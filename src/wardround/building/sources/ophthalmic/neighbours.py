"""What the other questions of an eye offer: their wrong options come back, so that the right one is not what recurs.

Whoever sees several questions of one eye could otherwise find the diagnosis that all of them offer, or the one whose
lesions are offered. So a question prefers as distractors what its neighbours offer wrongly, or what goes with that: the
lesions, regions and management of the diseases that DD offers. A preference, not a rule: how often each text is right
comes first (our choice).
"""

from collections.abc import Container, Iterable

from wardround.building.sources.ophthalmic.items import EyeItem
from wardround.building.sources.ophthalmic.schema import EyeDisease, EyeSchema

ORDER = ("integration", "DD", "IQA", "AL", "LC", "SG", "CD", "correspondence", "selection")  # of making options
DIAGNOSES = ("integration", "DD")


def offered_beside(item: EyeItem, items: Iterable[EyeItem], schema: EyeSchema, pool: Container[str]) -> set[str]:
    """Texts that would be wrong here and go with the wrong options of earlier items about the same images.

    Of what goes with a disease, one text: if possible one that is right somewhere in the set (`pool`).
    """
    name = item_name(item)
    wrong: dict[str, set[str]] = {}
    for other in items:
        if "options" in other and other["disease"] == item["disease"] and set(other["images"]) & set(item["images"]):
            texts = {text for place, text in enumerate(other["options"]) if place != other["gold"]}
            wrong.setdefault(item_name(other), set()).update(texts)
    diseases = {disease for other in DIAGNOSES for disease in wrong.get(other, ())}
    if name == "DD":
        return diseases
    if name == "correspondence":
        return wrong.get("LC", set())
    fitting = sorted(item["fitting"], key=lambda text: text not in pool)
    own_texts = [_texts(name, schema.diseases[disease]) for disease in sorted(diseases)]
    return {text for own in own_texts if (text := next((text for text in fitting if text in own), None)) is not None}


def _texts(name: str, disease: EyeDisease) -> set[str]:
    """The options of a stage that go with a disease."""
    if name == "AL":
        return set(disease.anatomy)
    if name == "LC":
        return set(disease.lesions)
    return {text for texts in disease.management.values() for text in texts} if name == "CD" else set()


def item_name(item: EyeItem) -> str:
    """The stage or task of an item."""
    name: str = item.get("stage") or item["task"]
    return name
