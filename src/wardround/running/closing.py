"""The closing lines of a run: its commonest faults with what to do, its bill beside the estimate, and verdicts."""

from collections.abc import Iterator, Mapping
from typing import Any

ADVICE = {
    "HTTP 401": "see that `api_key_env` names the variable of a valid key",
    "quota": "the account's quota or credit is used up: raise it, then run again",
    "HTTP 429": "lower `concurrency`, or run again later",
    "HTTP 529": "lower `concurrency`, or run again later",
    "refused": "the server declines the request itself; `wardround check` tries the hardest ones",
    "not JSON": "see that `base_url` is the address of the API; most end in /v1",
    "no choices": "see that the server speaks the OpenAI chat protocol",
    "no reply in time": "raise `timeout`, or lower `concurrency` or `max_tokens`",
    "unreachable": "see that the server runs and `base_url` is right, then run again",
    "broken connection": "see that the server runs, then run again",
}
SERVER_ERROR = "see the server's log, or lower `concurrency`; then run again"
OTHER = "run again: answers are kept"


def closing_lines(manifest: Mapping[str, Any]) -> list[str]:
    """What a person must know when a run has ended; none for a complete run that cost nothing."""
    lines: list[str] = []
    for entry in manifest.get("candidates", []):
        if manifest["status"] == "incomplete":
            lines += _fault_lines(entry)
        lines += _bill_lines(entry)
    return lines + [_endpoint_line(endpoint) for endpoint in manifest.get("acceptance") or []]


def _endpoint_line(endpoint: Mapping[str, Any]) -> str:
    """An endpoint of `[acceptance]` with the verdict on every candidate."""
    verdicts = []
    for candidate in endpoint["candidates"]:
        needed = candidate["clusters_needed"]
        decides = f" (about {needed:,} clusters of cases would decide)" if needed else ""
        exploratory = " (exploratory)" if candidate.get("note") else ""
        verdicts.append(f"{candidate['name']} {candidate['verdict']}{exploratory}{decides}")
    primary = ", primary" if endpoint["primary"] else ""
    return f"acceptance ({endpoint['name']}{primary}): {', '.join(verdicts)}"


def _fault_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    kinds = entry.get("fault_kinds") or []
    if kinds:
        commonest, times = kinds[0], sum(kind["times"] for kind in kinds)
        kind, last = commonest["kind"], commonest["last"]
        advice = ADVICE.get(kind) or (SERVER_ERROR if kind.startswith("HTTP 5") else OTHER)
        what = last if last.startswith(kind) else f"{kind}: {last}"
        yield f"{entry['name']}: {times:,} faults, most often ({commonest['times']:,}) {what}; {advice}"


def _bill_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    tokens_in, tokens_out, cost = entry["tokens_in"], entry["tokens_out"], entry["cost"]
    if not tokens_in and not tokens_out:
        return
    spent = f"{entry['calls']:,} calls, {tokens_in:,} input and {tokens_out:,} output tokens"
    spent += f", {cost:.2f} USD" if cost else ""
    if estimate := entry.get("estimate"):
        expected = f"{estimate['tokens_in']:,} and {estimate['tokens_out']:,}"
        expected += f", {estimate['cost']:.2f} USD" if cost else ""
        spent += f" (estimated before: {expected})"
    if saved := entry.get("saved"):
        spent += f"; batches saved {saved:.2f} USD"
    if share := entry.get("cached_share"):
        spent += f"; {share:.0%} of the input came from the server's cache"
        spent += f", which saved {saved:.2f} USD" if (saved := entry["saved_by_cache"]) else ""
    if estimated := entry.get("tokens_estimated"):
        spent += f"; the tokens of {estimated:,} calls are our own estimate, because the server reported none"
    yield f"{entry['name']}: {spent}"
