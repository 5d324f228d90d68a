"""The step `options`: the other diagnoses of the table with the same modality and body region, each used fairly."""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from wardround.building.distractors.assign import assign_distractors
from wardround.building.distractors.options import NameRelations, OptionBalancer, merge_candidates, names_overlap
from wardround.building.distractors.patient_fit import LEFT_OUT, PatientFacts, PatientFilter
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step

MIN_OPTIONS = 3  # with fewer the case has its open question only (our choice)


def options_step(count: int, relations: NameRelations) -> Step:
    """Adds `options` and `gold`; a record whose group has too few diagnoses gets none and goes to review."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        groups: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in records:
            groups[record["modality"], record["region"]].append(record)
        distractors_by_id: dict[str, list[str]] = {}
        for _, members in sorted(groups.items()):
            distractors = _assign(members, count, relations, build)
            distractors_by_id |= {record["id"]: names for record, names in zip(members, distractors, strict=True)}
        balancer = OptionBalancer(build.random_stream("places"))
        for record in records:
            candidates = [
                name
                for name in merge_candidates(record["diagnosis"], distractors_by_id[record["id"]], relations)
                if not any(names_overlap(name, other, relations) for other in record["accept"])
            ]
            if len(candidates) + 1 < min(MIN_OPTIONS, count):
                kind = " ".join(filter(None, (record["modality"], record["region"]))) or "its kind"
                item = {"id": record["id"], "reason": f"too few other diagnoses of {kind}"}
                build.queue("options", item | {"diagnosis": record["diagnosis"], "candidates": candidates})
                yield record | {"options": [], "gold": None}
            else:
                yield record | balancer.place_gold(record["diagnosis"], candidates)._asdict()

    return all_records_step("options", change)


def _assign(members: list[Record], count: int, relations: NameRelations, build: Build) -> list[list[str]]:
    """The distractors of each record of one group. No more are asked for than the group has diagnoses apart."""
    pool = sorted({record["diagnosis"] for record in members})
    number_by_name = {name: number for number, name in enumerate(pool)}

    @lru_cache(1 << 20)
    def apart(one: int, other: int) -> bool:
        return one != other and not names_overlap(pool[one], pool[other], relations)

    slots = min(count - 1, max(len(merge_candidates(name, pool, relations)) for name in pool))
    if not slots:
        return [[] for _ in members]
    patients = PatientFilter(pool, [PatientFacts.of(record["sex"], record["age"]) for record in members])
    build.counts[LEFT_OUT] += patients.count_impossible()
    golds = [number_by_name[record["diagnosis"]] for record in members]
    assignment, _ = assign_distractors(
        golds, slots, apart, build.random_stream("options", *pool), patients.accepts, patients.picky
    )
    return [[pool[disease] for disease in assignment.distractors(number)] for number in range(len(members))]
