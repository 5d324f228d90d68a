"""Duplicates between cases: texts and images that are the same or nearly, inside and across splits and clusters.

Across splits a duplicate is an error: what a candidate was tuned on is examined. Otherwise it is a warning. Images of
one cluster may be the same: a cluster is what shares a patient, an image or an article. A case of fewer than 8 words is
known by its questions too or, if it has images, by these alone (our choice).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from wardround.building.audit.finding import Finding
from wardround.building.audit.look import Images
from wardround.building.audit.shown import shown_fields
from wardround.building.sources.medq_deg.duplicates import Print, plain, same_images
from wardround.building.text.near_text import Groups, find_near
from wardround.cases.set import CaseSet
from wardround.core.case import Case

FEWEST_WORDS = 8


class Place(NamedTuple):
    """Where a case stands, and its number in the set."""

    number: int
    id: str
    split: str | None
    cluster: str


def places(cases: Iterable[Case]) -> list[Place]:
    return [Place(number, case.id, case.split, case.resampled_as) for number, case in enumerate(cases)]


def split_clusters(stand: Iterable[Place]) -> Iterator[Finding]:
    """Clusters whose cases are in several splits."""
    splits: defaultdict[str, dict[str | None, str]] = defaultdict(dict)
    for place in stand:
        splits[place.cluster].setdefault(place.split, place.id)
    for cluster, found in splits.items():
        if len(found) > 1:
            named = " and ".join(str(split or "none") for split in found)
            yield Finding("error", "cluster_in_splits", f"cluster {cluster!r} is in {named}", list(found.values())[1])


def text_duplicates(cases: CaseSet, stand: Sequence[Place], seed: int = 0) -> Iterator[Finding]:
    """Cases whose texts are the same or nearly."""
    near = find_near(map(text_of, cases), seed=seed)
    joined = Groups(len(stand))
    for pair in near:
        joined.join(pair.one, pair.other)
    groups: defaultdict[int, list[Place]] = defaultdict(list)
    for number in sorted({number for pair in near for number in pair[:2]}):
        groups[joined.top(number)].append(stand[number])
    for group in groups.values():
        texts = {place.id: plain(text_of(cases.case(place.number))) for place in group}
        for place, other in _beside(group):
            kind, told = (
                ("duplicate_text", "the same")
                if texts[place.id] == texts[other.id]
                else ("near_text", "nearly the same")
            )
            yield _found(kind, f"has {told} text as", place, other)


def text_of(case: Case) -> str:
    """What a case is known by; empty if its images have to tell."""
    text = "\n".join(text for _, text in shown_fields(case))
    if len(text.split()) >= FEWEST_WORDS:
        return text
    if case.images:
        return ""
    asked = (" ".join([question.prompt, *(question.options or ())]) for question in case.questions)
    return "\n".join([text, *asked])


def image_duplicates(cases: CaseSet, images: Images, stand: Sequence[Place]) -> Iterator[Finding]:
    """Cases of different clusters that show the same image, or nearly."""
    shown: defaultdict[str, dict[int, str]] = defaultdict(dict)  # by image: the numbers of its cases, with exact hashes
    prints: list[Print] = [look.print for look in images.looks.values() if look.print is not None and not look.blank]
    same = same_images(prints)
    for number, case in enumerate(cases):
        for look in images.of(case):
            if look.print is not None and not look.blank:
                shown[same[look.print.exact]].setdefault(number, look.print.exact)
    for group in shown.values():
        for place, other in _beside([stand[number] for number in group]):
            if place.cluster == other.cluster and place.split == other.split:
                continue
            kind = "duplicate_image" if group[place.number] == group[other.number] else "near_image"
            told = "shows the same pixels as" if kind == "duplicate_image" else "shows an image that looks like one of"
            yield _found(kind, told, place, other)


def _beside(group: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    """Each but the first with the one to tell it of: of another split, else of another cluster, else the first."""
    by_split: dict[str | None, Place] = {}
    by_cluster: dict[str, Place] = {}
    for place in group:
        by_split.setdefault(place.split, place)
        by_cluster.setdefault(place.cluster, place)
    two_splits, two_clusters = list(by_split.values())[:2], list(by_cluster.values())[:2]
    for place in group[1:]:
        others = [
            *(other for other in two_splits if other.split != place.split),
            *(other for other in two_clusters if other.cluster != place.cluster),
        ]
        yield place, others[0] if others else group[0]


def _found(kind: str, told: str, place: Place, other: Place) -> Finding:
    if place.split != other.split:
        where = f", which is in {other.split or 'no split'}; this one is in {place.split or 'none'}"
        return Finding("error", kind, f"{told} {other.id}{where}", place.id)
    inside = " of the same cluster" if place.cluster == other.cluster else ""
    return Finding("warning", kind, f"{told} {other.id}{inside}", place.id)
