"""The tables of an answer store, their version, and how a store of an earlier version becomes one of this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wardround.core.errors import WardroundError

if TYPE_CHECKING:
    from wardround.core.store.location import StoreLocation
    from wardround.running.store.database import StoreConnection

VERSION = 4
# where an answer came from; of several answers of one call, the tokens add up to its usage
ORIGIN = (
    "run",
    "candidate",
    "address",
    "model",
    "fingerprint",
    "time",
    "tokens_in",
    "tokens_out",
    "finish",
    "refusal",
)
ORIGIN_COLUMNS = """
  run text, candidate text, address text, model text, fingerprint text, time text,
  tokens_in integer, tokens_out integer, finish text, refusal text"""
CALL_COLUMNS = """
  purpose text not null default 'answer', estimated integer not null default 0, time text"""
# of the tokens in: those that were read from the server's prompt cache, and those that were written to it
CACHE_COLUMNS = "cached_in integer not null default 0, cache_writes integer not null default 0"
# of a batch: the most that it may be billed, what became of its items, and when its results were stored
BATCH_COLUMNS = """
  reserved_in integer not null default 0, reserved_out integer not null default 0,
  answered integer not null default 0, failed integer not null default 0, ended text"""

NEW = f"""
create table answers (
  ask blob not null, trial integer not null, turn integer not null, body blob not null, {ORIGIN_COLUMNS},
  primary key (ask, trial, turn)) without rowid;
create table calls (
  run text not null, candidate text not null, ask blob not null, answers integer not null,
  duplicates integer not null, tokens_in integer not null, tokens_out integer not null, {CALL_COLUMNS},
  {CACHE_COLUMNS});
create table sentinels (
  run text not null, ask blob not null, trial integer not null, turn integer not null, body blob not null);
create table files (
  path text primary key, size integer not null, changed integer not null, sha256 text not null) without rowid;
"""
FAULTS = """
create table faults (
  run text not null, candidate text not null, kind text not null, times integer not null, last text not null,
  primary key (run, candidate, kind)) without rowid;
"""
# answers that were dropped so that they are asked again
DROPPED = f"""
create table dropped (
  ask blob not null, trial integer not null, turn integer not null, body blob not null, {ORIGIN_COLUMNS},
  dropped text not null, reason text not null);
"""
# batches that were submitted to a provider; `id` is the provider's, and missing until it has confirmed the batch
BATCHES = """
create table batches (
  token text primary key, run text not null, candidate text not null, address text, items integer not null,
  time text not null, id text, has_ended integer not null default 0) without rowid;
create table batch_items (
  token text not null, item text not null, primary key (item, token)) without rowid;
"""
# version 1 had no version, and its answers no columns but the body
FROM_1 = f"""
{"".join(f"alter table answers add column {column};" for column in ORIGIN_COLUMNS.split(","))}
{"".join(f"alter table calls add column {column};" for column in CALL_COLUMNS.split(","))}
{FAULTS} {DROPPED}
create index calls_of_ask on calls (ask);
update answers set
  model = json_extract(cast(body as text), '$.model'), finish = json_extract(cast(body as text), '$.finish'),
  run = (select run from calls where calls.ask = answers.ask limit 1),
  candidate = (select candidate from calls where calls.ask = answers.ask limit 1)
  where case when json_valid(cast(body as text)) then json_type(cast(body as text)) = 'object' end;
drop index calls_of_ask;
"""
FROM_3 = "".join(f"alter table calls add column {column};" for column in CACHE_COLUMNS.split(","))
ADD_TO_BATCHES = "".join(f"alter table batches add column {column};" for column in BATCH_COLUMNS.split(","))


def prepare(connection: StoreConnection, location: StoreLocation) -> None:
    """Creates the tables of a new store, or brings those of an older one to this version, whole or not at all."""
    with connection.transaction():
        connection.lock_schema()
        version = connection.version()
        if version > VERSION:
            raise WardroundError(
                f"{location}: a newer wardround wrote this answer store (version {version}; this one reads {VERSION})"
            )
        if version < VERSION:
            to_3 = {0: NEW + FAULTS + DROPPED + BATCHES, 1: FROM_1 + BATCHES, 2: BATCHES, 3: ""}[version]
            script = to_3 + (FROM_3 if version else "") + ADD_TO_BATCHES
            for statement in filter(str.strip, script.split(";")):
                connection.define(statement)
            connection.set_version(VERSION)


def is_current(connection: StoreConnection) -> bool:
    return connection.version() == VERSION
