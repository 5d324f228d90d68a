"""The [literature] table of a study: the index, and how it is searched."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from wardround.core.dates import parse_partial_date
from wardround.core.toml_table import StrictTable


def _date_limit(value: object) -> object:
    """A year stays a number, so that studies keep their hash; a month or day is written as text."""
    return value if isinstance(value, int) and parse_partial_date(value) else parse_partial_date(value)


PublicationDate = Annotated[int | str, BeforeValidator(_date_limit)]


class SearchSettings(StrictTable):
    """How documents are searched. The defaults are the paper's (CURE), except the retrievers: all of the index."""

    retrievers: list[str] = []
    depth: int = Field(default=5, ge=1, le=1000)
    fusion: Literal["paper", "rrf"] = "paper"
    combine: Literal["mean", "max"] = "mean"
    weights: list[float] = []
    reranker: str | None = None
    k: int = Field(default=10, ge=1, le=100)
    query: Literal["case", "candidate"] = "case"


AgentLimit = Annotated[int, Field(ge=1, le=100)] | Literal["unlimited"]


class AgentLimits(StrictTable):
    """The limits of an agent (our choice: the paper's agent was limited by other means).

    An agent with unlimited turns and searches is still limited by `tokens`, and its study by the budget.
    """

    turns: AgentLimit = 8
    searches: AgentLimit = 5
    tokens: int = Field(default=24_000, ge=1)  # of the transcript, by our estimate
    step_tokens: int = Field(default=512, ge=1)  # of one intermediate reply
    hits: int = Field(default=5, ge=1, le=50)


class Literature(SearchSettings):
    """The index of the literature, and how it is searched. `searches` are further ones, for `rag@NAME`."""

    index: str = Field(min_length=1)
    since: PublicationDate | None = None
    until: PublicationDate | None = None
    publication_types: list[str] = []
    languages: list[str] = []
    mesh: list[str] = []  # headings, of which an article has any; with a thesaurus also narrower ones
    expand: bool = False  # adds the headings of the terms in a query; needs a thesaurus
    searches: dict[str, SearchSettings] = {}
    agent: AgentLimits = AgentLimits()
    support: Literal["lexical", "judge"] = "lexical"  # decides whether documents support a diagnosis

    def search_named(self, evidence: str) -> SearchSettings:
        """The search of a value of the axis `evidence`."""
        return self.searches[evidence.removeprefix("rag@")] if evidence.startswith("rag@") else self

    def to_content(self) -> dict[str, Any]:
        """The settings without those that were added later and have their defaults: older studies keep their hash."""
        content = self.model_dump()
        for name in ("support", "languages", "mesh", "expand"):
            if content[name] == type(self).model_fields[name].get_default(call_default_factory=True):
                del content[name]
        return content
