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
from scipy.special import wrightomega

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
from models.regression_rows import BusyRows, regression_rows
from models.service_time import ServiceTime, straight_line_draws, tps_miss
from models.trust import PRODUCTION, doubts
from models.uncertainty import with_line

# Twice the coefficients: below, a perfect fit says nothing.
MIN_ROWS = 10
# Stalls, restarts and skewed clocks cost a few rows in a hundred; beyond, what is dropped is the deployment.
MIN_REQUESTS_KEPT = 0.7
# Requests that follow another within a busy period: with fewer, a fixed cost and overhead are not told apart.
MIN_FOLLOWING = 30
# Column of the features that counts beginnings of busy periods.
OVERHEAD = 4
# The idle moments found settle to a hundredth of themselves in three passes.
HIDDEN_PASSES = 4
# A row is never taken to be idle for more than this share of it.
MOST_HIDDEN = 0.5
TINY = 1e-9


def fit_busy_periods(rows: BusyRows, *, reference_input_tokens: float, seed: int, n_draws: int = 200) -> CurveFit:
    """Fit f, c, q, k and an overhead per busy period: robust non-negative least squares, weights 1/busy_s.

    Index within 2 % and slope within .03 of simulated engines at loads of 5 to 120 % (tests/models/test_recovery.py);
    not where a step's fixed cost, which packing shares, is most of a request: there up to 10 %.

    Rows without positive busy time, without input tokens, or with a negative or non-finite number are not used; too
    few left is a `CurveFit` without numbers. Uncertainty: seeded bootstrap of hours; with fewer than six hours, of 24
    blocks of consecutive rows, which see less of a slow drift: intervals are then rather too narrow. They hold the
    scatter of the data, not the bias of the method (about .005 in a where service times scatter by 5 %, since a slow
    request also merges busy periods). Draws under which computing takes no time are left out.
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
    target = _without_hidden_idleness(hour, features, target, weight * kept)
    weighted[:, -1] = weight * target
    gram = gram_sums(weighted[kept], time_blocks(hour[kept]))
    coefficients = solve_non_negative(gram.sum(axis=0))
    if not coefficients[:3].any():
        return nothing.doubted("poor_fit")
    draws = solve_non_negative(resample_blocks(gram, n_draws=n_draws, seed=seed))[:, :4]
    x_low, x_high = central_interval(features[kept, 3] / (features[kept, 1] + features[kept, 3]))
    fit = with_line(nothing, coefficients[:4], draws[draws[:, :3].any(axis=1)])
    if (features[kept, 0] - features[kept, OVERHEAD]).sum() < MIN_FOLLOWING:
        fit = _with_any_split(fit, fixed_s=float(coefficients[0] + coefficients[OVERHEAD]))
    fit = replace(
        fit,
        overhead_s=float(coefficients[OVERHEAD]),
        n_minutes=int(kept.sum()),
        n_requests=int(features[kept, 0].sum()),
        x_low=x_low,
        x_high=x_high,
        residual_scale=_relative_residual(features @ coefficients, target),
    )
    found = doubts(
        fit,
        half_difference=_half_difference(gram, fit),
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


def _request_share(features: Array, kept: NDArray[np.bool_]) -> float:
    return float(features[kept, 0].sum() / max(features[:, 0].sum(), 1.0))


def _without_hidden_idleness(hour: NDArray[np.int64], features: Array, target: Array, weight: Array) -> Array:
    """Busy seconds (n,) less the idle moments within busy periods that overhead hides.

    The log ends a request `overhead_s` after the engine did. A request that arrives in between continues the period,
    though the engine stood idle: those seconds would be taken for a fixed cost of requests. How many they are follows
    from how often a period begins. Of Poisson arrivals at rate λ, of mean service s, a share b = (1 - λs)·exp(-λo)
    finds the engine idle and nothing unanswered; each such period stands for exp(λo) of the engine's, parted by
    o·((exp(λo) - 1)/(λo) - 1) seconds that are not seen. Overhead o and service s come from a fit, which is repeated.
    """
    hours, at = np.unique(hour, return_inverse=True)
    n_requests, n_begun = (np.bincount(at, features[:, column], len(hours)) for column in (0, OVERHEAD))
    merged = np.maximum(features[:, 0] - features[:, OVERHEAD], 0.0)
    n_merged = np.maximum(np.bincount(at, merged, len(hours)), 1.0)
    begun_share = np.clip(n_begun / np.maximum(n_requests, 1.0), TINY, 1.0)
    corrected = target
    for _ in range(HIDDEN_PASSES):
        weighted = weight[:, np.newaxis] * np.column_stack([features, corrected])
        coefficients = solve_non_negative(weighted.T @ weighted)
        overhead_s = float(coefficients[OVERHEAD])
        service_s = np.bincount(at, features[:, :4] @ coefficients[:4], len(hours)) / np.maximum(n_requests, 1.0)
        if overhead_s == 0:
            break
        ratio = overhead_s / np.maximum(service_s, TINY)
        # λo, solved for: wrightomega(z) is the w of w + ln w = z.
        arrivals = np.maximum(ratio - wrightomega(ratio + np.log(begun_share * ratio)), TINY)
        hidden_s = n_begun * overhead_s * (np.expm1(arrivals) / arrivals - 1)
        corrected = target - np.minimum((hidden_s / n_merged)[at] * merged, MOST_HIDDEN * target)
    return corrected


def _with_any_split(fit: CurveFit, *, fixed_s: float) -> CurveFit:
    """Widen the intervals of the line to every split of the fixed seconds [s] into the engine's and the network's.

    A request that begins a busy period pays both; only those that follow within one tell them apart. A handful of
    those, at very low load, can agree with each other by chance, and resampling then sees no doubt.
    """
    assert fit.law is not None
    laws = np.array([[f, *fit.law.as_array()[1:]] for f in (0.0, fixed_s)])
    tps0, a = straight_line_draws(laws[laws[:, :3].any(axis=1)], fit.reference_input_tokens)
    return replace(
        fit,
        tps0_low=float(min(fit.tps0_low, *tps0)),
        tps0_high=float(max(fit.tps0_high, *tps0)),
        a_low=float(min(fit.a_low, *a)),
        a_high=float(max(fit.a_high, *a)),
    )


def _relative_residual(fitted_s: Array, target: Array) -> float:
    """1.48 x median |measured/fitted - 1|; rows that the fit gives no time count as infinitely wrong."""
    ratio = np.divide(target, fitted_s, out=np.full(len(target), np.inf), where=fitted_s > 0)
    return MAD_TO_SIGMA * float(np.median(np.abs(ratio - 1)))


def _half_difference(gram: Array, fit: CurveFit) -> float:
    """Largest |ratio - 1| between the curves of two halves, alternate blocks and early/late, over the hit rates seen.

    Infinite when a half has no curve.
    """
    middle = len(gram) // 2
    pieces = (gram[0::2], gram[1::2], gram[:middle], gram[middle:])
    halves = solve_non_negative(np.stack([piece.sum(axis=0) for piece in pieces]))[:, :4]
    if fit.x_low is None or fit.x_high is None or not halves[:, :3].any(axis=1).all():
        return float("inf")
    x = np.linspace(min(fit.x_low, 0.95), min(fit.x_high, 0.95), 10)
    even, odd, early, late = (tps_miss(ServiceTime(*half), x, fit.reference_input_tokens) for half in halves.tolist())
    return float(max(np.abs(even / odd - 1).max(), np.abs(early / late - 1).max()))
