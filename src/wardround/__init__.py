"""wardround examines medical multimodal models the way a hospital examines its doctors.

The names below are the Python interface (docs/python.md); each is loaded when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wardround.api import (
        Run,
        arun,
        bench,
        check,
        compare,
        grid,
        import_cases,
        load_cases,
        load_run,
        mark,
        power,
        report,
        run,
        starter_cases,
    )
    from wardround.cases.set import CaseSet
    from wardround.core.case import Case
    from wardround.core.errors import WardroundError
    from wardround.core.study import CandidateSettings as Candidate
    from wardround.core.study import JudgeSettings as Judge
    from wardround.core.study import Study, load_study
    from wardround.degrade import degrade
    from wardround.marking import parse_choice

__version__ = "0.1.0"

# polars returns freed memory at once. With a delay of 200 ms, marking and measuring would take a sixth less CPU, but 70
# to 150 MB more for ten million answers.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")

_API = ("Run", "arun", "bench", "check", "compare", "grid", "load_cases", "load_run", "mark", "power", "report", "run")
_MODULES = {
    **dict.fromkeys((*_API, "import_cases", "starter_cases"), "wardround.api"),
    "Case": "wardround.core.case",
    "CaseSet": "wardround.cases.set",
    "Candidate": "wardround.core.study:CandidateSettings",
    "Judge": "wardround.core.study:JudgeSettings",
    "Study": "wardround.core.study",
    "WardroundError": "wardround.core.errors",
    "degrade": "wardround.degrade:",  # the module, which can be called
    "load_study": "wardround.core.study",
    "parse_choice": "wardround.marking",
}
__all__ = [
    "Candidate",
    "Case",
    "CaseSet",
    "Judge",
    "Run",
    "Study",
    "WardroundError",
    "arun",
    "bench",
    "check",
    "compare",
    "degrade",
    "grid",
    "import_cases",
    "load_cases",
    "load_run",
    "load_study",
    "mark",
    "parse_choice",
    "power",
    "report",
    "run",
    "starter_cases",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'wardround' has no attribute {name!r}")
    module, colon, other_name = _MODULES[name].partition(":")
    loaded = import_module(module)
    value = loaded if colon and not other_name else getattr(loaded, other_name or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
