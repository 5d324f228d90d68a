"""A named study as the study file that `wardround run` reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from wardround.benchmarks.engine.literature import available_conditions
from wardround.benchmarks.engine.named_study import StudyTemplate
from wardround.candidates.http.secrets import refuse_literal_secrets
from wardround.core.condition import DEFAULTS
from wardround.core.study import parse_study


def study_settings(
    name: str,
    template: StudyTemplate,
    cases: Path,
    candidates: list[dict[str, Any]],
    *,
    trials: int | None = None,
    judge: Mapping[str, Any] | None = None,
    type: str | None = None,
    stored: bool = False,
    logprobs: bool = False,
    carry: str | None = None,
    image_size: str | None = None,
    literature: Mapping[str, Any] | None = None,
    prompts: Path | None = None,
    parser: str | None = None,
) -> dict[str, Any]:
    """The whole study file as a table: what the paper fixes, with these cases and candidates.

    `type` is the degradation whose doses are asked, if the study has doses. `stored`: all degraded images of
    the set are stored. `logprobs`: votes are expected from one request's log-probabilities. `carry`: which earlier
    answers a stage of a chain is given. `image_size`: `native` sends large images as they are. `prompts`: a
    folder of prompt files used before ours. `parser`: of choices, instead of the study's own.
    """
    fixed = template.model_dump(exclude_none=True, exclude_unset=True)
    conditions = available_conditions(template, literature) if literature is not None else dict(template.conditions)
    if template.doses:
        conditions["degradation"] = ["none", *(f"{type}@{dose:g}" for dose in template.doses)]
    elif conditions.get("degradation") == ["assigned"] and stored:
        conditions["degradation"] = ["stored"]
    if logprobs:
        conditions["confidence"] = ["logprobs"]
    other_carry = carry if carry != DEFAULTS["carry"] else None
    if other_carry is not None:
        conditions["carry"] = [other_carry]
    suffixes = [*([type] if template.doses and type else []), *(["logprobs"] if logprobs else [])]
    suffixes += [f"carry-{other_carry}"] if other_carry is not None else []
    suffixes += [image_size] if image_size == "native" else []
    errors = {"errors": True} if template.errors else {}
    settings = {
        "name": "-".join([*name.split("/"), *suffixes]),
        "cases": str(cases.absolute()),
        "questions": template.questions,
        "trials": trials or template.trials,
        "sampling": template.sampling.explicit_sampling,
        "severities": template.severities,
        "prompts": str(prompts.expanduser().absolute()) if prompts is not None else None,
        "parser": parser or template.parser,
        "image_size": image_size,
        "conditions": conditions,
        "literature": literature,
        "judge": {**judge, **errors} if judge is not None else fixed.get("judge"),
        "comparisons": fixed.get("comparisons"),
        "candidates": candidates,
    }
    return {key: value for key, value in settings.items() if value}


def write_study(settings: Mapping[str, Any], file: Path, comment: str = "") -> None:
    """Writes a study file; a mistake in the settings is raised before anything is written."""
    study = parse_study(dict(settings), file)
    for candidate in [*study.candidates, *filter(None, [study.judge, study.reader])]:
        refuse_literal_secrets(candidate)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"# {comment}\n" * bool(comment) + tomli_w.dumps(settings), encoding="utf-8")
