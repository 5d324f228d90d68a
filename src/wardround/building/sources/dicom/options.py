"""The step `options`: those of the table, and the diagnoses of other patients of the set, each used equally often.

Diagnoses of patients whose images show the same region of the body are preferred, as far as the fair counts allow.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from wardround.building.distractors.assign import Preferences, apply_preferences, assign_distractors
from wardround.building.distractors.options import OptionBalancer, merge_candidates, names_overlap
from wardround.building.distractors.patient_fit import LEFT_OUT, PatientFacts, PatientFilter
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step

MIN_OPTIONS = 4  # with fewer the case has its open question only


def options_step(count: int) -> Step:
    """Adds `options` and `gold`; a record with too few other diagnoses gets none and goes to review."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        pool = sorted({record["diagnosis"] for record in records})

        @lru_cache(1 << 20)
        def apart(one: int, other: int) -> bool:
            return one != other and not names_overlap(pool[one], pool[other])

        number_by_name = {name: number for number, name in enumerate(pool)}
        golds = [number_by_name[record["diagnosis"]] for record in records]
        patients = PatientFilter(pool, [PatientFacts.of(record["sex"], record["age"]) for record in records])
        build.counts[LEFT_OUT] += patients.count_impossible()
        table, _ = assign_distractors(
            golds, count - 1, apart, build.random_stream("options"), patients.accepts, patients.picky
        )
        apply_preferences(table, _same_region(records, golds), difficulty=1.0)
        balance = OptionBalancer(build.random_stream("places"))
        for question, record in enumerate(records):
            assigned = [pool[disease] for disease in table.distractors(question)]
            candidates = [
                name
                for name in merge_candidates(record["diagnosis"], [*record["offered"], *assigned])
                if not any(names_overlap(name, right) for right in record["accept"])
            ][: count - 1]
            if len(candidates) + 1 < min(MIN_OPTIONS, count):
                item = {"id": record["id"], "reason": "too few other diagnoses", "diagnosis": record["diagnosis"]}
                build.queue("options", item | {"candidates": candidates})
                yield record | {"options": [], "gold": None}
                continue
            written = balance.place_gold(record["diagnosis"], candidates)
            yield record | written._asdict()

    return all_records_step("options", change)


def _same_region(records: RecordFile, golds: Sequence[int]) -> Preferences:
    """For each patient the diagnoses that others with images of the same region have."""
    golds_by_region: dict[str, set[int]] = {}
    for record, gold in zip(records, golds, strict=True):
        if record["region"]:
            golds_by_region.setdefault(record["region"], set()).add(gold)
    preferences = Preferences()
    for record in records:
        preferences.add([(gold, 1.0) for gold in sorted(golds_by_region.get(record["region"] or "", ()))])
    return preferences
