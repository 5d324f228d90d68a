"""Which works a run is built on, and their BibTeX."""

import re
from importlib.resources import files

from wardround.reporting.run_files import RunFiles

DATA_SET = "case-set"
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
    keys = ["wardround", *([DATA_SET] if data_set_entry(run) else []), *benchmarks_of(run)]
    keys += ["wilson"] if any("wilson" in method for method in methods) else []
    keys += ["bootstrap"] if any("bootstrap" in method or "bca" in method for method in methods | tests) else []
    keys += ["max-t"] if tests else []
    return [*keys, "tripod-llm", "stard-ai"]


def data_set_entry(run: RunFiles) -> str:
    """The case set as BibTeX, from the manifest beside it; empty if nobody said where it comes from."""
    source = (run.manifest.get("cases") or {}).get("source") or {}
    name = source.get("name") or str(source.get("hub") or "").partition("@")[0]
    if not name or not (source.get("url") or source.get("hub")):
        return ""
    notes = [f"commit {source['hub'].partition('@')[2]}" if "@" in str(source.get("hub") or "") else ""]
    notes += [f"licence {source['license']}" if source.get("license") else ""]
    fields = {
        "title": f"{{{_escaped(str(name))}}}",
        "note": _escaped(", ".join(filter(None, notes))),
        "url": source.get("url") or "",
    }
    lines = [f"  {key} = {{{value}}}" for key, value in fields.items() if value]
    return f"@misc{{{DATA_SET},\n" + ",\n".join(lines) + "\n}\n"


def _escaped(text: str) -> str:
    return re.sub(r"([_&%#$])", r"\\\1", text)


def benchmarks_of(run: RunFiles) -> list[str]:
    """The papers whose protocol the run has: that of its named study, and the one whose degradations it uses."""
    name = str((run.manifest.get("named_study") or {}).get("name", "")).partition("/")[0]
    degrades = any(value != "none" for value in run.declared_values("degradation"))
    return [paper for paper in BENCHMARKS if paper == name or (paper == "medq-deg" and degrades)]
