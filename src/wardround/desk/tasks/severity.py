"""Severity calibration (MedQ-Deg): where on a slider is a diagnosis still intact (L1), and still feasible (L2)?

A reader moves a slider through one degradation of one image, rendered live, without numbers and without the levels of
the table that is calibrated. The marks of several readers and images become a new severity table (thresholds.py).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.core.errors import WardroundError
from wardround.core.random import seeded
from wardround.degrade import TYPES, fits, load_profile, parse_type
from wardround.degrade.severities import CLINICAL
from wardround.desk.auth.accounts import PHYSICIANS
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, NewImage, NewItem, Task
from wardround.desk.results.agreement import latest_verdicts
from wardround.desk.results.export import to_csv
from wardround.desk.results.severity_table import severity_toml, threshold_rows
from wardround.desk.results.thresholds import (
    MILDEST,
    STRONGEST,
    Mark,
    ReaderComparison,
    Threshold,
    compare_readers,
    mark_agreement,
    thresholds,
)
from wardround.desk.tasks.task_kind import Export, PageSection, Setting, TaskKind
from wardround.reporting.figures.svg import Scale, interval

ALL_TYPES = "all"
LEVELS = ("l1", "l2")
NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
SEVERITIES, AGREEMENTS = Scale(MILDEST, STRONGEST, marked=1.0), Scale(-0.2, 1.0, marked=0.0)
COLUMNS = ("type", "level", "value", "low", "high", "readers", "images", "marks", "at_end", "base", "parameters")


class Severity(TaskKind):
    name = "severity"
    title = "Severity calibration"
    summary = "Readers mark how far a degradation may go; their marks become a severity table with intervals."
    source = "A case set with images"
    roles = PHYSICIANS
    settings = (
        Setting("types", "Degradations", ALL_TYPES, f"{ALL_TYPES}, or a list: gaussian_blur, low_dose."),
        Setting("images", "Images of each", 6, "Drawn by the seed from those that the degradation fits."),
        Setting("readers", "Readers of each image", 3),
        Setting("profile", "Severity table to begin with", CLINICAL, choices=(CLINICAL, "medq-deg-estimated")),
        Setting("table", "Name of the new table", "readers-1"),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "tasks/severity.html"
    scripts = ("severity.js",)
    classes = False

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not NAME.fullmatch(settings["table"]):
            raise WardroundError("the name of a table has letters, digits, - and _ only")
        if settings["images"] < 1 or settings["readers"] < 1:
            raise WardroundError("at least one image and one reader are needed")
        names = [part.strip() for part in settings["types"].split(",") if part.strip()]
        types = TYPES if names == [ALL_TYPES] else [parse_type(name) for name in names]
        cases = CaseSet.open(source)
        return [item for type in dict.fromkeys(types) for item in _items_of_type(cases, type, settings)]

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        if form.get("unreadable") == "yes":
            return {"unreadable": True}
        marks = {level: _number(form.get(level)) for level in LEVELS}
        texts = {level: str(form.get(f"{level}_window") or "").split() for level in LEVELS}  # if it was changed
        windows = {level: list(map(_number, numbers)) for level, numbers in texts.items() if numbers}
        return marks | ({"windows": windows} if windows else {})

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        if "unreadable" in said:
            return {"unreadable": ["yes"]}
        windows = {
            f"{level}_window": [f"{center:g} {width:g}"] for level, (center, width) in said.get("windows", {}).items()
        }
        return {level: [f"{said[level]:g}"] for level in LEVELS} | windows

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        if said.get("unreadable") is True:
            return {"unreadable": True}
        marks = {level: said.get(level) for level in LEVELS}
        for value in marks.values():
            if type(value) not in (int, float) or not MILDEST <= value <= STRONGEST:  # type: ignore[operator]
                raise WardroundError("set both marks: move the slider and press 1, then further and 2")
        if marks["l1"] > marks["l2"]:  # type: ignore[operator]
            raise WardroundError("the first mark lies beyond the second: what is intact is feasible too")
        checked: dict[str, Any] = {level: round(float(value), 3) for level, value in marks.items()}  # type: ignore[arg-type]
        return checked | ({"windows": _check_windows(said["windows"])} if said.get("windows") else {})

    def label(self, said: Mapping[str, Any]) -> str | None:
        return None  # marks are numbers: `sections` shows their agreement

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        if "unreadable" in said:
            return Markup("<p>Cannot be read even as it is.</p>")
        html = Markup("<p>Intact up to {:.2f}, feasible up to {:.2f}.</p>").format(said["l1"], said["l2"])
        for level, (center, width) in said.get("windows", {}).items():
            sentence = "<p>{} was marked under another window: centre {:g}, width {:g}.</p>"
            html += Markup(sentence).format(level.upper(), center, width)
        return html

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        marks = marks_of(desk, task)
        context = {
            "thresholds": [(point, _draw(point, point.value, SEVERITIES)) for point in thresholds(marks)],
            "agreement": mark_agreement(marks),
            "readers": [(reader, _draw(reader, reader.agreement, AGREEMENTS)) for reader in compare_readers(marks)],
            "profile": task.settings["profile"],
            "table": task.settings["table"],
        }
        return [PageSection.render("Severities", "tasks/severity_thresholds.html", **context)]

    def exports(self) -> Sequence[Export]:
        return (
            Export("severities.toml", "the new table, for a study or wardround degrade --profile", _toml),
            Export("thresholds.csv", "the 50% points with their intervals and parameters", _csv),
            Export("readers.csv", "each reader compared with the others", _readers_csv),
        )


def _draw(estimate: Threshold | ReaderComparison, value: float, scale: Scale) -> Markup:
    return interval(value, estimate.low, estimate.high, scale=scale, title=f"{value:.2f}")


def marks_of(desk: Desk, task: Task) -> list[Mark]:
    """The latest marks of each reader on each image."""
    items = {item.number: item for item in desk.tasks.list_items(task)}
    verdicts = latest_verdicts(desk.tasks.verdicts(task))
    return [
        Mark(reader, number, items[number].shown["type"], verdict.said["l1"], verdict.said["l2"])
        for number, readings in sorted(verdicts.items())
        for reader, verdict in sorted(readings.items())
        if "unreadable" not in verdict.said
    ]


def _items_of_type(cases: CaseSet, type: str, settings: Mapping[str, Any]) -> Iterator[NewItem]:
    """Images that the degradation fits, from as many cases as possible."""
    fitting = [
        (case, number)
        for case in cases
        for number, image in enumerate(case.images)
        if fits(type, image.modality) and not image.degradations
    ]
    seeded("severity", settings["seed"], type).shuffle(fitting)
    by_case: dict[str, tuple[Case, int]] = {}
    for case, number in fitting:
        by_case.setdefault(case.id, (case, number))
    others = [image for image in fitting if image not in by_case.values()]
    chosen = [*by_case.values(), *others][: settings["images"]]
    for place, (case, number) in enumerate(chosen, 1):
        image, words = case.images[number], type.replace("_", " ")
        shown: dict[str, Any] = {"type": type, "words": words, "modality": image.modality, "history": case.history}
        about = (question for question in case.questions if question.images is None or number in question.images)
        if (question := next(about, None)) is not None:
            shown |= {"question": question.prompt, "answer": question.gold_text}
        hidden = {"case": case.id, "image": image.path}
        pictures = (NewImage("0", image, f"{type}@0"),)
        wants = {"reader": settings["readers"]}
        yield NewItem(f"{words} {place}", words, shown, wants, hidden, images=pictures)


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _check_windows(windows: Any) -> dict[str, list[float]]:
    if not isinstance(windows, dict) or not windows.keys() <= set(LEVELS):
        raise WardroundError("a mark has at most one window")
    for window in windows.values():
        if not isinstance(window, list) or len(window) != 2 or not all(type(value) in (int, float) for value in window):
            raise WardroundError("a window has a centre and a width")
        if not all(math.isfinite(value) for value in window) or window[1] <= 0:
            raise WardroundError("a window has a centre and a width above 0")
    return {level: [float(value) for value in windows[level]] for level in LEVELS if level in windows}


def _toml(desk: Desk, task: Task) -> bytes:
    base, points = load_profile(task.settings["profile"]), thresholds(marks_of(desk, task))
    comment = (
        "Severities that readers calibrated: L1 is where a diagnosis is still intact, L2 where it is still feasible.\n"
        "Each is the mean of the marks; the intervals are over readers and images. Types not named here are unchanged."
    )
    return severity_toml(base, points, task.settings["table"], comment).encode()


def _csv(desk: Desk, task: Task) -> bytes:
    return to_csv(threshold_rows(thresholds(marks_of(desk, task)), load_profile(task.settings["profile"])), COLUMNS)


def _readers_csv(desk: Desk, task: Task) -> bytes:
    rows = [comparison._asdict() for comparison in compare_readers(marks_of(desk, task))]
    return to_csv(rows, ("reader", "images", "shift", "scatter", "agreement", "low", "high"))
