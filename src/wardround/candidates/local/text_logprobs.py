"""Log-probabilities of a text from a local model: a grammar makes it write the text, token by token.

llama.cpp gives no log-probabilities of a prompt. It gives the log-softmax of the raw logits for every token that it
writes, whatever the grammar allows; so a grammar that allows only the text's own tokens gives their
log-probabilities. Tokens that end within a character are left out of its reply; they are looked up in the whole
distribution at their place.
"""

import json
import urllib.request
from collections.abc import Sequence
from typing import Any

from wardround.candidates.candidate import Reply, Request, RequestRejected
from wardround.candidates.text_logprobs import prompt_and_text, shared_start
from wardround.core.ask import Answer, TextLogprob

TOKENIZE_TIMEOUT = 60.0  # seconds


class ForcedDecoder:
    """The model behind an xllamacpp server; `key` opens its loopback port, the only way to split texts into tokens.

    `reuses_prompts` says whether the model can go back to a prompt that it has read.
    """

    def __init__(self, server: Any, key: str, model: str, reuses_prompts: bool) -> None:
        self._server, self._key, self._model, self._reuses_prompts = server, key, model, reuses_prompts
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._letter_token: int | None = None  # a token that is a whole character
        self._cached_prompt: list[int] | None = None  # its tokens are in the model's memory

    def forget(self) -> None:
        """To be called before the model reads anything else."""
        self._cached_prompt = None

    def reply(self, request: Request) -> Reply:
        prompt, whole = (self._tokens(text) for text in prompt_and_text(request.ask))
        begin = shared_start(prompt, whole)
        if begin == 0:
            raise RequestRejected("the model reads no token before the text")
        logprob = sum(self._logprobs(whole[:begin], whole[begin:]))
        text = str(request.ask.scored_text)
        score = TextLogprob(logprob, len(whole) - begin, len(text.encode()))
        return Reply([Answer("", model=self._model, text_logprob=score)] * len(request.trials), len(whole))

    def _logprobs(self, before: list[int], tokens: list[int]) -> list[float]:
        if self._reuses_prompts and self._cached_prompt != before:
            # a request of its own reads the whole prompt, so that all texts after it begin at the same state
            self._complete({"prompt": before, "max_tokens": 1, "cache_prompt": False})
            self._cached_prompt = before
        written = self._write(before, tokens)
        logprobs: list[float] = []
        for place, token in enumerate(tokens):
            if written and written[0]["id"] == token:
                logprobs.append(written.pop(0)["logprob"])
            else:
                logprobs.append(self._look_up(before + tokens[:place], token))
        return logprobs

    def _look_up(self, before: list[int], token: int) -> float:
        """From the whole distribution after these tokens, which comes with any letter written there."""
        if self._letter_token is None:
            self._letter_token = self._tokens("A", add_special=False)[-1]
        (written,) = self._write(before, [self._letter_token], alternatives=2**31 - 1)
        return float(next(entry["logprob"] for entry in written["top_logprobs"] if entry["id"] == token))

    def _write(self, before: list[int], tokens: Sequence[int], alternatives: int = 1) -> list[dict[str, Any]]:
        """The log-probability entries of these tokens when the model may write nothing else."""
        body = {
            "prompt": before,
            "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens),
            "max_tokens": len(tokens),
            "logprobs": alternatives,
            "temperature": 0.0,
            "cache_prompt": self._reuses_prompts,
        }
        logprobs = self._complete(body)["choices"][0]["logprobs"]
        return list(logprobs["content"]) if logprobs else []

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        completion: dict[str, Any] = self._server.handle_completions(body)
        if "error" in completion:
            self._cached_prompt = None
            raise RequestRejected(" ".join(str(completion["error"].get("message")).split())[:300])
        return completion

    def _tokens(self, text: str, *, add_special: bool = True) -> list[int]:
        body = json.dumps({"content": text, "add_special": add_special, "parse_special": False}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        request = urllib.request.Request(f"{self._server.listening_address}/tokenize", body, headers)
        with self._open(request, timeout=TOKENIZE_TIMEOUT) as reply:
            tokens: list[int] = json.load(reply)["tokens"]
        return tokens
