"""Non-negative least squares from Gram sums, its block bootstrap, and outliers.

Belongs here: linear algebra on the sums ZᵀWZ of rows Z = (features, target), which add over hours and days.
Does not belong here: what the features mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from models.domain import Array

# Relative to the scaled diagonal: makes collinear features solvable, moves separable ones by about 1e-12.
RIDGE = 1e-12
# Determinant of unit-norm features below which they count as collinear; exactly so, it is about 1e-16.
COLLINEAR = 1e-9
# Beyond 4 median absolute deviations (2.7 sigma) of the other rows, a row is an outlier.
OUTLIER_MADS = 4.0
MAX_PASSES = 50
# The robust fit looks at parts of the rows: enough rows in each that five coefficients come out roughly right.
MIN_PART = 50
N_PARTS = 8
# Below, hours are too few to resample; they are then cut into blocks of consecutive rows.
MIN_HOURS = 6
FINE_BLOCKS = 24
# Median absolute deviation to standard deviation of a normal distribution.
MAD_TO_SIGMA = 1.4826


def gram_sums(weighted_rows: Array, block: NDArray[np.int64]) -> Array:
    """ZᵀWZ of every block: rows (n, p+1) already times √weight, ascending block of each (n,) -> (blocks, p+1, p+1)."""
    starts = np.flatnonzero(np.diff(block, prepend=block[:1] - 1))
    parts = np.split(weighted_rows, starts[1:])
    return np.stack([part.T @ part for part in parts])


def solve_non_negative(gram: Array, *, signed: Sequence[int] = ()) -> Array:
    """The coefficients >= 0 of least squared residual: gram sums (..., p+1, p+1) -> (..., p).

    Where all features together have positive coefficients, those are it; else, and where features are collinear and
    fewer do as well, it tries every set of positive ones (31 for p = 5): exact, never iterates, solves all entries and
    all sets of a size at once. Features are scaled to unit norm first, since they differ by 1e8. signed: those that may
    be negative.
    """
    features, moment = gram[..., :-1, :-1], gram[..., :-1, -1]
    norm = np.sqrt(np.diagonal(features, axis1=-2, axis2=-1))
    norm = np.where(norm > 0, norm, 1.0)
    n_features = moment.shape[-1]
    features = (features / (norm[..., :, np.newaxis] * norm[..., np.newaxis, :])).reshape(-1, n_features, n_features)
    scaled = (moment / norm).reshape(-1, n_features)
    free = np.zeros(n_features, dtype=bool)
    free[list(signed)] = True
    best = np.linalg.solve(features + RIDGE * np.eye(n_features), scaled[..., np.newaxis])[..., 0]
    bound = ~((best > 0) | free).all(axis=1) | (np.linalg.det(features) < COLLINEAR)
    if bound.any():
        best[bound] = _best_of_sets(features[bound], scaled[bound], free)
    return np.asarray(best.reshape(moment.shape) / norm)


def _best_of_sets(features: Array, moment: Array, free: NDArray[np.bool_]) -> Array:
    """The best allowed solution over all sets of features: unit-norm features (n, p, p), moment (n, p) -> (n, p)."""
    n_entries, n_features = moment.shape
    best, best_gain, entries = np.zeros_like(moment), np.zeros(n_entries), np.arange(n_entries)
    for size in range(1, n_features + 1):
        sets = np.array(list(combinations(range(n_features), size)))
        normal = features[:, sets[:, :, np.newaxis], sets[:, np.newaxis, :]] + RIDGE * np.eye(size)
        wanted = moment[:, sets]
        solution = np.linalg.solve(normal, wanted[..., np.newaxis])[..., 0]
        allowed = ((solution >= 0) | free[sets]).all(axis=-1)
        gain = np.where(allowed, (wanted * solution).sum(axis=-1), -np.inf)
        winner = gain.argmax(axis=1)
        better = np.flatnonzero(gain[entries, winner] > best_gain)
        best[better] = 0.0
        best[better[:, np.newaxis], sets[winner[better]]] = solution[better, winner[better]]
        best_gain[better] = gain[better, winner[better]]
    return best


def inliers(weighted_rows: Array, *, at_least: float = 0.0, size: Array | None = None) -> NDArray[np.bool_]:
    """Rows (n, p+1) within 4 MAD of the fit to just those rows: drop, refit, repeat until nothing changes.

    Starts from the stretch of rows whose fit has the least median residual, so that a row large enough to draw the
    whole fit to itself spoils one stretch only. at_least: residuals this small are never outliers, in units of the
    weighted target. size: shape (n,), any measure that ranks the rows; each is then judged among its equals, up to
    eight classes of at least 50, since what a law leaves out grows with a row: beside thousands of small rows, every
    large one would be an outlier. Without it, all rows are one class.
    """
    features, target = weighted_rows[:, :-1], weighted_rows[:, -1]
    rounding = 1e-9 * float(np.abs(target).max())
    n_parts = max(1, min(N_PARTS, len(target) // MIN_PART))
    stretches = np.array_split(weighted_rows, n_parts)
    starts = solve_non_negative(np.stack([part.T @ part for part in (weighted_rows, *stretches)]))
    residual = min((np.abs(target - features @ start) for start in starts), key=np.median)
    classes = [np.arange(len(target))] if size is None else np.array_split(np.argsort(size, kind="stable"), n_parts)
    kept = np.ones(len(target), dtype=bool)
    for _ in range(MAX_PASSES):
        before, kept = kept, np.zeros(len(target), dtype=bool)
        for members in classes:
            known = residual[members[before[members]]]
            limit = max(OUTLIER_MADS * float(np.median(known)) if len(known) else 0.0, at_least, rounding)
            kept[members] = residual[members] <= limit
        if np.array_equal(before, kept):
            break
        chosen = weighted_rows[kept]
        residual = np.abs(target - features @ solve_non_negative(chosen.T @ chosen))
    return kept


def time_blocks(hour: NDArray[np.int64]) -> NDArray[np.int64]:
    """Block of each row, ascending: its hour, or one of 24 runs of consecutive rows where hours are few; shape (n,)."""
    if len(np.unique(hour)) >= MIN_HOURS:
        return hour
    return np.arange(len(hour)) * FINE_BLOCKS // max(1, len(hour))


def resample_blocks(gram: Array, *, n_draws: int, seed: int) -> Array:
    """Gram sums of n_draws samples of as many blocks with replacement: (blocks, p+1, p+1) -> (n_draws, p+1, p+1)."""
    n_blocks = len(gram)
    counts = np.random.default_rng(seed).multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=n_draws)
    return np.tensordot(counts.astype(np.float64), gram, axes=1)


def central_interval(values: Array) -> tuple[float, float] | tuple[None, None]:
    """5th and 95th percentile: the central 90 % of the values; of none, none."""
    if not len(values):
        return None, None
    low, high = np.percentile(values, [5, 95]).tolist()
    return low, high
