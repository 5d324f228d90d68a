"""Runs every named study that a case set supports, one after another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.bench import BenchResult, bench, check_options
from wardround.benchmarks.engine.inventory import SetInventory
from wardround.benchmarks.engine.named_study import NamedStudy, named_studies
from wardround.benchmarks.engine.requirements import missing_requirement
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError


@dataclass(frozen=True)
class BenchAllResult:
    """The studies that were run, and the reason for each that was not."""

    results: list[BenchResult]
    left_out: dict[str, str]

    @property
    def exit_code(self) -> int:
        return max((result.exit_code for result in self.results), default=0)

    def to_dict(self) -> dict[str, Any]:
        return {"studies": [result.to_dict() for result in self.results], "left_out": self.left_out}


def bench_all(
    *,
    cases: Path,
    candidates: list[dict[str, Any]],
    studies: Mapping[str, NamedStudy] | None = None,
    note: Callable[[str], None] = print,
    **options: Any,
) -> BenchAllResult:
    """Runs what the case set supports of `studies` (default: all); an error in one does not stop the others."""
    if not candidates:
        raise WardroundError("all studies need a candidate: --candidate NAME=PROVIDER, or --candidates FILE")
    check_options(options.get("carry"), options.get("parser"))
    inventory = SetInventory.from_cases(CaseSet.open(cases))
    has_index, has_type = (options.get(option) is not None for option in ("index", "type"))
    result = BenchAllResult([], {})
    for name, study in (named_studies() if studies is None else studies).items():
        reason = missing_requirement(study.definition, inventory, has_index=has_index, has_type=has_type)
        if reason is None:
            note(study.label)
            try:
                result.results.append(bench(study, cases=cases, candidates=candidates, note=note, **options))
            except WardroundError as error:
                reason = str(error)
        if reason is not None:
            result.left_out[name] = reason
    return result
