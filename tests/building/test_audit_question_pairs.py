"""The options of one question must not tell the answer of another: planted leaks are found, clean sets are quiet."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from exam_study import write_cases
from scipy.stats import ttest_1samp

from wardround.building.audit.audit import audit
from wardround.building.audit.option_evidence import evidence_for_options, option_families
from wardround.building.audit.question_pairs import PairName, QuestionPair, _Guesses, measure_question_pairs
from wardround.core.case import Case

Record = dict[str, Any]
SITES = [f"site {letter}" for letter in "abcdefgh"]
DISEASES = [f"disease {number}" for number in range(12)]


def question(name: str, options: list[str], gold: str, **more: Any) -> Record:
    return {
        "id": f"{name}-1",
        "stage": name,
        "kind": "choice",
        "prompt": "Which?",
        "options": options,
        "gold": options.index(gold),
        **more,
    }


def drawn(rng: random.Random, pool: list[str]) -> tuple[list[str], str]:
    options = rng.sample(pool, 4)
    return options, rng.choice(options)


def clean(count: int = 90, seed: int = 1, plant: Callable[[random.Random, Record], None] | None = None) -> list[Case]:
    """Cases with a chain of two questions that have nothing to do with each other, and one outside it."""
    rng, cases = random.Random(seed), []
    for number in range(count):
        record = {
            "id": f"case-{number}",
            "history": "A patient.",
            "images": [{"path": "1.png", "modality": "CT"}],
            "questions": [
                question("where", *drawn(rng, SITES), chain="c"),
                question("what", *drawn(rng, DISEASES), chain="c"),
                question("alone", *drawn(rng, [*DISEASES, "no disease"])),
            ],
        }
        if plant:
            plant(rng, record)
        cases.append(Case.model_validate(record))
    return cases


def flagged(cases: list[Case]) -> dict[PairName, set[str]]:
    rules: dict[PairName, set[str]] = {}
    for pair in measure_question_pairs(cases):
        if pair.flagged:
            rules.setdefault(pair.name, set()).add(pair.rule)
    return rules


def diagnosis(record: Record) -> tuple[Record, str]:
    what = record["questions"][1]
    return what, what["options"][what["gold"]]


def a_scale_of_its_own(rng: random.Random, record: Record) -> None:
    """As many options, with a number in them, as the disease has grades; and one text that all have."""
    grades = 3 + DISEASES.index(diagnosis(record)[1]) % 3
    scale = [f"grade {grade} of {grades}" for grade in range(1, grades + 1)]
    record["questions"][0] |= question("where", [*scale, "none of these"], rng.choice(scale), chain="c")


def a_number_of_options(rng: random.Random, record: Record) -> None:
    """The same texts for every disease, but more for one of two."""
    options = SITES[: 3 + DISEASES.index(diagnosis(record)[1]) % 2]
    record["questions"][0] |= question("where", options, rng.choice(options), chain="c")


def the_same_answer_twice(rng: random.Random, record: Record) -> None:
    _, right = diagnosis(record)
    options = [*rng.sample([name for name in DISEASES if name != right], 3), right]
    record["questions"][2] |= question("alone", options, right)


def the_same_distractors(rng: random.Random, record: Record) -> None:
    what, right = diagnosis(record)
    options = [name for name in what["options"] if name != right]
    record["questions"][2] |= question("alone", [*options, "no disease"], "no disease")


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (a_scale_of_its_own, {PairName("where", "what", True): {"family"}}),
        (a_number_of_options, {PairName("where", "what", True): {"family"}}),
        (
            the_same_answer_twice,
            {PairName("alone", "what", False): {"shared"}, PairName("what", "alone", False): {"shared"}},
        ),
        (
            the_same_distractors,
            {PairName("alone", "what", False): {"unshared"}, PairName("what", "alone", False): {"unshared"}},
        ),
    ],
)
def test_each_planted_leak_is_found_and_nothing_else(plant, expected):
    assert flagged(clean(plant=plant)) == expected


def test_clean_sets_are_quiet():
    """Thirty of them: unadjusted, one in forty guessers that know nothing would be flagged."""
    assert [flagged(clean(seed=seed)) for seed in range(30)] == [{}] * 30


def test_what_the_modality_tells_is_not_held_against_the_options():
    """Sites and diseases of an image depend on its modality, which everybody sees."""

    def plant(rng: random.Random, record: Record) -> None:
        half = rng.randrange(2)
        record["images"][0]["modality"] = ("CT", "MR")[half]
        record["questions"][0] |= question("where", *drawn(rng, SITES[4 * half : 4 * half + 4]), chain="c")
        options = rng.sample(DISEASES, 4)
        right = next((name for name in options if DISEASES.index(name) % 2 == half), options[0])
        record["questions"][1] |= question("what", options, right, chain="c")

    assert flagged(clean(plant=plant)) == {}
    without = [case.model_copy(update={"images": []}) for case in clean(plant=plant)]
    assert PairName("where", "what", True) in flagged(without)


def test_that_right_answers_fit_together_is_measured_and_no_finding():
    """Each disease has its site, and the sites of the other diseases are offered at random."""

    def plant(rng: random.Random, record: Record) -> None:
        right = SITES[DISEASES.index(diagnosis(record)[1]) % len(SITES)]
        options = [*rng.sample([site for site in SITES if site != right], 3), right]
        record["questions"][0] |= question("where", options, right, chain="c")

    cases = clean(plant=plant)
    assert flagged(cases) == {}
    fits = {pair.name: pair.accuracy for pair in measure_question_pairs(cases) if pair.rule == "fit"}
    assert fits[PairName("where", "what", True)] > 0.4


def test_a_set_of_few_clusters_has_no_pairs():
    cases = [case.model_copy(update={"cluster": f"patient-{number % 9}"}) for number, case in enumerate(clean())]
    assert measure_question_pairs(cases) == []
    assert measure_question_pairs([]) == []


def test_families_are_the_texts_that_are_offered_together():
    """By hand: 1, 2, 3 hang together through 2; 4 and 5 do; 9 is in all but one of the five questions of that name."""
    texts = [[1, 2, 9], [2, 3, 9], [4, 5, 9], [5, 4, 9], [9, 6], [1, 4]]
    names = [0, 0, 0, 0, 0, 1]  # what questions of another name offer joins nothing
    sizes = np.array([len(part) for part in texts])
    families = option_families(np.array(names), sizes, np.concatenate(texts))
    assert families[0] == families[1]
    assert families[2] == families[3]
    assert len({families[0], families[2], families[4], families[5]}) == 4
    assert list(option_families(np.array([0, 0]), np.array([1, 1]), np.array([7, 7]))) == [0, 0]


def test_evidence_is_the_log_ratio_of_frequencies_in_other_clusters():
    """By hand, for an option offered in six clusters: right in three of them, and then beside text 1 in two.

    Seen from a right one beside text 1: elsewhere right in 2, once beside text 1, wrong in 3, once beside it; so in 2
    of 5 altogether. (1 + 0.4) / (2 + 1) against (1 + 0.4) / (3 + 1).
    """
    is_right = np.array([True, True, True, False, False, False])
    beside = np.array([1, 1, 2, 1, 2, 2])
    rows, option, cluster = np.arange(6), np.zeros(6, np.int64), np.arange(6)
    evidence = evidence_for_options(rows, beside, option, is_right, cluster)
    assert evidence[0] == pytest.approx(np.log((1.4 / 3) / (1.4 / 4)), abs=1e-6)
    same = evidence_for_options(rows, np.ones(6, np.int64), option, is_right, cluster)
    assert list(same) == [0.0] * 6  # what is always there tells nothing
    one_patient = evidence_for_options(rows, beside, option, is_right, np.zeros(6, np.int64))
    assert list(one_patient) == [0.0] * 6


def test_the_test_of_a_pair_is_student_s_for_single_questions():
    share = np.array([1.0, 0, 1, 0.5, 1, 0, 1, 1, 0.25, 1, 0, 1])
    name = PairName("a", "b", True)
    p, low, high, clusters = _Guesses(name, "shared", np.arange(12), share, np.full(12, 0.25)).test()
    expected = ttest_1samp(share, 0.25, alternative="greater")
    assert p == pytest.approx(expected.pvalue)
    interval = ttest_1samp(share, 0.25).confidence_interval()
    assert (low, high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert clusters == 12
    assert _Guesses(name, "shared", np.arange(12), np.ones(12), np.full(12, 0.25)).test().p == 0.0
    assert _Guesses(name, "shared", np.arange(12), np.full(12, 0.25), np.full(12, 0.25)).test().p == 1.0


def test_a_tell_is_a_finding_only_if_it_is_large_and_certain():
    pair = QuestionPair(PairName("a", "b", True), "shared", 0.34, 0.33, 0.35, 0.25, 0.001, 900, 900)
    assert pair.flagged
    for change in ({"accuracy": 0.33}, {"p_adjusted": 0.03}, {"rule": "fit"}):
        assert not QuestionPair(**{**vars(pair), **change}).flagged


def test_the_audit_says_which_options_tell_what(tmp_path):
    folder = write_cases(
        tmp_path / "set",
        [
            {**json.loads(case.model_dump_json(exclude_defaults=True)), "images": []}
            for case in clean(plant=a_scale_of_its_own)
        ],
    )
    result = audit(folder, tmp_path / "audit", workers=1)
    (finding,) = (finding for finding in result.findings if finding.kind == "other_question")
    assert (finding.severity, finding.case) == ("warning", None)
    assert finding.what.startswith("options of where tell what: ")
    assert finding.what.split(": the option")[0] in str(result)
    written = json.loads((tmp_path / "audit" / "audit.json").read_text())["question_pairs"]
    telling = {(pair["offered"], pair["asked"], pair["rule"]): pair for pair in written if pair["flagged"]}
    assert set(telling) == {("where", "what", "family")}
    page = (tmp_path / "audit" / "audit.html").read_text()
    assert "Other questions of a case" in page
    assert finding.what in page
