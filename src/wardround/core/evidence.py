"""Evidence: the documents shown with a question, and how they were found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from wardround.core.canonical import blake


class Document(NamedTuple):
    """A shown text: an abstract, or the snippet of one in a list of hits."""

    pmid: str
    title: str
    text: str

    @property
    def id(self) -> str:
        """The hash of PMID, title and text: an abstract with blanks is another document."""
        return blake(list(self)).hex()[:24]


@dataclass(frozen=True)
class Evidence:
    """The shown documents in order, and the queries and hits (best first) of all searches."""

    documents: tuple[Document, ...] = ()
    hits: tuple[str, ...] = ()  # PMIDs
    queries: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # PMIDs that are not in the index
    ended: str | None = None  # why an agent stopped searching


NO_EVIDENCE = Evidence()


def fence_texts(texts: Sequence[str]) -> str:
    """Texts between two lines with a mark that none of them can contain: it is a hash of them all."""
    mark = blake(list(texts)).hex()[:12]
    return "\n\n".join([f"--- literature {mark} ---", *texts, f"--- end of literature {mark} ---"])


def parse_documents(rows: Iterable[Sequence[Any]]) -> tuple[Document, ...]:
    """Documents from rows of PMID, title and text, as tools return them."""
    return tuple(Document(*map(str, row)) for row in rows)
