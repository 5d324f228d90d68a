"""Severity calibration (MedQ-Deg): where on a slider is a diagnosis still intact (L1), and still feasible (L2)?

A reader moves through one degradation of one image, drawn live, and sees neither numbers nor the levels of the table
that is calibrated. Marks of several readers and images become a new severity table (thresholds.py says how).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.asking.carry import right_text
from wardround.asking.options import seeded
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.core.errors import WardroundError
from wardround.degrade import TYPES, fits, profile_named, type_named
from wardround.degrade.severities import CLINICAL
from wardround.desk.auth.people import PHYSICIANS
from wardround.desk.desk import Desk
from wardround.desk.pages import render
from wardround.desk.records import Item, NewImage, NewItem, Task
from wardround.desk.results.agreement import latest
from wardround.desk.results.calibrated import severities, told
from wardround.desk.results.export import table
from wardround.desk.results.thresholds import MILDEST, STRONGEST, Mark, agreement, one_against_others, thresholds
from wardround.desk.tasks.task_kind import Export, Kind, Part, Setting
from wardround.reporting.figures.svg import Scale, interval

EVERY = "all"
LEVELS = ("l1", "l2")
NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
SEVERITIES, AGREEMENTS = Scale(MILDEST, STRONGEST, marked=1.0), Scale(-0.2, 1.0, marked=0.0)
COLUMNS = ("type", "level", "value", "low", "high", "readers", "images", "marks", "at_end", "base", "parameters")


class Severity(Kind):
    name = "severity"
    title = "Severity calibration"
    what = "Readers mark how far a degradation may go; their marks become a severity table with intervals."
    source = "A case set with images"
    roles = PHYSICIANS
    settings = (
        Setting("types", "Degradations", EVERY, f"{EVERY}, or names with commas between: gaussian_blur, low_dose."),
        Setting("images", "Images of each", 6, "Drawn by the seed from those that the degradation fits."),
        Setting("readers", "Readers of each image", 3),
        Setting("profile", "Severity table to begin with", CLINICAL, choices=(CLINICAL, "medq-deg-estimated")),
        Setting("table", "Name of the new table", "readers-1"),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "severity.html"
    scripts = ("severity.js",)
    classes = False

    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not NAME.fullmatch(settings["table"]):
            raise WardroundError("the name of a table has letters, digits, - and _ only")
        if settings["images"] < 1 or settings["readers"] < 1:
            raise WardroundError("at least one image and one reader are needed")
        wanted = [part.strip() for part in settings["types"].split(",") if part.strip()]
        types = TYPES if wanted == [EVERY] else [type_named(name) for name in wanted]
        cases = CaseSet.open(source)
        return [item for type in dict.fromkeys(types) for item in _items(cases, type, settings)]

    def read(self, form: FormData, item: Item) -> dict[str, Any]:
        if form.get("unreadable") == "yes":
            return {"unreadable": True}
        marks = {level: _number(form.get(level)) for level in LEVELS}
        windows = {level: list(map(_number, text.split())) for level in LEVELS if (text := _window(form, level))}
        return marks | ({"windows": windows} if windows else {})

    def form(self, said: Mapping[str, Any], item: Item) -> dict[str, list[str]]:
        if "unreadable" in said:
            return {"unreadable": ["yes"]}
        windows = {f"{level}_window": [f"{at:g} {wide:g}"] for level, (at, wide) in said.get("windows", {}).items()}
        return {level: [f"{said[level]:g}"] for level in LEVELS} | windows

    def checked(self, said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
        if said.get("unreadable") is True:
            return {"unreadable": True}
        marks = {level: said.get(level) for level in LEVELS}
        for value in marks.values():
            if type(value) not in (int, float) or not MILDEST <= value <= STRONGEST:  # type: ignore[operator]
                raise WardroundError("set both marks: move the slider and press 1, then further and 2")
        if marks["l1"] > marks["l2"]:  # type: ignore[operator]
            raise WardroundError("the first mark lies beyond the second: what is intact is feasible too")
        checked: dict[str, Any] = {level: round(float(value), 3) for level, value in marks.items()}  # type: ignore[arg-type]
        return checked | ({"windows": _windows(said["windows"])} if said.get("windows") else {})

    def label(self, said: Mapping[str, Any]) -> str | None:
        return None  # marks are numbers: how far they agree is told in `parts`

    def told(self, said: Mapping[str, Any], item: Item) -> Markup:
        if "unreadable" in said:
            return Markup("<p>Cannot be read even as it is.</p>")
        told = Markup("<p>Intact up to {:.2f}, feasible up to {:.2f}.</p>").format(said["l1"], said["l2"])
        for level, (center, width) in said.get("windows", {}).items():
            words = "<p>{} was marked under another window: centre {:g}, width {:g}.</p>"
            told += Markup(words).format(level.upper(), center, width)
        return told

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        marks = marks_of(desk, task)
        whole, alone = agreement(marks), one_against_others(marks)
        shown = {
            "found": [
                (each, interval(each.value, each.low, each.high, scale=SEVERITIES, title=f"{each.value:.2f}"))
                for each in thresholds(marks)
            ],
            "whole": whole,
            "alone": [
                (each, interval(each.agreement, each.low, each.high, scale=AGREEMENTS, title=f"{each.agreement:.2f}"))
                for each in alone
            ],
            "profile": task.settings["profile"],
            "table": task.settings["table"],
        }
        return [Part("Severities", render("severity_found.html", **shown))]

    def exports(self) -> Sequence[Export]:
        return (
            Export("severities.toml", "the new table, for a study or wardround degrade --profile", _toml),
            Export("thresholds.csv", "the 50% points with their intervals and parameters", _csv),
            Export("readers.csv", "each reader against the others", _readers),
        )


def marks_of(desk: Desk, task: Task) -> list[Mark]:
    """What each reader last said of each image."""
    items = {item.number: item for item in desk.work.items(task)}
    said = latest(desk.work.verdicts(task))
    return [
        Mark(reader, number, items[number].shown["type"], each.said["l1"], each.said["l2"])
        for number, readings in sorted(said.items())
        for reader, each in sorted(readings.items())
        if "unreadable" not in each.said
    ]


def _items(cases: CaseSet, type: str, settings: Mapping[str, Any]) -> Iterator[NewItem]:
    """Images that the degradation fits, of as many cases as there are."""
    fitting = [
        (case, number)
        for case in cases
        for number, image in enumerate(case.images)
        if fits(type, image.modality) and not image.degradations
    ]
    seeded("severity", settings["seed"], type).shuffle(fitting)
    of_case: dict[str, tuple[Case, int]] = {}
    for case, number in fitting:
        of_case.setdefault(case.id, (case, number))
    chosen = [*of_case.values(), *(each for each in fitting if each not in of_case.values())][: settings["images"]]
    for place, (case, number) in enumerate(chosen, 1):
        image, words = case.images[number], type.replace("_", " ")
        shown: dict[str, Any] = {"type": type, "words": words, "modality": image.modality, "history": case.history}
        asked = next((each for each in case.questions if each.images is None or number in each.images), None)
        if asked is not None:
            shown |= {"question": asked.prompt, "answer": right_text(asked)}
        hidden = {"case": case.id, "image": image.path}
        pictures = (NewImage("0", image, f"{type}@0"),)
        wants = {"reader": settings["readers"]}
        yield NewItem(f"{words} {place}", words, shown, wants, hidden, images=pictures)


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _window(form: FormData, level: str) -> str:
    """The window under which a mark was set, where it was not the first: centre and width."""
    return str(form.get(f"{level}_window") or "").strip()


def _windows(told: Any) -> dict[str, list[float]]:
    if not isinstance(told, dict) or not told.keys() <= set(LEVELS):
        raise WardroundError("a mark has at most one window")
    for window in told.values():
        if not isinstance(window, list) or len(window) != 2 or not all(type(each) in (int, float) for each in window):
            raise WardroundError("a window has a centre and a width")
        if not all(math.isfinite(each) for each in window) or window[1] <= 0:
            raise WardroundError("a window has a centre and a width above 0")
    return {level: [float(each) for each in told[level]] for level in LEVELS if level in told}


def _toml(desk: Desk, task: Task) -> bytes:
    base, found = profile_named(task.settings["profile"]), thresholds(marks_of(desk, task))
    about = (
        "Severities that readers calibrated: L1 is where a diagnosis is still intact, L2 where it is still feasible.\n"
        "Each is the mean of the marks; the intervals are over readers and images. Types not named here are unchanged."
    )
    return severities(base, found, task.settings["table"], about).encode()


def _csv(desk: Desk, task: Task) -> bytes:
    return table(told(thresholds(marks_of(desk, task)), profile_named(task.settings["profile"])), COLUMNS)


def _readers(desk: Desk, task: Task) -> bytes:
    rows = [each._asdict() for each in one_against_others(marks_of(desk, task))]
    return table(rows, ("reader", "images", "shift", "scatter", "agreement", "low", "high"))
