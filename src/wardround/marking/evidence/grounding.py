"""Grounding: whether the documents shown support a diagnosis (CURE, docs/protocols.md 2.2).

The support test is our choice, as the paper names none: one document contains at least 80% of the content words of
one of the diagnosis' names within 30 words across at most one sentence end, and does not deny them there
(negation.py). The missing words may not be deciding ones (acute or chronic, a side, a number). Instead a judge may
decide (support_judge.py). The error rate of the rule is measured on labelled pairs (support_error.py).
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import polars as pl

from wardround.asking.evidence import answer_names, cited_pmids
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.evidence import Evidence
from wardround.core.names import DECIDING_WORDS, Synonyms, content_words, name_form, one_meaning, same_disease
from wardround.literature.search.hit import article_pmid
from wardround.marking.evidence.document import DocumentWords, join_non, read_document
from wardround.marking.judges.judge import judged_diagnoses

VERSION = "support-4"
WINDOW = 30
MAX_CACHED_VERDICTS = 500_000
NEEDED_TENTHS = 8  # of the content words
EVIDENCE_SCHEMA: dict[str, Any] = {
    "covered": pl.Boolean,
    "relevant": pl.Int32,
    "relevant_ranks": pl.List(pl.Int32),
}
SUBTYPE_WORDS = frozenset(  # in front of a name they make another disease of it (our choice)
    [
        *("acquired", "atypical", "congenital", "neonatal", "juvenile", "gestational", "hereditary", "familial"),
        *("induced", "associated", "secondary", "paraneoplastic", "autoimmune", "eosinophilic", "allergic", "systemic"),
        *("cutaneous", "nephrogenic", "central", "peripheral", "invasive", "fibrolamellar", "vascular", "classical"),
    ]
)
PLAIN_WORDS = frozenset(  # adjectives that describe a disease and do not divide it
    [
        *("typical", "clinical", "historical", "classic", "metastatic", "symptomatic", "asymptomatic", "sporadic"),
        *("pediatric", "geriatric", "bilateral", "unilateral", "surgical", "medical", "radiological", "severe", "mild"),
        *("advanced", "localized", "disseminated", "untreated", "proven", "confirmed", "suspected", "diagnosed"),
        *("refractory", "obvious", "serious", "previous", "multiple", "general", "several", "generalized", "early"),
        *("underlying", "existing", "ongoing", "active", "developed", "established", "presumed", "caused", "actual"),
    ]
)
_ADJECTIVE = re.compile(r"(?:al|ic|ary|ous|ar|oid|ive|ile|like|lung|brain|kidney|liver|heart|skin|eye|spine|bone)\Z")
SupportTest = Callable[[Sequence[str], Sequence[str]], bool | None]  # (names of a diagnosis, documents) -> verdict


def evidence_marks(
    case: Case,
    question: Question,
    answer: Answer,
    mark: dict[str, Any],
    evidence: Evidence,
    synonyms: Synonyms,
    support_test: SupportTest,
) -> dict[str, Any]:
    """Whether the documents shown support the gold and the answer, and at which ranks a search found citations."""
    documents, tested = document_texts(evidence), tested_names(question, answer, mark, synonyms)
    columns: dict[str, Any] = {column: support_test(names, documents) for column, names in tested.items()}
    if evidence.queries or evidence.hits:
        cited = cited_pmids(case)
        first_ranks: dict[str, int] = {}  # an article is found once, whatever the number of its passages
        for rank, pmid in enumerate(evidence.hits, 1):
            first_ranks.setdefault(article_pmid(pmid), rank)
        ranks = [rank for pmid, rank in first_ranks.items() if pmid in cited]
        columns |= {"relevant": len(cited), "relevant_ranks": ranks}
    return columns


def tested_names(question: Question, answer: Answer, mark: dict[str, Any], synonyms: Synonyms) -> dict[str, list[str]]:
    """The names that the support test is asked about, by the column that it decides."""
    if question.kind == "rubric":  # it names no one diagnosis
        return {}
    tested = {"covered": gold_names(question, synonyms)}
    if names := diagnosis_names(question, answer, mark, synonyms):
        tested["grounded"] = names
    return tested


def document_texts(evidence: Evidence) -> list[str]:
    """The documents for the support test: the title, then the text."""
    return [f"{document.title}\n{document.text}" for document in evidence.documents]


def gold_names(question: Question, synonyms: Synonyms) -> list[str]:
    """All names of the right answer: those of the case, and their synonyms."""
    return _distinct_names([other for name in answer_names(question) for other in synonyms.names_of(name)])


def diagnosis_names(question: Question, answer: Answer, mark: dict[str, Any], synonyms: Synonyms) -> list[str]:
    """All names of an answer's first diagnosis; a right one also has those of the gold."""
    if mark.get("outcome") == "refused":
        return []
    option = mark.get("option")
    if question.kind == "choice":
        first = None if option is None else question.choices[option]
    else:
        first = next(iter(judged_diagnoses(answer.text)), None)
    if first is None:
        return []
    names, gold = synonyms.names_of(first), gold_names(question, synonyms)
    is_right = mark["outcome"] == "right" or (mark["outcome"] == "unscored" and same_disease(first, gold))
    return _distinct_names([*gold, *names]) if is_right else names


def _distinct_names(names: Sequence[str]) -> list[str]:
    """The first of the names with the same content words."""
    return list({content_words(name): name for name in reversed(names)}.values())[::-1]


def is_supported(names: Sequence[str], documents: Sequence[str]) -> bool:
    """Whether one of the documents supports the diagnosis with these names."""
    word_sets = _name_words(names)
    return any(_supports(document, words) for document in documents for words in word_sets)


def evidence_outcome(is_right: bool, is_grounded: bool) -> str:
    """CURE's four outcomes: whether the first diagnosis is right, and whether the documents support it."""
    if is_right:
        return "evidence_based_correct" if is_grounded else "knowledge_based_correct"
    return "evidence_misled" if is_grounded else "hallucination"


def _name_words(names: Sequence[str]) -> list[frozenset[str]]:
    """The content words of each name, and of the abbreviation in its brackets."""
    forms = [part for name in names for part in (name_form(name).words, name_form(name).short)]
    return [frozenset(map(one_meaning, join_non(words))) for words in dict.fromkeys(forms) if words]


def _supports(document: str, words: frozenset[str]) -> bool:
    """Whether a document supports a name; cached by hash, as many answers share documents."""
    key = (blake2b(document.encode(), digest_size=16).digest(), words)
    verdict = _cached_verdicts.get(key)
    if verdict is None:
        if len(_cached_verdicts) >= MAX_CACHED_VERDICTS:
            _cached_verdicts.clear()
        verdict = _cached_verdicts[key] = _contains_name(read_document(document), words)
    return verdict


_cached_verdicts: dict[tuple[bytes, frozenset[str]], bool] = {}


def _contains_name(document: DocumentWords, words: frozenset[str]) -> bool:
    needed = -(-NEEDED_TENTHS * len(words) // 10)
    if len(words & document.vocabulary) < needed:
        return False
    last_places: dict[str, tuple[int, int]] = {}  # of each word that is not denied: its place and sentence
    for place, (word, sentence, is_denied) in enumerate(document.words):
        if is_denied or word not in words or _is_of_another_name(document, place, words):
            continue
        last_places[word] = place, sentence
        near = {w for w, (last, before) in last_places.items() if place - last < WINDOW and sentence - before <= 1}
        if len(near) >= needed and not any(map(_decides, words - near)):
            return True
    return False


def _is_of_another_name(document: DocumentWords, place: int, words: frozenset[str]) -> bool:
    """Whether a word belongs to another disease: `acquired haemophilia` is not `haemophilia`, `2 and 6` no type 6."""
    word, sentence, _ = document.words[place]
    before = document.words[place - 1] if place else None
    if not word.isalpha():
        after = document.words[place + 1] if place + 1 < len(document.words) else None
        return not any(neighbour and neighbour.text in words for neighbour in (before, after))
    if before is None or before.sentence != sentence or before.text in words:
        return False
    if before.text in SUBTYPE_WORDS:
        return True
    is_general = len(words) == 1 and not word.endswith(("osis", "iasis"))  # sarcoidosis is one disease in all organs
    return is_general and before.text not in PLAIN_WORDS and bool(_ADJECTIVE.search(before.text))


def _decides(word: str) -> bool:
    return word in DECIDING_WORDS or word in SUBTYPE_WORDS
