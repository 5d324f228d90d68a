"""`local`: a GGUF model in this machine's memory, run by llama.cpp through xllamacpp."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from wardround.candidates.candidate import Fault, Rejected, Reply, Request, Settled
from wardround.candidates.local_chat import PLAIN, answer_of, first_token_of, prompt_of, sampled
from wardround.candidates.local_text_logprobs import Forced
from wardround.candidates.local_weights import checked, find_weights, revision_of
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.errors import BadInput, WardroundError

QUEUED = 2  # one is answered while the next is made ready; more would only wait, and time out
SHARE_OF_TIMEOUT = 0.25  # after this part of the timeout the trials answered so far are handed over


class Local(Settled):
    """A model that answers on this machine, one request at a time, the same for the same trial."""

    def __post_init__(self) -> None:
        given = self.settings
        self._extra_body = dict(given.extra_body)
        self._projector = self._extra_body.pop("mmproj", None)
        if "sees" in given.model_fields_set and given.sees and not self._projector:
            raise WardroundError(
                f"candidate {given.name!r}: a local model sees only with its projector: "
                'extra_body = { mmproj = "file.gguf" }'
            )
        self.settings = given.model_copy(
            update={
                "sees": given.sees and bool(self._projector),
                "concurrency": min(given.concurrency, QUEUED),
            }
        )
        self.identity = replace(given.identity, provider="local")
        self.writes = True
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local")
        self._server: Any = None
        self._read: dict[str, Any] | None = None  # the prompt that the model's memory holds
        self._rereads = False

    async def prepare(self, cases: CaseSet) -> None:
        if self._server is None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def answer(self, request: Request) -> Reply:
        stopped = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._reply, request, stopped)
        finally:
            stopped.set()  # a request that was given up does not keep the model busy with its other trials

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._unload)
        self._thread.shutdown()

    def _load(self) -> None:
        # its threads otherwise spin while they wait for each other: on a machine that does anything else
        # besides, many times slower. Read once, when OpenMP is loaded
        os.environ.setdefault("GOMP_SPINCOUNT", "0")
        try:
            import xllamacpp
        except ImportError:
            raise WardroundError("a local model needs xllamacpp: pip install 'wardround[local]'") from None
        files = [find_weights(self._model())]
        extra_body = dict(self._extra_body)
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(files[0])
        parameters.model_alias = {files[0].stem}
        if self._projector:
            files.append(checked(Path(self._projector)))
            parameters.mmproj.path = str(files[1])
            extra_body["mmproj"] = files[1].name
        parameters.n_ctx = self.settings.context or 0  # 0: as long as the model was trained for
        # one thread per two: on shared or hyper-threaded cores more only wait for each other
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)
        # one sequence at a time and no store of old prompts: nothing depends on what was asked before
        parameters.n_parallel = 1
        parameters.cache_ram_mib = 0
        parameters.swa_full = True
        parameters.verbosity = 0
        # xllamacpp also opens a loopback port; nobody else is to read from it
        key = secrets.token_urlsafe()
        parameters.api_keys = [key]
        parameters.endpoint_slots = False
        parameters.ui = False
        try:
            self._server = xllamacpp.Server(parameters)
            self._rereads = not self._remembers()
            self._forced = Forced(self._server, key, files[0].stem, keeps=not self._rereads)
        except (RuntimeError, Rejected) as error:
            told = " and ".join(path.name for path in files)
            raise BadInput(files[0], f"llama.cpp cannot use {told}: {_one_line(error)}") from None
        self.identity = replace(
            self.identity,
            model=files[0].name,
            revision=self.settings.revision or revision_of(*files),
            extra_body=extra_body,
        )

    def _model(self) -> str:
        """`smollm2` or a path, also written local:smollm2."""
        named = self.settings.model or self.settings.provider.removeprefix("local").removeprefix(":")
        if not named:
            raise WardroundError(f"candidate {self.settings.name!r}: model is required: a .gguf file or smollm2")
        return named.removeprefix("local:")

    def _remembers(self) -> bool:
        """Whether a prompt just read is reused whole: models with a recurrent state cannot go back in it."""
        prompt = {"messages": [{"role": "user", "content": "Good morning."}], "max_tokens": 1}
        self._complete({**prompt, "cache_prompt": False})
        usage = self._complete({**prompt, "cache_prompt": True})["usage"]
        return bool(usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] - 1)

    def _unload(self) -> None:
        self._server = None

    def _reply(self, request: Request, stopped: threading.Event) -> Reply:
        """Reads the prompt once, then draws each trial from the same state with its own seed.

        Reading many tokens at once and one by one differ in the last bits, so trials must all take the same
        way: the prompt is read whole by a request of its own, and each trial begins at its last token.
        """
        if request.ask.foretold is not None:
            self._read = None  # the model's memory holds another prompt from now on
            return self._forced.reply(request)
        self._forced.forget()
        handed_over = time.monotonic() + self.settings.timeout * SHARE_OF_TIMEOUT
        prompt = prompt_of(request, self._extra_body)
        sampling = request.ask.sampling
        body = {**PLAIN, **prompt, "cache_prompt": not self._rereads}
        if not self._rereads and self._read != prompt:
            self._read = None
            self._complete({**body, "max_tokens": 1, "cache_prompt": False})
            self._read = prompt
        first_token = None
        if sampling.logprobs:  # apart from the trials, which may stop before a first token is told
            wanted = {"max_tokens": 1, "logprobs": True, "top_logprobs": sampling.logprobs}
            first_token = first_token_of(self._complete({**body, **wanted}))
        body |= sampled(sampling)
        answers: list[Answer] = []
        read = written = 0
        for trial in request.trials:
            if stopped.is_set() or (answers and time.monotonic() > handed_over):
                break
            told = self._complete({**body, "seed": seed_of(request, trial)})
            answers.append(answer_of(told, first_token, request.images))
            read = told["usage"]["prompt_tokens"]
            written += told["usage"]["completion_tokens"]
        return Reply(answers, read, written)

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            told: dict[str, Any] = self._server.handle_chat_completions(body)
        except (ValueError, RuntimeError) as error:  # what llama.cpp cannot make a prompt of
            raise Rejected(_one_line(error)) from None
        if "error" not in told:
            return told
        refusal = told["error"]
        if refusal.get("type") == "exceed_context_size_error":
            tokens, room = refusal["n_prompt_tokens"], refusal["n_ctx"]
            raise Rejected(f"the prompt has {tokens} tokens, but the model's context holds {room}")
        if refusal.get("code", 500) < 500:
            raise Rejected(_one_line(refusal.get("message")))
        raise Fault(_one_line(refusal.get("message")))


def seed_of(request: Request, trial: int) -> int:
    """The seed of one trial: the same on every run, unrelated between trials and turns."""
    named = f"{trial}/{request.turn}/{'' if request.seed is None else request.seed}"
    digest = hashlib.blake2b(request.ask.key + named.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % 0xFFFFFFFF  # 2^32 - 1 itself would ask llama.cpp for a random seed


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:300]
