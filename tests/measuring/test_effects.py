"""Effects of crossed axes: by hand, against scipy, and where there is none."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from flip_oracle import exact_p
from interval_oracle import scipy_ratio_interval
from made_marks import made_marks, made_study, mark

from wardround.measuring.comparing.effects import EFFECTS, effects

TWO_BY_TWO = {"images": ["as-is", "blank"], "options": ["as-given", "shuffled"]}


def crossed(right, conditions, cases, candidates=("one",), **fields):
    """Marks of every cell; `right` says of a candidate, a case and the cell's values whether the answer is."""
    return made_marks(
        mark(
            f"{case:03}",
            "right" if right(name, case, *cell) else "wrong",
            candidate=name,
            **{f"at_{axis}": value for axis, value in zip(conditions, cell, strict=True)},
            **fields,
        )
        for name in candidates
        for case in range(cases)
        for cell in product(*conditions.values())
    )


def effect_line(table: pl.DataFrame, *named: str, candidate: str = "one") -> dict:
    """The line of an axis and value, or of two of each."""
    keys = dict(zip(("axis", "value", "with_axis", "with_value"), named, strict=False))
    if len(named) == 2:
        table = table.filter(pl.col("with_axis").is_null())
    lines = table.filter(candidate=candidate, measure="accuracy", **keys).to_dicts()
    assert len(lines) == 1, lines
    return lines[0]


def test_a_two_by_two_design_has_the_effects_computed_by_hand():
    """Of 10 cases right: 8 as they are, 6 shuffled, 5 blank, 0 blank and shuffled."""
    many = {("as-is", "as-given"): 8, ("as-is", "shuffled"): 6, ("blank", "as-given"): 5, ("blank", "shuffled"): 0}
    marks = crossed(lambda _, case, *cell: case < many[cell], TWO_BY_TWO, 10)
    table = effects(marks, made_study(conditions=TWO_BY_TWO))
    assert table.schema == EFFECTS
    assert len(table) == 3
    assert effect_line(table, "images", "blank")["effect"] == pytest.approx((-0.3 - 0.6) / 2)
    assert effect_line(table, "options", "shuffled")["effect"] == pytest.approx((-0.2 - 0.5) / 2)
    both = effect_line(table, "images", "blank", "options", "shuffled")
    assert both["effect"] == pytest.approx(0.0 - 0.6 - 0.5 + 0.8)
    assert (both["reference"], both["with_reference"]) == ("as-is", "as-given")
    assert (both["n"], both["clusters"], both["cells"]) == (10, 10, 4)
    values = [(case < 0) - (case < 6) - (case < 5) + (case < 8) for case in range(10)]
    assert both["p"] == float(exact_p([int(one) for one in values]))


def test_cells_have_the_same_weight_and_values_are_compared_with_the_first():
    conditions = {
        "images": ["as-is", "blank", "none"],
        "options": ["as-given", "shuffled"],
        "stem": ["full", "options-only"],
    }
    random = np.random.default_rng(7)
    share = {cell: random.random() for cell in product(*conditions.values())}
    marks = crossed(lambda _, case, *cell: case < round(share[cell] * 40), conditions, 40)
    table = effects(marks, made_study(conditions=conditions))
    of = {cell: round(part * 40) / 40 for cell, part in share.items()}
    wanted = np.mean([of["none", o, s] - of["as-is", o, s] for o in conditions["options"] for s in conditions["stem"]])
    assert effect_line(table, "images", "none")["effect"] == pytest.approx(wanted)
    wanted = np.mean(
        [
            of["blank", o, "options-only"]
            - of["as-is", o, "options-only"]
            - of["blank", o, "full"]
            + of["as-is", o, "full"]
            for o in conditions["options"]
        ]
    )
    both = effect_line(table, "images", "blank", "stem", "options-only")
    assert both["effect"] == pytest.approx(wanted)
    assert both["cells"] == 8
    assert len(table) == 4 + (2 * 1 + 2 * 1 + 1 * 1)


def test_intervals_are_those_of_the_clusters():
    random = np.random.default_rng(3)
    rolled = random.random((90, 4))
    place = {cell: number for number, cell in enumerate(product(*TWO_BY_TWO.values()))}
    chance = [0.8, 0.7, 0.6, 0.2]
    marks = crossed(lambda _, case, *cell: rolled[case, place[cell]] < chance[place[cell]], TWO_BY_TWO, 90)
    both = effect_line(effects(marks, made_study(conditions=TWO_BY_TWO)), "images", "blank", "options", "shuffled")
    right = (rolled < chance).astype(float)
    low, high = scipy_ratio_interval(right[:, 3] - right[:, 2] - right[:, 1] + right[:, 0], np.ones(90))
    assert (both["low"], both["high"]) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


def test_only_questions_that_every_cell_has_count():
    """Case 9 was never asked shuffled: it has no part in what shuffling changes."""
    marks = crossed(lambda _, case, images, options: case == 9 or options == "as-given", TWO_BY_TWO, 10)
    marks = marks.filter(~((pl.col("case") == "case-009") & pl.col("condition").str.contains("shuffled")))
    line = effect_line(effects(marks, made_study(conditions=TWO_BY_TWO)), "options", "shuffled")
    assert (line["effect"], line["n"]) == (-1.0, 9)


def test_a_candidate_that_cannot_see_has_only_the_axes_it_was_asked_on():
    marks = crossed(lambda *_: True, TWO_BY_TWO, 10, ("sees", "blind"))
    marks = marks.filter(~((pl.col("candidate") == "blind") & pl.col("condition").str.contains("blank")))
    table = effects(marks, made_study("sees", "blind", conditions=TWO_BY_TWO))
    assert table.filter(candidate="blind")["axis"].to_list() == ["options"]
    assert len(table.filter(candidate="sees")) == 3


def test_one_axis_has_no_table():
    conditions = {"images": ["as-is", "blank"]}
    assert effects(crossed(lambda *_: True, conditions, 10), made_study(conditions=conditions)).is_empty()


def test_few_clusters_get_no_interval():
    line = effect_line(
        effects(crossed(lambda *_: True, TWO_BY_TWO, 5), made_study(conditions=TWO_BY_TWO)), "images", "blank"
    )
    assert (line["effect"], line["low"], line["high"]) == (0.0, None, None)
    assert line["method"].endswith("too few cases")
