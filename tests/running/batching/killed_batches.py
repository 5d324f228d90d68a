"""Runs a study by batches of 1,700 items with a planted death: `killed_batches.py WHERE STUDY`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from wardround.candidates.batches.anthropic_batches import AnthropicBatches
from wardround.candidates.batches.file_batches import FileBatches
from wardround.candidates.batches.gemini_batches import GeminiBatches
from wardround.candidates.batches.openai_batches import OpenAIBatches
from wardround.pipeline import run_study
from wardround.running.batching import batch_asking
from wardround.running.caller import Caller
from wardround.running.store.batches import BatchRecords

batch_asking.FIRST_WAIT, batch_asking.MAX_ITEMS = 0.0, 1700
PLACES = {
    "add": (BatchRecords, "add"),
    "confirm": (BatchRecords, "confirm"),
    "end": (BatchRecords, "end"),
    "commit": (Caller, "keep_batched"),
}


def die(*arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(method: Any, times: int) -> Any:
    """The method, which kills the process after so many calls."""
    calls = 0

    async def call(*arguments: Any) -> Any:
        nonlocal calls
        result = await method(*arguments)
        calls += 1
        if calls == times:
            die()
        return result

    return call


where, study = sys.argv[1], Path(sys.argv[2])
if where == "submit":
    for api in (OpenAIBatches, AnthropicBatches, GeminiBatches, FileBatches):
        api.submit = die_after(api.submit, 1)
elif where == "commit":
    Caller.keep_batched = die_after(Caller.keep_batched, 500)
elif where in PLACES:
    owner, name = PLACES[where]
    setattr(owner, name, die)
sys.exit(run_study(study, runs=study.parent / "runs", quiet=True).exit_code)
