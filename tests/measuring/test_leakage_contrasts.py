"""What probes are held against: values by hand, and how often leakage is claimed where there is none."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest
from exam_study import write_cases
from fresh_rationales import FreshSet

from wardround.cases.set import CaseSet
from wardround.measuring.comparing.leakage_contrasts import BEFORE, MASKED_BITS, ORDER, leakage_contrasts

SCHEMA = dict.fromkeys(("case", "question", "cluster", "condition", "published", "outcome"), pl.String)
SCHEMA |= {"k": pl.Int16, "bytes": pl.Int32} | dict.fromkeys(("logprob", "rouge_l", "eds"), pl.Float64)
REFERENCES = ("reference", "reference-paraphrase", "reference-other", "reference-other-paraphrase")
MASKED = tuple(name.replace("reference", "reference-masked") for name in REFERENCES)
RATIONALES = tuple(name.replace("reference", "rationale") for name in REFERENCES)
ORDERS = tuple(f"options@{number}" for number in range(6))
PROBES = {name: name for name in (*REFERENCES, *MASKED, *RATIONALES, *ORDERS)}


def place(number):
    return {"case": f"c{number}", "question": "q", "cluster": f"c{number}"}


def contrasts_by_name(rows, cutoff=None, seed=0):
    return {part.name: part for part in leakage_contrasts(pl.DataFrame(rows, schema=SCHEMA), PROBES, cutoff, seed)}


def bits(number, probe, value, size=80):
    return place(number) | {"condition": probe, "logprob": -value * size * log(2), "bytes": size}


def test_leads_over_paraphrases_are_those_computed_by_hand():
    fields = {0: (1.0, 1.5, 2.0, 2.1), 1: (0.5, 2.0, 2.0, 1.8), 2: (3.0, 3.0, 1.0, 1.0)}  # as REFERENCES
    rows = [
        bits(n, probe, value) for n, values in fields.items() for probe, value in zip(REFERENCES, values, strict=True)
    ]
    rows.append(bits(3, "reference", 9.0))  # without counterpart
    by_name = contrasts_by_name(rows)
    assert by_name["Bits per byte: own words, other words"].value == pytest.approx((0.5 + 1.5 + 0) / 3)
    assert by_name["Bits per byte: own text, another case's"].value == pytest.approx((1.0 + 1.5 - 2.0) / 3)
    lead = by_name["Bits per byte: own words' lead, another case's"]
    assert lead.value == pytest.approx(((0.5 - 0.1) + (1.5 + 0.2) + 0) / 3)
    assert (lead.n, lead.clusters, lead.low, lead.beyond) == (3, 3, None, False)  # of three cases no interval
    assert not any(part.shows for part in by_name.values()), "the stem can be copied"


def test_a_lead_is_compared_on_the_same_text_after_other_questions():
    """The texts of c0 and c1 have styles of their own; that of c2 is nobody's counterpart."""
    style = {0: 0.6, 1: -0.4, 2: 0.9}
    owner = {0: 1, 1: 0, 2: 0}  # whose text is the counterpart
    rows = []
    for number in range(3):
        for probe, text, lead in (("reference", number, 0.2), ("reference-other", owner[number], 0.0)):
            whose = {"text_case": f"c{text}", "text_question": "q"}
            rows.append(bits(number, probe, 2.0 - style[text] - lead) | whose)
            rows.append(bits(number, f"{probe}-paraphrase", 2.0) | whose)
    frame = pl.DataFrame(rows, schema=SCHEMA | dict.fromkeys(("text_case", "text_question"), pl.String))
    by_name = {part.name: part for part in leakage_contrasts(frame, PROBES, None, 0)}
    lead = by_name["Bits per byte: own words' lead, another case's"]
    assert (lead.value, lead.n) == (pytest.approx(0.2), 2)


def test_a_masked_lead_shows_leakage_beyond_its_margin():
    values = (1.0, 1.5, 2.0, 2.1)
    rows = [bits(n, name, value) for n in range(9) for name, value in zip(MASKED, values, strict=True)]
    (lead,) = contrasts_by_name(rows).values()
    assert (lead.value, lead.shows, lead.beyond) == (pytest.approx(0.4), True, True)
    rows = [bits(n, name, 2.0 - 0.04 * (name == MASKED[0])) for n in range(9) for name in MASKED]
    (small,) = contrasts_by_name(rows).values()
    assert small.low > 0
    assert not small.beyond


def test_the_share_of_orders_that_are_less_probable_with_ties_as_half():
    rows = [bits(0, "options@0", 1.0), *(bits(0, f"options@{n}", value) for n, value in enumerate((2, 1, 0.5, 3), 1))]
    order = contrasts_by_name(rows)[ORDER]
    assert order.own == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert order.value == pytest.approx(order.own - 0.5)


def test_before_and_after_a_cutoff_need_both():
    rows = [
        place(n) | {"condition": "x", "outcome": "right" if n in (0, 1, 4) else "wrong", "k": 4, "published": when}
        for n, when in enumerate(("2020", "2021", "2022", "2025", "2025-07", "2026"))
    ]
    assert contrasts_by_name(rows, "2024-06")[BEFORE].value == pytest.approx(2 / 3 - 1 / 3)
    assert contrasts_by_name(rows) == contrasts_by_name(rows, "2019") == contrasts_by_name(rows[:3], "2024") == {}


def remembered(random, lead, cases=40):
    """Texts foretold by a candidate that likes paraphrases less, by and large; its own words better by `lead` bits."""
    rows = []
    for number in range(cases):
        hard = random.normal(2, 0.3)
        for probe in (*MASKED, *ORDERS):
            known = lead if probe in ("reference-masked", "options@0") else 0.0
            rows.append(bits(number, probe, hard + random.normal(0, 0.3) + 0.2 * ("paraphrase" in probe) - known))
        for probe in RATIONALES:
            rouge, eds = random.normal(0.4, 0.1, 2) - 0.1 * ("paraphrase" in probe)
            rows.append(place(number) | {"condition": probe, "rouge_l": rouge, "eds": eds})
    return rows


def claimed(seed, lead):
    random = np.random.default_rng(seed)
    return any(part.beyond for part in contrasts_by_name(remembered(random, lead), seed=seed).values())


def test_what_is_planted_is_claimed():
    assert claimed(1, lead=0.4)


@pytest.mark.slow
def test_where_nothing_is_planted_leakage_is_rarely_claimed():
    assert sum(claimed(seed, lead=0.0) for seed in range(60)) <= 8  # 5% of 60 are 3; more than 8 are one in 300


TEXT_PROBES = (*REFERENCES, *MASKED, *RATIONALES)


def fresh_claim(folder, seed, quoted, memory=False):
    """The contrasts by which leakage is claimed for an invented set."""
    made = FreshSet(seed, 20, quoted)
    cases = CaseSet.open(write_cases(folder / f"{seed}-{quoted}-{memory}", made.records))
    marks = made.marks(cases, TEXT_PROBES, memory)
    return [part.name for part in leakage_contrasts(marks, PROBES, None, seed) if part.beyond]


@pytest.mark.parametrize("quoted", [1.0, 0.5, 0.0])
def test_fresh_cases_that_quote_their_stem_or_not_give_no_claim_and_recited_ones_do(tmp_path, quoted):
    assert [fresh_claim(tmp_path, seed, quoted) for seed in range(4)] == [[]] * 4
    assert any("not in the stem" in name for name in fresh_claim(tmp_path, 0, quoted, memory=True))


def test_the_lead_of_a_quoting_rationale_is_what_it_copies(tmp_path):
    made = FreshSet(3, 20, 1.0)
    marks = made.marks(CaseSet.open(write_cases(tmp_path / "cases", made.records)), TEXT_PROBES)
    by_name = {part.name: part for part in leakage_contrasts(marks, PROBES, None, 3)}
    assert by_name["Bits per byte: own words' lead, another case's"].low > 0.2
    assert abs(by_name[MASKED_BITS.name].value) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("quoted", [1.0, 0.5, 0.0])
def test_95_of_100_fresh_sets_give_no_claim(tmp_path, quoted):
    assert sum(bool(fresh_claim(tmp_path, seed, quoted)) for seed in range(200)) <= 10
