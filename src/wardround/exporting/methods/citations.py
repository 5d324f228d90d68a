"""Which works a run is built on, and their BibTeX."""

import re
from importlib.resources import files

from wardround.reporting.run_files import RunFiles

BENCHMARKS = ("cure", "xpcr", "medq-deg", "clinbench")
ENTRY = re.compile(r"(?ms)^@\w+\{([\w-]+),.*?^\}\n")


def bibliography() -> dict[str, str]:
    """The BibTeX entries by key."""
    text = (files(__package__) / "references.bib").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in ENTRY.finditer(text)}


def cited_works(run: RunFiles) -> list[str]:
    """The keys of the works that the text of a run cites, the program first."""
    methods = {line.method or "" for line in run.measure_lines}
    tests = {line.method or "" for line in run.comparison_lines}
    keys = ["wardround", *benchmarks_of(run)]
    keys += ["wilson"] if any("wilson" in method for method in methods) else []
    keys += ["bootstrap"] if any("bootstrap" in method or "bca" in method for method in methods | tests) else []
    keys += ["max-t"] if tests else []
    return [*keys, "tripod-llm"]


def benchmarks_of(run: RunFiles) -> list[str]:
    """The papers whose protocol the run has: that of its named study, and the one whose degradations it uses."""
    name = str((run.manifest.get("named_study") or {}).get("name", "")).partition("/")[0]
    degrades = any(value != "none" for value in run.declared_values("degradation"))
    return [paper for paper in BENCHMARKS if paper == name or (paper == "medq-deg" and degrades)]
