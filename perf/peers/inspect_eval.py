"""Inspect AI: `eval` of as many samples through its provider for OpenAI-compatible servers, with its log."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import match
from inspect_ai.solver import generate

from perf.measured import Clock, print_usage
from perf.workload import plain_asks


def main(folder: Path, url: str, calls: int, concurrency: int) -> None:
    os.environ |= {"NULL_BASE_URL": url, "NULL_API_KEY": "none"}
    samples = [
        Sample(
            input=[ChatMessageUser(content=[ContentImage(image=str(path)), ContentText(text=text)])],
            target="B",
        )
        for text, path in plain_asks(folder, calls)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match())
    with tempfile.TemporaryDirectory() as logs:
        started = Clock.now()
        (log,) = eval(
            task,
            model="openai-api/null/null",
            log_dir=logs,
            display="none",
            max_connections=concurrency,
            max_samples=concurrency,
            temperature=0.0,
            max_tokens=8,
        )
        print_usage(started, status=log.status)
        assert log.status == "success"
        assert log.results is not None
        assert log.results.completed_samples == calls


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
