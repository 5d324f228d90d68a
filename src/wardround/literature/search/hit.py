"""Hit: an article in a list of search results."""

from typing import NamedTuple

SNIPPET = 300  # characters of an abstract that a list of hits shows to an agent


class Hit(NamedTuple):
    """An article with the score of its retriever; lists of hits are best first."""

    pmid: str
    score: float
    title: str
    abstract: str
    year: int | None = None
    journal: str | None = None


def article_pmid(pmid: str) -> str:
    """The PMID of the article that a passage ("29768149#3") belongs to; of an article its own."""
    return pmid.partition("#")[0]


def snippet(text: str) -> str:
    """The beginning of an abstract, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else line[:SNIPPET].rsplit(" ", 1)[0] + " ..."
