"""`wardround answers`: upkeep of the answer store."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wardround.cli.output import Json, note, print_result
from wardround.core.store.location import read_location
from wardround.core.text import single_line
from wardround.running.store import AnswerStore
from wardround.running.store.rows import (
    OUTCOMES,
    REFUSED,
    TOOL_RESULT,
    RowFilter,
    RowGroup,
    StoredRow,
    group_rows,
    read_rows,
)

if TYPE_CHECKING:
    from wardround.running.store.dropping import Selection
    from wardround.running.store.merging import MergeCounts

MAX_EXCERPT = 60
MAX_LISTED = 10  # conflicts of a merged store; --json lists all
USAGE = 2

app = typer.Typer(no_args_is_help=True, help="The answer store: list, size, verify, export, merge, copy, drop, prune.")

Store = Annotated[
    Any,
    typer.Option(
        "--answers",
        metavar="STORE",
        parser=read_location,
        help="Answer store: a file or postgresql://... (default: answers.sqlite in this folder).",
    ),
]
DEFAULT_STORE = Path("answers.sqlite")
ByCandidate = Annotated[str | None, typer.Option("--candidate", metavar="NAME", help="Only those of this candidate.")]
ByStudy = Annotated[
    str | None,
    typer.Option("--study", metavar="NAME", help="Only those that this study bought (its judge: 'NAME: judge')."),
]
ByFinish = Annotated[str | None, typer.Option("--finish", metavar="REASON", help="Only those with this finish reason.")]


def _parse_ask(text: str | None) -> str | None:
    if text is not None and (not text or not set(text.lower()) <= set("0123456789abcdef")):
        raise typer.BadParameter(f"{text!r} is not the beginning of a key in hexadecimal digits")
    return text


def _parse_outcome(text: str | None) -> str | None:
    outcome = text and text.replace("-", " ")
    if outcome is not None and outcome not in (REFUSED, *OUTCOMES):
        raise typer.BadParameter(f"{text!r} is none of {', '.join((REFUSED, *OUTCOMES))}")
    return outcome


ByAsk = Annotated[
    str | None,
    typer.Option("--ask", metavar="HEX", help="Only those whose Ask's key begins so.", callback=_parse_ask),
]
ByOutcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="OUTCOME",
        help=f"Only those of this outcome: {REFUSED} (any of the next four), {', '.join(OUTCOMES)}.",
        callback=_parse_outcome,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


@app.command("list")
def list_command(
    answers: Store = DEFAULT_STORE,
    candidate: ByCandidate = None,
    study: ByStudy = None,
    finish: ByFinish = None,
    outcome: ByOutcome = None,
    ask: ByAsk = None,
    asks: Annotated[bool, typer.Option("--asks", help="List single rows.")] = False,
    as_json: Json = False,
) -> None:
    """Count the stored answers by study, candidate, address and model, with outcomes, tokens and dates."""
    from wardround.running.store.dropping import count_dropped
    from wardround.running.store.export import row_record

    row_filter = RowFilter(candidate, study, finish, ask, outcome)
    with closing(AnswerStore(answers, must_exist=True)) as store:
        dropped = count_dropped(store.connection)
        rows = read_rows(store.connection, row_filter)
        if asks:
            lines, records = [], []
            for row in rows:
                lines.append(_row_line(row))
                records.append(row_record(row) if as_json else {})
            print_result({"answers": str(answers), "rows": records}, as_json, "\n".join(lines) or "no such rows")
            return
        groups = group_rows(rows)
    count = sum(group.rows for group in groups)
    lines = [*map(_group_line, groups), f"{answers}: {_count(count, 'row')}; {dropped:,} in the bin"]
    record = {"answers": str(answers), "rows": count, "dropped": dropped}
    print_result(record | {"groups": [group.to_dict() for group in groups]}, as_json, "\n".join(lines))


@app.command("size")
def size_command(answers: Store = DEFAULT_STORE, as_json: Json = False) -> None:
    """Print the store's size on the disk, the rows of its tables, and the answers of each study in bytes."""
    from wardround.running.store.sizes import measure_store

    with closing(AnswerStore(answers, must_exist=True)) as store:
        size = measure_store(store)
    lines = [f"{name or 'tool results'}: {_count(rows, 'row')}, {total:,} bytes" for name, rows, total in size.studies]
    tables = ", ".join(f"{rows:,} in {table}" for table, rows in size.rows.items() if rows)
    lines.append(f"{answers}: {size.bytes:,} bytes on the disk; rows: {tables or 'none'}")
    print_result({"answers": str(answers)} | size.to_dict(), as_json, "\n".join(map(_printable, lines)))


@app.command("verify")
def verify_command(
    answers: Store = DEFAULT_STORE,
    runs: Annotated[
        Path | None, typer.Option("--runs", metavar="DIR", help="Also check that all that these runs used is there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check the store: its file, its bodies, its columns, its calls. Exit code 3 if there is a problem."""
    from wardround.running.store.run_uses import run_folders
    from wardround.running.store.verification import find_missing, find_problems
    from wardround.running.stored_run import ANSWERS

    with closing(AnswerStore(answers, must_exist=True)) as store:
        problems = list(find_problems(store))
        folders = run_folders(runs) if runs is not None else []
        if all(problem.kind != "integrity" for problem in problems):
            unpacked = [folder for folder in folders if not (folder / ANSWERS).exists()]  # others read their own store
            problems += filter(None, (find_missing(store, folder) for folder in unpacked))
    text = "\n".join(problem.message for problem in problems) or f"{answers}: no problems"
    record = {"answers": str(answers), "runs": list(map(str, folders))}
    print_result(record | {"problems": [problem._asdict() for problem in problems]}, as_json, text)
    if problems:
        raise typer.Exit(3)


@app.command("export")
def export_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write: .parquet, .csv or .jsonl.")],
    answers: Store = DEFAULT_STORE,
    candidate: ByCandidate = None,
    study: ByStudy = None,
    finish: ByFinish = None,
    outcome: ByOutcome = None,
    ask: ByAsk = None,
    as_json: Json = False,
) -> None:
    """Write the stored rows as a table, with their origin, text, reasoning, finish and refusal."""
    from wardround.running.store.export import WRITERS, export

    if file.suffix not in WRITERS:
        raise typer.BadParameter(f"{file} ends with none of {', '.join(WRITERS)}")
    with closing(AnswerStore(answers, must_exist=True)) as store:
        count = export(file, read_rows(store.connection, RowFilter(candidate, study, finish, ask, outcome)))
    print_result({"file": str(file), "rows": count}, as_json, f"{_count(count, 'row')} written to {file}")


@app.command("merge")
def merge_command(
    sources: Annotated[list[Any], typer.Argument(metavar="FROM...", parser=read_location, help="Other answer stores.")],
    answers: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Copy other stores into this one. What is there stays; another answer to the same Ask goes into the bin."""
    from wardround.running.store.merging import merge

    with closing(AnswerStore(answers, must_exist=True)) as store:
        merged = [merge(store, source) for source in sources]
    lines = [line for counts in merged for line in _merge_lines(counts)]
    record = {"answers": str(answers), "merged": [counts.to_dict() for counts in merged]}
    print_result(record, as_json, "\n".join(lines))


@app.command("copy")
def copy_command(
    to: Annotated[
        Any, typer.Argument(metavar="TO", parser=read_location, help="Answer store to copy into; it may be new.")
    ],
    run: Annotated[
        list[Path] | None, typer.Option("--run", metavar="RUN", help="Only what this run used; repeatable.")
    ] = None,
    answers: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Copy the store, from a file to PostgreSQL or back, or what runs used. Exit code 3 if some of that is missing."""
    from wardround.running.store.merging import copy_all, copy_uses
    from wardround.running.store.run_uses import read_uses

    if not run:
        merged = copy_all(answers, to)
        print_result({"to": str(to), "copied": merged.to_dict()}, as_json, "\n".join(_merge_lines(merged)))
        return
    counts = copy_uses(answers, to, [read_uses(folder) for folder in run])
    text = f"{_count(counts.copied, 'row')} copied to {to}; {counts.there_before:,} were there"
    if counts.missing:
        text += f"; {counts.missing:,} used rows are not in {answers}"
    record = {"to": str(to), "copied": counts.copied, "there_before": counts.there_before, "missing": counts.missing}
    print_result(record, as_json, text)
    if counts.missing:
        raise typer.Exit(3)


@app.command("drop")
def drop_command(
    answers: Store = DEFAULT_STORE,
    candidate: ByCandidate = None,
    study: ByStudy = None,
    finish: ByFinish = None,
    outcome: ByOutcome = None,
    ask: ByAsk = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept with them.")] = "",
    undo: Annotated[
        bool, typer.Option("--restore", help="Put back what was dropped and not asked again since.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Move stored answers into the bin, so that the next run asks again. Needs a filter, and --yes or a terminal."""
    from wardround.running.store import dropping

    row_filter = RowFilter(candidate, study, finish, ask, outcome)
    if not row_filter and not undo:
        raise typer.BadParameter("say which: --candidate, --study, --outcome, --finish or --ask")
    with closing(AnswerStore(answers, must_exist=True)) as store:
        if undo:
            selection = dropping.select_dropped(store, row_filter)
            count = dropping.restore(store, selection)
            _print_moved(selection, {"restored": count}, f"{_count(count, 'row')} put back", as_json)
            return
        selection = dropping.select_answers(store, row_filter)
        runs = dropping.buyers_of(store, selection)
        used_by = f", asked for by {', '.join(runs)}" if runs else ""
        chosen = f"{_count(len(selection.keys), 'row')}{used_by}"
        is_confirmed = _confirm(selection, f"drop {chosen}", yes, as_json)
        count = dropping.drop(store, selection, reason) if is_confirmed else 0
    done = f"dropped {chosen}; the next `wardround run` asks again" if count else "nothing dropped"
    _print_moved(selection, {"dropped": count, "runs": runs}, done, as_json)
    if not is_confirmed:
        raise typer.Exit(USAGE)


@app.command("prune")
def prune_command(
    answers: Store = DEFAULT_STORE,
    runs: Annotated[
        Path | None, typer.Option("--runs", metavar="DIR", help="Drop what no run in this folder used.")
    ] = None,
    empty: Annotated[bool, typer.Option("--bin", help="Remove for good what was dropped.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Drop what no run in a folder used, or empty the bin. Needs --yes or a terminal."""
    from wardround.running.store import dropping
    from wardround.running.store.run_uses import read_all_uses

    if empty == (runs is not None):
        raise typer.BadParameter("say what: --runs DIR or --bin")
    with closing(AnswerStore(answers, must_exist=True)) as store:
        if runs is None:
            selection = dropping.select_bin(store)
            is_confirmed = _confirm(selection, f"remove {_count(len(selection.keys), 'row')} for good", yes, as_json)
            count = dropping.empty_bin(store) if is_confirmed else 0
            record, done = {"removed": count}, f"{_count(count, 'row')} removed for good"
        else:
            selection = dropping.select_unused(store, read_all_uses(runs))
            question = f"drop {_count(len(selection.keys), 'row')} that no run in {runs} used"
            is_confirmed = _confirm(selection, question, yes, as_json)
            count = dropping.drop(store, selection, f"no run in {runs} used it") if is_confirmed else 0
            record, done = {"dropped": count}, f"{_count(count, 'row')} dropped"
    _print_moved(selection, record, done if is_confirmed else "nothing removed", as_json)
    if not is_confirmed:
        raise typer.Exit(USAGE)


def _confirm(selection: "Selection", question: str, yes: bool, as_json: bool) -> bool:
    """Whether to go on: nothing is to be done, --yes, or a terminal says so."""
    if yes or not selection.keys:
        return True
    for group in selection.groups:
        note(_group_line(group))
    if as_json or not sys.stdin.isatty():
        note(f"would {question}; repeat with --yes to do it")
        return False
    return typer.confirm(f"{question}?", err=True)


def _print_moved(selection: "Selection", record: dict[str, Any], text: str, as_json: bool) -> None:
    rows = {"selected": len(selection.keys), "groups": [group.to_dict() for group in selection.groups]}
    print_result(record | rows, as_json, text)


def _merge_lines(counts: "MergeCounts") -> list[str]:
    conflicts = counts.conflicts
    parts = [f"{_count(counts.answers, 'row')} new", f"{counts.same:,} the same", _count(len(conflicts), "conflict")]
    if counts.stay_dropped:
        parts.append(f"{counts.stay_dropped:,} were dropped here and stay so")
    lines = [f"{counts.source}: {', '.join(parts)}; {_count(counts.calls, 'call')} new"]
    lines += [f"  kept here, theirs is in the bin: {_key_text(*key)}" for key in conflicts[:MAX_LISTED]]
    return [*lines, f"  and {len(conflicts) - MAX_LISTED:,} more"] if len(conflicts) > MAX_LISTED else lines


def _group_line(group: RowGroup) -> str:
    if set(group.outcomes) == {TOOL_RESULT}:
        return _count(group.rows, TOOL_RESULT)
    server = ", ".join(filter(None, (group.address, group.model)))
    head = f"{group.run or 'unknown study'}: {group.candidate or 'unknown candidate'}"
    head += f" ({server})" if server else ""
    outcomes = ", ".join(f"{count:,} {name}" for name, count in group.to_dict()["outcomes"].items())
    dates = " to ".join(dict.fromkeys(time[:10] for time in (group.first, group.last) if time))
    tokens = f"{group.tokens_in:,} + {group.tokens_out:,} tokens"
    return _printable("; ".join(filter(None, (f"{head}: {outcomes}", tokens, dates))))


def _row_line(row: StoredRow) -> str:
    text = row.body.decode(errors="replace") if row.answer is None else row.answer.text or row.origin.refusal or ""
    excerpt = single_line(text[: 4 * MAX_EXCERPT])[:MAX_EXCERPT]
    origin = f"{row.origin.run or '-'}  {row.origin.candidate or '-'}"
    return _printable(f"{_key_text(*row.key)}  {origin}  {row.outcome}  {excerpt}".rstrip())


def _printable(text: str) -> str:
    """A line without control characters, which a server could have sent."""
    return "".join(letter for letter in text if letter.isprintable())


def _key_text(ask: bytes, trial: int, turn: int) -> str:
    return f"{ask.hex()} trial {trial}" + (f" turn {turn}" if turn else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
