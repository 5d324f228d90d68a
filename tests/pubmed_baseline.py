"""A PubMed of invented articles: a baseline and updates with revisions, new versions, late old ones and deletions.

Words are drawn by Zipf's law, so that a few are in most articles and most in a few. Every article is another one.
"""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

CONSONANTS, VOWELS = "bcdfghklmnprstvz", "aeiou"
COMMON = ("the", "of", "and", "in", "with", "was", "for", "to", "a", "by", "is", "were", "that", "on", "at", "from")
TYPES = ("Journal Article", "Review", "Case Reports", "Randomized Controlled Trial", "Letter")
REVISED, RAISED, LATE, DELETED = 0.010, 0.004, 0.002, 0.003  # shares of a file's articles
HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'


@dataclass
class Baseline:
    """Writes files one after another and keeps what is current by a plain loop over what it wrote."""

    folder: Path
    words: int = 180  # of an abstract, on average
    vocabulary: int = 500_000
    seed: int = 1
    current: dict[int, tuple[int, int]] = field(default_factory=dict)  # PMID: version and edition
    written: int = 0  # distinct articles

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self._numbers = np.random.default_rng(self.seed)
        self._word = [word(rank) for rank in range(self.vocabulary)]

    def write(self, files: int, articles: int) -> list[Path]:
        """More files of so many new articles each, and of news about those before."""
        return [self._file(articles) for _ in range(files)]

    def queries(self, count: int) -> list[str]:
        """Of 3 to 12 words as rare as those of the articles."""
        return [" ".join(next(self._texts(1, self._draw.randint(3, 12)))) for _ in range(count)]

    def _file(self, articles: int) -> Path:
        before = sorted(self.current)[: self.written]
        number = len(list(self.folder.glob("*.xml.gz"))) + 1
        file = self.folder / f"pubmed{number:04}.xml.gz"
        editions: list[tuple[int, int, int]] = []  # PMID, version, edition
        news = {share: self._some(before, share, articles) for share in (REVISED, RAISED, LATE, DELETED)}
        for pmid in news[REVISED]:
            version, edition = self.current[pmid]
            editions.append((pmid, version, edition + 1))
        for pmid in set(news[RAISED]) - set(news[REVISED]):
            version, edition = self.current[pmid]
            editions.append((pmid, version + 1, edition + 1))
        self.current |= {pmid: (version, edition) for pmid, version, edition in editions}
        editions += [(pmid, self.current[pmid][0] - 1, 99) for pmid in news[LATE] if self.current[pmid][0] > 1]
        for _ in range(articles):
            self.written += 1
            editions.append((10_000_000 + self.written, 1, 1))
            self.current[10_000_000 + self.written] = (1, 1)
        self._draw.shuffle(editions)
        gone = [(pmid, self.current.pop(pmid)[0]) for pmid in news[DELETED]]
        with gzip.open(file, "wb", 1) as opened:
            opened.write(HEAD)
            texts = self._texts(len(editions), self.words)
            for (pmid, version, edition), text in zip(editions, texts, strict=True):
                opened.write(self._article(pmid, version, edition, text))
            listed = "".join(f'<PMID Version="{version}">{pmid}</PMID>' for pmid, version in gone)
            opened.write(f"<DeleteCitation>{listed}</DeleteCitation>\n</PubmedArticleSet>\n".encode())
        return file

    def _some(self, pmids: list[int], share: float, articles: int) -> list[int]:
        return self._draw.sample(pmids, min(len(pmids), math.ceil(share * articles)))

    def _texts(self, count: int, mean: int) -> Iterator[list[str]]:
        for _ in range(count):
            long = max(3, int(self._numbers.normal(mean, mean / 4)))
            ranks = np.exp(self._numbers.random(long) * math.log(self.vocabulary)).astype(int) - 1
            common = self._numbers.integers(0, 3 * len(COMMON), long)
            yield [
                COMMON[place] if place < len(COMMON) else self._word[rank]
                for rank, place in zip(ranks.tolist(), common.tolist(), strict=True)
            ]

    def _article(self, pmid: int, version: int, edition: int, words: list[str]) -> bytes:
        title, half = " ".join(words[:9]), len(words) // 2
        year, kind = 1970 + pmid % 55, TYPES[pmid % 5]
        return (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="{version}">{pmid}</PMID>'
            f'<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Internet"><PubDate><Year>{year}</Year>'
            f"</PubDate></JournalIssue><Title>Journal {pmid % 97}</Title></Journal>"
            f"<ArticleTitle>{title} edition{edition}</ArticleTitle><Abstract>"
            f'<AbstractText Label="METHODS">{" ".join(words[9:half])}.</AbstractText>'
            f'<AbstractText Label="RESULTS">{" ".join(words[half:])} {pmid}.</AbstractText></Abstract>'
            f'<PublicationTypeList><PublicationType UI="D">{kind}</PublicationType></PublicationTypeList></Article>'
            "</MedlineCitation></PubmedArticle>\n"
        ).encode()


def word(rank: int) -> str:
    """A word that can be spoken, another one for each rank; common ones are short."""
    syllables = []
    rank += 80
    while rank:
        rank, syllable = divmod(rank, 80)
        syllables.append(CONSONANTS[syllable // 5] + VOWELS[syllable % 5])
    return "".join(syllables)
