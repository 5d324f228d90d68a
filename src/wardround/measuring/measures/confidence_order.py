"""Sums that depend on the order of claims by confidence, which differs by slice: AUROC, accuracy@80, AURC."""

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
    claim, entry = claims_in_slices(claims, placement, items)
    row = placement.row[entry]
    cell = placement.cell[row]
    order = np.argsort(cell.astype(np.uint16) if len(placement.starts) < 2**16 else cell, kind="stable")
    claim, row, cell = claim[order], row[order], cell[order]
    figures = _ranked(cell, claims.confidence[claim], claims.right[claim], len(placement.starts))
    rows = len(placement.cluster)
    return {
        f"{name}:{source}": sum_by_index(row, exact(values), rows) for name, values in zip(RANKED, figures, strict=True)
    }


def claims_in_slices(claims: Claims, placement: Placement, items: int) -> tuple[Integers, Integers]:
    """Every claim in every slice of its item: the claim, and the entry of the item."""
    times = np.bincount(placement.item, minlength=items)
    first = np.cumsum(times) - times
    count = times[claims.item]
    claim = np.repeat(np.arange(len(claims.item)), count)
    nth = np.arange(len(claim)) - np.repeat(np.cumsum(count) - count, count)
    return claim, first[claims.item[claim]] + nth


def _ranked(cell: Integers, confidence: Floats, right: Floats, cells: int) -> list[Floats]:
    """The values of each claim (RANKED); claims are sorted by cell, then by confidence."""
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
        _selective_losses(tie, tie_cell, wrong, (wrongs, claims, above_it, n), cells),
    ]


def _selective_losses(
    tie: Integers, tie_cell: Integers, wrong: Floats, of_tie: tuple[Floats, Floats, Floats, Floats], cells: int
) -> Floats:
    """What each claim adds to n times the area under the risk-coverage curve.

    The i-th most confident claim, if wrong, is an error at all coverages from i / n: it adds the sum of 1 / k from i
    to n. Claims below it move down by its presence, which the second term takes off; its mean is 0.
    """
    wrongs, claims, above_it, n = of_tie
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, n.max(initial=0.0) + 1))])
    harmonics = np.concatenate([[0.0], np.cumsum(harmonic)])
    first, last = above_it.astype(np.int64), (above_it + claims).astype(np.int64)
    alone = harmonic[n.astype(np.int64)] - (harmonics[last] - harmonics[first]) / claims
    pushed = wrongs * (harmonic[last] - harmonic[first]) / claims
    total = sum_by_index(tie_cell, pushed, cells)
    below = np.cumsum(pushed) - pushed - (np.cumsum(total) - total)[tie_cell] + pushed / 2
    count, mass = (sum_by_index(tie_cell, values, cells) for values in (claims, claims * below))
    mean = ratio_or_zero(mass, count)[tie_cell]
    losses: Floats = wrong * alone[tie] - (below - mean)[tie]
    return losses
