"""`local`: a GGUF model in this machine's memory, run by llama.cpp through xllamacpp."""

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

from wardround.candidates.candidate import Fault, OfflineCandidate, Reply, Request, RequestRejected, settings_error
from wardround.candidates.local.chat import NEUTRAL_FIELDS, FirstToken, answer_of, first_token_of, prompt_of
from wardround.candidates.local.text_logprobs import ForcedDecoder
from wardround.candidates.local.weights import check_gguf, find_weights, weights_revision
from wardround.candidates.request_body import sampling_fields
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.errors import BadInput, WardroundError

MAX_QUEUED = 2  # one is answered while the next is prepared; more would only wait, and time out
TIMEOUT_SHARE = 0.25  # after this part of the timeout the trials answered so far are returned
FIRST_TOKEN_TRIES = 3  # once seen: right after an image that it refused, llama.cpp gave a completion without them


class Local(OfflineCandidate):
    """A model on this machine. It answers one request at a time, and a trial is always answered alike."""

    def __post_init__(self) -> None:
        settings = self.settings
        self._extra_body = dict(settings.extra_body)
        self._projector = self._extra_body.pop("mmproj", None)
        if "sees" in settings.model_fields_set and settings.sees and not self._projector:
            advice = 'extra_body = { mmproj = "file.gguf" }'
            raise settings_error(settings, f"a local model needs a projector to see images: {advice}")
        sees, concurrency = settings.sees and bool(self._projector), min(settings.concurrency, MAX_QUEUED)
        self.settings = settings.model_copy(update={"sees": sees, "concurrency": concurrency})
        self.identity = replace(settings.identity, provider="local")
        self.supports_probes = True
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local")
        self._server: Any = None
        self._cached_prompt: dict[str, Any] | None = None  # in the model's memory
        self._reuses_prompts = True

    async def prepare(self, cases: CaseSet) -> None:
        if self._server is None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def answer(self, request: Request) -> Reply:
        is_cancelled = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._reply, request, is_cancelled)
        finally:
            is_cancelled.set()  # a request that timed out does not keep the model busy with its other trials

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._unload)
        self._thread.shutdown()

    def _load(self) -> None:
        # otherwise its threads spin while they wait for each other, many times slower on a machine with other work.
        # Read once, when OpenMP is loaded
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
            files.append(check_gguf(Path(self._projector)))
            parameters.mmproj.path = str(files[1])
            extra_body["mmproj"] = files[1].name
        parameters.n_ctx = self.settings.context or 0  # 0: as long as the model was trained for
        # half the cores: on shared or hyper-threaded ones more threads only wait for each other
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)
        # one sequence at a time and no cache of old prompts: no answer depends on earlier ones
        parameters.n_parallel = 1
        parameters.cache_ram_mib = 0
        parameters.swa_full = True
        parameters.verbosity = 0
        # xllamacpp also opens a loopback port; the key keeps others out
        key = secrets.token_urlsafe()
        parameters.api_keys = [key]
        parameters.endpoint_slots = False
        parameters.ui = False
        try:
            self._server = xllamacpp.Server(parameters)
            self._reuses_prompts = self._can_reuse_prompts()
            self._text_logprobs = ForcedDecoder(self._server, key, files[0].stem, reuses_prompts=self._reuses_prompts)
        except (RuntimeError, RequestRejected) as error:
            names = " and ".join(path.name for path in files)
            raise BadInput(files[0], f"llama.cpp cannot use {names}: {_one_line(error)}") from None
        self.identity = replace(
            self.identity,
            model=files[0].name,
            revision=self.settings.revision or weights_revision(*files),
            extra_body=extra_body,
        )

    def _model(self) -> str:
        """`smollm2` or a path; also from `local:smollm2`."""
        model = self.settings.model or self.settings.provider.removeprefix("local").removeprefix(":")
        if not model:
            raise settings_error(self.settings, "model is required (a .gguf file or smollm2)")
        return model.removeprefix("local:")

    def _can_reuse_prompts(self) -> bool:
        """Whether a prompt just read is reused whole: models with a recurrent state cannot go back."""
        prompt = {"messages": [{"role": "user", "content": "Good morning."}], "max_tokens": 1}
        self._complete({**prompt, "cache_prompt": False})
        usage = self._complete({**prompt, "cache_prompt": True})["usage"]
        return bool(usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] - 1)

    def _unload(self) -> None:
        self._server = None

    def _reply(self, request: Request, is_cancelled: threading.Event) -> Reply:
        """Reads the prompt once, then samples each trial from the same state with its own seed.

        Reading many tokens at once and one by one differ in the last bits, so all trials go the same way: a request
        of its own reads the whole prompt, and each trial begins at its last token.
        """
        if request.ask.scored_text is not None:
            self._cached_prompt = None  # the model will read another prompt
            return self._text_logprobs.reply(request)
        self._text_logprobs.forget()
        deadline = time.monotonic() + self.settings.timeout * TIMEOUT_SHARE
        prompt = prompt_of(request, self._extra_body)
        sampling = request.ask.sampling
        body = {**NEUTRAL_FIELDS, **prompt, "cache_prompt": self._reuses_prompts}
        if self._reuses_prompts and self._cached_prompt != prompt:
            self._cached_prompt = None
            self._complete({**body, "max_tokens": 1, "cache_prompt": False})
            self._cached_prompt = prompt
        first_token = None
        if sampling.logprobs:  # apart from the trials, which may stop before the first token
            first_only = {"max_tokens": 1, "logprobs": True, "top_logprobs": sampling.logprobs}
            first_token = self._first_token({**body, **first_only})
        body |= sampling_fields(sampling)
        answers: list[Answer] = []
        tokens_in = tokens_out = 0
        for trial in request.trials:
            if is_cancelled.is_set() or (answers and time.monotonic() > deadline):
                break
            completion = self._complete({**body, "seed": seed_of(request, trial)})
            answers.append(answer_of(completion, first_token, request.image_hashes))
            tokens_in = completion["usage"]["prompt_tokens"]
            tokens_out += completion["usage"]["completion_tokens"]
        return Reply(answers, tokens_in, tokens_out)

    def _first_token(self, body: dict[str, Any]) -> FirstToken:
        for _ in range(FIRST_TOKEN_TRIES):
            if (first_token := first_token_of(self._complete(body))) is not None:
                return first_token
        raise Fault("llama.cpp gave no log-probabilities of the first token")

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            completion: dict[str, Any] = self._server.handle_chat_completions(body)
        except (ValueError, RuntimeError) as error:  # llama.cpp cannot make a prompt of it
            raise RequestRejected(_one_line(error)) from None
        if "error" not in completion:
            return completion
        refusal = completion["error"]
        if refusal.get("type") == "exceed_context_size_error":
            tokens, context = refusal["n_prompt_tokens"], refusal["n_ctx"]
            raise RequestRejected(f"the prompt has {tokens} tokens, but the model's context holds {context}")
        if refusal.get("code", 500) < 500:
            raise RequestRejected(_one_line(refusal.get("message")))
        raise Fault(_one_line(refusal.get("message")))


def seed_of(request: Request, trial: int) -> int:
    """The seed of one trial: the same on every run, unrelated between trials and turns."""
    stream = f"{trial}/{request.turn}/{'' if request.seed is None else request.seed}"
    digest = hashlib.blake2b(request.ask.key + stream.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % 0xFFFFFFFF  # 2^32 - 1 itself would ask llama.cpp for a random seed


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:300]
