"""Draws N cases of a set, always the same ones: `python sample.py rare-groups rare-20 20`."""

from __future__ import annotations

import sys
from pathlib import Path

from wardround.cases.set import CaseSet, write_case_set
from wardround.core.canonical import blake


def main(source: str, out: str, many: str) -> None:
    cases = sorted(CaseSet.open(Path(source)), key=lambda case: blake(case.id).hex())[: int(many)]
    print(f"{write_case_set(cases, Path(out))} cases")


if __name__ == "__main__":
    main(*sys.argv[1:])
