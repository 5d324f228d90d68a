"""A study as a task of Inspect: a sample per question and condition, an epoch per trial."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wardround.benchmarks.engine.inventory import SetInventory
from wardround.benchmarks.engine.literature import needs_literature
from wardround.benchmarks.engine.named_study import NamedStudy
from wardround.benchmarks.engine.study_file import study_settings
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError
from wardround.core.study import Study, parse_study
from wardround.degrade.types import parse_type
from wardround.exporting.inspect_tasks.marks_scorer import Figure, make_scorer
from wardround.exporting.inspect_tasks.samples import make_samples, make_solver
from wardround.exporting.single_asks import CANDIDATE, IN_CHAIN, SingleAsks

AXES_OF_SERVERS = {
    "probe": "asks for log-likelihoods of texts",
    "reasoning": "switches the reasoning of servers",
}


def refusal_reason(study: NamedStudy) -> str | None:
    """Why a named study cannot be a task, whatever the case set; None if it can."""
    definition = study.definition
    if definition.unavailable_reason:
        return definition.unavailable_reason
    if definition.drawn_from == "sets":
        return "is over several case sets"
    if definition.put is None:
        return "describes a case set and asks nothing"
    if needs_literature(definition.put):
        return "searches literature or shows it"
    if definition.put.errors:
        return "needs a judge that is a model"
    return next((reason for axis, reason in AXES_OF_SERVERS.items() if axis in definition.put.conditions), None)


def named_study_task(
    study: NamedStudy, source: str | None, type: str | None = None, trials: int | None = None, carry: str | None = None
) -> Any:
    """The task of a named study on the case set `source`.

    `type` is the degradation of its doses, `trials` another number of epochs, and `carry = "gold"` gives the stages of
    chains the right earlier answers, so that each is a question of its own.
    """
    if reason := refusal_reason(study):
        raise WardroundError(f"{study.name} {reason}: Inspect cannot ask it; run wardround bench {study.name}")
    if source is None:
        raise WardroundError(f"{study.name} needs a case set: -T cases=DIR")
    if study.template.doses:
        if type is None:
            raise WardroundError(f"{study.name} needs a type of degradation: -T type=gaussian_noise")
        type = parse_type(type)
    cases = CaseSet.open(source)
    inventory = SetInventory.from_cases(cases)
    is_stored = inventory.has("degraded", "stored") and not inventory.has("degraded", "assigned")
    candidates = [CANDIDATE.model_dump(include={"name", "provider"})]
    options: dict[str, Any] = {"trials": trials, "type": type, "stored": is_stored, "carry": carry}
    settings = study_settings(study.name, study.template, cases.folder, candidates, **options)
    figures = [
        Figure(column.measure, column.slice, column.by) for column in study.definition.columns if not column.minus
    ]
    return study_task(parse_study(settings, cases.file), cases, study.name, figures)


def study_task(study: Study, cases: CaseSet, name: str, figures: Iterable[Figure] = ()) -> Any:
    """The task of a study; chains are refused, because their answers depend on each other."""
    from inspect_ai import Epochs, Task
    from inspect_ai.model import GenerateConfig

    asks = SingleAsks(study, cases, ("choice", "open") if study.judge is not None else ("choice",))
    samples = make_samples(asks)
    if count := asks.left_out[IN_CHAIN]:
        raise WardroundError(
            f"{name}: {count} questions belong to chains: Inspect cannot ask them; run wardround bench, or give right "
            "earlier answers by -T carry=gold"
        )
    if not samples:
        reasons = "; ".join(f"{count} x {reason}" for reason, count in asks.left_out.most_common())
        raise WardroundError(f"{name}: {cases.file} has nothing that it can ask: {reasons or 'no such questions'}")
    sampling = study.sampling
    asked_by_id = {id: asked for id, (asked, _) in samples.items()}
    return Task(
        dataset=[sample for _, sample in samples.values()],
        solver=make_solver(asks, asked_by_id),
        scorer=make_scorer(asks, asked_by_id, list(figures)),
        epochs=Epochs(study.trials),
        config=GenerateConfig(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            max_tokens=sampling.max_tokens,
            stop_seqs=sampling.stop,
        ),
        metadata={"wardround": name, "left_out": dict(asks.left_out)},
    )
