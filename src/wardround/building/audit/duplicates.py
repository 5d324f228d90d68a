"""Duplicate cases: texts and images that are the same or nearly, within and across splits and clusters.

Across splits a duplicate is an error: a candidate would be examined on what it was tuned on. Otherwise it is a warning.
Images of one cluster may be the same: a cluster shares a patient, an image or an article. A case of fewer than 8 words
is compared by its questions too or, if it has images, by these alone (our choice).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from wardround.building.audit.finding import Finding
from wardround.building.audit.images import ScannedImages
from wardround.building.audit.shown_fields import shown_fields
from wardround.building.duplicates.disjoint_sets import DisjointSets
from wardround.building.duplicates.fingerprint import group_images
from wardround.building.duplicates.near_text import find_near_texts
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.core.text import fold_nfkc

MIN_WORDS = 8


class CaseRef(NamedTuple):
    """A case by its number in the set, with its split and cluster."""

    number: int
    id: str
    split: str | None
    cluster: str


def case_refs(cases: Iterable[Case]) -> list[CaseRef]:
    return [CaseRef(number, case.id, case.split, case.cluster_id) for number, case in enumerate(cases)]


def find_split_clusters(refs: Iterable[CaseRef]) -> Iterator[Finding]:
    """Clusters whose cases are in several splits."""
    cases_by_cluster: defaultdict[str, dict[str | None, str]] = defaultdict(dict)  # the first case of each split
    for ref in refs:
        cases_by_cluster[ref.cluster].setdefault(ref.split, ref.id)
    for cluster, case_by_split in cases_by_cluster.items():
        if len(case_by_split) > 1:
            splits = " and ".join(str(split or "none") for split in case_by_split)
            second = list(case_by_split.values())[1]
            yield Finding("error", "cluster_in_splits", f"cluster {cluster!r} is in {splits}", second)


def find_text_duplicates(cases: CaseSet, refs: Sequence[CaseRef], seed: int = 0) -> Iterator[Finding]:
    """Cases whose texts are the same or nearly."""
    pairs = find_near_texts(map(text_of, cases), seed=seed)
    sets = DisjointSets(len(refs))
    for pair in pairs:
        sets.join(pair.one, pair.other)
    groups: defaultdict[int, list[CaseRef]] = defaultdict(list)
    for number in sorted({number for pair in pairs for number in pair[:2]}):
        groups[sets.root(number)].append(refs[number])
    for group in groups.values():
        texts = {ref.id: fold_nfkc(text_of(cases.case(ref.number))) for ref in group}
        for ref, other in _pairs_to_report(group):
            if texts[ref.id] == texts[other.id]:
                yield _finding("duplicate_text", "has the same text as", ref, other)
            else:
                yield _finding("near_text", "has nearly the same text as", ref, other)


def text_of(case: Case) -> str:
    """The text by which a case is compared; empty if only its images count."""
    text = "\n".join(text for _, text in shown_fields(case))
    if len(text.split()) >= MIN_WORDS:
        return text
    if case.images:
        return ""
    questions = (" ".join([question.prompt, *(question.options or ())]) for question in case.questions)
    return "\n".join([text, *questions])


def find_image_duplicates(cases: CaseSet, images: ScannedImages, refs: Sequence[CaseRef]) -> Iterator[Finding]:
    """Cases of different clusters that show the same image, or nearly."""
    groups = group_images(
        scan.fingerprint for scan in images.scans.values() if scan.fingerprint is not None and not scan.is_blank
    )
    hash_by_case: defaultdict[str, dict[int, str]] = defaultdict(dict)  # by group: the first exact hash of each case
    for number, case in enumerate(cases):
        for scan in images.of_case(case):
            if scan.fingerprint is not None and not scan.is_blank:
                exact = scan.fingerprint.exact
                hash_by_case[groups[exact]].setdefault(number, exact)
    for hashes in hash_by_case.values():
        for ref, other in _pairs_to_report([refs[number] for number in hashes]):
            if ref.cluster == other.cluster and ref.split == other.split:
                continue
            if hashes[ref.number] == hashes[other.number]:
                yield _finding("duplicate_image", "shows the same pixels as", ref, other)
            else:
                yield _finding("near_image", "shows an image that looks like one of", ref, other)


def _pairs_to_report(group: Sequence[CaseRef]) -> Iterator[tuple[CaseRef, CaseRef]]:
    """Each case but the first, with one of another split, or else of another cluster, or else the first."""
    by_split: dict[str | None, CaseRef] = {}
    by_cluster: dict[str, CaseRef] = {}
    for ref in group:
        by_split.setdefault(ref.split, ref)
        by_cluster.setdefault(ref.cluster, ref)
    two_splits, two_clusters = list(by_split.values())[:2], list(by_cluster.values())[:2]
    for ref in group[1:]:
        others = [
            *(other for other in two_splits if other.split != ref.split),
            *(other for other in two_clusters if other.cluster != ref.cluster),
        ]
        yield ref, others[0] if others else group[0]


def _finding(kind: str, claim: str, ref: CaseRef, other: CaseRef) -> Finding:
    if ref.split != other.split:
        splits = f", which is in {other.split or 'no split'}; this one is in {ref.split or 'none'}"
        return Finding("error", kind, f"{claim} {other.id}{splits}", ref.id)
    same_cluster = " of the same cluster" if ref.cluster == other.cluster else ""
    return Finding("warning", kind, f"{claim} {other.id}{same_cluster}", ref.id)
