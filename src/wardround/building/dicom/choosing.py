"""The step `options`: those that the table gives, and the diagnoses of other patients of the set."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.building.options import Balance, merged, of_pool
from wardround.building.pipeline import Build, Step, whole
from wardround.building.spool import Record, Spool

FEWEST = 4  # options of a choice; with fewer the case has its open question only


def with_options(count: int) -> Step:
    """Adds `options` and `gold`; both are empty where there are too few diagnoses, which people are told."""

    def change(records: Spool, build: Build) -> Iterator[Record]:
        pool = sorted({record["diagnosis"] for record in records})
        balance = Balance(build.drawn("options"))
        for record in records:
            others = of_pool(pool, record["diagnosis"], build.drawn("pool", record["id"]), len(pool))
            candidates = merged(record["diagnosis"], [*record["given"], *others])
            candidates = [name for name in candidates if not merged_with(name, record["accept"])]
            size = min(count, len(candidates) + 1)
            written = balance.write(record["diagnosis"], candidates, size) if size >= min(FEWEST, count) else None
            if written is None:
                told = {"id": record["id"], "reason": "too few other diagnoses", "diagnosis": record["diagnosis"]}
                build.queue("options", told | {"candidates": candidates})
                yield record | {"options": [], "gold": None}
            else:
                yield record | {"options": written.options, "gold": written.gold}

    return whole("options", change)


def merged_with(name: str, accepted: list[str]) -> bool:
    """Whether a name means what is accepted as right too."""
    return any(not merged(right, [name]) for right in accepted)
