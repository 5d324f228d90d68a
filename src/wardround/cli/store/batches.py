"""`wardround batches`: the provider batches of an answer store."""

import asyncio
from contextlib import closing
from typing import Annotated

import typer

from wardround.cli.output import Json, print_result
from wardround.cli.shared_options import Answers, Runs, StudyFile
from wardround.cli.store.answers import DEFAULT_STORE, Store
from wardround.running.store import AnswerStore

app = typer.Typer(no_args_is_help=True, help="Provider batches: list, cancel.")


@app.command("list")
def list_command(
    answers: Store = DEFAULT_STORE,
    is_open: Annotated[bool, typer.Option("--open", help="Only those that are not collected yet.")] = False,
    as_json: Json = False,
) -> None:
    """List the batches of a store, the oldest first: study, candidate, id, number of Asks, status."""
    from wardround.running.store.batches import all_batches

    with closing(AnswerStore(answers, must_exist=True)) as store:
        batches = [batch for batch in all_batches(store) if not (is_open and batch.ended)]
    lines = [
        f"{batch.time[:19]}  {batch.run}  {batch.candidate}  {batch.id or 'not confirmed'}  "
        f"{batch.items:,} Asks  {batch.status}"
        for batch in batches
    ]
    record = {"answers": str(answers), "batches": [batch._asdict() | {"status": batch.status} for batch in batches]}
    print_result(record, as_json, "\n".join(lines) or "no batches")


@app.command("cancel")
def cancel_command(
    study: StudyFile,
    ids: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Only this batch, by its provider's id; repeatable.")
    ] = None,
    runs: Runs = None,
    answers: Answers = None,
    as_json: Json = False,
) -> None:
    """Cancel the batches of a study that are under way. `wardround run` then collects what they answered."""
    from wardround.core.errors import WardroundError
    from wardround.running.batching.cancelling import cancel_batches

    cancelled = asyncio.run(cancel_batches(study, runs, answers, ids))
    if unknown := set(ids or []) - set(cancelled):
        raise WardroundError(f"--id {', '.join(sorted(unknown))}: the study has no such batch under way")
    lines = [f"cancelled {id}" for id in cancelled] or ["the study has no batches under way"]
    print_result({"cancelled": cancelled}, as_json, "\n".join(lines))
