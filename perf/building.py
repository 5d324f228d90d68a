"""Building a case set of 100,000 synthetic phenopackets: time per record beside that of a quarter, and peak memory."""

from __future__ import annotations

import argparse
import gzip
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

from perf.bars import bar, versions
from perf.measured import Clock, measure, print_usage
from wardround.building.sources.phenopackets.build import build_phenopackets

FEATURES = 8_000
PER_DISEASE = 25  # patients, on average
PER_ARTICLE = 4
SYLLABLES = ["ba", "cor", "del", "fan", "gri", "hom", "jex", "kul", "lom", "mer", "nor", "pes", "qua", "ros", "tal"]


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf building")
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'orjson')}; CPU of one process")
    milliseconds: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for records in (options.records // 4, options.records):
            file = Path(folder) / f"{records}.jsonl.gz"
            make(file, records)
            usage = measure("perf.building", file, Path(folder) / f"set-{records}")
            milliseconds[records] = usage["own"] / records * 1000
            print(
                f"  {records:,} records: {usage['cases']:,} cases; {milliseconds[records]:.2f} ms of CPU a record, "
                f"{usage['seconds']:,.0f} s in all, peak memory {usage['peak_mb']:,.0f} MB"
            )
    quarter, whole = milliseconds.values()
    return all(
        [
            bar("CPU a record, all / a quarter of them", whole / quarter, at_most=1.2),
            bar("peak memory, MB", usage["peak_mb"], at_most=500),
        ]
    )


def make(file: Path, count: int) -> None:
    """Patients with the features of their disease, some of them, and with others; some features are common to many."""
    draw = random.Random(1)
    diseases = [disease(draw, number) for number in range(max(count // PER_DISEASE, 12))]
    with gzip.open(file, "wb", 1) as opened:
        for number in range(count):
            opened.write(orjson.dumps(packet(draw, number, draw.choice(diseases))) + b"\n")


def disease(draw: random.Random, number: int) -> dict[str, Any]:
    name = "".join(draw.choices(SYLLABLES, k=4)).capitalize()
    return {
        "id": f"OMIM:{100_000 + number}",
        "label": f"{name}-{''.join(draw.choices(SYLLABLES, k=3)).capitalize()} syndrome",
        "features": [feature(draw) for _ in range(12)],
    }


def feature(draw: random.Random) -> int:
    """The number of a feature: small ones are common."""
    return int(FEATURES * draw.random() ** 3)


def packet(draw: random.Random, number: int, ill: dict[str, Any]) -> dict[str, Any]:
    present = {*draw.sample(ill["features"], 8), *(feature(draw) for _ in range(3))}
    excluded = {feature(draw) for _ in range(5)} - present
    features = [(feature, False) for feature in sorted(present)] + [(feature, True) for feature in sorted(excluded)]
    term = {"id": ill["id"], "label": ill["label"]}
    return {
        "id": f"packet-{number}",
        "subject": {
            "id": str(number),
            "sex": draw.choice(["MALE", "FEMALE", "UNKNOWN_SEX"]),
            "timeAtLastEncounter": {"age": {"iso8601duration": f"P{draw.randint(0, 80)}Y"}},
        },
        "phenotypicFeatures": [
            {"type": {"id": f"HP:{feature:07}", "label": f"Sign {feature}"}, **({"excluded": True} if out else {})}
            for feature, out in features
        ],
        "interpretations": [{"progressStatus": "SOLVED", "diagnosis": {"disease": term}}],
        "diseases": [{"term": term}],
        "metaData": {"externalReferences": [{"id": f"PMID:{10_000_000 + number // PER_ARTICLE}"}]},
    }


if __name__ == "__main__":  # by itself, so that nothing else is in its memory
    started = Clock.now()
    built = build_phenopackets(Path(sys.argv[1]), Path(sys.argv[2]))
    print_usage(started, cases=built.cases)
