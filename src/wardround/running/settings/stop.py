"""Stop sequences: a line that has one in its middle is to be repeated. An honest server cannot write what follows."""

from collections.abc import Iterable, Sequence

from wardround.running.settings.prober import Prober, ProbeReply
from wardround.running.settings.verdict import SettingVerdict, Verdict

SETTING = "stop"
BEFORE, AFTER = "alpha", "omega"
QUESTION = "Repeat the following exactly, and write nothing else:\n\n{before}{stop}{after}"
FIELDS = ("stop", "stop_sequences", "stopSequences")
MAX_CALLS = 1


def stop_verdict(
    stops: Sequence[str], replies: Sequence[ProbeReply], *, is_sent: bool = True, refusal: str | None = None
) -> SettingVerdict:
    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SETTING, ", ".join(map(repr, stops)), verdict, why)

    if not is_sent:
        return result("refused", "the API takes none")
    if refusal is not None:
        return result("unknown", f"the probe was refused: {refusal}")
    if not replies:
        return result("unknown", "the probe was not answered")
    text = replies[0].text
    if runs_past_stop([text], stops):
        return result("ignored", f"the reply goes on after {stops[0]!r}: {text[:60]!r}")
    if BEFORE in text and AFTER not in text:
        return result("honoured", f"the reply ends at {stops[0]!r}")
    return result("unknown", f"the candidate did not repeat the line: {text[:60]!r}")


def runs_past_stop(texts: Iterable[str], stops: Sequence[str]) -> bool:
    """Whether a text goes on after a stop sequence; some servers keep the sequence itself at the end."""
    return any(_runs_past(text, stop) for text in texts for stop in stops if stop)


def _runs_past(text: str, stop: str) -> bool:
    if not text.partition(stop)[2].strip():
        return False
    # A reply "#", cut at "##" with the sequence kept, is "###": its first "##" is not where the server stopped.
    last = text.rfind(stop)
    return stop in text[:last] or bool(text[last + len(stop) :].strip())


async def probe_stop(prober: Prober, stops: Sequence[str]) -> SettingVerdict:
    sampling = prober.sampling(stop=tuple(stops))

    def is_sent() -> bool:
        fields = prober.sent_fields(sampling)
        return fields is None or any(name in fields for name in FIELDS)

    if not is_sent():
        return stop_verdict(stops, (), is_sent=False)
    result = await prober.ask(QUESTION.format(before=BEFORE, stop=stops[0], after=AFTER), sampling)
    return stop_verdict(stops, result.replies, is_sent=is_sent(), refusal=result.refusal)
