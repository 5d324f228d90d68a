"""max_tokens: a candidate that is to count far has to be cut. No text has more words than tokens.

A text of more than twice as many words as tokens are allowed cannot come from an honest server. A count a little above
or below the limit can: tokens are counted in several ways.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from wardround.candidates.candidate import LENGTH_FIELDS
from wardround.running.settings.prober import Prober, ProbeReply
from wardround.running.settings.verdict import SettingVerdict, Verdict

SETTING = "max_tokens"
QUESTION = "Count from 1 to 200: write all the numbers, with a space between them, and nothing else."
LIMIT = 16  # the smallest that every API takes
MAX_CALLS = 1


def max_tokens_verdict(
    asked: int, sent: int | None, replies: Sequence[ProbeReply], refusal: str | None = None
) -> SettingVerdict:
    """`sent` is the limit of the probe as it was sent: some APIs count reasoning with the answer and need more."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SETTING, str(asked), verdict, why)

    if sent is None:
        return result("refused", "the API takes none")
    if refusal is not None:
        return result("unknown", f"the probe was refused: {refusal}")
    if not replies:
        return result("unknown", "the probe was not answered")
    (text, _, _, finish), words = replies[0], len(replies[0].text.split())
    if exceeds(text, sent):
        return result("ignored", f"{words} words came back for a limit of {sent} tokens")
    if sent == LIMIT and (finish == "length" or text):
        short = f"{words} words came back for a limit of {sent} tokens"
        return result("honoured" if finish == "length" else "unknown", f"{short} (finish reason {finish!r})")
    if sent > LIMIT:
        return result("unknown", f"the API counts reasoning with the answer: the limit is sent as {sent - LIMIT} more")
    return result("unknown", "the reply is empty")


def exceeds(text: str, limit: int) -> bool:
    """Whether a text is longer than an honest server can make it."""
    return len(text.split()) > 2 * limit


def sent_limit(fields: Mapping[str, Any] | None, limit: int) -> int | None:
    """The limit among the fields of a request; the request's own for a candidate without an API."""
    if fields is None:
        return limit
    return next((fields[name] for name in LENGTH_FIELDS if name in fields), None)


async def probe_max_tokens(prober: Prober, asked: int) -> SettingVerdict:
    sampling = prober.sampling(max_tokens=LIMIT)
    result = await prober.ask(QUESTION, sampling)
    sent = sent_limit(prober.sent_fields(sampling), LIMIT)
    return max_tokens_verdict(asked, sent, result.replies, result.refusal)
