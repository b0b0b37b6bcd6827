"""Whether the engine behind a window of busy rows changed at an hour, and since when it has been the same.

Belongs here: the test for a change of the service-time law between two hours, repeated until the newest stretch shows
none. Does not belong here: how much faster it became (`like_rows`); fitting the curve (`busy_periods`); doubting one
that drifts bit by bit (`trust`).

Load and mix change all the time, and a law of few coefficients, which is never quite the engine's, then fits a little
differently: significant, and no upgrade. So a split of the hours must do more than gain: rows alike on both sides must
differ by a size that matters, and at once, not bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.domain import Array
from models.least_squares import gram_sums, inliers, solve_non_negative
from models.like_rows import MIN_ROWS, like_for_like
from models.regression_rows import BusyRows, RegressionRows, regression_rows

Aspect: TypeAlias = Literal["level", "slope", "level and slope"]

# Rows are judged as outliers among those of so many hours: beside a faster engine's, every row of a slower one is one.
HOURS_PER_PASS = 6
MIN_ROWS_PER_PASS = 50
# On either side of a change: with less, four coefficients and their scatter cannot be told apart.
MIN_SIDE_HOURS = 4
# Hours that err together: residuals of neighbouring hours are of one mix at one load.
BLOCK_HOURS = 6
# With n blocks the least p-value is 2 of 2^n, so short windows have short blocks.
MIN_BLOCKS = 10
N_DRAWS = 999
# tests/models/test_drift.py has what these limits find and what they leave alone.
MAX_P_VALUE = 0.004
# Of all traffic that both sides have, and of a third of it by hit rate.
MIN_DIFFERENCE = 0.03
MIN_DIFFERENCE_OF_THIRD = 0.1
# Share of the difference that is there within NEAR_SHARE of the window. A change: .89 to 1.04. Its like made bit by bit
# over the whole window: twice NEAR_SHARE.
MIN_ABRUPTNESS = 0.6
NEAR_SHARE = 1 / 8
MIN_NEAR_HOURS = 6
# Of the scaled diagonal, so that a side without hits can be solved.
RIDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the engine. hour_index: the first hour of the new one, as in the rows.

    size: largest relative difference of miss-token throughput on the hit rates seen, after over before less 1: over all
    of them and over each third of the work by hit rate; > 0 is faster. aspect: "level" where the thirds agree, "slope"
    where the third with the fewest hits stays as it was. p_value: of no change at any hour, in (0, 1].
    """

    hour_index: int
    size: float
    aspect: Aspect
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Hours:
    """Usable rows and their sums. hours: ascending, (k,). gram: sums of the weighted rows of each, (k, 6, 6).

    features: as in RegressionRows, (n, 5); hour, busy_s and is_inlier: of each row, (n,). Sums: of inliers.
    """

    hours: NDArray[np.int64]
    gram: Array
    hour: NDArray[np.int64]
    features: Array
    busy_s: Array
    is_inlier: NDArray[np.bool_]

    def since(self, hour_index: int) -> _Hours:
        late, rows = self.hours >= hour_index, self.hour >= hour_index
        return _Hours(
            self.hours[late],
            self.gram[late],
            self.hour[rows],
            self.features[rows],
            self.busy_s[rows],
            self.is_inlier[rows],
        )


def newest_change(rows: BusyRows, *, seed: int) -> Change | None:
    """The newest hour at which the engine changed; None where the whole window may be of one engine.

    The window is cut at its clearest change, and what is newer is tested again. A change within MIN_SIDE_HOURS of
    either end is not seen. Measured: 1 of 216 simulated services without an upgrade has one; upgrades of 5 % are found
    within an hour in 29 of 36, within nine in 4 more (tests/models/test_drift.py).
    """
    found = None
    stretch = _hourly(rows)
    while stretch is not None and (change := _clearest_change(stretch, seed)) is not None:
        found, stretch = change, stretch.since(change.hour_index)
    return found


def _hourly(rows: BusyRows) -> _Hours | None:
    usable = regression_rows(rows)
    if len(usable.busy_s) < 2 * MIN_ROWS:
        return None
    weighted = usable.weighted(usable.features)
    kept = _inliers_by_pass(usable, weighted)
    hours, at = np.unique(usable.hour, return_inverse=True)
    gram = gram_sums(weighted * kept[:, np.newaxis], at)
    return _Hours(hours, gram, usable.hour, usable.features, usable.busy_s, kept)


def _inliers_by_pass(usable: RegressionRows, weighted: Array) -> NDArray[np.bool_]:
    kept = np.ones(len(weighted), dtype=bool)
    for rows in np.split(np.arange(len(weighted)), np.flatnonzero(np.diff(usable.hour // HOURS_PER_PASS)) + 1):
        if len(rows) >= MIN_ROWS_PER_PASS:
            kept[rows] = inliers(weighted[rows])
    return kept


def _clearest_change(stretch: _Hours, seed: int) -> Change | None:
    splits = _splits(stretch)
    if not len(splits):
        return None
    first, p_value = _most_likely(stretch, splits, seed)
    if p_value > MAX_P_VALUE:
        return None
    sums = np.stack([stretch.gram[:first].sum(axis=0), stretch.gram[first:].sum(axis=0)])
    before, after = solve_non_negative(sums)
    hour_index = _sharpened(stretch, stretch.hours[splits], int(stretch.hours[first]), before, after)
    work_s = stretch.features @ solve_non_negative(stretch.gram.sum(axis=0))
    kept = stretch.is_inlier
    differences = like_for_like(
        stretch.features[kept], stretch.busy_s[kept], work_s[kept], is_late=stretch.hour[kept] >= hour_index
    )
    if differences is None:
        return None
    overall, thirds = differences
    if not (abs(overall) >= MIN_DIFFERENCE or np.abs(thirds).max() >= MIN_DIFFERENCE_OF_THIRD):
        return None
    if not _abruptness(stretch, hour_index, before, after) >= MIN_ABRUPTNESS:
        return None
    size = max((overall, *thirds.tolist()), key=abs)
    return Change(hour_index, size, _aspect(thirds, size), p_value)


def _splits(stretch: _Hours) -> NDArray[np.int64]:
    """Positions among the hours before which the engine may have changed: enough hours and rows on either side."""
    inlier_hour = stretch.hour[stretch.is_inlier]
    rows_before = np.searchsorted(inlier_hour, stretch.hours)
    at = np.arange(len(stretch.hours))
    enough = (rows_before >= MIN_ROWS) & (len(inlier_hour) - rows_before >= MIN_ROWS)
    return at[enough & (at >= MIN_SIDE_HOURS) & (len(at) - at >= MIN_SIDE_HOURS)]


def _most_likely(stretch: _Hours, splits: NDArray[np.int64], seed: int) -> tuple[int, float]:
    """The split whose two fits leave the least loss, and the p-value of so large a gain over one fit at any split.

    Two fits gain Sᵀ(B⁻¹ + A⁻¹)S over one, with the scores S of the hours before (features x residuals of the one fit)
    and the Gram sums B before and A after. Under no change the scores of a block of hours are as likely to have the
    other sign, all of them at once: a wild bootstrap, which keeps what hours of a block have in common.
    """
    used = np.flatnonzero(solve_non_negative(stretch.gram.sum(axis=0)))
    gram, moment = stretch.gram[:, used][:, :, used], stretch.gram[:, used, -1]
    norm = np.sqrt(np.diagonal(gram.sum(axis=0)))
    gram, moment = gram / np.outer(norm, norm), moment / norm
    whole = np.linalg.inv(gram.sum(axis=0) + RIDGE * np.eye(len(used)))
    before = np.cumsum(gram, axis=0)[splits - 1]
    after = gram.sum(axis=0) - before
    curvature = np.linalg.inv(before + RIDGE * np.eye(len(used))) + np.linalg.inv(after + RIDGE * np.eye(len(used)))
    scores = moment - gram @ (whole @ moment.sum(axis=0))

    def gains(of_hours: Array) -> Array:
        """Scores (hours, p) -> gain at each split (splits,), the one fit made again."""
        sums = np.cumsum(of_hours, axis=0)[splits - 1] - before @ (whole @ of_hours.sum(axis=0))
        return np.asarray(np.einsum("si,sij,sj->s", sums, curvature, sums))

    found = gains(scores)
    block = (stretch.hours - stretch.hours[0]) // _block_hours(stretch.hours)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(N_DRAWS, int(block[-1]) + 1))[:, block]
    null = np.array([gains(sign[:, np.newaxis] * scores).max() for sign in signs])
    return int(splits[found.argmax()]), float((1 + (null >= found.max()).sum()) / (1 + N_DRAWS))


def _block_hours(hours: NDArray[np.int64]) -> int:
    return max(1, min(BLOCK_HOURS, int(hours[-1] - hours[0] + 1) // MIN_BLOCKS))


def _sharpened(stretch: _Hours, hours: NDArray[np.int64], hour_index: int, before: Array, after: Array) -> int:
    """Of the hours that may be the first of a change, that near `hour_index` with the least absolute error in all.

    Where two engines share a pass, the rows of one of them are its outliers: here all rows count.
    """
    errors = np.abs(stretch.busy_s[:, np.newaxis] - stretch.features @ np.column_stack([before, after]))
    hours = hours[np.abs(hours - hour_index) < HOURS_PER_PASS]
    rows = np.isin(stretch.hour, hours)
    worse = (errors[rows, 1] - errors[rows, 0]) / np.sqrt(stretch.busy_s[rows])
    by_hour = np.bincount(np.searchsorted(hours, stretch.hour[rows]), worse, len(hours))
    # Loss of a change before each hour, but for a constant: the later hours by the law after.
    return int(hours[np.cumsum(by_hour[::-1])[::-1].argmin()])


def _abruptness(stretch: _Hours, hour_index: int, before: Array, after: Array) -> float:
    """Share of the difference of the two laws that lies between the hours just before and those just after.

    Each side's law is taken to be before + share x (after - before), least squares in the one unknown.
    """
    n_near = max(MIN_NEAR_HOURS, int(NEAR_SHARE * (stretch.hours[-1] - stretch.hours[0] + 1)))
    distance = stretch.hours - hour_index
    direction = after - before

    def share(near: NDArray[np.bool_]) -> float:
        gram = stretch.gram[near].sum(axis=0)
        length = direction @ gram[:-1, :-1] @ direction
        return float(direction @ (gram[:-1, -1] - gram[:-1, :-1] @ before) / length) if length > 0 else np.nan

    return share((distance >= 0) & (distance < n_near)) - share((distance < 0) & (distance >= -n_near))


def _aspect(thirds: Array, size: float) -> Aspect:
    if abs(thirds[2] - thirds[0]) <= abs(size) / 2:
        return "level"
    return "slope" if abs(thirds[0]) <= abs(size) / 4 else "level and slope"
