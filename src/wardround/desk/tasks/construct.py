"""Construction (ClinBench): a person writes a question from a case report, point by point of the instructions.

The points follow ClinBench's two guidelines for constructors, in our words. What is written is checked by rules: enough
options, none of which overlap, and no stem that names the diagnosis. The files go to a review as any case set does.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData

from wardround.building.distractors.options import clean_name, names_overlap
from wardround.building.sources.pmc.options import PROMPT, patient_of
from wardround.building.text.redact import find_revealed_name
from wardround.cases.images.recipe import RASTER_SUFFIXES
from wardround.cases.readers.clinbench import SPECIALTIES
from wardround.core.case import Image, drop_empty
from wardround.core.errors import BadInput, WardroundError
from wardround.core.random import seeded
from wardround.core.text import LETTERS
from wardround.desk.auth.accounts import PHYSICIANS, STUDENT, Person
from wardround.desk.desk import Desk
from wardround.desk.records import DeskItem, NewImage, NewItem, Task
from wardround.desk.results.agreement import latest_verdicts
from wardround.desk.results.export import to_jsonl
from wardround.desk.source_text import MARKUP, source_text
from wardround.desk.tasks.task_kind import Export, Setting, TaskKind, checked_comment

WRITE, DISCARD = "write", "discard"
MAX_STEM, MAX_NAME = 50_000, 300
TEXT_POINTS = {
    "sections": "The stem has the report's patient information and test results, close to its own words.",
    "described": "It says in words what the images show, so that it needs none of them.",
    "complete": "It is accurate and clear, and enough for a diagnosis.",
    "silent": "It tells neither the diagnosis nor what came after it.",
    "gold": "The right answer is the report's final diagnosis, stated precisely.",
    "considered": "The other options are those that the report considers; further ones are plausible here.",
    "distinct": "Exactly one option is right, and no two mean the same or include each other.",
    "style": "All options are written in one style.",
}
IMAGE_POINTS = {
    "fitting": "Each chosen image shows what the stem refers to, and is clear enough to be read.",
    "removed": "What the images show is taken out of the second stem, which refers to each (“shown in Figure 1”).",
    "still_complete": "With its images the second stem is complete and clear.",
}


class Construct(TaskKind):
    name = "construct"
    title = "Construction"
    summary = "Questions are written from case reports by a checklist, or the report is discarded. For ClinBench."
    source = "A folder of reports: NAME.txt, .md, .html or .xml, and the images of each in a folder NAME"
    roles = (STUDENT, *PHYSICIANS)
    settings = (
        Setting("options", "Options, at least", 6, "ClinBench's minimum."),
        Setting("seed", "Seed of the order of options", 0),
    )
    template = "tasks/construct.html"

    def make_items(self, source: Path, settings: Mapping[str, Any], root: Path) -> list[NewItem]:
        if not 2 <= settings["options"] <= len(LETTERS):
            raise WardroundError(f"a question has 2 to {len(LETTERS)} options")
        if not source.is_dir():
            raise BadInput(source, "is not a folder of reports")
        return [_new_item(source, name, text) for name, text in _reports(source)]

    def template_context(self, desk: Desk, task: Task, item: DeskItem, person: Person, level: str) -> dict[str, Any]:
        points = TEXT_POINTS | (IMAGE_POINTS if item.shown["images"] else {})
        return {"points": points, "image_points": IMAGE_POINTS, "specialties": SPECIALTIES.values(), "prompt": PROMPT}

    def parse_form(self, form: FormData, item: DeskItem) -> dict[str, Any]:
        fields = {key: value for key, value in form.items() if isinstance(value, str)}
        return {
            "decision": fields.get("decision", ""),
            "stem": fields.get("stem", "").strip(),
            "image_stem": fields.get("image_stem", "").strip(),
            "images": sorted(int(text) for text in form.getlist("image") if isinstance(text, str) and text.isdigit()),
            "diagnosis": clean_name(fields.get("diagnosis", "")),
            "others": [name for line in fields.get("others", "").splitlines() if (name := clean_name(line))],
            "specialty": fields.get("specialty", ""),
            "is_rare": fields.get("is_rare") == "yes",
            "points": [name for name in form.getlist("point") if isinstance(name, str)],
            "comment": fields.get("comment", "").strip(),
        }

    def fill_form(self, said: Mapping[str, Any], item: DeskItem) -> dict[str, list[str]]:
        single = {
            name: [said[name]] for name in ("decision", "stem", "image_stem", "diagnosis", "specialty", "comment")
        }
        lists = {"image": [str(number) for number in said["images"]], "point": list(said["points"])}
        return single | lists | {"others": ["\n".join(said["others"])], "is_rare": ["yes"] if said["is_rare"] else []}

    def check(self, said: Mapping[str, Any], task: Task, item: DeskItem) -> dict[str, Any]:
        comment = checked_comment(said)
        empty = self.parse_form(FormData(), item)
        checked: dict[str, Any] = empty | {name: value for name, value in said.items() if name in empty}
        if wrong := [name for name, value in checked.items() if type(value) is not type(empty[name])]:
            raise WardroundError(f"{wrong[0]} is not of the kind that the form has")
        if checked["decision"] == DISCARD:
            if not comment:
                raise WardroundError("say in the comment why the report is discarded")
            return empty | {"decision": DISCARD, "comment": comment}
        if checked["decision"] != WRITE:
            raise WardroundError("choose whether the question is written or the report discarded")
        _check_question(checked, task.settings["options"])
        _check_images(checked, item.shown["images"])
        wanted = TEXT_POINTS | (IMAGE_POINTS if checked["images"] else {})
        if left := [words for name, words in wanted.items() if name not in checked["points"]]:
            raise WardroundError(f"go through the whole checklist; not ticked: {left[0]}")
        return checked

    def label(self, said: Mapping[str, Any]) -> str | None:
        return str(said["decision"])

    def render_verdict(self, said: Mapping[str, Any], item: DeskItem) -> Markup:
        if said["decision"] == DISCARD:
            return Markup("<p>Discarded: {}</p>").format(said["comment"])
        options = Markup("").join(Markup("<li>{}</li>").format(name) for name in said["others"])
        return Markup('<p class="text">{}</p><p>Right: <b>{}</b></p><ul>{}</ul>').format(
            said["stem"], said["diagnosis"], options
        )

    def exports(self) -> Sequence[Export]:
        return (
            Export("cases.jsonl", "a case set, beside the images of the reports; then a review", _cases_jsonl),
            Export("clinbench.jsonl", "the same as ClinBench's records, one for each telling", _records_jsonl),
        )


def _reports(folder: Path) -> Iterator[tuple[str, str]]:
    """The name and text of each report of a folder."""
    names = {file.stem for file in folder.iterdir() if file.suffix.lower() in (".txt", ".md", *MARKUP)}
    for name in sorted(names):
        if (text := source_text(folder, name)) is not None and text.strip():
            yield name, text


def _new_item(folder: Path, name: str, text: str) -> NewItem:
    below = folder / name
    files = sorted(file for file in below.iterdir() if file.suffix.lower() in RASTER_SUFFIXES) if below.is_dir() else []
    paths = [file.relative_to(folder).as_posix() for file in files]
    pictures = tuple(NewImage(str(number), Image(path=path)) for number, path in enumerate(paths))
    return NewItem(name, "reports", {"text": text, "images": paths}, {"reader": 1}, {}, 0, pictures)


def _check_question(said: Mapping[str, Any], fewest: int) -> None:
    stem, diagnosis = said["stem"], said["diagnosis"]
    if not 0 < len(stem) <= MAX_STEM:
        raise WardroundError(f"write the stem, in at most {MAX_STEM:,} characters")
    if not diagnosis:
        raise WardroundError("write the diagnosis, and the other options one a line")
    options = [diagnosis, *said["others"]]
    if not all(isinstance(name, str) and 0 < len(name) <= MAX_NAME for name in options):
        raise WardroundError(f"an option is a name of at most {MAX_NAME} characters")
    if not fewest <= len(options) <= len(LETTERS):
        raise WardroundError(f"there are {len(options)} options; a question has {fewest} to {len(LETTERS)}")
    for number, one in enumerate(options):
        for other in options[number + 1 :]:
            if names_overlap(one, other):
                raise WardroundError(f"two options overlap: “{one}” and “{other}”")
    for text in (stem, said["image_stem"]):
        if name := find_revealed_name(text, [diagnosis]):
            raise WardroundError(f"the stem names the diagnosis: “{name}”")
    if said["specialty"] not in ("", *SPECIALTIES.values()):
        raise WardroundError("choose a specialty of the list, or none")


def _check_images(said: Mapping[str, Any], paths: Sequence[str]) -> None:
    images, stem = said["images"], said["image_stem"]
    if not all(type(number) is int and 0 <= number < len(paths) for number in images):
        raise WardroundError("an image that the report does not have was chosen")
    if len(stem) > MAX_STEM or bool(images) != bool(stem):
        raise WardroundError("a stem with images needs at least one chosen image, and chosen images need that stem")


def _written(desk: Desk, task: Task) -> Iterator[tuple[DeskItem, dict[str, Any], dict[str, Any]]]:
    """Each report that became a question: the item, what was written, and its options with the right one's index."""
    verdicts = latest_verdicts(desk.tasks.verdicts(task))
    for item in desk.tasks.list_items(task):
        latest = max(verdicts.get(item.number, {}).values(), key=lambda verdict: verdict.id, default=None)
        if latest is None or latest.said["decision"] != WRITE:
            continue
        said = dict(latest.said)
        options = [said["diagnosis"], *said["others"]]
        seeded("options", task.settings["seed"], item.name).shuffle(options)
        yield item, said, {"options": options, "gold": options.index(said["diagnosis"])}


def _cases_jsonl(desk: Desk, task: Task) -> bytes:
    return to_jsonl(_case(item, said, choice) for item, said, choice in _written(desk, task))


def _case(item: DeskItem, said: Mapping[str, Any], choice: Mapping[str, Any]) -> dict[str, Any]:
    tellings: dict[str, Any] = {"text": {"history": said["stem"], "images": []}}
    if said["images"]:
        tellings["multimodal"] = {"history": said["image_stem"], "images": list(range(len(said["images"])))}
    return drop_empty(
        {
            "id": item.name,
            "specialty": said["specialty"],
            "tags": ["rare"] if said["is_rare"] else None,
            "origin": {"name": "construction"},
            "patient": patient_of(said["stem"]),
            "history": said["stem"],
            "images": [{"path": item.shown["images"][number]} for number in said["images"]],
            "tellings": tellings,
            "questions": [{"id": "mcq", "kind": "choice", "prompt": PROMPT, **choice}],
        }
    )


def _records_jsonl(desk: Desk, task: Task) -> bytes:
    return to_jsonl(record for written in _written(desk, task) for record in _records(*written))


def _records(item: DeskItem, said: Mapping[str, Any], choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A record for the telling in text, and one for that with images."""
    options = "\n".join(f"{letter}. {name}" for letter, name in zip(LETTERS, choice["options"], strict=False))
    shared = {"options": options, "answer": LETTERS[choice["gold"]], "specialty": said["specialty"]}
    yield {"id": f"ClinBench-text-{item.name}", "question_stem": f"{said['stem']}\n{PROMPT}", **shared}
    if said["images"]:
        images = [item.shown["images"][number] for number in said["images"]]
        stem = f"{said['image_stem']}\n{PROMPT}"
        yield {"id": f"ClinBench-mm-{item.name}", "question_stem": stem, **shared, "image": images}
