"""The service-time law from production logs: regression of busy seconds on what was done in them.

Belongs here: the regression, on rows that SQL made (one busy period, split at minutes).
Does not belong here: making the rows; deciding whether to believe the fit (`trust`).

Latency is not throughput: queueing makes it meaningless. But the union of the intervals in which something waits or is
prefilled, summed over any stretch, is the time the work took, whatever the queueing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.curve_fit import CurveFit
from models.domain import Array
from models.least_squares import (
    MAD_TO_SIGMA,
    central_interval,
    gram_sums,
    inliers,
    resample_blocks,
    solve_non_negative,
    time_blocks,
)
from models.merging import engine_seconds
from models.regression_rows import BusyRows, regression_rows
from models.service_time import ServiceTime, TrafficMoments, time_ratio_draws, tps_miss
from models.trust import PRODUCTION, doubts
from models.uncertainty import INTERVAL, with_any_fixed_cost, with_line, with_own_error

# Twice the coefficients: below, a perfect fit says nothing.
MIN_ROWS = 10
# Stalls, restarts and skewed clocks cost a few rows in a hundred; beyond, what is dropped is the deployment.
MIN_REQUESTS_KEPT = 0.7
# Requests that follow another within a busy period: with fewer, a fixed cost and overhead are not told apart.
MIN_FOLLOWING = 30
# Fewer rows fall into busy and quiet halves by their noise more than by their load.
MIN_ROWS_BY_LOAD = 1_000
# Column of the features that counts beginnings of busy periods.
OVERHEAD = 4


def fit_busy_periods(rows: BusyRows, *, reference_input_tokens: float, seed: int, n_draws: int = 200) -> CurveFit:
    """Fit f, c, q, k and an overhead per busy period: robust non-negative least squares, weights 1/busy_s.

    Index within 2 % and slope within .03 of simulated engines at loads of 5 to 120 % (tests/models/test_recovery.py);
    further off where a step's fixed cost, which packing shares, is most of a request, as the intervals then say.

    Rows without positive busy time, without input tokens, or with a negative or non-finite number are not used; too
    few left is a `CurveFit` without numbers. Busy seconds are corrected for what merging does to them (`merging`).
    Uncertainty: seeded bootstrap of hours, or with fewer than six of 24 blocks of consecutive rows, and the method's
    own error (`uncertainty`): the draws hold both. Draws under which computing takes no time are left out.
    """
    usable = regression_rows(rows)
    hour, features, target = usable.hour, usable.features, usable.busy_s
    nothing = CurveFit("busy_periods", "service_time", reference_input_tokens, n_minutes=len(target))
    if len(target) < MIN_ROWS:
        return nothing.doubted("too_few")
    if not features[:, 1].any():
        return nothing.doubted("narrow_hit_range")
    weight = 1 / np.sqrt(target)
    weighted = weight[:, np.newaxis] * np.column_stack([features, target])
    kept = _kept(weighted, features)
    kept_share = min(float(kept.sum() / np.size(rows.busy_s)), _request_share(features, kept))
    target = target.copy()
    target[kept] = engine_seconds(hour[kept], features[kept], target[kept], weight[kept])
    weighted[:, -1] = weight * target
    gram = gram_sums(weighted[kept], time_blocks(hour[kept]))
    coefficients = solve_non_negative(gram.sum(axis=0))
    if not coefficients[:3].any():
        return nothing.doubted("poor_fit")
    x_low, x_high = central_interval(features[kept, 3] / (features[kept, 1] + features[kept, 3]))
    draws = solve_non_negative(resample_blocks(gram, n_draws=n_draws, seed=seed))[:, :4]
    fixed_s = float(coefficients[0] + coefficients[OVERHEAD])
    if (features[kept, 0] - features[kept, OVERHEAD]).sum() < MIN_FOLLOWING:
        draws = with_any_fixed_cost(draws, fixed_s, seed)
    else:
        draws = with_own_error(draws, fixed_s, x_low or 0.0, seed)
    timed = replace(nothing, overhead_s=float(coefficients[OVERHEAD]))
    fit = with_line(timed, coefficients[:4], draws[draws[:, :3].any(axis=1)])
    fit = replace(
        fit,
        n_minutes=int(kept.sum()),
        n_requests=int(features[kept, 0].sum()),
        x_low=x_low,
        x_high=x_high,
        residual_scale=_relative_residual(features @ coefficients, target),
    )
    half_difference, load_difference = _differences(gram, fit)
    found = doubts(
        fit,
        half_difference=half_difference,
        load_difference=load_difference if fit.n_minutes >= MIN_ROWS_BY_LOAD else 0.0,
        saving_interval=_saving_interval(fit, float(features[kept, 3].sum() / features[kept][:, [1, 3]].sum())),
        kept_share=kept_share,
        unbounded_overhead_s=float(solve_non_negative(gram.sum(axis=0), signed=(OVERHEAD,))[OVERHEAD]),
        service_s=float(target.sum() / max(features[:, 0].sum(), 1.0)),
        limits=PRODUCTION,
    )
    return fit.doubted(*found)


def _kept(weighted: Array, features: Array) -> NDArray[np.bool_]:
    """Rows (n,) that are no outliers; if too much would be one, those that are none among rows of their own size.

    An engine that packs costs less by the request when it is busy. Where its fixed costs are large, the few long rows
    of the busy hours look like outliers beside thousands of short ones, and are most of what the deployment did.
    """
    kept = inliers(weighted)
    if _request_share(features, kept) >= MIN_REQUESTS_KEPT:
        return kept
    return inliers(weighted, size=features @ solve_non_negative(weighted.T @ weighted))


def _saving_interval(fit: CurveFit, hit_rate: float) -> float:
    """Width of the 90 % interval, over the value, of how much faster the traffic is than without a cache.

    Of requests of the reference length at the traffic's hit rate; all that is uncertain in their index.
    """
    assert fit.law is not None
    assert fit.draws is not None
    length, cached = fit.reference_input_tokens, hit_rate * fit.reference_input_tokens
    miss = length - cached
    request = TrafficMoments(1, length, cached, miss, miss * cached, miss**2, length**2)
    saving = time_ratio_draws(np.vstack([fit.law.as_array(), fit.draws]), request)
    low, high = np.quantile(saving[1:], INTERVAL)
    return float((high - low) / saving[0])


def _request_share(features: Array, kept: NDArray[np.bool_]) -> float:
    return float(features[kept, 0].sum() / max(features[:, 0].sum(), 1.0))


def _relative_residual(fitted_s: Array, target: Array) -> float:
    """1.48 x median |measured/fitted - 1|; rows that the fit gives no time count as infinitely wrong."""
    ratio = np.divide(target, fitted_s, out=np.full(len(target), np.inf), where=fitted_s > 0)
    return MAD_TO_SIGMA * float(np.median(np.abs(ratio - 1)))


def _differences(gram: Array, fit: CurveFit) -> tuple[float, float]:
    """Largest |ratio - 1| between curves of two halves, over the hit rates seen: halves by time, and by load.

    By time: alternate blocks, early and late ones. By load: blocks of few and of many followers, equally busy, their
    level apart, which the index does not depend on; an engine that packs has another shape when it is busy. Infinite
    when a half has no curve.
    """
    middle = len(gram) // 2
    # At weights 1/busy_s, the products with busy_s are plain sums.
    begun_share = gram[:, OVERHEAD, -1] / np.maximum(gram[:, 0, -1], 1.0)
    by_load = gram[np.argsort(begun_share, kind="stable")]
    busy_s = np.cumsum(by_load[:, -1, -1])
    half = int(np.searchsorted(busy_s, busy_s[-1] / 2).clip(1, max(1, len(gram) - 1)))
    pieces = (gram[0::2], gram[1::2], gram[:middle], gram[middle:], by_load[:half], by_load[half:])
    halves = solve_non_negative(np.stack([piece.sum(axis=0) for piece in pieces]))[:, :4]
    if fit.x_low is None or fit.x_high is None or not halves[:, :3].any(axis=1).all():
        return float("inf"), float("inf")
    x = np.linspace(min(fit.x_low, 0.95), min(fit.x_high, 0.95), 10)
    curves = np.array([tps_miss(ServiceTime(*half), x, fit.reference_input_tokens) for half in halves.tolist()])
    ratio = curves[0::2] / curves[1::2]
    by_load = ratio[2] / ratio[2].mean()
    return float(np.abs(ratio[:2] - 1).max()), float(np.abs(by_load - 1).max())
