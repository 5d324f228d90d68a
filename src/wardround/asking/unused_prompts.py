"""Files of a study's own folder of prompts that nothing in the study can use: a misspelt name, or another kind."""

from collections.abc import Iterator, Set
from pathlib import Path

from wardround.asking.prompt_slots import IMAGES
from wardround.asking.prompts import SHARED, prompt_kind
from wardround.core.condition import DEFAULTS
from wardround.core.errors import BadInput
from wardround.core.study import Study

JUDGE_KINDS = ("same", "support", "error", f"error{IMAGES}")


def find_unused(study: Study, folder: Path, question_kinds: Set[str], rendered: Set[str]) -> list[str]:
    """The files of the folder that no prompt of the study uses; refused if all are such.

    `question_kinds` are those of the questions that the study asks, and `rendered` the prompts (NAME/KIND) of the Asks
    that are known before the first is sent: a file for images is used if one of these, or an agent, shows images.
    """
    usable = set(_usable(study, question_kinds, rendered))
    kinds = {prompt.rpartition("/")[2] for prompt in usable}
    flat, named = sorted(folder.glob("*.txt")), sorted(folder.glob("*/*.txt"))
    unused = [file.name for file in flat if file.stem not in kinds]
    unused += [f"{file.parent.name}/{file.name}" for file in named if f"{file.parent.name}/{file.stem}" not in usable]
    if unused and len(unused) == len(flat) + len(named):
        expected = ", ".join(f"{prompt}.txt" for prompt in sorted(usable))
        raise BadInput(folder, f"no prompt of this study uses {', '.join(unused)}; it could use {expected}")
    return unused


def _usable(study: Study, question_kinds: Set[str], rendered: Set[str]) -> Iterator[str]:
    for condition in study.all_conditions:
        for kind in question_kinds:
            yield f"{condition.prompt}/{prompt_kind(kind, condition)}"
            with_images = f"{condition.prompt}/{prompt_kind(kind, condition, shows_images=True)}"
            if with_images in rendered or condition.evidence == "agent":
                yield with_images
        if condition.evidence != DEFAULTS["evidence"] or condition.probe != DEFAULTS["probe"]:
            yield from (f"{condition.prompt}/{kind}" for kind in SHARED)
    if study.judge is not None and not study.judge.is_rule:
        yield from (f"judge/{kind}" for kind in JUDGE_KINDS)
    if study.reader is not None:
        yield "reader/option"
