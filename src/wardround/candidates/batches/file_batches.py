"""Batches as files in OpenAI's batch format, which the user has processed by `vllm run-batch` or another program.

Written from vLLM's `entrypoints/openai/run_batch.py` as of 2026-11-18: its output file grows while it works.
"""

import shlex
import shutil
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path

from wardround.candidates.batches.batch_api import JSON_LINES, BatchApi, BatchFailed, BatchResult
from wardround.candidates.batches.batch_lines import encode_line, parse_line
from wardround.candidates.http.reply_json import NotJson, read_json
from wardround.core.files import replacement

OUTPUT, CANCELLED = ".output.jsonl", ".cancelled"


class FileBatches(BatchApi):
    """Batches in one folder. The id of a batch is the path of its input file."""

    max_items = 50_000
    max_bytes = 2_000_000_000
    frame = JSON_LINES

    def __init__(self, folder: Path, model: str | None) -> None:
        self._folder, self._model = folder.absolute(), model

    @staticmethod
    def has_made(id: str) -> bool:
        """Whether a batch of this id is a file."""
        return Path(id).is_absolute()

    def encode_item(self, custom_id: str, payload: bytes) -> bytes:
        return encode_line(custom_id, "/v1/chat/completions", payload)

    async def submit(self, file: Path, token: str) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        input_file = self._input_file(token)
        with replacement(input_file, durable=True, private=True) as draft:
            shutil.copyfile(file, draft)
        return str(input_file)

    async def find(self, token: str, items: int, since: str, known: Collection[str]) -> str | None:
        input_file = self._input_file(token)
        return str(input_file) if input_file.exists() else None

    async def has_ended(self, id: str) -> bool:
        """If there is a line of output for each of input, or the batch was cancelled."""
        input_file = Path(id)
        if _cancelled(input_file).exists():
            return True
        if not input_file.exists():
            if input_file.parent == self._folder:
                raise BatchFailed("the file is gone")
            return False  # of another run, which knows
        output = _output(input_file)
        return output.exists() and _count_lines(output) >= _count_lines(input_file)

    async def results(self, id: str) -> AsyncIterator[BatchResult]:
        """A line that is cut, or not JSON, counts as not processed."""
        output = _output(Path(id))
        if not output.exists():
            return
        with output.open("rb") as lines:
            for line in lines:
                try:
                    record = read_json(line)
                except NotJson:
                    continue
                if isinstance(record, dict):
                    yield parse_line(record)

    async def cancel(self, id: str) -> None:
        _cancelled(Path(id)).touch()

    def user_task(self, ids: Sequence[str]) -> str | None:
        model = f" --model {shlex.quote(self._model)}" if self._model else ""
        commands = (
            f"vllm run-batch -i {shlex.quote(id)} -o {shlex.quote(str(_output(Path(id))))}{model}" for id in ids
        )
        return "process the files by " + " and ".join(f"`{command}`" for command in commands)

    def _input_file(self, token: str) -> Path:
        return self._folder / f"{token}.jsonl"


def _output(input_file: Path) -> Path:
    return input_file.with_suffix(OUTPUT)


def _cancelled(input_file: Path) -> Path:
    return input_file.with_suffix(CANCELLED)


def _count_lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(line.endswith(b"\n") and not line.isspace() for line in lines)
