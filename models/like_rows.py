"""How much faster like work is done in some of the rows than in the others.

Belongs here: comparing busy rows that are alike, whatever the rest of the traffic is. Does not belong here: where the
rows are divided (`drift`), laws.

What a law of few coefficients leaves out, packing and chunks, makes it differ by up to a tenth between two mixes or
loads of one engine. Between rows alike it is the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.domain import Array

# Rows of either side that have their like on the other: with rows that scatter by 5 %, a difference within 1 %.
MIN_ROWS = 60
# And of the work of the side that has less: fewer stand for nothing but themselves.
MIN_COMMON = 0.1
N_REQUESTS, MISS, CACHED, BEGINNINGS = 0, 1, 3, 4


def like_for_like(
    features: Array, busy_s: Array, work_s: Array, *, is_late: NDArray[np.bool_]
) -> tuple[float, Array] | None:
    """Relative difference of throughput, late over early less 1: at all hit rates, and in each third (3,) by hit rate.

    features: as in RegressionRows, (n, 5). busy_s: measured, work_s: by any one law, > 0 [s], (n,). Compared are
    requests that met an idle engine and no others, which cost the same at any load; where there are too few of those,
    rows of as many requests. None where too little of one side has its like on the other.
    """
    is_alone = (features[:, N_REQUESTS] == 1) & (features[:, BEGINNINGS] == 1)
    lone = _of_cells(features[is_alone], busy_s[is_alone], work_s[is_alone], is_late[is_alone])
    return lone if lone is not None else _of_cells(features, busy_s, work_s, is_late)


def _of_cells(features: Array, busy_s: Array, work_s: Array, is_late: NDArray[np.bool_]) -> tuple[float, Array] | None:
    """Compare cell by cell: rows alike within a factor of two in requests, tokens of both kinds and beginnings.

    A cell counts as much as both sides have work in it; the law evens out what differs within.
    """
    size = np.log2(1 + features[:, [N_REQUESTS, MISS, CACHED, BEGINNINGS]]).astype(np.int64)
    cells, cell = np.unique(size, axis=0, return_inverse=True)
    at = 2 * cell.ravel() + is_late

    def sums(of: Array) -> Array:
        """Rows (n,) -> cells x (early, late)."""
        return np.bincount(at, of, 2 * len(cells)).reshape(-1, 2).astype(np.float64)

    rows, work, busy = sums(np.ones(len(at))), sums(work_s), sums(busy_s)
    shared = work.min(axis=1) > 0
    common = work[shared].min(axis=1)
    if rows[shared].sum(axis=0).min() < MIN_ROWS or common.sum() < MIN_COMMON * work.sum(axis=0).min():
        return None
    early, late = (busy[shared] / work[shared] * common[:, np.newaxis]).T
    cached, miss = (sums(features[:, column])[shared].sum(axis=1) for column in (CACHED, MISS))
    by_hit_rate = np.argsort(cached / (cached + miss), kind="stable")
    done = np.cumsum(common[by_hit_rate])
    edges = done[-1] * np.array([[0], [1], [2], [3]]) / 3
    inside = np.minimum(done, edges[1:]) - np.maximum(done - common[by_hit_rate], edges[:-1])
    share = np.maximum(inside, 0.0) / common[by_hit_rate]
    return float(early.sum() / late.sum()) - 1, (share @ early[by_hit_rate]) / (share @ late[by_hit_rate]) - 1
