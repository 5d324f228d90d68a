"""The step `options`: those that the table gives, else the diagnoses of other patients of the set, each as is fair."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from wardround.building.distractors.assign import deal
from wardround.building.distractors.options import Balance, merged, overlapping
from wardround.building.pipeline.pipeline import Build, Step, whole
from wardround.building.pipeline.records import Record, Spool

FEWEST = 4  # options of a choice; with fewer the case has its open question only


def with_options(count: int) -> Step:
    """Adds `options` and `gold`; there are none where there are too few diagnoses, which people are told."""

    def change(records: Spool, build: Build) -> Iterator[Record]:
        pool = sorted({record["diagnosis"] for record in records})

        @lru_cache(1 << 20)
        def apart(one: int, other: int) -> bool:
            return one != other and not overlapping(pool[one], pool[other])

        number = {name: place for place, name in enumerate(pool)}
        golds = [number[record["diagnosis"]] for record in records]
        table, _ = deal(golds, count - 1, apart, build.drawn("options"))
        balance = Balance(build.drawn("places"))
        for question, record in enumerate(records):
            dealt = [pool[card] for card in table.hand(question)]
            candidates = [
                name
                for name in merged(record["diagnosis"], [*record["given"], *dealt])
                if not any(overlapping(name, right) for right in record["accept"])
            ][: count - 1]
            if len(candidates) + 1 < min(FEWEST, count):
                told = {"id": record["id"], "reason": "too few other diagnoses", "diagnosis": record["diagnosis"]}
                build.queue("options", told | {"candidates": candidates})
                yield record | {"options": [], "gold": None}
                continue
            written = balance.placed(record["diagnosis"], candidates)
            yield record | {"options": written.options, "gold": written.gold}

    return whole("options", change)
