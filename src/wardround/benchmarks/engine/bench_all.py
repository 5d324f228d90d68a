"""Every named study that a case set supports, one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.bench import Benched, bench
from wardround.benchmarks.engine.fitting import lacking
from wardround.benchmarks.engine.inventory import Holds
from wardround.benchmarks.engine.named_study import entries
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError


@dataclass(frozen=True)
class All:
    """The studies that were run, and why each of the others was not."""

    ran: list[Benched]
    left_out: dict[str, str]

    @property
    def exit_code(self) -> int:
        return max((each.exit_code for each in self.ran), default=0)

    def told(self) -> dict[str, Any]:
        return {"studies": [each.told() for each in self.ran], "left_out": self.left_out}


def bench_all(
    *, cases: Path, candidates: list[dict[str, Any]], note: Callable[[str], None] = print, **given: Any
) -> All:
    """Runs what the case set supports; one study that cannot be run does not keep the others from it."""
    if not candidates:
        raise WardroundError("all studies need a candidate: --candidate NAME=PROVIDER, or --candidates FILE")
    held = Holds.of(CaseSet.open(cases))
    ran, left_out = list[Benched](), dict[str, str]()
    for name, entry in entries().items():
        why = lacking(entry, held, index=given.get("index") is not None, type=given.get("type") is not None)
        if why is None:
            note(f"{name}: {entry.title}")
            try:
                ran.append(bench(name, cases=cases, candidates=candidates, note=note, **given))
            except WardroundError as error:
                why = str(error)
        if why is not None:
            left_out[name] = why
    return All(ran, left_out)
