"""MinuteLimits: the `requests_per_minute` and `tokens_per_minute` of a study, shared by candidates with one account."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from wardround.core.study import CandidateSettings

MIN_WAIT = 1e-6  # what is left of a wait by rounding


class MinuteLimits:
    """Spaces calls evenly: each closes the gate for its share of a minute.

    So servers that count by the minute, by the second or by a bucket are all satisfied. The tokens of a call are
    estimated before it is sent, and corrected when they are known.
    """

    def __init__(self, requests: float | None = None, tokens: float | None = None) -> None:
        self.requests, self.tokens = requests, tokens
        self._request_opens = self._token_opens = 0.0
        self._answered = self._answered_tokens = 0

    def seconds_left(self) -> float:
        """Until the next call may be sent."""
        seconds = max(self._request_opens, self._token_opens) - asyncio.get_running_loop().time()
        return seconds if seconds > MIN_WAIT else 0.0

    def take(self, tokens: float) -> float:
        """A call is sent that will take so many tokens, or as many as others did; returns what was counted."""
        now = asyncio.get_running_loop().time()
        if self.requests is not None:
            self._request_opens = max(now, self._request_opens) + 60 / self.requests
        if self.tokens is None:
            return 0.0
        expected = self._answered_tokens / self._answered if self._answered else tokens
        self._token_opens = max(now, self._token_opens) + 60 * expected / self.tokens
        return expected

    def correct(self, counted: float, tokens: int) -> None:
        """A call took so many tokens."""
        if self.tokens is not None:
            self._answered += 1
            self._answered_tokens += tokens
            self._token_opens += 60 * (tokens - counted) / self.tokens


def limits_by_name(candidates: Sequence[CandidateSettings]) -> dict[str, MinuteLimits]:
    """The limits of each candidate. Those with the same key at the same host share the lowest that is named."""
    shared = {account: MinuteLimits() for account in map(_account, candidates)}
    for account, limits in shared.items():
        members = [candidate for candidate in candidates if _account(candidate) == account]
        limits.requests = _lowest(candidate.requests_per_minute for candidate in members)
        limits.tokens = _lowest(candidate.tokens_per_minute for candidate in members)
    return {candidate.name: shared[_account(candidate)] for candidate in candidates}


def _account(candidate: CandidateSettings) -> tuple[str, ...]:
    """Whose limits count: the host and the key. A candidate without a server has its own."""
    if candidate.base_url is None:
        return ("", candidate.name)
    key = os.environ.get(candidate.api_key_env, "") if candidate.api_key_env else ""
    return (urlsplit(candidate.base_url).netloc.lower(), key, *(candidate.token_command or ()))


def _lowest(limits: Iterable[float | None]) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
