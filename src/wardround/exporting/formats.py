"""The formats of `wardround export`: what each makes of a case set and of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from wardround.core.errors import BadInput, WardroundError

Writer = Callable[..., list[Path]]  # source, destination and what the format takes -> the files written


@dataclass(frozen=True)
class Format:
    """A format by the places of its writers, `module:function`, which are imported when they are used."""

    cases: str | None = None
    run: str | None = None
    takes: tuple[str, ...] = ()  # further arguments of its writers: `dataset`, `note`


FORMATS = {
    "vlmevalkit": Format("vlmevalkit:export_cases", "vlmevalkit:export_run"),
    "inspect": Format("inspect_task:export_cases", "inspect_logs:export_run"),
    "lm-eval": Format("lm_eval:export_cases", takes=("note",)),
    "hf": Format("hugging_face.dataset:export_cases", "hugging_face.run_dataset:export_run"),
    "mlflow": Format(run="trackers.mlflow_store:export_run"),
    "wandb-offline": Format(run="trackers.wandb_runs:export_run"),
    "eval-results": Format(run="hugging_face.eval_results:export_run", takes=("dataset",)),
    "every-eval-ever": Format(run="every_eval_ever:export_run"),
    "parquet": Format(run="answer_table:export_run"),
}


def export(
    source: Path, to: str, out: Path, dataset: str | None = None, note: Callable[[str], None] = print
) -> list[Path]:
    """Writes a case set or a run in another project's format; returns the files or folders written.

    `dataset` is the OWNER/NAME of the data set on the Hugging Face Hub, for formats that name one. `note` is told what
    was left out.
    """
    if to not in FORMATS:
        near = get_close_matches(to, FORMATS, 1)
        hint = f"did you mean {near[0]}?" if near else f"the formats are {', '.join(FORMATS)}"
        raise WardroundError(f"unknown format {to!r}; {hint}")
    from wardround.cases.set import FILE_NAME as CASES_FILE  # takes long to load

    if not source.exists():
        raise BadInput(source, "there is no such run or case set")
    # a built case set has a manifest, too
    is_run = (source / "manifest.json").is_file() and not (source / CASES_FILE).is_file()
    place = FORMATS[to].run if is_run else FORMATS[to].cases
    if place is None:
        kind, other = ("run", "case set") if is_run else ("case set", "run")
        raise BadInput(source, f"is a {kind}; --to {to} takes a {other}: {_formats_of(is_run)} take a {kind}")
    if dataset is not None and "dataset" not in FORMATS[to].takes:
        takers = [name for name, entry in FORMATS.items() if "dataset" in entry.takes]
        raise WardroundError(f"--dataset is for {', '.join(takers)}")
    module, _, name = place.partition(":")
    writer: Writer = getattr(import_module(f"wardround.exporting.{module}"), name)
    arguments = {"dataset": dataset, "note": note}
    return writer(source, out, **{name: arguments[name] for name in FORMATS[to].takes})


def _formats_of(is_run: bool) -> str:
    return ", ".join(name for name, entry in FORMATS.items() if (entry.run if is_run else entry.cases))
