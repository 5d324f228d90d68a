"""How a simulated respondent reads the literature in an Ask.

The rule is crude on purpose, and not that of marking: a clause that contains a name and no word of denial affirms it.
"""

import re
from collections.abc import Sequence

from wardround.candidates.candidate import Request
from wardround.core.ask import Message

QUERY_WORDS = 12
_FENCED = re.compile(r"^--- literature (\w+) ---$(.*?)^--- end of literature \1 ---$", re.M | re.S)
_CLAUSE = re.compile(r"[.;!?]\s|\n|,? (?:but|however)\b", re.I)
_DENYING = re.compile(
    r"\b(?:no|not|without|absence|unlike|neither|nor|excluded|ruled out|rather than|instead of|negative)\b", re.I
)


def literature(messages: Sequence[Message]) -> str:
    """The fenced literature in the messages to the respondent."""
    parts = [part for message in messages if message.role != "assistant" for part in message.parts]
    return "\n".join(match[2] for part in parts if isinstance(part, str) for match in _FENCED.finditer(part))


def affirming_clauses(text: str) -> list[str]:
    """The clauses of a text without a word of denial, in lower case."""
    return [clause.casefold() for clause in _CLAUSE.split(text) if not _DENYING.search(clause)]


def first_named(clauses: Sequence[str], diagnoses: Sequence[str]) -> str | None:
    """The diagnosis that is named first."""
    for clause in clauses:
        mentions = [(match.start(), name) for name in diagnoses if (match := _find_name(name, clause))]
        if mentions:
            return min(mentions)[1]
    return None


def _find_name(name: str, clause: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", clause)


def intermediate_reply(request: Request) -> str:
    """The reply to an intermediate turn: one search with the first words of the history, then the end of the search."""
    case = request.case
    query = " ".join((case.history or case.findings or request.question.prompt).split()[:QUERY_WORDS])
    if request.condition.evidence != "agent":
        return query
    return f"SEARCH: {query}" if len(request.ask.messages) == 1 else "FINISH"
