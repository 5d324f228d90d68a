"""Grades as options of SG: their ranks on one scale for the whole set, so that the options tell nothing of the disease.

Diseases have scales of their own, of different lengths and in words that name them. An option is therefore the rank of
a grade, counted from the mildest, and every SG of a set has the same options (our choice). The scale has as many ranks
as the scale of most graded images, at least X-PCR's four, and none that no image of the set could have. The last rank
also stands for the higher grades of longer scales.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from wardround.building.pipeline.pipeline import Record
from wardround.building.sources.ophthalmic.schema import EyeDisease, EyeSchema

USUAL_LENGTH = 4  # options in all of X-PCR's sample questions
RULE = (
    "Count the grades of the disease's usual clinical scale from the mildest upward; absence of the disease is not a "
    "grade. The options are the same whatever the disease and do not tell how many grades its scale has."
)


@dataclass(frozen=True)
class SeverityScale:
    """The ranks that every SG of a set offers; `longest` is the length of the longest scale among its diseases."""

    length: int
    longest: int

    @property
    def options(self) -> list[str]:
        return [self.option(rank) for rank in range(1, self.length + 1)]

    def option(self, rank: int) -> str:
        """The option that stands for a rank on a disease's own scale."""
        if rank < self.length or self.longest == self.length:
            return _rank(rank)
        return _open_rank(self.length)

    def option_of(self, disease: EyeDisease, grade: str) -> str:
        return self.option(1 + list(disease.grades).index(grade))


def set_scale(records: Iterable[Record], schema: EyeSchema) -> SeverityScale:
    """The scale of a set. Of lengths that are equally frequent, the shortest counts."""
    rows = (row for record in records for row in record["rows"] if row["grade"])
    images_by_length = Counter(len(schema.diseases[row["disease"]].grades) for row in rows)
    if not images_by_length:
        return SeverityScale(USUAL_LENGTH, USUAL_LENGTH)
    longest = max(images_by_length)
    commonest = min(images_by_length, key=lambda length: (-images_by_length[length], length))
    return SeverityScale(min(longest, max(USUAL_LENGTH, commonest)), longest)


def grades_by_option(disease: EyeDisease) -> dict[str, list[str]]:
    """The grades of a disease that an option of SG stands for, by its text; also of sets that were built before.

    Those offered the names of grades, later ranks that told the length of the scale.
    """
    grades = list(disease.grades)
    ends = {1: " (mildest)", len(grades): " (most severe)"}
    by_option: dict[str, list[str]] = {}
    for rank, grade in enumerate(grades, start=1):
        by_option[_open_rank(rank)] = grades[rank - 1 :]
        for text in (_rank(rank), f"grade {rank} of {len(grades)}{ends.get(rank, '')}", disease.grades[grade]):
            by_option[text] = [grade]
    return by_option


def _rank(rank: int) -> str:
    return f"grade {rank}"


def _open_rank(rank: int) -> str:
    """In brackets, so that a reply of `grade 4` names it, too."""
    return f"grade {rank} (or higher)"
