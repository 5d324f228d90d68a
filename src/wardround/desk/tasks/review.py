"""Review (ClinBench, CURE): cases and what builds leave to people, read at two levels.

Students read all, physicians a drawn sample; what they find goes back to the students, and another sample is drawn,
until in one of them the findings are few enough. The files are those of `wardround build review`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.building.review.edits import edited
from wardround.building.review.items import PHYSICIAN, STUDENT, Level, items
from wardround.building.review.items import Item as Built
from wardround.building.review.verdicts import EDIT, KEEP, SAYINGS
from wardround.building.review.verdicts import Verdict as BuiltVerdict
from wardround.cases.set import CaseSet, leaves_folder
from wardround.core.case import Case
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.people import PHYSICIANS, Person
from wardround.desk.auth.people import STUDENT as STUDENTS
from wardround.desk.case_form import edits_of, fields, form_of
from wardround.desk.desk import Desk
from wardround.desk.folders import inside, set_of
from wardround.desk.pages import render
from wardround.desk.records import Item, NewImage, NewItem, Task, Verdict
from wardround.desk.results.agreement import latest
from wardround.desk.results.export import jsonl
from wardround.desk.source_text import source_text
from wardround.desk.tasks.criteria import CRITERIA, reasons
from wardround.desk.tasks.rounds import after_verdict, found_by_physicians, rounds
from wardround.desk.tasks.task_kind import ARBITER, Export, Kind, Part, Setting
from wardround.desk.text_diff import difference

ANY = {"level": STUDENT, "verdict": EDIT, "time": "2026-01-01T00:00:00Z"}  # only the edits are tried
LONGEST_COMMENT = 10_000


class Review(Kind):
    name = "review"
    title = "Review"
    what = "Cases are read against their source: kept, edited or discarded, at two levels."
    source = "A case set as it was built (with its review/ queues), or one of its queues"
    roles = (STUDENTS, *PHYSICIANS)
    settings = (
        Setting("share", "Share that physicians read too", 0.2, "Drawn by the seed in each queue; of each round."),
        Setting("seed", "Seed of the sample", 0),
        Setting("passes", "Findings that a sample may have", 0.05, "As a share. Above it another round begins."),
        Setting("only", "What is still to be read", "", "A file of build review --to-read; nothing else is read."),
        Setting("suspicious", "items_to_review.csv of a run", "", "Questions that item analysis suspects come first."),
        Setting("sources", "Folder with the sources", "", "CASE.txt, .md, .html or .xml, shown beside the case."),
    )
    template = "review.html"
    scripts = ("review.js",)
    arbitrates = True

    def levels(self, person: Person, task: Task) -> Sequence[str]:
        return (PHYSICIAN, ARBITER) if person.is_physician else (STUDENT,)

    # what is read

    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not 0 <= settings["share"] <= 1 or not 0 <= settings["passes"] <= 1:
            raise WardroundError("a share is between 0 and 1")
        suspicious = _suspicious(inside(root, settings["suspicious"])) if settings["suspicious"] else {}
        sources = inside(root, settings["sources"]) if settings["sources"] else None
        folder = set_of(source)
        cases = CaseSet.read(folder)
        known = {case.id: case.as_written() for case in cases}
        built = items(cases, share=settings["share"], seed=settings["seed"])
        if not source.is_dir():
            built = [each for each in built if each.queue == source.stem]
        if settings["only"]:
            wanted = _to_read(inside(root, settings["only"]))
            built = [each._replace(levels=tuple(wanted[each.item])) for each in built if each.item in wanted]
        return [_new(each, known, suspicious, sources, folder) for each in built]

    # what is said

    def view(self, desk: Desk, task: Task, item: Item, person: Person, level: str) -> dict[str, Any]:
        case = item.shown.get("case")
        readings: list[dict[str, Any]] = []
        if level == ARBITER:
            said = latest(desk.work.verdicts(task, item.number)).get(item.number, {})
            readings = [
                {"level": each.level, "told": self.told(each.said, item)}
                for each in said.values()
                if each.person != person.id
            ]
        at = STUDENT if level == STUDENT else PHYSICIAN
        return {
            "case": case,
            "fields": list(fields(case)) if case else [],
            "criteria": CRITERIA[at],
            "readings": readings,
        }

    def read(self, form: FormData, item: Item) -> dict[str, Any]:
        fine = form.getlist("fine")
        asked = [each for each in form.getlist("criterion") if isinstance(each, str)]
        case = item.shown.get("case")
        return {
            "verdict": str(form.get("verdict") or ""),
            "criteria": {each: each in fine for each in asked},
            "comment": str(form.get("comment") or "").strip(),
            "edits": edits_of(form, case) if case else {},
        }

    def form(self, said: Mapping[str, Any], item: Item) -> dict[str, list[str]]:
        case = item.shown.get("case")
        return {
            "verdict": [said["verdict"]],
            "fine": [name for name, is_fine in said["criteria"].items() if is_fine],
            "comment": [said["comment"]],
            **(form_of(said["edits"], case) if case else {}),
        }

    def checked(self, said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
        verdict, criteria = said.get("verdict"), said.get("criteria")
        comment, edits = said.get("comment", ""), said.get("edits", {})
        if verdict not in SAYINGS:
            raise WardroundError("choose keep, edit or discard")
        if not isinstance(criteria, dict) or set(criteria) not in [set(each) for each in CRITERIA.values()]:
            raise WardroundError("each criterion is needed, true or false")
        if not all(isinstance(each, bool) for each in criteria.values()):
            raise WardroundError("each criterion is needed, true or false")
        if not isinstance(comment, str) or len(comment) > LONGEST_COMMENT or not isinstance(edits, dict):
            raise WardroundError(f"a comment has at most {LONGEST_COMMENT:,} characters")
        if verdict == KEEP and not all(criteria.values()):
            raise WardroundError("a case that is kept fulfils every criterion: tick them, or edit or discard it")
        if verdict != KEEP and all(criteria.values()) and not comment:
            raise WardroundError("say why: leave a criterion unticked, or write a comment")
        if (verdict == EDIT) != bool(edits):
            wrong = "you changed the case: choose “edit”, or undo the changes" if edits else "change something first"
            raise WardroundError(wrong)
        self._refuse_bad_edits(edits, item)
        return {"verdict": verdict, "criteria": criteria, "comment": comment, "edits": edits}

    def _refuse_bad_edits(self, edits: dict[str, Any], item: Item) -> None:
        if not edits:
            return
        if not item.shown.get("case"):
            raise WardroundError("there is no case to edit here")
        told = BuiltVerdict.model_validate({"item": item.name, "reviewer": "-", "edits": edits} | ANY)
        try:
            edited(dict(item.shown["case"]), told)
        except BadInput as error:
            raise WardroundError(error.problem.message) from None
        except (AttributeError, TypeError, ValueError, KeyError, IndexError):
            raise WardroundError("these edits cannot be made") from None

    def label(self, said: Mapping[str, Any]) -> str | None:
        return str(said["verdict"])

    def told(self, said: Mapping[str, Any], item: Item) -> Markup:
        changes = [(name, difference(before, after)) for name, before, after in changes_of(said, item)]
        return render("review_said.html", said=said, reasons=reasons(said), changes=changes)

    # what follows

    def after(self, desk: Desk, task: Task, item: Item, verdict: Verdict) -> None:
        after_verdict(desk, task, item, verdict)

    def notes(self, desk: Desk, task: Task, person: Person) -> list[Part]:
        found = found_by_physicians(desk, task)
        if person.is_physician or not found:
            return []
        return [Part("What physicians found so far", render("review_found.html", found=found))]

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        told = {
            "rounds": rounds(desk, task),
            "found": found_by_physicians(desk, task),
            "passes": task.settings["passes"],
        }
        return [Part("Rounds", render("review_rounds.html", **told))]

    def exports(self) -> Sequence[Export]:
        return (
            Export("review.jsonl", "for wardround build review --verdicts", _for_build),
            Export("changes.jsonl", "every edit, with what was there before", _changes),
        )


def changes_of(said: Mapping[str, Any], item: Item) -> list[tuple[str, Any, Any]]:
    """Field, before, after of each edit."""
    case = item.shown.get("case")
    before = {field.name: field.value for field in fields(case)} if case else {}
    return [(name, before.get(name), after) for name, after in said["edits"].items()]


def _new(
    built: Built,
    known: Mapping[str, dict[str, Any]],
    suspicious: Mapping[str, str],
    sources: Path | None,
    folder: Path,
) -> NewItem:
    case = built.held or known.get(built.case)
    if built.held is not None:
        Case.model_validate(built.held)
    if case is not None:
        case = built.added_to(case)  # a draft is read and edited in its place
    line = {key: value for key, value in built.shown.items() if key not in ("case", "adds")}
    shown: dict[str, Any] = {"queue": built.queue, "decide": built.decide, "line": line, "case": case}
    if sources is not None and (told := source_text(sources, built.case)):
        shown["source"] = told
    images: tuple[NewImage, ...] = ()
    if case is not None:
        images = tuple(
            NewImage(str(number), image)
            for number, image in enumerate(Case.model_validate(case).images)
            if not leaves_folder(image.path) and (folder / image.path).is_file()
        )
    wants: dict[str, int] = {level: built.levels.count(level) for level in built.levels}
    why = suspicious.get(built.case)
    return NewItem(
        built.item, built.queue, shown, wants, {"suspicious": why} if why else {}, int(why is not None), images
    )


def _to_read(file: Path) -> dict[str, list[Level]]:
    """The levels at which items are still to be read, as `build review --to-read` lists them."""
    wanted: dict[str, list[Level]] = {}
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            told = json.loads(line)
            item, level = str(told["item"]), told["level"]
        except (ValueError, KeyError, TypeError):
            raise BadInput(file, "is no list of items with their levels", line=number) from None
        wanted.setdefault(item, []).append(PHYSICIAN if level == PHYSICIAN else STUDENT)
    return wanted


def _suspicious(file: Path) -> dict[str, str]:
    """Cases with a question that item analysis suspects, and why."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if not {"case", "reason"} <= set(rows.fieldnames or []):
            raise BadInput(file, "is no items_to_review.csv: it has no columns case and reason")
        return {row["case"]: row["reason"] for row in rows}


def _for_build(desk: Desk, task: Task) -> bytes:
    names = {item.number: item.name for item in desk.work.items(task)}
    return jsonl(
        {
            "item": names[each.item],
            "reviewer": each.reader,
            "level": STUDENT if each.level == STUDENT else PHYSICIAN,
            "verdict": each.said["verdict"],
            "reasons": reasons(each.said),
            "edits": each.said["edits"],
            "time": each.time,
        }
        for each in desk.work.verdicts(task)
    )


def _changes(desk: Desk, task: Task) -> bytes:
    items = {item.number: item for item in desk.work.items(task)}
    return jsonl(
        {"item": items[each.item].name, "reviewer": each.reader, "level": each.level, "time": each.time}
        | {"field": field, "before": before, "after": after}
        for each in desk.work.verdicts(task)
        for field, before, after in changes_of(each.said, items[each.item])
    )
