"""PubMed records read a second on one core, beside lxml and pubmed_parser on the same file."""

from __future__ import annotations

import argparse
import gzip
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from perf.bars import bar, versions
from perf.measured import Clock, measure, print_usage
from wardround.literature.ingest.ingest import ingest_file
from wardround.literature.ingest.record import ArticleRecord
from wardround.literature.ingest.sources import read_records

REAL = Path(__file__).parents[2] / "shared" / "data" / "xml" / "pubmed-29768149.xml"
HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
OURS, WHOLE = "wardround, read", "wardround, read and written as Parquet"
BEST = "lxml, split and cut"  # the fastest parser measured before ours
LETTER = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">29768149</PMID>
<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><MedlineDate>1998 Dec-1999 Jan
</MedlineDate></PubDate></JournalIssue><Title>Letters &amp; Notes</Title></Journal><ArticleTitle>On <i>E. coli</i> and
H<sub>2</sub>O.</ArticleTitle><PublicationTypeList><PublicationType UI="D016422">Letter</PublicationType>
</PublicationTypeList></Article></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">29768149
</ArticleId></ArticleIdList></PubmedData></PubmedArticle>"""


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf ingest")
    parser.add_argument("--records", type=int, default=12_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    if not REAL.exists():
        raise SystemExit(f"{REAL} is not here: the file is made of that record")
    from perf.peers import pubmed  # other parts do without these packages

    ways = {OURS: ours, WHOLE: whole, BEST: pubmed.split_and_cut, **pubmed.OTHERS}
    print(f"  {versions('wardround', 'lxml', 'pubmed_parser')}; CPU of one process, {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pubmed.xml.gz"
        size = make(file, options.records)
        print(f"  {options.records:,} records of {size / options.records:,.0f} bytes on average")
        usage = measure("perf.ingest", file)  # first: a process begins with the peak of the one that started it
        seconds_by_way: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(options.rounds):
            for name, way in ways.items():
                seconds_by_way[name].append(cpu(way, file, options.records))
        for name, seconds in seconds_by_way.items():
            print(f"  {name}: {options.records / min(seconds):,.0f} records a second, at best")
    ratios = [ours / best for ours, best in zip(seconds_by_way[OURS], seconds_by_way[BEST], strict=True)]
    return all(
        [
            bar(f"{OURS}: records a second, at best", options.records / min(seconds_by_way[OURS]), at_least=8_000),
            bar(f"{WHOLE}: records a second, at best", options.records / min(seconds_by_way[WHOLE]), at_least=8_000),
            bar(f"CPU, {OURS} / {BEST}, median round", statistics.median(ratios), at_most=1),
            bar("peak memory of reading and writing the file, MB", usage["peak_mb"], at_most=300),
        ]
    )


def make(file: Path, count: int) -> int:
    """A file of the real record with other authors, headings, sections and words each time, and of letters."""
    draw = random.Random(1)
    source = REAL.read_text(encoding="utf-8").replace("\t", "  ")
    real = source[source.index("<PubmedArticle>") : source.index("</PubmedArticleSet>")].rstrip()
    words = sorted(set(re.findall(r"[a-z]{5,}", real)))
    size = 0
    with gzip.open(file, "wb", 6) as opened:
        opened.write(HEAD)
        for number in range(count):
            text = LETTER if number % 10 == 9 else some(draw, some(draw, real, "Author ", 0.12), "MeshHeading>", 0.6)
            text = some(draw, text, "AbstractText ", 0.8)
            text = re.sub(r"\b[a-z]{9,}\b(?=[ ,.])", lambda _: draw.choice(words), text)
            size += opened.write(text.replace("29768149", str(10_000_000 + number)).encode() + b"\n")
        opened.write(b"</PubmedArticleSet>\n")
    return size


def some(draw: random.Random, text: str, tag: str, share: float) -> str:
    """The text with a share of its elements of this name."""
    name = tag.rstrip(" >")
    return re.sub(
        rf"<{tag}.*?</{name}>\s*", lambda match: match[0] if draw.random() < share else "", text, flags=re.DOTALL
    )


def cpu(way: Callable[[Path], int], file: Path, count: int) -> float:
    started = time.process_time()
    if way(file) != count:
        raise SystemExit(f"not all of the {count} records were read")
    return time.process_time() - started


def ours(file: Path) -> int:
    return sum(isinstance(record, ArticleRecord) for record in read_records(file))


def whole(file: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return ingest_file((file, Path(folder) / "records")).records


if __name__ == "__main__":  # by itself, so that nothing else is in its memory
    started = Clock.now()
    print_usage(started, records=whole(Path(sys.argv[1])))
