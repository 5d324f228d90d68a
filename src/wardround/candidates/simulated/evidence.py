"""What a simulated respondent makes of the literature in an Ask: it believes what it reads there, and nothing else.

Its way of reading is crude on purpose, and not that of marking: a clause that holds a name and no word of denial
affirms it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wardround.candidates.candidate import Request
from wardround.core.ask import Message

WORDS = 12  # of the history, that it searches with
_FENCED = re.compile(r"^--- literature (\w+) ---$(.*?)^--- end of literature \1 ---$", re.M | re.S)
_CLAUSE = re.compile(r"[.;!?]\s|\n|,? (?:but|however)\b", re.I)
_DENYING = re.compile(
    r"\b(?:no|not|without|absence|unlike|neither|nor|excluded|ruled out|rather than|instead of|negative)\b", re.I
)


def literature(messages: Sequence[Message]) -> str:
    """All that stands between fences in what was said to the respondent."""
    said = [part for message in messages if message.role != "assistant" for part in message.parts]
    return "\n".join(found[2] for text in said if isinstance(text, str) for found in _FENCED.finditer(text))


def affirmed(text: str) -> list[str]:
    """The clauses of a text that deny nothing, in small letters."""
    return [clause.casefold() for clause in _CLAUSE.split(text) if not _DENYING.search(clause)]


def first_named(clauses: Sequence[str], diagnoses: Sequence[str]) -> str | None:
    """The diagnosis that is named first."""
    for clause in clauses:
        found = [(place.start(), name) for name in diagnoses if (place := _place(name, clause))]
        if found:
            return min(found)[1]
    return None


def _place(name: str, clause: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", clause)


def on_the_way(request: Request) -> str:
    """A turn before the answer: it searches once with the first words of the history, and then has enough."""
    case = request.case
    told = " ".join((case.history or case.findings or request.question.prompt).split()[:WORDS])
    if request.condition.evidence != "agent":
        return told
    return f"SEARCH: {told}" if len(request.ask.messages) == 1 else "FINISH"
