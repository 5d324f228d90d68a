"""Figures that rest on the order of claims by confidence, which is another one in every slice."""

from __future__ import annotations

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.sums import Placed, Whole, added
from wardround.measuring.measures.confidence import Claims

KEEP = 80  # percent of the claims
RANKED = ("above", "ranked_right", "below", "ranked_wrong", "kept_right", "kept")


def by_confidence(claims: Claims) -> Claims:
    """The claims, the least confident first."""
    order = np.argsort(claims.confidence, kind="stable")
    return Claims(claims.item[order], exact(claims.confidence[order]), exact(claims.right[order]))


def ranked_sums(claims: Claims, at: Placed, items: int, source: str) -> dict[str, Floats]:
    """Sums for AUROC and for the accuracy of the most confident claims; `claims` are by_confidence."""
    claim, entry = _in_slices(claims, at, items)
    row = at.row[entry]
    cell = at.cell[row]
    order = np.argsort(cell.astype(np.uint16) if len(at.starts) < 2**16 else cell, kind="stable")
    claim, row, cell = claim[order], row[order], cell[order]
    figures = _ranked(cell, claims.confidence[claim], claims.right[claim], len(at.starts))
    rows = len(at.cluster)
    return {f"{name}:{source}": added(row, exact(values), rows) for name, values in zip(RANKED, figures, strict=True)}


def _in_slices(claims: Claims, at: Placed, items: int) -> tuple[Whole, Whole]:
    """Every claim in every slice that its item is in: the claim, and the entry of the item."""
    times = np.bincount(at.item, minlength=items)
    first = np.cumsum(times) - times
    many = times[claims.item]
    claim = np.repeat(np.arange(len(claims.item)), many)
    nth = np.arange(len(claim)) - np.repeat(np.cumsum(many) - many, many)
    return claim, first[claims.item[claim]] + nth


def _ranked(cell: Whole, confidence: Floats, right: Floats, cells: int) -> list[Floats]:
    """The six figures of each claim; claims stand by cell, then by confidence."""
    new = np.ones(len(cell), bool)
    new[1:] = (cell[1:] != cell[:-1]) | (confidence[1:] != confidence[:-1])
    tie = np.cumsum(new) - 1  # claims of one cell with the same confidence
    of = cell[new]  # the cell of each tie
    wrong = 1.0 - right
    ties = len(of)
    rights, wrongs, claims = (added(tie, each, ties) for each in (right, wrong, np.ones(len(cell))))

    def under(values: Floats) -> tuple[Floats, Floats]:
        """Of each tie the total with less confidence, and the total of its cell."""
        total = added(of, values, cells)
        return np.cumsum(values) - values - (np.cumsum(total) - total)[of], total[of]

    (rights_under, all_right), (wrongs_under, all_wrong), (under_it, n) = map(under, (rights, wrongs, claims))
    beaten = _share(wrongs_under + wrongs / 2, all_wrong)
    beating = _share(all_right - rights_under - rights / 2, all_right)
    whole = added(of, _share(rights * beaten, all_right), cells)[of]  # AUROC of the cell
    above_it = n - under_it - claims
    part = np.clip((KEEP / 100 * n - above_it) / np.maximum(claims, 1), 0.0, 1.0)
    return [
        right * (beaten - whole / 2)[tie],
        right,
        wrong * (beating - whole / 2)[tie],
        wrong,
        right * part[tie],
        part[tie],
    ]


def _share(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return found
