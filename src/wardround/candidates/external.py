"""`external`: an outside agent, behind an address or a command, that has means of its own to search.

It is given one JSON object: `prompt` (the whole text of the Ask), `kind`, `question`, `options` as they are shown,
`history`, `findings`, `images` (media type and base64) and `evidence` (the value of the axis). It answers with one:
`text`, in the form that the prompt asks for, and `sources`: PMIDs, or objects with pmid, title and text.
A command reads it from its standard input and writes it to its standard output.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from typing import Any

import orjson

from wardround.asking.applicable import told
from wardround.candidates.candidate import Candidate, Fault, Gone, Reply, Request, Settled
from wardround.candidates.openai import OpenAI
from wardround.candidates.request_body import Pieces
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

LONGEST = 16_000_000  # bytes of an answer
LONGEST_SOURCE = 20_000  # characters that are kept of one source


def external(settings: CandidateSettings) -> Candidate:
    """An outside agent behind an address or a command. How it finds what it cites is its own affair."""
    if not settings.model:
        raise WardroundError(
            f"candidate {settings.name!r}: model is required: the agent's name and version, under which its answers "
            "are stored"
        )
    if (settings.command is None) == (settings.base_url is None):
        raise WardroundError(f"candidate {settings.name!r}: give either base_url or command")
    return Served(settings) if settings.command is None else Commanded(settings)


class Served(OpenAI):
    """Behind an address: refusals, retries and keys as with any server."""

    def __init__(self, settings: CandidateSettings) -> None:
        super().__init__(settings)
        self._url = str(settings.base_url)
        self.several, self.searching = False, "own"

    def _body(self, request: Request, count: int) -> Pieces:
        return Pieces([orjson.dumps(as_told(request) | self.settings.extra_body)])

    def read(self, body: bytes, request: Request) -> Reply:
        return Reply([answer_of(body, self.settings, request)])


class Commanded(Settled):
    """Behind a command, which is started for each request."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.several, self.searching = False, "own"

    async def prepare(self, cases: CaseSet) -> None:
        command = self.settings.command or [""]
        if shutil.which(command[0]) is None:
            raise WardroundError(f"candidate {self.settings.name!r}: there is no command {command[0]!r}")

    async def answer(self, request: Request) -> Reply:
        said = await self._piped(orjson.dumps(as_told(request) | self.settings.extra_body))
        return Reply([answer_of(said, self.settings, request)])

    async def _piped(self, body: bytes) -> bytes:
        assert self.settings.command is not None
        try:
            process = await asyncio.create_subprocess_exec(
                *self.settings.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise Gone(f"{self.settings.command[0]} cannot be started: {error.strerror}") from None
        try:
            async with asyncio.timeout(self.settings.timeout):
                said, complaint = await process.communicate(body)
        except TimeoutError:
            raise Fault(f"no answer in {self.settings.timeout:g} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            last = complaint.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            raise Fault(f"the command ended with {process.returncode}: {last[0][:200]}")
        return said


def as_told(request: Request) -> dict[str, Any]:
    """A request as an outside agent is told it. Where the case comes from, and its right answer, are not in it."""
    case, condition, question = request.case, request.condition, request.question
    history, _ = told(case, condition)
    texts = [part for message in request.ask.messages for part in message.parts if isinstance(part, str)]
    return {
        "prompt": "\n\n".join(texts),
        "kind": question.kind,
        "question": question.prompt,
        "options": [question.choices[index] for index in request.order] if question.options else None,
        "history": history if condition.shows("history") else None,
        "findings": case.findings if condition.shows("findings") else None,
        "images": [{"media_type": image.media_type, "base64": image.base64.decode()} for image in request.images],
        "evidence": condition.evidence,
        "trial": request.trials[0],
    }


def answer_of(said: bytes, settings: CandidateSettings, request: Request) -> Answer:
    """What the agent said. Anything but an object with a text is a Fault; sources that make no sense are left out."""
    try:
        told = orjson.loads(said[:LONGEST])
    except orjson.JSONDecodeError:
        raise Fault("the answer is not JSON") from None
    if not isinstance(told, dict) or not isinstance(told.get("text"), str):
        raise Fault('the answer is not an object with a "text"')
    listed = told.get("sources")
    sources = [_source(each) for each in listed] if isinstance(listed, list) else []
    return Answer(
        text=told["text"],
        model=settings.model,
        images=tuple(image.sha256 for image in request.images),
        sources=tuple(source for source in sources if source),
    )


def _source(told: Any) -> dict[str, str]:
    if isinstance(told, str | int) and not isinstance(told, bool):
        return {"pmid": str(told)}
    if not isinstance(told, dict):
        return {}
    return {name: str(told[name])[:LONGEST_SOURCE] for name in ("pmid", "title", "text") if told.get(name)}
