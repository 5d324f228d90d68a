"""The skills of questions that no plain label places: a named model chooses one of the 30, people review its choices.

A question whose capability is known is offered the skills of that capability alone. The paper does not say how it
sorted its questions. Our choice.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from wardround.building.pipeline.models import BuildModels
from wardround.building.sources.medq_deg.skills import SkillPlace, hierarchy, skill_fields
from wardround.cases.set import CaseSet
from wardround.core.case import Question
from wardround.core.text import option_letter

ROLE = PROMPT = "skill"
QUEUE = "skills"  # the review queue
BY_MODEL = "skill_from"  # a field of questions whose skill a model chose
Key = tuple[str, str]  # case and question


@dataclass
class ModelSkills:
    """The places that the model chose, by question, and the lines of the review queue."""

    places: dict[Key, SkillPlace] = field(default_factory=dict)
    queue: list[dict[str, Any]] = field(default_factory=list)

    def complete(self, case: str, question: Question) -> Question:
        """A question without a skill with the one that the model chose, if it chose one."""
        place = self.places.get((case, question.id))
        if place is None:
            return question
        fields = {"skill": place.skill, "capability": place.capability, "task": place.ability, BY_MODEL: "model"}
        if question.skill:  # the source's own name, which is none of the 30
            fields["label"] = (question.model_extra or {}).get("label") or question.skill
        return Question.model_validate(question.model_dump(exclude_unset=True) | fields)

    def write_queue(self, folder: Path) -> None:
        """Writes review/skills.jsonl, if there is anything to review."""
        if self.queue:
            (folder / "review").mkdir(exist_ok=True)
            lines = b"".join(orjson.dumps(line) + b"\n" for line in self.queue)
            (folder / "review" / f"{QUEUE}.jsonl").write_bytes(lines)


def choose_skills(pool: CaseSet, kept: Iterable[Key], models: BuildModels) -> ModelSkills:
    """Asks the model of the role `skill` about every kept question that has no skill; without one nothing is asked."""
    if not models.has(ROLE):
        return ModelSkills()
    questions = dict(_without_skill(pool, set(kept)))
    slots = {_record(key): _slots(question) for key, question in questions.items()}
    replies = models.ask(ROLE, PROMPT, slots, max_tokens=24).answers
    chosen = ModelSkills()
    for key, question in questions.items():
        place = read_skill(replies.get(_record(key), ""), question)
        if place is not None:
            chosen.places[key] = place
        chosen.queue.append(_review_line(key, question, place))
    return chosen


def offered_skills(question: Question) -> list[SkillPlace]:
    """All 30 places, or those of the question's capability if its label gives that."""
    fields, _ = skill_fields(question)
    places = list(hierarchy().skills.values())
    return [place for place in places if place.capability == fields.get("capability", place.capability)]


def read_skill(reply: str, question: Question) -> SkillPlace | None:
    """The offered skill that a reply names, alone on its line; None if it names none or several."""
    text = " ".join(reply.casefold().split()).strip(" .*\"'`-")
    offered = {str(place.skill).casefold(): place for place in offered_skills(question)}
    if text in offered:
        return offered[text]
    named = [name for name in offered if name in text]
    longest = [name for name in named if not any(name != other and name in other for other in named)]
    return offered[longest[0]] if len(longest) == 1 else None


def _without_skill(pool: CaseSet, kept: set[Key]) -> Iterator[tuple[Key, Question]]:
    for case in pool:
        for question in case.questions:
            if (case.id, question.id) in kept and "skill" not in skill_fields(question)[0]:
                yield (case.id, question.id), question


def _record(key: Key) -> str:
    return "\n".join(key)


def _slots(question: Question) -> dict[str, str]:
    options = question.options or []
    return {
        "question": question.prompt,
        "options": "\n".join(f"{option_letter(place)}. {text}" for place, text in enumerate(options)),
        "answer": options[int(question.gold)] if options else str(question.gold),
        "label": _label(question) or "none",
        "skills": "\n".join(f"- {place.skill} ({place.capability})" for place in offered_skills(question)),
    }


def _label(question: Question) -> str:
    return str((question.model_extra or {}).get("label") or question.skill or question.capability or "")


def _review_line(key: Key, question: Question, place: SkillPlace | None) -> dict[str, Any]:
    shown = {"prompt": question.prompt, "options": question.options, "gold": question.gold, "label": _label(question)}
    chosen = {"skill": place.skill, "capability": place.capability} if place else {"skill": None}
    return {"id": key[0], "question": key[1], **shown, **chosen}
