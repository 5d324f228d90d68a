"""The exam: people answer what models answer. Their answers are a candidate in any run (`provider = "people"`).

What a person sees is what a candidate is shown under the same telling. Each sitting is drawn by the seed of the task
and the name of the person; options are shuffled for each, and kept by their index in the case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.asking.applicable import shown_images, told, units, why_not
from wardround.asking.carry import STAGES
from wardround.asking.options import LETTERS, seeded
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.desk.auth.people import PHYSICIANS, STUDENT, Person
from wardround.desk.desk import Desk
from wardround.desk.pages import render
from wardround.desk.records import Item, NewImage, NewItem, Task
from wardround.desk.results.exam_results import answers, sittings, spent
from wardround.desk.results.export import jsonl
from wardround.desk.tasks.exam_paper import Unit, drawn, level_of, option_order, questions_of, specialties
from wardround.desk.tasks.task_kind import Export, Kind, Part, Setting

RULES, QUESTION, CLOSING = "rules", "question", "closing"
SURE = range(10, 101, 10)  # percent
LONGEST = 1_000
A_DAY = 86_400.0
NOTHING_ELSE = (
    "You work alone and consult nothing: no books, no internet, no colleagues, and no AI tool. "
    "Take the time that you would take for a patient."
)


class Exam(Kind):
    name = "exam"
    title = "Exam"
    what = "People answer drawn questions as models do; their answers stand beside the models' in any run."
    source = "A case set"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("cases", "Cases for each person", 20, "A chain of questions counts as one."),
        Setting("share", "Share of them in the person's specialty", 0.5, "The others are spread over the rest."),
        Setting("kinds", "Questions", "choice", choices=("choice", "open", "all")),
        Setting("telling", "Telling", "own", "As the condition of a study: own, text, multimodal."),
        Setting("confidence", "Ask how sure they are", True),
        Setting("back", "They may go back and change answers", False, "Until they finish; in a chain never."),
        Setting("rules", "Rules of the sitting", NOTHING_ELSE, "What may be consulted. Shown first, and kept."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "exam.html"
    scripts = ("exam.js",)

    # who is asked what

    def levels(self, person: Person, task: Task) -> Sequence[str]:
        return (level_of(person),)

    def items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not 0 <= settings["share"] <= 1 or settings["cases"] < 1:
            raise WardroundError("a share is between 0 and 1, and there is at least one case")
        condition = Condition(telling=settings["telling"])
        cases, asked = CaseSet.open(source), list[NewItem]()
        for place, case in enumerate(cases, 1):
            for unit in units(case, _asked(case, condition, settings["kinds"])):
                number = 1 + len(asked)
                for stage, question in enumerate(unit, 1):
                    name = f"case {place}, question {case.questions.index(question) + 1}"
                    asked.append(_new(case, question, condition, name, number, stage, len(unit)))
        if not asked:
            return []
        first = NewItem("rules", "sitting", {"page": RULES}, {})
        last = NewItem("closing", "sitting", {"page": CLOSING}, {})
        return [first, *asked, last]

    def standing(self, waiting: int, read: int) -> str:
        many = waiting + read - 2  # the rules and the closing page are no questions
        return f"{min(max(read - 1, 0), many)} of {many} questions answered"

    def prepare(self, desk: Desk, task: Task, person: Person) -> None:
        """Draws somebody's questions when they first come."""
        is_drawn = ("SELECT 1 FROM wanted WHERE task = ? AND level = ?", task.id, level_of(person))
        if desk.store.value(*is_drawn):
            return
        with desk.store.saving():
            if desk.store.value(*is_drawn):  # by the same person in another window, meanwhile
                return
            items, found = desk.work.items(task), dict[int, Unit]()
            for item in items:
                if (number := item.shown.get("unit")) is not None:
                    here = found.get(number) or Unit((), item.hidden["case"], item.hidden["specialty"])
                    found[number] = here._replace(items=(*here.items, item.number))
            own, chance = specialties(person.specialty), seeded("draw", task.settings["seed"], person.name)
            taken = drawn(found.values(), own, task.settings["cases"], task.settings["share"], chance)
            numbers = sorted(number for unit in taken for number in unit.items)
            desk.work.want(task, [items[0].number, *numbers, items[-1].number], level_of(person))
            desk.store.record(person.id, "draw sitting", task.id, items=numbers)

    def next(self, desk: Desk, task: Task, person: Person) -> int | None:
        said = {number for number, _, _ in desk.work.read_by(task, person)}
        return next((number for number in self._order(desk, task, person) if number not in said), None)

    def _order(self, desk: Desk, task: Task, person: Person) -> list[int]:
        rows = desk.store.row("SELECT min(number) AS rules, max(number) AS closing FROM items WHERE task = ?", task.id)
        assert rows is not None
        return [rows["rules"], *questions_of(desk, task, person), rows["closing"]]

    def may_begin(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        return item == self.next(desk, task, person)

    def may_return(self, desk: Desk, task: Task, item: int, person: Person) -> bool:
        """To a question that stands alone, until the sitting is over, if the task allows it."""
        if not task.settings["back"] or self.next(desk, task, person) is None:
            return False
        found = desk.work.item(task, item)
        return found is not None and found.shown["page"] == QUESTION and found.shown["stages"] == 1

    # what is asked

    def view(self, desk: Desk, task: Task, item: Item, person: Person, level: str) -> dict[str, Any]:
        order = questions_of(desk, task, person)
        if item.shown["page"] != QUESTION:
            return {"many": len(order), "rules": task.settings["rules"]}
        options = item.shown["question"].get("options")
        draft = desk.work.draft(task, item.number, person) or {}
        stages = range(item.number - item.shown["place"] + 1, item.number)  # those of a chain lie together
        earlier = [found for number in stages if (found := desk.work.item(task, number)) is not None]
        return {
            "many": len(order),
            "place": order.index(item.number) + 1,
            "options": [(index, options[index]) for index in option_order(task, person, item.number, len(options))]
            if options
            else [],
            "letters": LETTERS,
            "sure": SURE,
            "earlier": [
                (
                    STAGES.get(each.shown["stage"] or "", each.shown["question"]["prompt"]),
                    said_in_words(mine.said, each),
                )
                for each in earlier
                if (mine := desk.work.mine(task, each.number, person)) is not None
            ],
            "spent": _seconds((draft.get("seconds") or ["0"])[0]) or 0.0,
            "so_far": sum(map(spent, desk.work.verdicts(task, person=person))),
        }

    # what is said

    def read(self, form: FormData, item: Item) -> dict[str, Any]:
        page, shown = item.shown["page"], {key: value for key, value in form.items() if isinstance(value, str)}
        if page == RULES:
            return {"agreed": shown.get("agreed") == "yes"}
        if page == CLOSING:
            return {"ai": shown.get("ai", ""), "comment": shown.get("comment", "").strip()}
        sure = shown.get("confidence", "")
        told: dict[str, Any] = {"confidence": int(sure) / 100 if sure.isascii() and sure.isdigit() else None}
        told["seconds"] = _seconds(shown.get("seconds", ""))
        if "options" in item.shown["question"]:
            chosen = shown.get("option", "")
            return told | {"option": int(chosen) if chosen.isascii() and chosen.isdigit() else None}
        return told | {"answer": " ".join(shown.get("answer", "").split())}

    def form(self, said: Mapping[str, Any], item: Item) -> dict[str, list[str]]:
        if item.shown["page"] != QUESTION:
            return {}
        sure = said["confidence"]
        filled = {"confidence": [] if sure is None else [str(round(100 * sure))]}
        return filled | ({"option": [str(said["option"])]} if "option" in said else {"answer": [said["answer"]]})

    def checked(self, said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
        page = item.shown["page"]
        if page == RULES:
            if said.get("agreed") is not True:
                raise WardroundError("the sitting begins when you agree to its rules")
            return {"agreed": True, "rules": task.settings["rules"]}
        if page == CLOSING:
            ai, comment = said.get("ai"), said.get("comment", "")
            if ai not in ("no", "yes"):
                raise WardroundError("say whether you used an AI tool")
            if not isinstance(comment, str) or len(comment) > LONGEST:
                raise WardroundError(f"a comment has at most {LONGEST:,} characters")
            return {"ai": ai, "comment": comment}
        return _answer(said, task, item)

    def label(self, said: Mapping[str, Any]) -> str | None:
        return LETTERS[said["option"]] if "option" in said else None

    def told(self, said: Mapping[str, Any], item: Item) -> Markup:
        if "agreed" in said:
            return Markup("<p>Agreed to the rules.</p>")
        if "ai" in said:
            used = "Used no AI tool." if said["ai"] == "no" else "Used an AI tool."
            return Markup("<p>{} {}</p>").format(used, said["comment"])
        sure = "" if said["confidence"] is None else f", {said['confidence']:.0%} sure"
        return Markup("<p>{}{}</p>").format(said_in_words(said, item), sure)

    # what comes of it

    def notes(self, desk: Desk, task: Task, person: Person) -> list[Part]:
        return [Part("Rules of the sitting", Markup('<p class="text">{}</p>').format(task.settings["rules"]))]

    def parts(self, desk: Desk, task: Task) -> list[Part]:
        return [Part("Sittings", render("exam_sittings.html", sittings=sittings(desk, task), task=task))]

    def exports(self) -> Sequence[Export]:
        return (
            Export("answers.csv", "of those who finished without an AI tool: a candidate in any run", _confirmed),
            Export("answers-all.csv", "of everybody, those who have not finished too", _all),
            Export("sittings.jsonl", "who sat when, under which rules, and what they confirmed", _sittings),
        )


def said_in_words(said: Mapping[str, Any], item: Item) -> str:
    return str(item.shown["question"]["options"][said["option"]] if "option" in said else said["answer"])


def _asked(case: Case, condition: Condition, kinds: str) -> list[Question]:
    """Questions that can be put to people as they are; copies of a question that degrade its images are left out."""
    return [
        question
        for question in case.questions
        if kinds in ("all", question.kind) and not question.degradations and why_not(case, question, condition) is None
    ]


def _new(
    case: Case, question: Question, condition: Condition, name: str, unit: int, stage: int, stages: int
) -> NewItem:
    history, _ = told(case, condition)
    asked: dict[str, Any] = {"prompt": question.prompt}
    if question.options is not None:
        asked["options"] = question.options
    shown: dict[str, Any] = {"page": QUESTION, "unit": unit, "place": stage, "stages": stages, "stage": question.stage}
    shown |= {"history": history, "findings": case.findings, "question": asked}
    hidden = {"case": case.id, "question": question.id, "gold": question.gold, "specialty": case.specialty}
    pictures = tuple(NewImage(str(n), case.images[n]) for n in shown_images(case, question, condition))
    return NewItem(name, case.specialty or "no specialty", shown, {}, hidden, 0, pictures)


def _answer(said: Mapping[str, Any], task: Task, item: Item) -> dict[str, Any]:
    sure, seconds, options = said.get("confidence"), said.get("seconds"), item.shown["question"].get("options")
    kept: dict[str, Any] = {"confidence": None, "seconds": None}
    if task.settings["confidence"]:
        if type(sure) not in (int, float) or not 0 <= sure <= 1:  # type: ignore[operator]
            raise WardroundError("say how sure you are")
        kept["confidence"] = float(sure)  # type: ignore[arg-type]
    if type(seconds) in (int, float) and 0 <= seconds < A_DAY:  # type: ignore[operator]
        kept["seconds"] = float(seconds)  # type: ignore[arg-type]
    if options is not None:
        option = said.get("option")
        if type(option) is not int or not 0 <= option < len(options):
            raise WardroundError("choose an option")
        return {"option": option, **kept}
    answer = said.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        raise WardroundError("write an answer")
    if len(answer) > LONGEST:
        raise WardroundError(f"an answer has at most {LONGEST:,} characters")
    return {"answer": answer, **kept}


def _seconds(text: str) -> float | None:
    try:
        return round(float(text), 1)
    except ValueError:
        return None


def _confirmed(desk: Desk, task: Task) -> bytes:
    return answers(desk, task, confirmed=True)


def _all(desk: Desk, task: Task) -> bytes:
    return answers(desk, task, confirmed=False)


def _sittings(desk: Desk, task: Task) -> bytes:
    return jsonl(each._asdict() for each in sittings(desk, task))
