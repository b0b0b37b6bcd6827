"""What the merging of requests into busy periods does to their seconds, and how to take it out again.

Belongs here: corrections of the target of the busy-period regression. Does not belong here: the regression.

Whether a request continues a busy period or begins one depends on how long the one before it took: the column that
counts beginnings is not independent of the noise. Left alone, overhead is taken for a fixed cost of requests, or the
other way round, by two ways.

Hidden idleness. The log ends a request an overhead o after the engine did. One that arrives in between continues the
period, though the engine stood idle. Of Poisson arrivals at rate λ each period stands for exp(λo) of the engine's,
parted by o·((exp(λo) - 1)/(λo) - 1) seconds that are not seen.

Tilt. A period of n requests took S seconds because n - 1 more arrived in them, with a likelihood that goes as
S^(n-1)·exp(-λS), whatever the sizes: of durations with variance V, those seen are longer by V·((n - 1)/S - λ) on
average. λ is the rate within busy time, hour by hour, so that the tilts of an hour add up to nothing.

Arrivals at one instance are not always Poisson: dealt out in turns they keep a distance, sent to the shortest queue
they avoid a busy one. Where the chance of a follower goes as the duration to the power of `regularity`, tilt is as many
times larger. It is measured: requests that were followed are larger than others, the more so the more regular.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.domain import Array
from models.least_squares import solve_non_negative

# Columns of the features (`regression_rows`).
REQUESTS, OVERHEAD = 0, 4
# The corrections settle to a hundredth of themselves in as many passes.
PASSES = 4
# No row is taken to be longer or shorter than it was by more than this share of it.
MOST = 0.5
# Fewer pairs do not tell how regular arrivals are: they then count as Poisson, 1. Simulated routers gave .1 to 3.5.
MIN_PAIRS = 30
REGULARITIES = np.linspace(0.0, 4.0, 41)
TINY = 1e-9


def engine_seconds(hour: NDArray[np.int64], features: Array, busy_s: Array, weight: Array) -> Array:
    """Busy seconds (n,) less hidden idleness and tilt.

    hour: ascending, shape (n,). features: (n, 5). busy_s: [s], shape (n,). weight: of each row in the fit, shape (n,),
    without outliers. Overhead, service times and their scatter come from a fit, which is repeated.
    """
    hours, at = np.unique(hour, return_inverse=True)
    followers = np.maximum(features[:, REQUESTS] - features[:, OVERHEAD], 0.0)
    n_followers, n_begun, observed_s = (
        np.bincount(at, column, len(hours)) for column in (followers, features[:, OVERHEAD], busy_s)
    )
    rate = n_followers / observed_s
    corrected = busy_s
    for _ in range(PASSES):
        weighted = weight[:, np.newaxis] * np.column_stack([features, corrected])
        coefficients = solve_non_negative(weighted.T @ weighted)
        overhead_s = float(coefficients[OVERHEAD])
        fitted_s = np.maximum(features @ coefficients, TINY)
        regularity = _regularity(features, coefficients)
        waits = np.maximum(rate * overhead_s, TINY)
        hidden_s = n_begun * overhead_s * (np.expm1(waits) / waits - 1) / np.maximum(n_followers, 1.0)
        tilt_s = _variance(features, coefficients, corrected - fitted_s) * (followers / fitted_s - rate[at])
        change = np.clip(hidden_s[at] * followers + regularity * tilt_s, -MOST * busy_s, MOST * busy_s)
        corrected = busy_s - change
    return corrected


def _regularity(features: Array, coefficients: Array) -> float:
    """How regular arrivals are, 1 = Poisson, 0 = a follower is as likely after a short request as after a long one.

    Periods of one request give the durations, those of two the mean duration of one that was followed.
    """
    single = features[:, OVERHEAD] == 1
    alone, pairs = single & (features[:, REQUESTS] == 1), single & (features[:, REQUESTS] == 2)
    if min(alone.sum(), pairs.sum()) < MIN_PAIRS:
        return 1.0
    fitted_s = np.maximum(features @ coefficients, TINY)
    powers = fitted_s[alone] ** REGULARITIES[:, np.newaxis]
    followed_s = fitted_s[pairs].mean() + coefficients[OVERHEAD] - fitted_s[alone].mean()
    return float(np.interp(followed_s, powers @ fitted_s[alone] / powers.sum(axis=1), REGULARITIES))


def _variance(features: Array, coefficients: Array, residual: Array) -> Array:
    """Variance of each row's seconds [s²], shape (n,): that of services as their squares, and one per beginning.

    Least squares of the squared residuals, in shares of the rows' squares.
    """
    requests = np.maximum(features[:, REQUESTS], 1.0)
    services = (features[:, :OVERHEAD] @ coefficients[:OVERHEAD]) ** 2 / requests
    alone = features[:, REQUESTS] <= features[:, OVERHEAD]
    drivers = np.column_stack([services * alone, services * ~alone, features[:, OVERHEAD]])
    rows = np.column_stack([drivers, residual**2]) / np.maximum(features @ coefficients, TINY)[:, np.newaxis] ** 2
    return np.asarray(drivers @ solve_non_negative(rows.T @ rows))
