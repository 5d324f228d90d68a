"""System text: a word that only the system text has must be named; one in the user's text shows that it could be."""

import random
from collections.abc import Sequence

from wardround.running.settings.prober import Prober
from wardround.running.settings.verdict import SettingVerdict, Verdict

SETTING = "system text"
WORDS = ("anchor", "basket", "candle", "falcon", "garden", "hammer", "lantern", "meadow", "pepper", "saddle", "violin")
TOLD = "The code word is {word}."
QUESTION = "What is the code word? Answer with the word alone. If you were told none, answer NONE."
REPLIES = 2
MAX_CALLS = REPLIES + 1


def system_verdict(
    word: str, replies: Sequence[str], control: str | None, refusal: str | None = None
) -> SettingVerdict:
    """`control` is the reply to a user's text that has the word; None if it was not needed."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SETTING, "sent", verdict, why)

    if refusal is not None:
        return result("refused", refusal)
    if any(word in reply.lower() for reply in replies):
        return result("honoured", "a word that only it has was named")
    if len(replies) == REPLIES and control is not None and word in control.lower():
        return result(
            "ignored", f"a word that only it has was not named twice ({replies[-1][:40]!r}); in the user's text it was"
        )
    return result("unknown", "the candidate did not name a word that it was told")


async def probe_system_text(prober: Prober) -> SettingVerdict:
    word, sampling = random.SystemRandom().choice(WORDS), prober.sampling()
    sentence, replies = TOLD.format(word=word), list[str]()
    for _ in range(REPLIES):
        result = await prober.ask(QUESTION, sampling, system=sentence)
        if result.refusal is not None:
            return system_verdict(word, replies, None, result.refusal)
        replies += result.texts
        if any(word in reply.lower() for reply in replies):
            return system_verdict(word, replies, None)
    control = await prober.ask(f"{sentence}\n\n{QUESTION}", sampling)
    return system_verdict(word, replies, next(iter(control.texts), None))
