"""How a model in this memory foretells a given text: it is made to write it, token by token, in one request.

llama.cpp does not tell how probable a prompt was. It tells the log-softmax of the raw logits of every token that it
writes, whatever a grammar allowed it to write; so a grammar that allows the text's own tokens alone, one after
another, gives their log-probabilities. Tokens that end within a character are not told, and are looked up in the
whole distribution at their place.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from typing import Any

from wardround.candidates.candidate import Rejected, Reply, Request
from wardround.candidates.text_logprobs import shared_start, texts
from wardround.core.ask import Answer, Foretold

SECONDS = 60  # to split a text into tokens


class Forced:
    """The model behind an xllamacpp server; `key` opens its loopback port, which alone splits texts into tokens.

    `keeps` says whether the model goes back to a prompt that it has read.
    """

    def __init__(self, server: Any, key: str, model: str, keeps: bool) -> None:
        self._server, self._key, self._model, self._keeps = server, key, model, keeps
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._letter: int | None = None  # a token that is a whole character
        self._read: list[int] | None = None  # the prompt that the model's memory holds

    def forget(self) -> None:
        """The model's memory holds something else from now on."""
        self._read = None

    def reply(self, request: Request) -> Reply:
        prompt, whole = (self._tokens(text) for text in texts(request.ask))
        begin = shared_start(prompt, whole)
        if begin == 0:
            raise Rejected("the model reads nothing before the text that it is to foretell")
        logprob = sum(self._logprobs(whole[:begin], whole[begin:]))
        text = str(request.ask.foretold)
        found = Foretold(logprob, len(whole) - begin, len(text.encode()))
        return Reply([Answer("", model=self._model, foretold=found)] * len(request.trials), len(whole))

    def _logprobs(self, before: list[int], tokens: list[int]) -> list[float]:
        if self._keeps and self._read != before:
            # the prompt is read whole by a request of its own, so that all texts after it begin at the same state
            self._complete({"prompt": before, "max_tokens": 1, "cache_prompt": False})
            self._read = before
        told = self._written(before, tokens)
        found: list[float] = []
        for place, token in enumerate(tokens):
            if told and told[0]["id"] == token:
                found.append(told.pop(0)["logprob"])
            else:
                found.append(self._looked_up(before + tokens[:place], token))
        return found

    def _looked_up(self, before: list[int], token: int) -> float:
        """From the whole distribution after these tokens, told beside some letter."""
        if self._letter is None:
            self._letter = self._tokens("A", special=False)[-1]
        (told,) = self._written(before, [self._letter], alternatives=2**31 - 1)
        return float(next(each["logprob"] for each in told["top_logprobs"] if each["id"] == token))

    def _written(self, before: list[int], tokens: Sequence[int], alternatives: int = 1) -> list[dict[str, Any]]:
        """What llama.cpp tells of these tokens when it may write nothing else."""
        body = {
            "prompt": before,
            "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens),
            "max_tokens": len(tokens),
            "logprobs": alternatives,
            "temperature": 0.0,
            "cache_prompt": self._keeps,
        }
        logprobs = self._complete(body)["choices"][0]["logprobs"]
        return list(logprobs["content"]) if logprobs else []

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = self._server.handle_completions(body)
        if "error" in told:
            self._read = None
            raise Rejected(" ".join(str(told["error"].get("message")).split())[:300])
        return told

    def _tokens(self, text: str, *, special: bool = True) -> list[int]:
        body = json.dumps({"content": text, "add_special": special, "parse_special": False}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        asked = urllib.request.Request(f"{self._server.listening_address}/tokenize", body, headers)
        with self._open(asked, timeout=SECONDS) as reply:
            tokens: list[int] = json.load(reply)["tokens"]
        return tokens
