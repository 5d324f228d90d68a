"""Which clean row a degraded row was made of. The released tables do not say; this rule is our choice.

1. If the layout names the clean row (`of`), it is the twin.
2. Otherwise the twin is a clean row of the same split with the same question, options, answer, modality and source.
3. If several images have such a row (many questions come from a template), the twin is the row whose index or image
   name begins the degraded row's, followed by a separator: `17` and `17_sparse_view_L1`. Equal indices or names count
   only if all rows that rule 2 settles have them: the tables may be numbered independently.
4. If that does not tell either, the twin is the row whose image is clearly the most alike (image_likeness.py).
5. Any other row has no twin: it is reported, and kept without one.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.core.errors import Problem
from wardround.core.text import fold

MostAlike = Callable[[str, Sequence[str]], str | None]
SEPARATORS = tuple("_-.@#:/ ")
NAMES = {"id": "index", "prompt": "question", "options": "options", "gold": "answer"}


@dataclass(frozen=True, slots=True, eq=False)
class QuestionRow:
    """One published question with its images, and where it stands."""

    place: RecordPlace
    id: str
    prompt: str
    options: tuple[str, ...]
    gold: int
    images: tuple[str, ...]
    modality: str | None = None
    split: str | None = None
    source: str | None = None
    degradation: str | None = None
    of: str | None = None  # the id of the clean row in the same file
    extra: Mapping[str, Any] = field(default_factory=dict)  # further fields of the question
    names: Mapping[str, str] = field(default_factory=lambda: NAMES)  # what the layout calls our fields


def clean_twins(
    rows: Sequence[QuestionRow], most_alike: MostAlike = lambda path, candidates: None
) -> tuple[dict[int, QuestionRow], list[Problem]]:
    """The clean row of each degraded row, by `id()`, and a problem for each degraded row without one.

    `most_alike` gives the one of several images that an image was clearly made of.
    """
    clean_rows = [row for row in rows if not row.degradation]
    clean_by_id = {(row.place.file, row.id): row for row in clean_rows}
    clean_by_content: defaultdict[Any, list[QuestionRow]] = defaultdict(list)
    for row in clean_rows:
        if all(other.images != row.images for other in clean_by_content[_content(row)]):
            clean_by_content[_content(row)].append(row)
    twins: dict[int, QuestionRow] = {}
    unsettled: list[tuple[QuestionRow, list[QuestionRow]]] = []
    equal_names: defaultdict[str | None, list[bool]] = defaultdict(list)
    for row in rows:
        if not row.degradation:
            continue
        candidates = clean_by_content.get(_content(row), [])
        if row.of is not None:
            twins[id(row)] = clean_by_id[row.place.file, row.of]
        elif len(candidates) == 1:
            twins[id(row)] = candidates[0]
            equal_names[row.split].append(_has_equal_name(candidates[0], row))
        else:
            unsettled.append((row, candidates))
    problems = []
    for row, candidates in unsettled:
        trusted = bool(equal_names[row.split]) and all(equal_names[row.split])
        related = [clean for clean in candidates if _begins(clean, row) or (trusted and _has_equal_name(clean, row))]
        if len(related) != 1:
            related = _alike(row, candidates, most_alike)
        if len(related) == 1:
            twins[id(row)] = related[0]
        elif not (row.degradation or "").startswith("real@"):  # a really degraded image need not have one
            reason = f"{len(candidates)} clean images have" if candidates else "no clean row has"
            message = f"{row.id!r} is kept without a clean twin: {reason} its question, options and answer"
            problems.append(row.place.problem(row.names["id"], message))
    return twins, problems


def _alike(row: QuestionRow, candidates: Sequence[QuestionRow], most_alike: MostAlike) -> list[QuestionRow]:
    """The clean row whose image looks like that of a degraded row, if each row shows one image."""
    row_by_image = {clean.images[0]: clean for clean in candidates if len(clean.images) == 1}
    if len(row.images) != 1 or len(row_by_image) != len(candidates) or not candidates:
        return []
    image = most_alike(row.images[0], list(row_by_image))
    return [row_by_image[image]] if image is not None else []


def _content(row: QuestionRow) -> tuple[Any, ...]:
    options = tuple(fold(option) for option in row.options)
    return row.split, fold(row.prompt), options, row.gold, fold(row.modality or ""), fold(row.source or "")


def _has_equal_name(clean: QuestionRow, degraded: QuestionRow) -> bool:
    return clean.id == degraded.id or _stems(clean) == _stems(degraded)


def _begins(clean: QuestionRow, degraded: QuestionRow) -> bool:
    names = [(clean.id, degraded.id), *zip(_stems(clean), _stems(degraded), strict=False)]
    return any(
        long.startswith(short) and long[len(short) : len(short) + 1] in SEPARATORS for short, long in names if short
    )


def _stems(row: QuestionRow) -> list[str]:
    return [PurePosixPath(path).stem for path in row.images]
