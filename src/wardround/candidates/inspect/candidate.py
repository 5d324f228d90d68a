"""`inspect`: any provider of Inspect AI as a candidate, for models that wardround does not reach itself."""

import asyncio
import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from wardround.candidates.candidate import (
    Candidate,
    Fault,
    QuestionRefused,
    Reply,
    Request,
    Unsupported,
    settings_error,
)
from wardround.candidates.http.secrets import Secrets
from wardround.candidates.http.server import THINKING_TOKENS
from wardround.candidates.inspect.conversion import answer_of, messages_of, tools_of
from wardround.candidates.inspect.errors import raise_for
from wardround.cases.set import CaseSet
from wardround.core.ask import NO_LOGPROBS, Answer, Identity
from wardround.core.study import CandidateSettings

INSTALL = "pip install 'wardround[inspect]'"
EXTRA_KEYS = ("args", "config")  # of the provider; of Inspect AI's GenerateConfig
TOO_LARGE = re.compile(r"\b413\b|request_too_large", re.I)  # Inspect AI counts such a request as too long
_note_warning: ContextVar[Callable[[str], None] | None] = ContextVar("note_warning", default=None)
MARKUP = re.compile(r"\[/?[a-z]+\]")  # of rich, in Inspect AI's messages


class InspectCandidate(Candidate):
    """A model of Inspect AI.

    Its provider is called directly (`ModelAPI.generate`): retries and concurrency are wardround's, and nothing is
    kept in a transcript.
    """

    def __init__(self, settings: CandidateSettings) -> None:
        name = settings.model or settings.provider.removeprefix("inspect").removeprefix(":")
        if "/" not in name:
            advice = 'such as provider = "inspect:anthropic/claude-sonnet-5-5"'
            raise settings_error(settings, f"expected the model's name with Inspect AI's provider, {advice}")
        if unknown := settings.extra_body.keys() - set(EXTRA_KEYS):
            known = " and ".join(EXTRA_KEYS)
            raise settings_error(settings, f"extra_body.{min(unknown)} is not known; there are {known}")
        self.settings = settings
        self.identity = Identity("inspect", name, settings.revision, settings.extra_body)
        self.supports_multiple = not settings.send_seed
        self.search_mode: str = settings.tools
        self.supports_probes = True
        self.warnings: list[str] = []
        self._secrets = Secrets(settings)
        self._api: Any = None
        self._takes_no_logprobs = False

    async def prepare(self, cases: CaseSet) -> None:
        if self._api is None:
            self._api = await asyncio.to_thread(self._open)

    async def close(self) -> None:
        if self._api is not None:
            await self._api.aclose()
            self._api = None

    async def answer(self, request: Request) -> Reply:
        sampling = request.ask.sampling
        if request.ask.scored_text is not None:
            raise Unsupported("Inspect AI gives no log-likelihoods of texts")
        if sampling.logprobs and self._takes_no_logprobs:
            unanswered = Answer("", NO_LOGPROBS, images=request.image_hashes)
            return Reply([unanswered] * len(request.trials), was_sent=False)
        count = len(request.trials) if self.supports_multiple else 1
        output = await self._generate(request, self._config(request, count))
        if output.stop_reason == "model_length" and output.usage is None:  # no reply: the provider refused the request
            problem = output.error or output.completion
            finish = "image_too_large" if request.images and TOO_LARGE.search(problem) else "too_long"
            raise QuestionRefused(finish, self._one_line(problem))
        answers = [replace(answer_of(choice, output), images=request.image_hashes) for choice in output.choices[:count]]
        if sampling.logprobs and all(answer.first_token is None for answer in answers):
            self._takes_no_logprobs = True
        if len(answers) == 1 < count:
            self.supports_multiple = False
        usage = output.usage
        if usage is None:
            return Reply(answers)
        cached, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
        tokens_in = usage.input_tokens + cached + written
        return Reply(answers, tokens_in, usage.output_tokens, cached_in=cached, cache_writes=written)

    def _open(self) -> Any:
        """The provider's client; whatever it lacks is an error of the settings."""
        try:
            from inspect_ai.model import get_model
        except ImportError as error:
            raise settings_error(self.settings, f"inspect_ai cannot be loaded ({error}): {INSTALL}") from None
        _collect_warnings()
        settings, secrets = self.settings, self._secrets
        key = secrets.from_environment(settings.api_key_env) if settings.api_key_env else None
        arguments = secrets.resolve(settings.extra_body.get("args", {}))
        try:
            model = get_model(self.identity.model, base_url=settings.base_url, api_key=key, memoize=False, **arguments)
        except Exception as error:  # of a provider, of a missing package or key, of an unknown argument
            problem = MARKUP.sub("", str(getattr(error, "message", None) or error))
            raise settings_error(settings, f"Inspect AI: {self._one_line(problem)}") from None
        if isinstance(model.api.api_key, str):
            secrets.add(model.api.api_key)  # one that the provider found in the environment
        client: Any = getattr(model.api, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0
        return model.api

    def _config(self, request: Request, count: int) -> Any:
        """The sampling as Inspect AI names it. What a provider does not have it leaves out, by its documentation."""
        from inspect_ai.model import GenerateConfig

        sampling = request.ask.sampling
        fields: dict[str, Any] = {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k if sampling.top_k and sampling.top_k > 0 else None,
            "stop_seqs": list(sampling.stop) if sampling.stop else None,
            "num_choices": count if count > 1 else None,
            "seed": request.seed,
            "cache_prompt": self.settings.cache_prompts,  # by default Inspect AI would, and writing costs more
            "extra_headers": self._secrets.headers() if self.settings.headers else None,
        }
        if sampling.logprobs:
            fields |= {"logprobs": True, "top_logprobs": sampling.logprobs}
        if sampling.reasoning is not None:
            fields["reasoning_effort"] = "medium" if sampling.reasoning else "none"
            if sampling.reasoning and sampling.max_tokens is not None:
                fields["max_tokens"] = sampling.max_tokens + THINKING_TOKENS
        fields |= self._secrets.resolve(self.settings.extra_body.get("config", {}))
        config = GenerateConfig(**fields)
        if config.max_tokens is None:
            config.max_tokens = self._api.max_tokens_for_config(config) or self._api.max_tokens()
        return config

    async def _generate(self, request: Request, config: Any) -> Any:
        """The model's output; what goes wrong is raised as ours."""
        _note_warning.set(self._add_warning)
        try:
            async with asyncio.timeout(self.settings.timeout):
                result = await self._api.generate(
                    input=messages_of(request), tools=tools_of(request.ask), tool_choice="auto", config=config
                )
        except TimeoutError:
            raise Fault(f"no reply in {self.settings.timeout:g} s", kind="no reply in time") from None
        except Exception as error:  # each provider has classes of its own
            raise_for(error, self._api, request, self._one_line)
        output = result[0] if isinstance(result, tuple) else result
        if isinstance(output, Exception):
            raise_for(output, self._api, request, self._one_line)
        if not output.choices:
            raise Fault("the reply contains no choices", kind="no content")
        return output

    def _add_warning(self, message: str) -> None:
        """A warning of the provider, such as that a model cannot switch reasoning off."""
        warning = f"Inspect AI: {self._one_line(message)}"
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _one_line(self, message: str) -> str:
        """Redacted before it is cut, so that no part of a secret is left."""
        return " ".join(self._secrets.redact(message).split())[:300]


class WarningCollector(logging.Handler):
    """Passes warnings on to the candidate that is being asked."""

    def emit(self, record: logging.LogRecord) -> None:
        if (note := _note_warning.get()) is not None:
            note(record.getMessage())


def _collect_warnings() -> None:
    """Has Inspect AI's warnings noted instead of printed."""
    logger = logging.getLogger("inspect_ai")
    if not any(isinstance(handler, WarningCollector) for handler in logger.handlers):
        logger.addHandler(WarningCollector(logging.WARNING))
        logger.propagate = False
