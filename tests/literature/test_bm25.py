"""BM25 of an index against the formula in numpy, on invented and on real abstracts, with PyStemmer's stems."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from invented_articles import invented_articles, write_pubmedqa

from wardround.literature.index.build import build
from wardround.literature.index.index import Index

DATA = Path(__file__).parents[3] / "shared" / "data" / "pubmedqa" / "ori_pqal.json"
WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being
have has had having do does did doing a an the and but if or because as until while of at by for with about against
between into through during before after above below to from up down in out on off over under again further then once
here there when where why how all any both each few more most other some such no nor not only own same so than too very
s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn
shan shouldn wasn weren won wouldn
"""  # LanceDB takes them out after stemming, so that "any", stemmed to "ani", stays
STOP = frozenset(WORDS.split())
K1, B = 1.2, 0.75

needs_pubmedqa = pytest.mark.skipif(not DATA.exists(), reason="real PubMedQA: ../shared/data is not here")


def terms(text: str) -> list[str]:
    import Stemmer

    words = [word.lower() for word in re.findall(r"[^\W_]+", text) if len(word.encode()) < 40]
    stems = [stem for stem in Stemmer.Stemmer("english").stemWords(words) if stem not in STOP]
    return [unicodedata.normalize("NFD", stem).encode("ascii", "ignore").decode() or stem for stem in stems]


def scores(counts: list[Counter[str]], query: list[str]) -> np.ndarray:
    """Of documents, each as the number of times that it has its terms."""
    lengths = np.array([count.total() for count in counts])
    total = np.zeros(len(counts))
    for term in query:
        often = np.array([count[term] for count in counts], float)
        n = np.count_nonzero(often)
        idf = np.log(1 + (len(counts) - n + 0.5) / (n + 0.5))
        total += idf * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths / lengths.mean()))
    return total


@pytest.mark.parametrize("corpus", ["invented", pytest.param("pubmedqa", marks=needs_pubmedqa)])
def test_the_best_ten_are_those_of_the_formula(tmp_path: Path, corpus: str) -> None:
    pytest.importorskip("Stemmer")
    file = DATA
    if corpus == "invented":
        write_pubmedqa(tmp_path, invented_articles(400))
        file = tmp_path / "pubmedqa" / "ori_pqal.json"
    questions = json.loads(file.read_text(encoding="utf-8"))
    rows = [{"pmid": pmid, "abstract": " ".join(entry["CONTEXTS"])} for pmid, entry in questions.items()]
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([source], tmp_path / "index", columns=())
    index = Index.open(tmp_path / "index")
    counts = [Counter(terms(row["abstract"])) for row in rows]
    overlaps, deviations = [], []
    for entry in list(questions.values())[:100]:
        expected = dict(zip(questions, scores(counts, terms(entry["QUESTION"])), strict=True))
        hits = index.search(entry["QUESTION"])
        tenth = sorted(expected.values())[-10]
        overlaps.append(np.mean([expected[hit.pmid] >= tenth * (1 - 1e-6) for hit in hits]))
        deviations += [abs(hit.score / expected[hit.pmid] - 1) for hit in hits]
    assert np.mean(overlaps) >= 0.995
    assert max(deviations) < 0.001
