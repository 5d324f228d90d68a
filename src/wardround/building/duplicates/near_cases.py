"""Duplicate cases: nearly the same text (MinHash), or the same images (perceptual hash)."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from wardround.building.duplicates.fingerprint import Fingerprint, fingerprint, group_images
from wardround.building.duplicates.near_text import find_near_texts
from wardround.building.pipeline.image_files import decode_image
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step


def drop_duplicates_step(text: Callable[[Record], str]) -> Step:
    """A step that keeps the first of cases whose texts are nearly the same, or that share most of their images.

    Our choice: two cases share most images if all images of one that have structure are among those of the other.
    """

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        ids = [record["id"] for record in records]
        originals = {ids[pair.other]: ("text", ids[pair.one]) for pair in find_near_texts(map(text, records))}
        for id, original in _same_images(records):
            originals.setdefault(id, ("images", original))
        for record in records:
            if record["id"] in originals:
                kind, original = originals[record["id"]]
                build.reject(record, "duplicates", f"nearly the same {kind} as another case", original)
            else:
                yield record

    return all_records_step("duplicates", change)


def _same_images(records: RecordFile) -> Iterator[tuple[str, str]]:
    """The id of each record whose images are all among those of an earlier one, with the earlier one's id."""
    fingerprints_by_id: dict[str, list[Fingerprint]] = {}
    for record in records:
        images = (decode_image(Path(image["file"])) for image in record["images"])
        fingerprints = [fingerprint(pixels) for pixels in images if pixels is not None]
        fingerprints_by_id[record["id"]] = [print for print in fingerprints if print.perceptual is not None]
    groups = group_images(print for prints in fingerprints_by_id.values() for print in prints)
    ids_by_image: defaultdict[str, list[str]] = defaultdict(list)
    images_by_id: dict[str, set[str]] = {}
    for id, prints in fingerprints_by_id.items():
        shown = {groups[print.exact] for print in prints}
        others = dict.fromkeys(other for image in sorted(shown) for other in ids_by_image[image])
        same = (other for other in others if shown <= images_by_id[other] or images_by_id[other] <= shown)
        if (original := next(same, None)) is not None:
            yield id, original
            continue
        images_by_id[id] = shown
        for image in shown:
            ids_by_image[image].append(id)
