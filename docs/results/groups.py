"""Makes a ClinBench-like set of phenopacket cases: `python groups.py rare rare-groups`.

Of each test case the specialty is the group of its disease.

The group is found by the table of words with which `wardround build pmc` places journal cases: in the name of the
disease, else in the history. What the table does not place is `other`. This is our choice: phenopackets name none.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from wardround.building.sources.pmc.labels import specialty_of
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case


def grouped(case: Case) -> Case:
    """The case with its group, without the open question, which is not asked here."""
    label = str(case.as_written()["disease"]["label"])
    group = specialty_of([label, case.history or ""]) or "other"
    return case.model_copy(update={"specialty": group, "questions": case.questions[:1]})


def main(source: str, out: str) -> None:
    cases = [grouped(case) for case in CaseSet.open(Path(source)) if case.split == "test"]
    write_case_set(cases, Path(out))
    for group, many in Counter(case.specialty for case in cases).most_common():
        print(f"{many:4} {group}")


if __name__ == "__main__":
    main(*sys.argv[1:])
