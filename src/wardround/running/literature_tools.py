"""The tools over a literature index that protocols use, and their manifest entry."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wardround.asking.evidence import cited_pmids
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake
from wardround.core.dates import parse_partial_date
from wardround.core.errors import BadInput, WardroundError
from wardround.core.random import seeded
from wardround.core.study import Study
from wardround.literature.index.index import Index
from wardround.literature.search.filters import Filters
from wardround.literature.search.hit import Hit
from wardround.literature.search.retrieval import Retrieval, retrieve, retrieve_all
from wardround.running.tools import BatchTool, Tool

MAX_SEARCHES = 2  # at once: the index uses threads of its own


class LiteratureTools:
    """The tools of a study's index, opened once."""

    def __init__(self, study: Study, study_file: Path, cases: CaseSet) -> None:
        assert study.literature is not None
        self._settings, self._cases, self._seed = study.literature, cases, study.seed
        self.location = _locate(study.literature.index, study_file)
        if study.offline and "://" in self.location:
            raise WardroundError(f"offline = true: the index {self.location} is not on this machine")
        self._index = Index.open(self.location)
        self._gate = asyncio.Semaphore(MAX_SEARCHES)
        if self._settings.expand:
            self._index.expand("")
        for search in [study.literature, *study.literature.searches.values()]:
            for name in search.retrievers:
                if name not in self._index.retrievers:
                    has = ", ".join(self._index.retrievers)
                    raise WardroundError(
                        f"literature: the index {self.location} has no retriever {name!r}; it has {has}"
                    )

    @property
    def tools(self) -> dict[str, tuple[str, Tool]]:
        """Tools by name, each with the fingerprint of what its results depend on."""
        index = self._index.fingerprint
        settings = self._search_settings()
        searched = blake([index, settings]).hex() if settings else index
        others = blake([self._cases.hash, self._seed]).hex()
        return {
            "search": (searched, self._search),
            "read": (index, self._read),
            "draw": (index, self._draw),
            "another": (others, self._another),
        }

    @property
    def batch_tools(self) -> dict[str, BatchTool]:
        """Tools that can be used many times at once, with the same results."""
        return {"search": self._search_all}

    def manifest(self) -> dict[str, Any]:
        """The manifest's entry on the literature."""
        return {
            "index": self.location,
            "fingerprint": self._index.fingerprint,
            "documents": self._index.about["articles"]["count"],
            "retrievers": self._index.retrievers,
            "settings": self._settings.model_dump(exclude={"index"}),
        }

    @cached_property
    def _filters(self) -> Filters:
        since, until = self._settings.since, self._settings.until
        return Filters(
            since=parse_partial_date(since) if since is not None else None,
            until=parse_partial_date(until) if until is not None else None,
            publication_types=tuple(self._settings.publication_types),
            languages=tuple(self._settings.languages),
            mesh=self._index.headings(self._settings.mesh),
        )

    def _search_settings(self) -> dict[str, Any]:
        """What the results of a search depend on besides the index and the arguments."""
        settings = {name: value for name, value in asdict(self._filters).items() if value}
        return settings | ({"expand": self._index.about["mesh"]["sha256"]} if self._settings.expand else {})

    async def _search(self, arguments: Mapping[str, Any]) -> list[list[str]]:
        """The articles for a query, best first: PMID, title and abstract."""
        query, filters = self._query(arguments), self._filters_of(arguments)
        return _to_rows(await self._in_thread(retrieve, self._index, query, self._retrieval(arguments), filters))

    async def _search_all(self, uses: Sequence[Mapping[str, Any]]) -> list[list[list[str]]]:
        """The articles for each query, as `_search` returns them."""
        places_by_retrieval: dict[Retrieval, list[int]] = {}
        for place, arguments in enumerate(uses):
            places_by_retrieval.setdefault(self._retrieval(arguments), []).append(place)
        results: list[list[list[str]]] = [[] for _ in uses]
        for retrieval, places in places_by_retrieval.items():
            queries = [self._query(uses[place]) for place in places]
            filters = [self._filters_of(uses[place]) for place in places]
            hit_lists = await self._in_thread(retrieve_all, self._index, queries, retrieval, filters)
            for place, hits in zip(places, hit_lists, strict=True):
                results[place] = _to_rows(hits)
        return results

    def _query(self, arguments: Mapping[str, Any]) -> str:
        return self._index.expand(arguments["query"]) if self._settings.expand else arguments["query"]

    def _filters_of(self, arguments: Mapping[str, Any]) -> Filters:
        return replace(self._filters, without=tuple(arguments["without"]))

    def _retrieval(self, arguments: Mapping[str, Any]) -> Retrieval:
        return Retrieval(
            retrievers=tuple(arguments["retrievers"] or self._index.default_retrievers),
            depth=arguments["depth"],
            fusion=arguments["fusion"],
            weights=tuple(arguments["weights"]),
            k=arguments["k"],
            combine=arguments["combine"],
            reranker=arguments["reranker"],
        )

    async def _read(self, arguments: Mapping[str, Any]) -> list[list[str]]:
        """Those of the articles that are in the index, in the order of `pmids`."""
        articles: dict[str, Hit] = await self._in_thread(self._index.articles, arguments["pmids"])
        return _to_rows([articles[pmid] for pmid in arguments["pmids"] if pmid in articles])

    async def _draw(self, arguments: Mapping[str, Any]) -> list[list[str]]:
        """Random articles."""
        return _to_rows(
            await self._in_thread(self._index.sample, arguments["count"], arguments["seed"], arguments["without"])
        )

    async def _another(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The references of another case that shares none with this one."""
        own = self._cases.case(self._cases.index_of(arguments["case"]))
        start = seeded("another", self._seed, own.id).randrange(len(self._cases))
        for step in range(len(self._cases)):
            other = self._cases.case((start + step) % len(self._cases))
            pmids = cited_pmids(other)
            if other.cluster_id != own.cluster_id and pmids and not set(pmids) & set(cited_pmids(own)):
                return {"case": other.id, "pmids": pmids}
        raise BadInput(self._cases.folder, f"{own.id}: no other case cites literature that this one does not")

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        async with self._gate:
            return await asyncio.to_thread(function, *arguments)


def _to_rows(hits: list[Hit]) -> list[list[str]]:
    return [[hit.pmid, hit.title, hit.abstract] for hit in hits]


def _locate(index: str, study_file: Path) -> str:
    """The index's address, or its path: beside the study file or in the working directory."""
    if "://" in index:
        return index
    path = study_file.parent / index
    return str(path if path.exists() else Path(index))
