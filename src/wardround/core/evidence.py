"""Evidence: the documents that a candidate was shown with a question, and how they were come by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wardround.core.canonical import blake


class Document(NamedTuple):
    """A text that is shown: an abstract, or as much of one as a list of hits tells."""

    pmid: str
    title: str
    text: str

    @property
    def id(self) -> str:
        """Names this very text: an abstract in which something was blanked is another document."""
        return blake(list(self)).hex()[:24]


@dataclass(frozen=True)
class Evidence:
    """What was shown, in order; `found` and `queries` say what a search brought, best first, over all searches."""

    documents: tuple[Document, ...] = ()
    found: tuple[str, ...] = ()  # PMIDs
    queries: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # PMIDs that were to be shown and are not in the index
    ended: str | None = None  # why an agent stopped searching

    def cut_to(self, count: int) -> Evidence:
        """With the first documents only."""
        return self if count >= len(self.documents) else replace(self, documents=self.documents[:count])


NO_EVIDENCE = Evidence()


def fenced(texts: Sequence[str]) -> str:
    """Texts between two lines with a mark that none of them can hold, by chance or by intent: it depends on all."""
    mark = blake(list(texts)).hex()[:12]
    return "\n\n".join([f"--- literature {mark} ---", *texts, f"--- end of literature {mark} ---"])


def documents_told(told: Iterable[Sequence[Any]]) -> tuple[Document, ...]:
    """Documents as a tool or a store tells them: PMID, title and text of each."""
    return tuple(Document(*map(str, each)) for each in told)
