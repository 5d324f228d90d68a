"""Review (ClinBench, CURE): built cases and the decisions that builds leave to people, read at two levels.

Students read all items, physicians a sample. Findings go back to the students, and another sample is drawn, until a
sample passes (rounds.py). The files are those of `wardround build review`.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.building.review.edits import apply_edits
from wardround.building.review.items import PHYSICIAN, STUDENT, Level, ReviewItem, list_items
from wardround.building.review.verdicts import EDIT, KEEP, VERDICTS, ReviewVerdict
from wardround.cases.set import CaseSet, leaves_folder
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.accounts import PHYSICIANS, Person
from wardround.desk.auth.accounts import STUDENT as STUDENTS
from wardround.desk.case_form import edits_of, fields, form_of, mark_differences
from wardround.desk.desk import Desk
from wardround.desk.folders import case_set_folder, resolve_inside
from wardround.desk.pages import render_fragment
from wardround.desk.records import DeskItem, DeskVerdict, NewImage, NewItem, Task
from wardround.desk.results.agreement import latest_verdicts
from wardround.desk.results.export import to_jsonl
from wardround.desk.source_text import source_text
from wardround.desk.tasks.rounds import CRITERIA, list_rounds, physician_findings, process_verdict, reason_texts
from wardround.desk.tasks.task_kind import ARBITER, Export, PageSection, Setting, TaskKind, checked_comment
from wardround.marking.review_notes import FILE as NOTES
from wardround.marking.review_notes import wrong_keys

ITEMS_TO_REVIEW = "items_to_review.csv"
TRIAL_VERDICT = {"level": STUDENT, "verdict": EDIT, "time": "2026-01-01T00:00:00Z"}  # only its edits matter
MAX_COMMENT = 10_000
STATE = "is:"  # before the name of a criterion in the form
STATES = {"yes": True, "no": False}  # not judged: neither
CRITERION_VALUES = "answer each criterion with true, false or null (not judged)"


class Review(TaskKind):
    name = "review"
    title = "Review"
    summary = "Cases are read against their source: kept, edited or discarded, at two levels."
    source = "A case set as it was built (with its review/ queues), or one of its queues"
    roles = (STUDENTS, *PHYSICIANS)
    settings = (
        Setting("share", "Share that physicians read too", 0.2, "Drawn by the seed in each queue; of each round."),
        Setting("seed", "Seed of the sample", 0),
        Setting("passes", "Findings that a sample may have", 0.05, "As a share. Above it another round begins."),
        Setting("only", "What is still to be read", "", "A file of build review --to-read; nothing else is read."),
        Setting("suspicious", "A run, or its items_to_review.csv", "", "Suspected and flagged questions come first."),
        Setting("sources", "Folder with the sources", "", "CASE.txt, .md, .html or .xml, shown beside the case."),
    )
    template = "tasks/review.html"
    scripts = ("review.js",)
    arbitrates = True

    def levels(self, person: Person, task: Task) -> Sequence[str]:
        return (PHYSICIAN, ARBITER) if person.is_physician else (STUDENT,)

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not 0 <= settings["share"] <= 1 or not 0 <= settings["passes"] <= 1:
            raise WardroundError("a share is between 0 and 1")
        suspicious = _read_suspicious(resolve_inside(root, settings["suspicious"])) if settings["suspicious"] else {}
        sources = resolve_inside(root, settings["sources"]) if settings["sources"] else None
        folder = case_set_folder(source)
        cases = CaseSet.read(folder)
        cases_by_id = {case.id: case.as_written() for case in cases}
        review_items = list_items(cases, share=settings["share"], seed=settings["seed"])
        if not source.is_dir():
            review_items = [item for item in review_items if item.queue == source.stem]
        if settings["only"]:
            levels = _read_levels(resolve_inside(root, settings["only"]))
            review_items = [
                item._replace(levels=tuple(levels[item.item])) for item in review_items if item.item in levels
            ]
        return [
            _new_item(item, cases_by_id.get(item.case), suspicious.get(item.case), sources, folder)
            for item in review_items
        ]

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        case = item.shown.get("case")
        readings: list[dict[str, Any]] = []
        if level == ARBITER:
            verdicts = latest_verdicts(desk.tasks.verdicts(task, item.number)).get(item.number, {})
            readings = [
                {"level": verdict.level, "verdict": self.render_verdict(verdict.said, item)}
                for verdict in verdicts.values()
                if verdict.person != person.id
            ]
        criteria = CRITERIA[STUDENT if level == STUDENT else PHYSICIAN]
        return {"case": case, "fields": list(fields(case)) if case else [], "criteria": criteria, "readings": readings}

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        criteria = [name for name in form.getlist("criterion") if isinstance(name, str)]
        case = item.shown.get("case")
        return {
            "verdict": str(form.get("verdict") or ""),
            "criteria": {name: STATES.get(str(form.get(STATE + name))) for name in criteria},
            "comment": str(form.get("comment") or "").strip(),
            "edits": edits_of(form, case) if case else {},
        }

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        case = item.shown.get("case")
        return {
            "verdict": [said["verdict"]],
            "comment": [said["comment"]],
            **{STATE + name: [state] for name, said_so in said["criteria"].items() for state in _states_of(said_so)},
            **(form_of(said["edits"], case) if case else {}),
        }

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        verdict, criteria, edits = said.get("verdict"), said.get("criteria"), said.get("edits", {})
        if verdict not in VERDICTS:
            raise WardroundError("choose keep, edit or discard")
        if not isinstance(criteria, dict) or set(criteria) not in map(set, CRITERIA.values()):
            raise WardroundError(CRITERION_VALUES)
        if not all(is_fulfilled is None or isinstance(is_fulfilled, bool) for is_fulfilled in criteria.values()):
            raise WardroundError(CRITERION_VALUES)
        comment = checked_comment(said, MAX_COMMENT)
        if not isinstance(edits, dict):
            raise WardroundError("edits are an object: the new value of each field")
        if verdict == KEEP and not all(criteria.values()):
            raise WardroundError(
                "a case that is kept fulfils every criterion: answer each with yes, or choose another verdict"
            )
        if verdict != KEEP and False not in criteria.values() and not comment:
            raise WardroundError("say why: answer a criterion with no, or write a comment")
        if (verdict == EDIT) != bool(edits):
            problem = "you changed the case: choose “edit”, or undo the changes" if edits else "change something first"
            raise WardroundError(problem)
        self._check_edits(edits, item)
        return {"verdict": verdict, "criteria": criteria, "comment": comment, "edits": edits}

    def _check_edits(self, edits: dict[str, Any], item: DeskItem) -> None:
        if not edits:
            return
        if not item.shown.get("case"):
            raise WardroundError("there is no case to edit here")
        verdict = ReviewVerdict.model_validate({"item": item.name, "reviewer": "-", "edits": edits} | TRIAL_VERDICT)
        try:
            apply_edits(dict(item.shown["case"]), verdict)
        except BadInput as error:
            raise WardroundError(error.problem.message) from None
        except (AttributeError, TypeError, ValueError, KeyError, IndexError):
            raise WardroundError("these edits cannot be made") from None

    def label(self, said: Mapping[str, Any]) -> str | None:
        return str(said["verdict"])

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        changes = [(name, mark_differences(before, after)) for name, before, after in changes_of(said, item)]
        return render_fragment("tasks/review_verdict.html", verdict=said, reasons=reason_texts(said), changes=changes)

    def after_verdict(self, desk: Desk, task: Task, item: DeskItem, verdict: DeskVerdict) -> None:
        process_verdict(desk, task, item, verdict)

    def reader_notes(self, desk: Desk, task: Task, person: Person) -> list[PageSection]:
        findings = physician_findings(desk, task)
        if person.is_physician or not findings:
            return []
        return [PageSection.render("Findings of physicians so far", "tasks/review_findings.html", findings=findings)]

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        context = {"rounds": list_rounds(desk, task), "findings": physician_findings(desk, task)}
        context["passes"] = task.settings["passes"]
        return [PageSection.render("Rounds", "tasks/review_rounds.html", **context)]

    def exports(self) -> Sequence[Export]:
        return (
            Export("review.jsonl", "for wardround build review --verdicts", _review_jsonl),
            Export("changes.jsonl", "every edit, with the value before", _changes_jsonl),
        )


def _states_of(is_fulfilled: bool | None) -> list[str]:
    return [state for state, value in STATES.items() if value is is_fulfilled]


def changes_of(said: Mapping[str, Any], item: DeskItem) -> list[tuple[str, Any, Any]]:
    """Field, before, after of each edit."""
    case = item.shown.get("case")
    before = {field.name: field.value for field in fields(case)} if case else {}
    return [(name, before.get(name), after) for name, after in said["edits"].items()]


def _new_item(
    review_item: ReviewItem, case: dict[str, Any] | None, suspicion: str | None, sources: Path | None, folder: Path
) -> NewItem:
    case = review_item.held_case or case
    if review_item.held_case is not None:
        Case.model_validate(review_item.held_case)
    if case is not None:
        case = review_item.add_question(case)  # a draft is read and edited in its place
    line = {key: value for key, value in review_item.shown.items() if key not in ("case", "adds")}
    shown: dict[str, Any] = {"queue": review_item.queue, "decide": review_item.decide, "line": line, "case": case}
    if sources is not None and (text := source_text(sources, review_item.case)):
        shown["source"] = text
    shown_images = list(Case.model_validate(case).images) if case is not None else []
    images = tuple(
        NewImage(str(number), image)
        for number, image in enumerate([*shown_images, *_previews(line)])
        if not leaves_folder(image.path) and (folder / image.path).is_file()
    )
    wants: dict[str, int] = {level: review_item.levels.count(level) for level in review_item.levels}
    hidden = {"suspicious": suspicion} if suspicion else {}
    return NewItem(review_item.item, review_item.queue, shown, wants, hidden, int(suspicion is not None), images)


def _previews(line: Mapping[str, Any]) -> Iterator[Image]:
    """The pictures that a build made for a reader: images with frames around what may be text."""
    entries = line.get("images")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("preview"), str):
            yield Image(path=entry["preview"], modality="text is framed")


def _read_levels(file: Path) -> dict[str, list[Level]]:
    """The levels at which items are still to be read, as `build review --to-read` lists them."""
    levels: dict[str, list[Level]] = {}
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            row = json.loads(line)
            item, level = str(row["item"]), row["level"]
        except (ValueError, KeyError, TypeError):
            raise BadInput(file, "is not a list of items with their levels", line=number) from None
        levels.setdefault(item, []).append(PHYSICIAN if level == PHYSICIAN else STUDENT)
    return levels


def _read_suspicious(source: Path) -> dict[str, str]:
    """Cases with a question that item analysis suspects or somebody flagged in the case explorer, and why."""
    if not source.is_dir():
        return _read_suspected(source)
    flags = {note.case: f"{note.kind}: {note.text}".rstrip(": ") for note in wrong_keys(source)}
    file = source / ITEMS_TO_REVIEW
    if not flags and not file.is_file():
        raise BadInput(source, f"has neither {ITEMS_TO_REVIEW} nor flags of wrong keys ({NOTES})")
    return (_read_suspected(file) if file.is_file() else {}) | flags


def _read_suspected(file: Path) -> dict[str, str]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if not {"case", "reason"} <= set(rows.fieldnames or []):
            raise BadInput(file, "is not an items_to_review.csv: it has no columns case and reason")
        return {row["case"]: row["reason"] for row in rows}


def _review_jsonl(desk: Desk, task: Task) -> bytes:
    names = {item.number: item.name for item in desk.tasks.list_items(task)}
    return to_jsonl(
        {
            "item": names[verdict.item],
            "reviewer": verdict.reader,
            "level": STUDENT if verdict.level == STUDENT else PHYSICIAN,
            "verdict": verdict.said["verdict"],
            "reasons": reason_texts(verdict.said),
            "edits": verdict.said["edits"],
            "time": verdict.time,
        }
        for verdict in desk.tasks.verdicts(task)
    )


def _changes_jsonl(desk: Desk, task: Task) -> bytes:
    items = {item.number: item for item in desk.tasks.list_items(task)}
    return to_jsonl(
        {"item": items[verdict.item].name, "reviewer": verdict.reader, "level": verdict.level, "time": verdict.time}
        | {"field": field, "before": before, "after": after}
        for verdict in desk.tasks.verdicts(task)
        for field, before, after in changes_of(verdict.said, items[verdict.item])
    )
