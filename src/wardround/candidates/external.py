"""`external`: an agent with a search of its own, behind an address or a command.

It gets one JSON object: `prompt` (the whole text of the Ask), `kind`, `question`, `options` in the order shown,
`history`, `findings`, `images` (media type and base64) and `evidence` (the value of the axis). It answers with one:
`text`, in the form that the prompt asks for, and `sources`: PMIDs, or objects with pmid, title and text.
A command reads the object from its standard input and writes its own to its standard output.
"""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson

from wardround.asking.tellings import resolve_telling
from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    OfflineCandidate,
    Reply,
    Request,
    settings_error,
)
from wardround.candidates.http.connection import Connection
from wardround.candidates.http.reply_json import NotJson, read_json
from wardround.candidates.http.secrets import Secrets
from wardround.candidates.http.server import ServerCandidate, image_placeholder
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.study import CandidateSettings

MAX_ANSWER_BYTES = 16_000_000
MAX_SOURCE_CHARACTERS = 20_000


def external(settings: CandidateSettings) -> Candidate:
    """The candidate for an agent behind an address or a command."""
    if not settings.model:
        name = "the agent's name and version, under which its answers are stored"
        raise settings_error(settings, f"model is required ({name})")
    if (settings.command is None) == (settings.base_url is None):
        raise settings_error(settings, "give either base_url or command")
    return ExternalServer(settings) if settings.command is None else ExternalCommand(settings)


class ExternalServer(ServerCandidate):
    """An agent behind an address: errors, retries and keys as with any server."""

    def __init__(self, settings: CandidateSettings) -> None:
        super().__init__(settings, Connection(settings))
        self.search_mode = "own"

    def make_payload(self, request: Request, count: int) -> dict[str, Any]:
        return encode_request(request, image_placeholder) | self._connection.extra_body

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        return Reply([parse_answer(body, self.settings.model, request)])

    @staticmethod
    def count_tokens(usage: dict[str, Any]) -> tuple[int, int]:
        return 0, 0  # an agent does not say


class ExternalCommand(OfflineCandidate):
    """An agent behind a command, which is started for each request."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.supports_multiple, self.search_mode = False, "own"
        self._secrets = Secrets(self.settings)
        self._extra_body = self._secrets.resolve(self.settings.extra_body)

    async def prepare(self, cases: CaseSet) -> None:
        command = self.settings.command or [""]
        if shutil.which(command[0]) is None:
            raise settings_error(self.settings, f"command {command[0]!r} does not exist")

    async def answer(self, request: Request) -> Reply:
        payload = encode_request(request, lambda image: image.base64.decode()) | self._extra_body
        output = await self._run_command(orjson.dumps(payload))
        return Reply([parse_answer(output, self.settings.model, request)])

    async def _run_command(self, body: bytes) -> bytes:
        assert self.settings.command is not None
        try:
            process = await asyncio.create_subprocess_exec(
                *self.settings.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise CandidateUnavailable(f"{self.settings.command[0]} cannot be started: {error.strerror}") from None
        try:
            async with asyncio.timeout(self.settings.timeout):
                output, error_output = await process.communicate(body)
        except TimeoutError:
            raise Fault(f"no answer in {self.settings.timeout:g} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            errors = self._secrets.redact(error_output.decode("utf-8", "replace"))
            last_line = errors.strip().splitlines()[-1:] or [""]
            raise Fault(f"the command ended with {process.returncode}: {last_line[0][:200]}")
        return output


def encode_request(request: Request, base64: Callable[[EncodedImage], str]) -> dict[str, Any]:
    """The JSON object of a request, without the origin of the case and its right answer."""
    case, condition, question = request.case, request.condition, request.question
    history, _ = resolve_telling(case, condition)
    texts = [part for message in request.ask.messages for part in message.parts if isinstance(part, str)]
    return {
        "prompt": "\n\n".join(texts),
        "kind": question.kind,
        "question": question.prompt,
        "options": request.options if question.options else None,
        "history": history if condition.shows("history") else None,
        "findings": case.findings if condition.shows("findings") else None,
        "images": [{"media_type": image.media_type, "base64": base64(image)} for image in request.images],
        "evidence": condition.evidence,
        "trial": request.trials[0],
    }


def parse_answer(output: bytes, model: str | None, request: Request) -> Answer:
    """The agent's answer. Anything but an object with a text is a Fault; malformed sources are left out."""
    try:
        reply = read_json(output[:MAX_ANSWER_BYTES])
    except NotJson:
        raise Fault("the answer is not JSON") from None
    if not isinstance(reply, dict) or not isinstance(reply.get("text"), str):
        raise Fault('the answer is not an object with a "text"')
    items = reply.get("sources")
    sources = [_parse_source(item) for item in items] if isinstance(items, list) else []
    return Answer(reply["text"], model=model, images=request.image_hashes, sources=tuple(filter(None, sources)))


def _parse_source(item: Any) -> dict[str, str]:
    if isinstance(item, str | int) and not isinstance(item, bool):
        return {"pmid": str(item)}
    if not isinstance(item, dict):
        return {}
    return {name: str(item[name])[:MAX_SOURCE_CHARACTERS] for name in ("pmid", "title", "text") if item.get(name)}
