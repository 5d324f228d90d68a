"""Cases that are there twice: nearly the same text (MinHash), or the same images (perceptual hash)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from wardround.building.pipeline.image_files import shown
from wardround.building.pipeline.pipeline import Build, Step, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.sources.medq_deg.duplicates import Print, print_of, same_images
from wardround.building.text.near_text import find_near


def without_duplicates(text: Callable[[Record], str], name: str = "duplicates") -> Step:
    """A step that keeps the first of cases whose texts are nearly the same, or that share most of their images.

    Our choice: two cases share most images if all images of one that have structure are among those of the other.
    """

    def does(records: Spool, build: Build) -> Iterator[Record]:
        ids = [record["id"] for record in records]
        repeats = {ids[pair.other]: ("text", ids[pair.one]) for pair in find_near(map(text, records))}
        for id, other in _same_looks(records):
            repeats.setdefault(id, ("images", other))
        for record in records:
            if record["id"] in repeats:
                what, other = repeats[record["id"]]
                build.reject(record, name, f"nearly the same {what} as another case", other)
            else:
                yield record

    return whole(name, does)


def _same_looks(records: Spool) -> Iterator[tuple[str, str]]:
    """Each record whose images are all among those of an earlier one, with that one."""
    prints: dict[str, list[Print]] = {}
    for record in records:
        looks = (shown(Path(image["file"])) for image in record["images"])
        prints[record["id"]] = [
            made for look in looks if look is not None and (made := print_of(look)).looks is not None
        ]
    same = same_images(each for looked in prints.values() for each in looked)
    holders: defaultdict[str, list[str]] = defaultdict(list)
    kept: dict[str, set[str]] = {}
    for id, looked in prints.items():
        ours = {same[each.exact] for each in looked}
        others = dict.fromkeys(other for look in sorted(ours) for other in holders[look])
        repeated = next((other for other in others if ours <= kept[other] or kept[other] <= ours), None)
        if repeated is not None:
            yield id, repeated
            continue
        kept[id] = ours
        for look in ours:
            holders[look].append(id)
