"""The same run in another condition: every section that is taken at one condition can be made again at it.

Controls (another case's images, the options alone, a wrong earlier answer, unrelated literature) are not conditions to
choose: they stay with the condition that they control.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wardround.core.condition import CONTROL_AXES
from wardround.core.study import Study
from wardround.marking.run_marks import chance_accuracy
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.engine.writing import measured_tables
from wardround.measuring.people.figures import without_people
from wardround.reporting.labels import slice_words
from wardround.reporting.run_files import RunFiles

MAX_CONDITIONS = 12  # on one page; our choice
CONTROL_VALUES = {"carry": ("wrong",), "evidence": ("reference-shuffled", "reference-masked")}


@dataclass(frozen=True)
class ChosenConditions:
    """The conditions of a page, the reference condition first, and how many the study has."""

    conditions: list[dict[str, str]]
    total: int

    @property
    def titles(self) -> list[str]:
        return [slice_words(condition) for condition in self.conditions]


def chosen_conditions(run: RunFiles) -> ChosenConditions:
    """The conditions that were asked, but for controls: those nearest to the reference condition if they are many."""
    reference = run.study.reference_condition
    axes = [axis for axis in run.varied_axes if axis not in CONTROL_AXES]
    asked = [{axis: values[axis] for axis in axes} for values in run.conditions.values()]
    order = {axis: run.varied_axes[axis] for axis in axes}
    distinct = [dict(pairs) for pairs in dict.fromkeys(tuple(values.items()) for values in asked)]
    chosen = [
        values
        for values in distinct
        if not any(values[axis] in controls for axis, controls in CONTROL_VALUES.items() if axis in values)
        and all(values[axis] in order[axis] for axis in axes)
    ]
    chosen.sort(
        key=lambda values: (
            sum(values[axis] != reference[axis] for axis in axes),
            [order[axis].index(values[axis]) for axis in axes],
        )
    )
    return ChosenConditions(chosen[:MAX_CONDITIONS], len(chosen))


def at_condition(run: RunFiles, condition: Mapping[str, str]) -> RunFiles:
    """The run as if it had been asked in this condition alone, with its controls."""
    settings = dict(run.study_settings)
    settings["conditions"] = {**(settings.get("conditions") or {}), **{axis: [v] for axis, v in condition.items()}}
    settings["reference"] = {a: v for a, v in (settings.get("reference") or {}).items() if a not in condition}
    settings["comparisons"] = {
        name: family
        for name, family in (settings.get("comparisons") or {}).items()
        if family.get("between", "candidate") in ("candidate", *CONTROL_AXES)
        and not set(family.get("where") or {}) & set(condition)
    }
    settings.pop("acceptance", None)
    declares_none = run.study_settings.get("comparisons") and not settings["comparisons"]
    marks = marks_at_reference(run.all_marks, _at(run.study, condition), over_axes=CONTROL_AXES)
    own = replace(
        run, study_settings=settings, marks=without_people(marks), condition=dict(condition), encoded_reference=None
    )
    measures, comparisons = measured_tables(marks, own.study)
    if declares_none:  # then the default family would be one that the study does not ask for
        comparisons = comparisons.clear()
    manifest = dict(run.manifest)
    if "k" in own.marks.collect_schema():
        manifest["chance"] = chance_accuracy(own.marks)
    return replace(own, measures=measures, comparisons=comparisons, manifest=manifest)


def _at(study: Study, condition: Mapping[str, str]) -> Study:
    return study.model_copy(update={"reference": {**study.reference, **condition}})
