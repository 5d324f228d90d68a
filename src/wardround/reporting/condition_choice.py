"""The choice of a condition at the top of a page: the sections of every other condition, packed into the page."""

import gzip
import json
from base64 import b64encode
from dataclasses import dataclass

from wardround.reporting.other_conditions import at_condition, chosen_conditions
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.all_sections import FOLLOWING_SECTIONS
from wardround.reporting.setting_labels import with_setting_notes
from wardround.running.progress import NO_PROGRESS, StepProgress


@dataclass(frozen=True)
class ConditionChoice:
    """`packed` has for every condition but the first its sections (id to HTML) as JSON, gzip and base64.

    Packed sections take about a twentieth of their size; the page unpacks them without a network.
    """

    titles: list[str]
    packed: list[str]
    following: set[str]  # the ids of the sections that follow the choice
    total: int


def condition_choice(run: RunFiles, progress: StepProgress = NO_PROGRESS) -> ConditionChoice | None:
    """None if the run has one condition, its controls aside."""
    chosen = chosen_conditions(run)
    if len(chosen.conditions) < 2:
        return None
    others, following, packed = chosen.conditions[1:], set[str](), []
    for condition in progress.watch("conditions", others, len(others)):
        there = at_condition(run, condition)
        made = [
            with_setting_notes(section, there) for make in FOLLOWING_SECTIONS if (section := make(there)) is not None
        ]
        following |= {section.id for section in made}
        packed.append(_pack({section.id: str(section.html) for section in made}))
    return ConditionChoice(chosen.titles, packed, following, chosen.total)


def _pack(sections: dict[str, str]) -> str:
    # no time of packing, so that the same run gives the same page
    return b64encode(gzip.compress(json.dumps(sections, ensure_ascii=False).encode(), mtime=0)).decode()
