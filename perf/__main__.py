"""`python -m perf [NAME [options]]`: measures everything, or one thing; fails where a bar is missed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from perf import (
    audit,
    building,
    calls,
    capacity,
    degradation,
    desk,
    embedding,
    ingest,
    install_size,
    literature,
    live,
    measuring,
    parser,
    reading,
    replay,
    scale,
    transformers,
)
from perf.bars import bar


def _capacity(arguments: list[str]) -> bool:
    told = capacity.measure()
    return all(
        [
            bar("asks/s, learnt / best fixed", told["ratio"], at_least=0.8),
            bar("share of calls refused after the first 200", told["refused_after_200"], at_most=0.05),
        ]
    )


PARTS: dict[str, tuple[str | None, Callable[[list[str]], bool]]] = {
    "install_size": (install_size.__doc__, install_size.main),
    "calls": (calls.__doc__, calls.main),
    "capacity": (capacity.__doc__, _capacity),
    "replay": (replay.__doc__, replay.main),
    "scale": (scale.__doc__, scale.main),
    "parser": (parser.__doc__, parser.main),
    "measuring": (measuring.__doc__, measuring.main),
    "degradation": (degradation.__doc__, degradation.main),
    "ingest": (ingest.__doc__, ingest.main),
    "embedding": (embedding.__doc__, embedding.main),
    "transformers": (transformers.__doc__, transformers.main),
    "literature": (literature.__doc__, literature.main),
    "building": (building.__doc__, building.main),
    "reading": (reading.__doc__, reading.main),
    "audit": (audit.__doc__, audit.main),
    "desk": (desk.__doc__, desk.main),
    "live": (live.__doc__, live.main),
}


def main() -> None:
    names = sys.argv[1:2] or list(PARTS)
    if names[0] not in PARTS:
        sys.exit(f"there is no part {names[0]!r}; there are {', '.join(PARTS)}")
    missed = []
    for name in names:
        told, part = PARTS[name]
        print(f"{name}: {told}", flush=True)
        if not part(sys.argv[2:]):
            missed.append(name)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
