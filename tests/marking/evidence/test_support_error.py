"""The error of the support test on labelled pairs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from exam_study import wardround
from scipy.stats import binomtest

from wardround.core.errors import BadInput
from wardround.measuring.validation.support_error import (
    PARTS,
    LabelledPair,
    our_labels,
    read_labels,
    support_error,
    support_note,
)


def test_our_labels_are_balanced_and_independent():
    pairs = our_labels()
    assert len([pair for pair in pairs if "hard" in pair.part]) >= 160
    for part in PARTS:
        supports = [pair.supports for pair in pairs if pair.part == part]
        assert len(supports) >= 79
        assert abs(sum(supports) / len(supports) - 0.5) < 0.05
    assert {pair.part for pair in pairs} == set(PARTS)
    assert set(Counter((pair.document, pair.supports) for pair in pairs).values()) == {1}
    parts_of_document = {(pair.document, pair.part) for pair in pairs}
    assert len(parts_of_document) == len({document for document, _ in parts_of_document})


def test_the_default_figures_are_those_of_the_pairs_by_another_author():
    """Their rates are those of the first reading: whoever mends the rules on them prints another part."""
    error = support_error()
    independent = [pair for pair in our_labels() if pair.part == "independent"]
    assert error == support_error(pairs=independent)
    assert error.n == len(independent) == 79
    assert error.sensitivity.value == 36 / 36
    assert error.specificity.value == 32 / 43
    assert f"on {error.n} labelled pairs, ours" in support_note()


@pytest.mark.parametrize("part", PARTS)
def test_the_docs_state_the_figures_of_every_part(part):
    docs = (Path(__file__).parents[3] / "docs" / "judges.md").read_text()
    error = support_error(pairs=[pair for pair in our_labels() if pair.part == part])
    rates = " | ".join(f"{rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})" for rate in error)
    assert f"| {part} | {rates} | {error.n} |" in docs


def test_the_command_takes_labels_from_a_file(tmp_path):
    rows = [("On gout", "gout", True), ("No gout", "gout", False), ("On podagra", "gout", True)]
    lines = [json.dumps(dict(zip(("document", "diagnosis", "supports"), row, strict=True))) for row in rows]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines))
    process = wardround("judge", "support", "--labels", "labels.jsonl", "--json", cwd=tmp_path)
    error = json.loads(process.stdout)
    assert (error["pairs"], error["sensitivity"]["value"], error["specificity"]["value"]) == (3, 0.5, 1.0)
    ours = wardround("judge", "support", cwd=tmp_path)
    assert "by an author who had not read the rules" in ours.stdout


def test_rates_and_intervals_are_as_counted():
    pairs = [LabelledPair(f"d{number}", "x", number < 12) for number in range(20)]
    says = {f"d{number}" for number in (0, 1, 2, 3, 4, 5, 6, 7, 8, 13)}
    error = support_error(lambda names, documents: documents[0] in says, pairs)
    for rate, hits, n in ((error.sensitivity, 9, 12), (error.specificity, 7, 8)):
        exact = binomtest(hits, n).proportion_ci(method="wilson")
        assert rate.value == hits / n
        assert (rate.low, rate.high) == pytest.approx((exact.low, exact.high))
        assert rate.n == n
    assert support_error(pairs=pairs[:3]).specificity.value is None


def test_accepted_names_count():
    pair = LabelledPair("On podagra", "gout", True, ("podagra",))
    assert support_error(pairs=[pair]).sensitivity.value == 1.0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "expected an object"),
        ('{"document": "d", "diagnosis": "x", "supports": "yes"}', "expected true or false"),
        ('{"document": "d", "diagnosis": "x", "supports": true, "accept": "y"}', "expected a list of names"),
    ],
)
def test_labels_that_cannot_be_read_are_named(tmp_path, line, problem):
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"document": "d", "diagnosis": "x", "supports": True}) + f"\n{line}\n")
    with pytest.raises(BadInput, match=f"labels.jsonl.*2.*{problem}"):
        read_labels(file)
