"""Rubric criteria: does an answer meet each criterion of its rubric? Blind to candidate, judge and points.

The labels of all readers are for `wardround judge criteria`. What a reader did not judge is not a label.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.asking.tellings import resolve_telling, shown_modalities
from wardround.core.canonical import blake
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import BadInput, WardroundError
from wardround.desk.auth.accounts import PHYSICIANS, STUDENT, Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, NewItem, Task
from wardround.desk.results.agreement import ALL, LabelAgreement, batch_agreements, latest_verdicts
from wardround.desk.results.export import to_csv
from wardround.desk.tasks.one_choice import balanced_sample
from wardround.desk.tasks.sent_images import image_changes, run_image_folder, sent_images
from wardround.desk.tasks.task_kind import Export, PageSection, Setting, TaskKind, checked_comment
from wardround.marking.judges.judge import answer_key, is_probe, scored_answers
from wardround.marking.marks import MARK_KEY, MARKS_FILE
from wardround.marking.parser.clean import clean_reply

STATE = "is:"  # before the id of a criterion in the form
STATES = {"yes": True, "no": False}  # not judged: neither
WORDS = {True: "met", False: "not met", None: "not judged"}
KEYS = "asdfghjklqwertuioxcvbm1234567890"  # of the criteria in their order; not Z, P, N, which the page uses
COLUMNS = ("candidate", "case", "question", "condition", "trial", "criterion", "met", "reader", "time")


class RubricReply(NamedTuple):
    """An answer of a run to a rubric question, with what was shown."""

    key: tuple[Any, ...]
    case: Case
    question: Question
    condition: Condition
    text: str
    has_images: bool


class RubricCriteria(TaskKind):
    name = "criteria"
    title = "Rubric criteria"
    summary = "Does an answer meet each criterion of its rubric? For wardround judge criteria."
    source = "A run with rubric questions, its marks (marks.parquet) and its answers"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("readers", "Readers of each answer", 2),
        Setting("many", "Answers to draw", 50, "Evenly from the candidates. 0: all."),
        Setting("seed", "Seed of the draw", 0),
    )
    template = "tasks/criteria.html"
    classes = False

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if settings["readers"] < 1:
            raise WardroundError("each answer needs a reader")
        if not (source / MARKS_FILE).is_file():
            raise BadInput(source, "is not a run with marks")
        replies, can_show = _read_replies(source, root)
        if not replies:
            raise BadInput(source, "has no answer to a rubric question")
        sample = balanced_sample(replies, lambda reply: str(reply.key[0]), settings["many"], settings["seed"])
        return [_new_item(reply, settings["readers"], can_show) for reply, _ in sample]

    def image_folder(self, source: Path, root: Path) -> Path:
        return run_image_folder(source, root)

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        return {"keys": KEYS}

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        criteria = {id: STATES.get(str(form.get(STATE + id))) for id in _criterion_ids(item)}
        return {"criteria": criteria, "comment": str(form.get("comment") or "").strip()}

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        states = {value: state for state, value in STATES.items()}
        filled = {STATE + id: [states[met]] for id, met in said["criteria"].items() if met is not None}
        return filled | {"comment": [said["comment"]]}

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        criteria, comment = said.get("criteria"), checked_comment(said)
        if not isinstance(criteria, dict) or set(criteria) != set(_criterion_ids(item)):
            raise WardroundError("answer the criteria of this rubric: an object with each criterion's id")
        if not all(met is None or isinstance(met, bool) for met in criteria.values()):
            raise WardroundError("answer each criterion with true, false or null (not judged)")
        if all(met is None for met in criteria.values()) and not comment:
            raise WardroundError("judge at least one criterion, or write why none can be judged")
        return {"criteria": criteria, "comment": comment}

    def label(self, said: Mapping[str, Any]) -> str | None:
        return None

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        lines = Markup("<br>").join(
            Markup("{}: {}").format(criterion["text"], WORDS[said["criteria"][criterion["id"]]])
            for criterion in item.shown["criteria"]
        )
        return lines + (Markup("<br>{}").format(said["comment"]) if said["comment"] else "")

    def sections(self, desk: Desk, task: Task) -> list[PageSection]:
        agreements, counts = criterion_agreement(desk, task), _count_states(desk, task)
        context = {"agreements": agreements, "counts": {words: counts[met] for met, words in WORDS.items()}}
        return [PageSection.render("Agreement on criteria", "tasks/criteria_agreement.html", **context)]

    def exports(self) -> Sequence[Export]:
        about = "for wardround judge criteria RUN --labels; one line for each reader and criterion judged"
        return (Export("labels.csv", about, _labels),)


def criterion_agreement(desk: Desk, task: Task) -> list[LabelAgreement]:
    """Agreement of the readers on single criteria, met or not; the first reading of each person counts."""
    labels: dict[tuple[int, str], dict[str, str]] = {}
    for verdict in desk.tasks.verdicts(task):
        for id, met in verdict.said["criteria"].items():
            if met is not None:
                labels.setdefault((verdict.item, id), {}).setdefault(verdict.reader, WORDS[met])
    return batch_agreements({ALL: list(labels.values())})


def _count_states(desk: Desk, task: Task) -> Counter[bool | None]:
    verdicts = latest_verdicts(desk.tasks.verdicts(task)).values()
    said = (verdict.said for by_reader in verdicts for verdict in by_reader.values())
    return Counter(met for verdict in said for met in verdict["criteria"].values())


def _read_replies(source: Path, root: Path) -> tuple[list[RubricReply], bool]:
    """The rubric answers of a run, and whether its case set is below the desk's folder."""
    from wardround.running.stored_run import StoredRun
    from wardround.running.used_answers import scan_used

    with StoredRun.open(source) as run:
        run.verify_inputs(accept=False, as_marked=True)
        run.refuse_fewer(source / MARKS_FILE)
        conditions = {condition.json: condition for condition in run.study.all_conditions}
        blind = {candidate.name for candidate in run.study.candidates if not candidate.sees}
        replies = []
        for row, case, question in scored_answers(scan_used(source), run.cases):
            if question.kind != "rubric" or is_probe(row["condition"]):
                continue
            answer = run.store.get(answer_key(row))
            if answer is None or answer.refused_for is not None or not (text := clean_reply(answer.text)):
                continue
            key = tuple(row[name] for name in MARK_KEY)
            is_blind = row["candidate"] in blind
            condition = conditions[row["condition"]]
            has_images = not is_blind and bool(shown_modalities(case, question, condition))
            replies.append(RubricReply(key, case, question, condition, text, has_images))
        return replies, run.cases.folder.resolve().is_relative_to(root.resolve())


def _new_item(reply: RubricReply, readers: int, can_show: bool) -> NewItem:
    case, question, condition = reply.case, reply.question, reply.condition
    history, _ = resolve_telling(case, condition)
    images = sent_images(case, question, condition) if reply.has_images else ()
    shown = {
        "history": history if condition.shows("history") else None,
        "findings": case.findings if condition.shows("findings") else None,
        "conversation": [{"role": message.role, "content": message.content} for message in question.conversation],
        "prompt": question.prompt,
        "answer": reply.text,
        "criteria": [{"id": criterion.id, "text": criterion.text} for criterion in question.criteria],
        "sent_images": len(images),
        "changes": image_changes(question, condition) if images else "",
    }
    digest = blake(list(map(str, reply.key))).hex()[:8]  # does not reveal the candidate
    name, hidden = f"{case.id}/{question.id} {digest}", {"place": dict(zip(MARK_KEY, reply.key, strict=True))}
    return NewItem(name, "answers", shown, {"reader": readers}, hidden, images=images if can_show else ())


def _criterion_ids(item: DeskItem) -> list[str]:
    return [criterion["id"] for criterion in item.shown["criteria"]]


def _label_rows(desk: Desk, task: Task) -> Iterator[dict[str, Any]]:
    verdicts_by_item = latest_verdicts(desk.tasks.verdicts(task))
    for item in desk.tasks.list_items(task):
        for reader, verdict in verdicts_by_item.get(item.number, {}).items():
            for id, met in verdict.said["criteria"].items():
                if met is not None:
                    label = {"criterion": id, "met": WORDS[met], "reader": reader, "time": verdict.time}
                    yield item.hidden["place"] | label


def _labels(desk: Desk, task: Task) -> bytes:
    return to_csv(_label_rows(desk, task), COLUMNS)
