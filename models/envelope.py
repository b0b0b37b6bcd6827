"""The service-time law from the time each request took: the lower envelope over requests of every size.

Belongs here: the fallback for logs without an instance, or without a time to first token. Does not belong here: reading
the rows; the thresholds of belief (`trust`).

Latency is not throughput, but queueing only ever adds: what an idle engine needs for a size is the low quantile of the
times of that size. The law is fitted to that quantile as an M-quantile of the log residuals (Breckling & Chambers,
Biometrika 75:761, 1988): squared loss near the envelope, absolute loss far from it, weight TAU above and 1 - TAU below.

What it cannot know: how requests share steps under load, since it sees an idle engine; the level, which is that of the
fastest requests (with 20 % of noise in service times tps0 came out 30 % high; slope and index do not depend on it); and
how much of f is network and API (`OVERHEAD_S`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from models.curve_fit import CurveFit, Target
from models.domain import Array, require
from models.least_squares import central_interval, gram_sums, resample_blocks, solve_non_negative, time_blocks
from models.service_time import ServiceTime, tps_miss
from models.trust import ENVELOPE, Floor, doubts, floor_doubts
from models.uncertainty import with_line

# Quantile of the log residuals. On 10 simulated services (load .2 to .85, noise 0 to .2, 2 % of the rows far too fast)
# the worst error in a by ttft_s was .02 at .05, .05 at .10 and .09 at .15: loaded services have too few idle rows left.
# At .02 the rows that are too fast take over: by e2e_s the index was .12 off, at .05 it was .05.
TAU = 0.05
# Log distance beyond which a row pulls no harder. Halving or doubling it moved the worst error in a by .006 at most.
CLIP = 0.1
MAX_PASSES = 60
# Largest relative change of a fitted time at which the passes end.
TOLERANCE = 1e-6
# Beyond, squares of the numbers and their ratios overflow; no log holds such.
LARGEST = 1e30
# Below, fewer rows than coefficients lie under the envelope.
MIN_ROWS = 100
# More rows are sampled: of 124,000 of one simulated day, a of this many was within .001 of a of all.
MAX_ROWS = 20_000
# Seconds of network and API that a gateway or client may add to every request, on simulated services .005 to .15. They
# cannot be told from f: half of f, at most half of this, is taken for overhead, and the draws leave open whether it is
# none or all.
OVERHEAD_S = 0.15
# Parts of equal count that each axis of the (M, P) plane is cut into, and the share of rows from which a cell counts.
N_PARTS = 3
MIN_CELL_SHARE = 0.02
# Mean distance of the rows below the 5 % quantile of a normal distribution from it: (pdf/.05 - 1.645) sigma.
TAIL_TO_SIGMA = 1 / 0.418


@dataclass(frozen=True, slots=True, eq=False)
class EnvelopeRows:
    """One row per request; every array of shape (n,).

    minute_index: minutes since any fixed moment. target_s: what is regressed, time to first token or end to end [s].
    miss_tokens, cached_tokens: M and P. output_tokens: generated tokens; NaN = not known.
    """

    minute_index: NDArray[np.int64]
    target_s: Array
    miss_tokens: Array
    cached_tokens: Array
    output_tokens: Array

    def __post_init__(self) -> None:
        shapes = {field.name: np.shape(getattr(self, field.name)) for field in fields(self)}
        require(len(set(shapes.values())) == 1, "columns of shape", shapes, rule="all of one shape (n,)")


def fit_envelope(
    rows: EnvelopeRows,
    *,
    target: Target,
    reference_input_tokens: float,
    seed: int,
    is_timed_by_engine: bool = False,
    n_draws: int = 200,
) -> CurveFit:
    """Fit f, c, q, k to the low quantile of ttft_s, or with a cost per output token to that of e2e_s.

    target: "ttft_s" or "e2e_s". is_timed_by_engine: no network or API is in the times. Rows without a positive time,
    without input tokens, with a negative, non-finite or absurdly large number, and for e2e_s without output tokens are
    not used; of more than 20,000 a seeded sample is, spread evenly over the sizes. Uncertainty: seeded bootstrap of
    hours (with fewer than six, of 24 blocks of consecutive minutes) by one Newton step from the fit, widened by the
    estimator's own error (`uncertainty`). `residual_scale` is the noise below the envelope, as a standard deviation;
    `n_minutes` the minutes with a row. Raises ValueError for another target.
    """
    require(target in ("ttft_s", "e2e_s"), "target", target, rule='"ttft_s" or "e2e_s"')
    minute, features, times = _usable(rows, with_output=target == "e2e_s")
    nothing = CurveFit(
        "envelope",
        "service_time",
        reference_input_tokens,
        target=target,
        n_minutes=len(np.unique(minute)),
        n_requests=len(times),
    )
    if len(times) < MIN_ROWS:
        return nothing.doubted("too_few")
    if not features[:, 1].any():
        return nothing.doubted("narrow_hit_range")
    chosen = _sample(features, seed)
    minute, features, times = minute[chosen], features[chosen], times[chosen]
    coefficients = _envelope(features, times)
    if not coefficients[:3].any():
        return nothing.doubted("poor_fit")
    gram = _newton_sums(features, times, coefficients, time_blocks(minute // 60))
    found = solve_non_negative(resample_blocks(gram, n_draws=n_draws, seed=seed))[:, :4]
    overhead_high_s = 0.0 if is_timed_by_engine else min(OVERHEAD_S, float(coefficients[0]))
    draws = _without_overhead(found, overhead_high_s, seed)
    law = coefficients[:4] - np.array([overhead_high_s / 2, 0, 0, 0])
    x_low, x_high = central_interval(features[:, 3] / (features[:, 1] + features[:, 3]))
    residual = np.log(times / _fitted(features, coefficients))
    timed = replace(nothing, overhead_s=overhead_high_s / 2, residual_scale=_noise_below(residual))
    fit = replace(
        with_line(timed, law, draws[draws[:, :3].any(axis=1)]),
        n_minutes=len(np.unique(minute)),
        n_requests=len(times),
        x_low=x_low,
        x_high=x_high,
    )
    floor = Floor(fixed_s=float(coefficients[0]), evenness=_evenness(features, residual))
    kept_share = float(np.mean(residual > -4 * max(CLIP, fit.residual_scale or 0.0)))
    reasons = doubts(fit, half_difference=_half_difference(gram, fit), kept_share=kept_share, limits=ENVELOPE)
    return fit.doubted(*reasons, *floor_doubts(floor))


def _usable(rows: EnvelopeRows, *, with_output: bool) -> tuple[NDArray[np.int64], Array, Array]:
    """Minutes (n,), features (n, 4 or 5) and times (n,) of the rows that say something, in order of time and size."""
    miss, cached = (np.asarray(column, dtype=np.float64) for column in (rows.miss_tokens, rows.cached_tokens))
    times = np.asarray(rows.target_s, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        columns = [np.ones_like(miss), miss, miss * (cached + miss / 2), cached]
        features = np.column_stack([*columns, np.asarray(rows.output_tokens, np.float64)] if with_output else columns)
        sound = (features >= 0).all(axis=1) & (features < LARGEST).all(axis=1) & (miss + cached > 0)
        sound &= (times > 1 / LARGEST) & (times < LARGEST)
    minute = np.asarray(rows.minute_index, dtype=np.int64)[sound]
    features, times = features[sound], times[sound]
    # The order of the rows must not matter, to the sample and to the last digit of a sum.
    order = np.lexsort((*features.T, times, minute))
    return minute[order], features[order], times[order]


def _sample(features: Array, seed: int) -> NDArray[np.int64]:
    """Indices of at most MAX_ROWS rows, ascending, spread evenly over the powers of two of M and P."""
    n_rows = len(features)
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows)
    miss_bin, cached_bin = (np.log2(1 + features[:, column]).astype(np.int64) for column in (1, 3))
    lot = np.random.default_rng(seed).permutation(n_rows)
    order = np.lexsort((lot, cached_bin, miss_bin))
    begins = np.diff(miss_bin[order], prepend=-1).astype(bool) | np.diff(cached_bin[order], prepend=-1).astype(bool)
    place = np.arange(n_rows) - np.maximum.accumulate(np.where(begins, np.arange(n_rows), 0))
    return np.sort(order[np.lexsort((lot[order], place))[:MAX_ROWS]])


def _fitted(features: Array, coefficients: Array) -> Array:
    """Seconds of each row, never 0: a row that the fit gives no time is far above it."""
    return np.asarray(np.maximum(features @ coefficients, 1e-9))


def _pull(residual: Array) -> tuple[Array, Array]:
    """Derivative of the loss at each log residual, and its weight there in a quadratic through it."""
    side = np.where(residual < 0, 1 - TAU, TAU)
    return side * np.clip(residual, -CLIP, CLIP), side * np.minimum(1, CLIP / np.maximum(np.abs(residual), 1e-12))


def _envelope(features: Array, times: Array) -> Array:
    """Coefficients >= 0 of the M-quantile: re-weighted Gauss-Newton steps on log(time) - log(fitted)."""
    coefficients = solve_non_negative(_gram(features / times[:, np.newaxis], np.ones(len(times)), np.ones(len(times))))
    fitted = _fitted(features, coefficients)
    for _ in range(MAX_PASSES):
        residual = np.log(times / fitted)
        _, weight = _pull(residual)
        coefficients = solve_non_negative(_gram(features / fitted[:, np.newaxis], 1 + residual, weight))
        before, fitted = fitted, _fitted(features, coefficients)
        if np.abs(fitted / before - 1).max() < TOLERANCE:
            break
    return coefficients


def _gram(scaled: Array, target: Array, weight: Array) -> Array:
    rows = np.column_stack([scaled, target])
    return np.asarray((rows * weight[:, np.newaxis]).T @ rows)


def _newton_sums(features: Array, times: Array, coefficients: Array, block: NDArray[np.int64]) -> Array:
    """Gram sums of the loss's quadratic at the fit, by block: (blocks, p+1, p+1).

    Curvature from the rows within CLIP, slope from all: the minimum of any sum of blocks is one Newton step away.
    """
    scaled = features / _fitted(features, coefficients)[:, np.newaxis]
    residual = np.log(times / _fitted(features, coefficients))
    slope, _ = _pull(residual)
    curvature = np.where(residual < 0, 1 - TAU, TAU) * (np.abs(residual) <= CLIP)
    rows = np.column_stack([scaled * np.sqrt(curvature)[:, np.newaxis], np.zeros(len(times))])
    gram = gram_sums(rows, block)
    starts = np.flatnonzero(np.diff(block, prepend=block[:1] - 1))
    pulls = np.add.reduceat(scaled * slope[:, np.newaxis], starts)
    gram[:, :-1, -1] = gram[:, :-1, :-1] @ coefficients + pulls
    return gram


def _without_overhead(draws: Array, overhead_high_s: float, seed: int) -> Array:
    """Take from each draw's f an overhead drawn evenly between none and the most it can be."""
    shares = np.random.default_rng([seed, 1]).random(len(draws))
    fixed_s = draws[:, 0] - shares * np.minimum(draws[:, 0], overhead_high_s)
    return np.column_stack([fixed_s, draws[:, 1:]])


def _noise_below(residual: Array) -> float:
    """Standard deviation that normal noise would have whose rows below the envelope lie as far from it."""
    below = residual[residual < 0]
    return TAIL_TO_SIGMA * float(-below.mean()) if len(below) else 0.0


def _evenness(features: Array, residual: Array) -> float:
    """Least share of rows within CLIP of the envelope in any part of the (M, P) plane, over their share in all of it.

    0 where no row is near. An idle engine is met by requests of all sizes alike.
    """
    near = np.abs(residual) <= CLIP
    parts = np.linspace(0, 1, N_PARTS + 1)[1:-1]
    miss_part, cached_part = (
        np.searchsorted(np.quantile(features[:, column], parts), features[:, column]) for column in (1, 3)
    )
    cell = miss_part * N_PARTS + cached_part
    n_rows = np.bincount(cell, minlength=N_PARTS**2)
    counts = n_rows >= MIN_CELL_SHARE * len(near)
    shares = np.bincount(cell, near, N_PARTS**2)[counts] / n_rows[counts]
    return float(shares.min() / near.mean()) if near.any() else 0.0


def _half_difference(gram: Array, fit: CurveFit) -> float:
    """Largest |ratio - 1| between the curves of two halves, alternate blocks and early/late, over the hit rates seen.

    One Newton step from the fit each; infinite when a half has no curve.
    """
    middle = len(gram) // 2
    pieces = (gram[0::2], gram[1::2], gram[:middle], gram[middle:])
    halves = solve_non_negative(np.stack([piece.sum(axis=0) for piece in pieces]))[:, :4]
    if fit.x_low is None or fit.x_high is None or not halves[:, :3].any(axis=1).all():
        return float("inf")
    x = np.linspace(min(fit.x_low, 0.95), min(fit.x_high, 0.95), 10)
    even, odd, early, late = (tps_miss(ServiceTime(*half), x, fit.reference_input_tokens) for half in halves.tolist())
    return float(max(np.abs(even / odd - 1).max(), np.abs(early / late - 1).max()))
