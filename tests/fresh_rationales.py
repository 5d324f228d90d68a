"""Invented case sets whose rationales quote the stem or not, and a language model that copies, knows and remembers.

Concepts have a usual and an unusual word. A rationale explains in usual words, its paraphrase in unusual ones. The
model gives usual words, words of the prompt, their sequels in it, and what belongs to the disease more probability;
with `memory` also the next word of a rationale of the set, at once after its own question, and after four of its words
after any other.
"""

from __future__ import annotations

import random
from itertools import pairwise
from math import log, log2
from typing import Any

import polars as pl

from wardround.asking.masking import FUNCTION_WORDS, WORD_PATTERN
from wardround.asking.probes import Probes, asks_logprob
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, TextLogprob
from wardround.core.condition import Condition
from wardround.marking.leakage import LEAKAGE_SCHEMA, probe_mark

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta", "ve")
FINDINGS, CONCEPTS, DISEASES, OPTIONS, SIZE = 60, 160, 40, 4, 8
FRAMES = ("there was {}", "the {} was raised", "he had {}", "with {} for days", "and {} on examination")
REASONS = ("because of {}", "as {} explains it", "since {} is typical", "and so {} must follow", "by way of {}")
PLACES = ("case", "question", "cluster", "condition")


def _words(rng: random.Random, count: int) -> list[str]:
    words: set[str] = set()
    while len(words) < count:
        words.add("".join(rng.choices(SYLLABLES, k=3)) + rng.choice("nrst"))
    return sorted(words)


class FreshSet:
    """One invented set: its cases as records, and the words of each disease."""

    def __init__(self, seed: int, cases: int, quoted: float) -> None:
        self.rng = random.Random(seed)
        count = FINDINGS + CONCEPTS
        pool = _words(self.rng, 2 * count + DISEASES)
        self.rng.shuffle(pool)
        self.unusual = dict(zip(pool[:count], pool[count : 2 * count], strict=True))
        self.findings, concepts = pool[:FINDINGS], pool[FINDINGS:count]
        self.diseases = pool[-DISEASES:]
        self.concepts = {name: self.rng.sample(concepts, 2 * SIZE) for name in self.diseases}
        self.records = [self._case(number, quoted) for number in range(cases)]

    def _clauses(self, frames: tuple[str, ...], words: list[str]) -> list[str]:
        return [self.rng.choice(frames).format(word) for word in words]

    def _reworded(self, clauses: list[str]) -> str:
        words = " ".join(self.rng.sample(clauses, len(clauses))).split()
        return " ".join(self.unusual.get(word, word) for word in words)

    def _case(self, number: int, quoted: float) -> dict[str, Any]:
        options = self.rng.sample(self.diseases, OPTIONS)
        gold = self.rng.randrange(OPTIONS)
        stem = self._clauses(FRAMES, self.rng.sample(self.findings, 2 * SIZE))
        reasons = self._clauses(REASONS, self.rng.sample(self.concepts[options[gold]], SIZE))
        count = round(quoted * SIZE)
        clauses = self.rng.sample(stem, count) + reasons[: max(3, SIZE - count)]
        question = {
            "id": "q",
            "kind": "choice",
            "prompt": "What is it?",
            "options": options,
            "gold": gold,
            "rationale": " ".join([*clauses, f"it is {options[gold]}"]),
            "paraphrase": self._reworded([*clauses, f"it is {options[gold]}"]),
        }
        return {"id": f"c{number}", "history": ", ".join(stem), "questions": [question]}

    def written(self, record: dict[str, Any], memory: bool) -> str:
        """An explanation: findings quoted and what belongs to the disease, or the rationale itself."""
        (question,) = record["questions"]
        if memory:
            return str(question["rationale"])
        disease = question["options"][question["gold"]]
        reasons = self._clauses(REASONS, self.rng.sample(self.concepts[disease], SIZE))
        quotes = self.rng.sample(record["history"].split(", "), SIZE // 2)
        return " ".join([*self.rng.sample(quotes + reasons, len(quotes + reasons)), f"it is {disease}"])

    def bits(self, prompt: str, text: str, record: dict[str, Any], memory: bool) -> float:
        """The bits of a text after a prompt."""
        (question,) = record["questions"]
        shown, words = WORD_PATTERN.findall(prompt.lower()), WORD_PATTERN.findall(text.lower())
        sequels: dict[str, set[str]] = {}
        for first, second in pairwise(shown):
            sequels.setdefault(first, set()).add(second)
        disease = question["options"][question["gold"]]
        known = {word for usual in self.concepts[disease] for word in (usual, self.unusual[usual])}
        rationales = {other["questions"][0]["rationale"] for other in self.records} if memory else set()
        total, previous = 0.0, ""
        for place, word in enumerate(words):
            chance = 2**-4 if word in FUNCTION_WORDS else 2**-9 if word in self.unusual else 2**-12
            chance *= 16 if word in known else 1
            chance = 0.55 * chance + 0.15 * shown.count(word) / len(shown) + 0.3 * (word in sequels.get(previous, ()))
            if text in rationales and (text == question["rationale"] or place >= 4):
                chance = 0.2 * chance + 0.8
            total -= log2(min(chance * self.rng.lognormvariate(0, 0.3), 1.0))
            previous = word
        return total

    def marks(self, cases: CaseSet, probes: tuple[str, ...], memory: bool = False) -> pl.DataFrame:
        """The marks of all these probes."""
        texts, rows = Probes(cases, 0), []
        for case, record in zip(cases, self.records, strict=True):
            written = self.written(record, memory)
            for probe in probes:
                condition, question = Condition(probe=probe), case.questions[0]
                prompt = texts.prompt(case, question, condition)
                shown, size = " ".join(prompt.slots.values()), len(prompt.text.encode())
                answer = Answer(written)
                if asks_logprob(probe):
                    bits = self.bits(shown, prompt.text, record, memory)
                    answer = Answer("", text_logprob=TextLogprob(-bits * log(2), size // 4, size))
                mark = probe_mark(answer, case, question, condition, texts)
                rows.append(dict(zip(PLACES, (case.id, "q", case.id, probe), strict=True)) | (mark or {}))
        return pl.DataFrame(rows, schema=dict.fromkeys((*PLACES, "outcome", "rule"), pl.String) | LEAKAGE_SCHEMA)
