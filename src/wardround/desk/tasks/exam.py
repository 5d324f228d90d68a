"""The exam: people answer what models answer. Their answers are a candidate in any run (`provider = "people"`).

A person sees what a candidate is shown under the same telling. The questions of each person are drawn by the task's
seed and the person's name; options are shuffled for each person, and stored by their index in the case.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.asking.applicable import inapplicable_reason
from wardround.asking.carry import STAGES
from wardround.asking.tellings import resolve_telling, shown_image_numbers
from wardround.asking.units import question_units
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.random import seeded
from wardround.core.text import LETTERS
from wardround.desk.auth.accounts import PHYSICIANS, STUDENT, Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, NewImage, NewItem, Task
from wardround.desk.results.exam_attempts import answers_csv, exam_attempts, seconds_spent
from wardround.desk.results.export import to_jsonl
from wardround.desk.tasks.exam_paper import (
    ExamUnit,
    draw_two_specialties,
    draw_units,
    drawn_so_far,
    exam_level,
    option_order,
    parse_specialties,
    question_numbers,
)
from wardround.desk.tasks.task_kind import Export, PageSection, Setting, TaskKind, checked_comment

RULES, QUESTION, CLOSING = "rules", "question", "closing"
CONFIDENCES = range(10, 101, 10)  # percent
MAX_TEXT = 1_000
MAX_SECONDS = 86_400.0
BOOKS_BUT_NO_AI = (
    "You may consult medical literature and textbooks. AI tools of any kind are prohibited, also for searching, "
    "translating or summarising. Work alone."
)
NOTHING_ELSE = (
    "You work alone and consult nothing: no books, no internet, no colleagues, and no AI tool. "
    "Take the time that you would take for a patient."
)


class Exam(TaskKind):
    name = "exam"
    title = "Exam"
    summary = "People answer the questions that models answer; their answers are a candidate in any run."
    source = "A case set"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("cases", "Cases for each person", 20, "A chain of questions counts as one."),
        Setting("share", "Share of them in the person's specialty", 0.5, "The others are spread over the rest."),
        Setting("own", "Cases of the person's specialty", 0, "With the next, replaces the two above. 0: not used."),
        Setting("other", "Cases of one other specialty", 0, "For each person the one that was drawn least so far."),
        Setting("kinds", "Questions", "choice", choices=("choice", "open", "all")),
        Setting("telling", "Telling", "own", "As the condition of a study: own, text, multimodal."),
        Setting("confidence", "Ask how sure they are", True),
        Setting("back", "They may go back and change answers", False, "Until they finish; in a chain never."),
        Setting("rules", "Rules of the exam", NOTHING_ELSE, "What may be consulted. Shown first, and kept."),
        Setting("no_ai", "They confirm before it begins that they use no AI tool", False, "As well as at the end."),
        Setting("seed", "Seed of the draw", 0),
        Setting("run", "A run of the same cases", "", "When the task is closed, its candidates stand beside people."),
    )
    presets: Mapping[str, Mapping[str, str | int | float | bool]] = {
        "clinbench": {
            "own": 50,
            "other": 50,
            "kinds": "choice",
            "telling": "multimodal",
            "confidence": False,
            "rules": BOOKS_BUT_NO_AI,
            "no_ai": True,
        }
    }
    template = "tasks/exam.html"
    scripts = ("exam.js",)

    def levels(self, person: Person, task: Task) -> Sequence[str]:
        return (exam_level(person),)

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not 0 <= settings["share"] <= 1 or settings["cases"] < 1:
            raise WardroundError("a share is between 0 and 1, and there is at least one case")
        condition = Condition(telling=settings["telling"])
        cases, items = CaseSet.open(source), list[NewItem]()
        for place, case in enumerate(cases, 1):
            for unit in question_units(case, _exam_questions(case, condition, settings["kinds"])):
                number = 1 + len(items)
                for stage, question in enumerate(unit, 1):
                    name = f"case {place}, question {case.questions.index(question) + 1}"
                    items.append(_new_item(case, question, condition, name, number, stage, len(unit)))
        if not items:
            return []
        first = NewItem("rules", "sitting", {"page": RULES}, {})
        last = NewItem("closing", "sitting", {"page": CLOSING}, {})
        return [first, *items, last]

    def progress_text(self, waiting: int, read: int) -> str:
        questions = waiting + read - 2  # without the rules and the closing page
        return f"{min(max(read - 1, 0), questions)} of {questions} questions answered"

    def prepare(self, desk: Desk, task: Task, person: Person) -> None:
        """Draws a person's questions at their first visit."""
        is_drawn = ("SELECT 1 FROM wanted WHERE task = ? AND level = ?", task.id, exam_level(person))
        if desk.store.value(*is_drawn):
            return
        with desk.store.transaction():
            if desk.store.value(*is_drawn):  # by the same person in another window, meanwhile
                return
            items, units = desk.tasks.list_items(task), dict[int, ExamUnit]()
            for item in items:
                if (number := item.shown.get("unit")) is not None:
                    unit = units.get(number) or ExamUnit((), item.hidden["case"], item.hidden["specialty"])
                    units[number] = unit._replace(items=(*unit.items, item.number))
            own, rng = parse_specialties(person.specialty), seeded("draw", task.settings["seed"], person.name)
            of_own, of_other = (task.settings.get(name, 0) for name in ("own", "other"))  # older tasks have neither
            if of_own or of_other:
                sample = draw_two_specialties(units.values(), own, of_own, of_other, drawn_so_far(desk, task), rng)
            else:
                sample = draw_units(units.values(), own, task.settings["cases"], task.settings["share"], rng)
            numbers = sorted(number for unit in sample for number in unit.items)
            desk.tasks.request_readings(task, [items[0].number, *numbers, items[-1].number], exam_level(person))
            desk.store.log_action(person.id, "draw sitting", task.id, items=numbers)

    def next_item(self, desk: Desk, task: Task, person: Person) -> int | None:
        answered = {number for number, _, _ in desk.tasks.items_read_by(task, person)}
        return next((number for number in self._order(desk, task, person) if number not in answered), None)

    def _order(self, desk: Desk, task: Task, person: Person) -> list[int]:
        rows = desk.store.row("SELECT min(number) AS rules, max(number) AS closing FROM items WHERE task = ?", task.id)
        assert rows is not None
        return [rows["rules"], *question_numbers(desk, task, person), rows["closing"]]

    def may_begin(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        return item == self.next_item(desk, task, person)

    def may_return(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        """To a question outside a chain, until the exam is finished, if the task allows it."""
        if not task.settings["back"] or self.next_item(desk, task, person) is None:
            return False
        record = desk.tasks.get_item(task, item)
        return record is not None and record.shown["page"] == QUESTION and record.shown["stages"] == 1

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        order = question_numbers(desk, task, person)
        if item.shown["page"] != QUESTION:
            return {"count": len(order), "rules": task.settings["rules"], "no_ai": task.settings.get("no_ai", False)}
        options = item.shown["question"].get("options")
        draft = desk.tasks.load_draft(task, item.number, person) or {}
        stages = range(item.number - item.shown["place"] + 1, item.number)  # the items of a chain are consecutive
        earlier = [stage for number in stages if (stage := desk.tasks.get_item(task, number)) is not None]
        return {
            "count": len(order),
            "place": order.index(item.number) + 1,
            "options": [(index, options[index]) for index in option_order(task, person, item.number, len(options))]
            if options
            else [],
            "letters": LETTERS,
            "confidences": CONFIDENCES,
            "earlier": [
                (
                    STAGES.get(stage.shown["stage"] or "", stage.shown["question"]["prompt"]),
                    answer_text(last.said, stage),
                )
                for stage in earlier
                if (last := desk.tasks.last_verdict(task, stage.number, person)) is not None
            ],
            "spent": _seconds((draft.get("seconds") or ["0"])[0]) or 0.0,
            "so_far": sum(map(seconds_spent, desk.tasks.verdicts(task, person=person))),
        }

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        page, fields = item.shown["page"], {key: value for key, value in form.items() if isinstance(value, str)}
        if page == RULES:
            return {"agreed": fields.get("agreed") == "yes", "no_ai": fields.get("no_ai") == "yes"}
        if page == CLOSING:
            return {"ai": fields.get("ai", ""), "comment": fields.get("comment", "").strip()}
        sure = fields.get("confidence", "")
        answer: dict[str, Any] = {"confidence": int(sure) / 100 if sure.isascii() and sure.isdigit() else None}
        answer["seconds"] = _seconds(fields.get("seconds", ""))
        if "options" in item.shown["question"]:
            chosen = fields.get("option", "")
            return answer | {"option": int(chosen) if chosen.isascii() and chosen.isdigit() else None}
        return answer | {"answer": " ".join(fields.get("answer", "").split())}

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        if item.shown["page"] != QUESTION:
            return {}
        sure = said["confidence"]
        filled = {"confidence": [] if sure is None else [str(round(100 * sure))]}
        return filled | ({"option": [str(said["option"])]} if "option" in said else {"answer": [said["answer"]]})

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        page = item.shown["page"]
        if page == RULES:
            if said.get("agreed") is not True:
                raise WardroundError("the exam begins when you agree to its rules")
            if task.settings.get("no_ai") and said.get("no_ai") is not True:
                raise WardroundError("the exam begins when you confirm that you will use no AI tool")
            return {"agreed": True, "rules": task.settings["rules"], "no_ai": said.get("no_ai") is True}
        if page == CLOSING:
            if said.get("ai") not in ("no", "yes"):
                raise WardroundError("say whether you used an AI tool")
            return {"ai": said["ai"], "comment": checked_comment(said, MAX_TEXT)}
        return _check_answer(said, task, item)

    def label(self, said: Mapping[str, Any]) -> str | None:
        return LETTERS[said["option"]] if "option" in said else None

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        if "agreed" in said:
            promised = " Confirmed to use no AI tool." if said.get("no_ai") else ""
            return Markup("<p>Agreed to the rules.{}</p>").format(promised)
        if "ai" in said:
            used = "Used no AI tool." if said["ai"] == "no" else "Used an AI tool."
            return Markup("<p>{} {}</p>").format(used, said["comment"])
        sure = "" if said["confidence"] is None else f", {said['confidence']:.0%} sure"
        return Markup("<p>{}{}</p>").format(answer_text(said, item), sure)

    def reader_notes(self, desk: Desk, task: Task, person: Person) -> list[PageSection]:
        return [PageSection("Rules of the exam", Markup('<p class="text">{}</p>').format(task.settings["rules"]))]

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        return [PageSection.render("Exams", "tasks/exam_attempts.html", attempts=exam_attempts(desk, task), task=task)]

    def exports(self) -> Sequence[Export]:
        confirmed, everybody = (partial(answers_csv, confirmed=is_confirmed) for is_confirmed in (True, False))
        return (
            Export("answers.csv", "of those who finished without an AI tool: a candidate in any run", confirmed),
            Export("answers-all.csv", "of everybody, also of those who have not finished", everybody),
            Export("sittings.jsonl", "one record per person: times, rules and what they confirmed", _attempts_jsonl),
        )


def answer_text(said: Mapping[str, Any], item: DeskItem) -> str:
    return str(item.shown["question"]["options"][said["option"]] if "option" in said else said["answer"])


def _exam_questions(case: Case, condition: Condition, kinds: str) -> list[Question]:
    """Questions that can be shown to people; degraded copies of a question are left out."""
    return [
        question
        for question in case.questions
        if kinds in ("all", question.kind)
        and not question.degradations
        and inapplicable_reason(case, question, condition) is None
    ]


def _new_item(
    case: Case, question: Question, condition: Condition, name: str, unit: int, stage: int, stages: int
) -> NewItem:
    history, _ = resolve_telling(case, condition)
    question_shown: dict[str, Any] = {"prompt": question.prompt}
    if question.options is not None:
        question_shown["options"] = question.options
    shown: dict[str, Any] = {"page": QUESTION, "unit": unit, "place": stage, "stages": stages, "stage": question.stage}
    shown |= {"history": history, "findings": case.findings, "question": question_shown}
    hidden = {"case": case.id, "question": question.id, "gold": question.gold, "specialty": case.specialty}
    pictures = tuple(NewImage(str(n), case.images[n]) for n in shown_image_numbers(case, question, condition))
    return NewItem(name, case.specialty or "no specialty", shown, {}, hidden, 0, pictures)


def _check_answer(said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
    sure, seconds, options = said.get("confidence"), said.get("seconds"), item.shown["question"].get("options")
    checked: dict[str, Any] = {"confidence": None, "seconds": None}
    if task.settings["confidence"]:
        if type(sure) not in (int, float) or not 0 <= sure <= 1:  # type: ignore[operator]
            raise WardroundError("say how sure you are")
        checked["confidence"] = float(sure)  # type: ignore[arg-type]
    if type(seconds) in (int, float) and 0 <= seconds < MAX_SECONDS:  # type: ignore[operator]
        checked["seconds"] = float(seconds)  # type: ignore[arg-type]
    if options is not None:
        option = said.get("option")
        if type(option) is not int or not 0 <= option < len(options):
            raise WardroundError("choose an option")
        return {"option": option, **checked}
    answer = said.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        raise WardroundError("write an answer")
    if len(answer) > MAX_TEXT:
        raise WardroundError(f"an answer has at most {MAX_TEXT:,} characters")
    return {"answer": answer, **checked}


def _seconds(text: str) -> float | None:
    try:
        return round(float(text), 1)
    except ValueError:
        return None


def _attempts_jsonl(desk: Desk, task: Task) -> bytes:
    return to_jsonl(attempt._asdict() for attempt in exam_attempts(desk, task))
