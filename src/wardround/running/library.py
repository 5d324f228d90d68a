"""The library: the tools over a literature index that protocols use, and what the manifest tells of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wardround.asking.evidence import cited
from wardround.asking.options import seeded
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import Study
from wardround.literature.index.index import Index
from wardround.literature.search.filters import Filters
from wardround.literature.search.hit import Hit
from wardround.literature.search.retrieval import Retrieval, retrieve
from wardround.running.tools import Tool

AT_ONCE = 2  # searches in threads: the index uses threads of its own


class Library:
    """The index of a study, opened once."""

    def __init__(self, study: Study, study_file: Path, cases: CaseSet) -> None:
        assert study.literature is not None
        self._settings, self._cases, self._seed = study.literature, cases, study.seed
        self.place = _place(study.literature.index, study_file)
        if study.offline and "://" in self.place:
            raise WardroundError(f"offline = true: the index {self.place} is not on this machine")
        self._index = Index.open(self.place)
        self._gate = asyncio.Semaphore(AT_ONCE)
        for search in [study.literature, *study.literature.searches.values()]:
            for name in search.retrievers:
                if name not in self._index.retrievers:
                    has = ", ".join(self._index.retrievers)
                    raise WardroundError(f"literature: the index {self.place} has no retriever {name!r}; it has {has}")

    @property
    def tools(self) -> dict[str, tuple[str, Tool]]:
        """By name, each with what its results depend on."""
        index = self._index.fingerprint
        others = blake([self._cases.hash, self._seed]).hex()
        return {
            "search": (index, self._search),
            "read": (index, self._read),
            "draw": (index, self._draw),
            "another": (others, self._another),
        }

    def manifest(self) -> dict[str, Any]:
        """What the run tells of its literature."""
        return {
            "index": self.place,
            "fingerprint": self._index.fingerprint,
            "retrievers": self._index.retrievers,
            "settings": self._settings.model_dump(exclude={"index"}),
        }

    async def _search(self, told: Mapping[str, Any]) -> list[list[str]]:
        """The articles that a query finds: PMID, title and abstract of each, best first."""
        filters = Filters(
            since=self._settings.since,
            until=self._settings.until,
            publication_types=tuple(self._settings.publication_types),
            without=tuple(told["without"]),
        )
        retrieval = Retrieval(
            retrievers=tuple(told["retrievers"] or self._index.usual),
            depth=told["depth"],
            fusion=told["fusion"],
            weights=tuple(told["weights"]),
            k=told["k"],
            combine=told["combine"],
            reranker=told["reranker"],
        )
        return _told(await self._in_thread(retrieve, self._index, told["query"], retrieval, filters))

    async def _read(self, told: Mapping[str, Any]) -> list[list[str]]:
        """Those of the articles that the index holds, in the order in which they are named."""
        found: dict[str, Hit] = await self._in_thread(self._index.articles, told["pmids"])
        return _told([found[pmid] for pmid in told["pmids"] if pmid in found])

    async def _draw(self, told: Mapping[str, Any]) -> list[list[str]]:
        """Some articles, whatever they are about."""
        return _told(await self._in_thread(self._index.some, told["count"], told["seed"], told["without"]))

    async def _another(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """The literature that another case cites, of which this one cites none."""
        own = self._cases.case(self._cases.index_of(told["case"]))
        start = seeded("another", self._seed, own.id).randrange(len(self._cases))
        for step in range(len(self._cases)):
            other = self._cases.case((start + step) % len(self._cases))
            pmids = cited(other)
            if other.resampled_as != own.resampled_as and pmids and not set(pmids) & set(cited(own)):
                return {"case": other.id, "pmids": pmids}
        raise BadInput(self._cases.folder, f"{own.id}: no other case cites literature that this one does not")

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        async with self._gate:
            return await asyncio.to_thread(function, *arguments)


def _told(hits: list[Hit]) -> list[list[str]]:
    return [[hit.pmid, hit.title, hit.abstract] for hit in hits]


def _place(index: str, study_file: Path) -> str:
    """Where the index is: beside the study file, or from here; an address as it is."""
    if "://" in index:
        return index
    beside = study_file.parent / index
    return str(beside if beside.exists() else Path(index))
