"""Random digits: the question whose replies show whether and how a server samples.

Two honest replies at temperature 1 are the same with a small probability c, and four are with at most c squared. A
reply without digits says nothing about sampling: the candidate may write the same words whatever it is asked.
"""

import re
from collections.abc import Callable, Sequence

from wardround.core.ask import Sampling
from wardround.running.settings.prober import Prober, ProbeReply, ProbeResult

QUESTION = "Write a random number of 12 digits. Answer with the number alone."
MIN_DIGITS = 8  # of a reply that does as it is asked


def are_numbers(texts: Sequence[str]) -> bool:
    """Whether there are replies, and all of them have the digits that were asked for."""
    return bool(texts) and all(len(re.findall(r"\d", text)) >= MIN_DIGITS for text in texts)


def texts_of(replies: Sequence[ProbeReply]) -> list[str]:
    return ProbeResult(tuple(replies)).texts


async def ask_for_digits(
    prober: Prober,
    sampling: Sampling,
    is_enough: Callable[[Sequence[str]], bool],
    seed: int | None = None,
    *,
    stops_at_words: bool = True,
) -> ProbeResult:
    """One reply after the other, until they are enough, one is missing, or the same words came twice."""
    replies: tuple[ProbeReply, ...] = ()
    while not is_enough(texts := texts_of(replies)):
        if len(texts) == 2 and len(set(texts)) == 1 and not are_numbers(texts) and stops_at_words:
            break
        result = await prober.ask(QUESTION, sampling, seed=seed)
        if not result.replies:
            return ProbeResult(replies, result.refusal)
        replies += result.replies
    return ProbeResult(replies)
