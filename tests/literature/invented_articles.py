"""Invented abstracts, claims and questions in English, in the file formats of SciFact and of PubMedQA."""

from __future__ import annotations

import csv
import gzip
import json
import random
import zipfile
from pathlib import Path
from typing import NamedTuple

SYLLABLES = ("ba", "co", "du", "fi", "ga", "ho", "ki", "lu", "mo", "ne", "po", "ra", "si", "tu", "ve", "zo")
GROUPS = ("patients", "Children", "older women", "naïve controls", "athletes", "smokers", "residents", "twins")
ACTIONS = (
    "treated",
    "treating",
    "treats",
    "treatment",
    "monitored",
    "monitoring",
    "compared",
    "comparing",
    "vaccinated",
)
FINDINGS = ("swelling", "infections", "infection", "Ménière's attacks", "bleeding", "relapses", "relapse", "β-2 levels")
FILLERS = (
    "any of the",
    "none of these",
    "very",
    "without",
    "during",
    "after",
    "because of",
    "the same",
    "again",
    "more",
)


class Article(NamedTuple):
    """One article about a drug that no other names, and a question about it."""

    pmid: int
    title: str
    sentences: list[str]
    question: str


def invented_articles(count: int, seed: int = 1) -> list[Article]:
    """Articles that share all words but the name of their drug."""
    draw = random.Random(seed)
    return [_article(number, draw) for number in range(count)]


def drug(number: int) -> str:
    return "".join(SYLLABLES[number // 16**place % 16] for place in range(3)) + "mab"


def _article(number: int, draw: random.Random) -> Article:
    name, group, finding = drug(number), draw.choice(GROUPS), draw.choice(FINDINGS)
    sentences = [_sentence(draw) for _ in range(draw.randint(4, 12))]
    sentences.insert(1, f'{draw.randint(12, 900)} {group} were given {name}, which isn\'t "new", for {finding}.')
    question = f"Does {name} reduce {finding} in {group} {draw.choice(FILLERS)} {draw.choice(ACTIONS)}?"
    return Article(1000 + number, f"{name.capitalize()} for {finding}.", sentences, question)


def _sentence(draw: random.Random) -> str:
    words = [draw.choice(kind) for kind in draw.choices((GROUPS, ACTIONS, FINDINGS, FILLERS), k=draw.randint(5, 15))]
    return f"{' '.join(words).capitalize()}{draw.choice(('.', '?', ' (p<0.05).', ': 3.5%.'))}"


def write_scifact(folder: Path, articles: list[Article]) -> None:
    """retrieval/: the corpus as numpy prints lists into a CSV, claims as topics, and judgements."""
    (folder / "retrieval").mkdir(parents=True)
    with (folder / "corpus_train.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["doc_id", "title", "abstract", "structured"])
        for article in articles:
            printed = "\n ".join(map(repr, article.sentences))
            rows.writerow([article.pmid, article.title, f"[{printed}]", "False"])
    with zipfile.ZipFile(folder / "retrieval" / "scifact.zip", "w") as packed:
        packed.write(folder / "corpus_train.csv", "corpus_train.csv")
    claims = "".join(f"{number}\t{article.question}\n" for number, article in enumerate(articles, 1))
    (folder / "retrieval" / "topics.scifact.tsv.gz").write_bytes(gzip.compress(claims.encode()))
    judgements = "".join(f"{number} 0 {article.pmid} 1\n" for number, article in enumerate(articles, 1))
    (folder / "retrieval" / "qrels.scifact.txt").write_text(judgements)


def write_pubmedqa(folder: Path, articles: list[Article]) -> None:
    """pubmedqa/ori_pqal.json: questions by PMID with the sentences of their abstracts."""
    (folder / "pubmedqa").mkdir(parents=True)
    questions = {
        str(article.pmid): {
            "QUESTION": article.question,
            "CONTEXTS": article.sentences,
            "LABELS": ["BACKGROUND"] * len(article.sentences),
            "MESHES": ["Humans"],
            "YEAR": "2020",
            "final_decision": "maybe",
            "LONG_ANSWER": "It may.",
        }
        for article in articles
    }
    (folder / "pubmedqa" / "ori_pqal.json").write_text(json.dumps(questions), encoding="utf-8")
