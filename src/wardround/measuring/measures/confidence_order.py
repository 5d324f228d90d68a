"""Sums that depend on the order of claims by confidence, which differs between slices: AUROC and accuracy@80."""

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.known_sums import RANKED
from wardround.measuring.engine.sums import Integers, Placement, sum_by_index
from wardround.measuring.measures.confidence import Claims
from wardround.measuring.measures.formulas import ratio_or_zero

KEEP = 80  # percent of the claims


def by_confidence(claims: Claims) -> Claims:
    """The claims, the least confident first."""
    order = np.argsort(claims.confidence, kind="stable")
    return Claims(claims.item[order], exact(claims.confidence[order]), exact(claims.right[order]))


def ranked_sums(claims: Claims, placement: Placement, items: int, source: str) -> dict[str, Floats]:
    """Sums for AUROC and for the accuracy of the most confident claims; `claims` are sorted by confidence."""
    claim, entry = _in_slices(claims, placement, items)
    row = placement.row[entry]
    cell = placement.cell[row]
    order = np.argsort(cell.astype(np.uint16) if len(placement.starts) < 2**16 else cell, kind="stable")
    claim, row, cell = claim[order], row[order], cell[order]
    figures = _ranked(cell, claims.confidence[claim], claims.right[claim], len(placement.starts))
    rows = len(placement.cluster)
    return {
        f"{name}:{source}": sum_by_index(row, exact(values), rows) for name, values in zip(RANKED, figures, strict=True)
    }


def _in_slices(claims: Claims, placement: Placement, items: int) -> tuple[Integers, Integers]:
    """Every claim in every slice of its item: the claim, and the entry of the item."""
    times = np.bincount(placement.item, minlength=items)
    first = np.cumsum(times) - times
    count = times[claims.item]
    claim = np.repeat(np.arange(len(claims.item)), count)
    nth = np.arange(len(claim)) - np.repeat(np.cumsum(count) - count, count)
    return claim, first[claims.item[claim]] + nth


def _ranked(cell: Integers, confidence: Floats, right: Floats, cells: int) -> list[Floats]:
    """The six values of each claim (RANKED); claims are sorted by cell, then by confidence."""
    new = np.ones(len(cell), bool)
    new[1:] = (cell[1:] != cell[:-1]) | (confidence[1:] != confidence[:-1])
    tie = np.cumsum(new) - 1  # claims of one cell with the same confidence
    tie_cell = cell[new]
    wrong = 1.0 - right
    ties = len(tie_cell)
    rights, wrongs, claims = (sum_by_index(tie, values, ties) for values in (right, wrong, np.ones(len(cell))))

    def under(values: Floats) -> tuple[Floats, Floats]:
        """For each tie the total with less confidence, and the total of its cell."""
        total = sum_by_index(tie_cell, values, cells)
        return np.cumsum(values) - values - (np.cumsum(total) - total)[tie_cell], total[tie_cell]

    (rights_under, all_right), (wrongs_under, all_wrong), (under_it, n) = map(under, (rights, wrongs, claims))
    beaten = ratio_or_zero(wrongs_under + wrongs / 2, all_wrong)
    beating = ratio_or_zero(all_right - rights_under - rights / 2, all_right)
    auroc = sum_by_index(tie_cell, ratio_or_zero(rights * beaten, all_right), cells)[tie_cell]  # of the cell
    above_it = n - under_it - claims
    part = np.clip((KEEP / 100 * n - above_it) / np.maximum(claims, 1), 0.0, 1.0)
    return [
        right * (beaten - auroc / 2)[tie],
        right,
        wrong * (beating - auroc / 2)[tie],
        wrong,
        right * part[tie],
        part[tie],
    ]
