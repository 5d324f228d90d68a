"""Why a figure or its interval is missing: one word for each reason, wherever it is printed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measure import STATED

if TYPE_CHECKING:
    from wardround.reporting.run_files import RunFiles

NOT_ASKED, NOT_STATED, NOT_MEASURED, NO_INTERVAL = "not asked", "not stated", "not measured", "no interval"
MEANINGS = {
    NOT_ASKED: "The candidate was asked nothing there, for example because only images differ and it does not see.",
    NOT_STATED: "It was asked, and stated no confidence.",
    NOT_MEASURED: "It was asked, but the run has no such figure of it.",
    NO_INTERVAL: f"There is a figure, but no interval: fewer than {FEWEST} clusters, or a figure that has none.",
}


def missing_reason(run: "RunFiles", measure: str, candidate: str, slice: Mapping[str, str]) -> str:
    """Why a candidate has no value of a measure in a slice of measures.csv."""
    if not run.was_asked(candidate, slice):
        return NOT_ASKED
    stated = run.find_line(f"confidence_missing_{STATED}", candidate, slice)
    is_unstated = stated is not None and stated.value == 1
    return NOT_STATED if is_unstated and measure.endswith(f"_{STATED}") else NOT_MEASURED
