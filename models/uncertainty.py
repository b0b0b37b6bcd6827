"""How well estimates are known, once bootstrap draws and the estimator's own error are put together.

Belongs here: intervals and probabilities. Does not belong here: making draws (`busy_periods`), policy.

The bootstrap holds the scatter of the rows, not the bias of the recipe: on twelve simulated deployments with known
truth the index came out within 1 % of it, while the bootstrap's interval was a tenth of that. ESTIMATOR_SD puts that
error back as a normal one, with 1 % as its two standard deviations; without it a pager would be told "certain" about
indices that lie within the error of 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from models.curve_fit import Target

Array = NDArray[np.float64]

ESTIMATOR_SD = 0.005
"""Relative standard deviation of the recipe's own error [1]; recovery tests in tests/models hold it to 1 %."""
INTERVAL = (0.05, 0.95)
"""Quantiles that bound a 90 % interval."""
TPS0_SD = 0.006
"""Relative standard deviation of the recipe's own error in tps0: -.1 to +1.2 % on five simulated fleets."""
SLOPE_SD = 0.01
"""Standard deviation of the recipe's own error in a: 0 to .02 on packed engines under load. An idle engine whose slope
is near 0 has come out .14 too high: there `a` is no guide, and the index, within 1 %, is."""


@dataclass(frozen=True, slots=True)
class OwnError:
    """Standard deviations of an estimator's own error: of a [1], of tps0 [relative] and of the index [relative]."""

    slope: float
    tps0: float
    index: float


ENVELOPE_ERROR: dict[Target, OwnError] = {
    # On 13 simulated services with 0 to 20 % of noise: a within .012, index within .010; of the three where a is near 0
    # and overhead is most of f, a up to .075 high, as far as its interval reaches, and index up to .029 low, within it.
    "ttft_s": OwnError(slope=0.02, tps0=0.12, index=0.012),
    # a within .066, index within .039 (.2 and .085 where a is near 0; half of those are refused).
    "e2e_s": OwnError(slope=0.03, tps0=0.12, index=0.025),
}
INDEX_SD: dict[Target, float] = {
    "busy_s": ESTIMATOR_SD,
    **{target: error.index for target, error in ENVELOPE_ERROR.items()},
}
"""Relative standard deviation of each estimator's own error in the index, by the time that it regresses [1]."""
_NORMAL_95 = 1.6448536269514722


def widened(value: float, draws: Array, sd: float) -> tuple[float, float]:
    """Return the 90 % interval of an estimate: the draws' spread and the estimator's error, added in quadrature.

    value: the estimate. draws: shape (n_draws,), the same quantity under bootstrap laws; empty: only the estimator's
    error is known. sd: standard deviation of that error, in the value's unit.
    """
    low, high = np.quantile(draws, INTERVAL) if draws.size else (value, value)
    error = _NORMAL_95 * sd
    return value - float(np.hypot(max(value - low, 0.0), error)), value + float(np.hypot(max(high - value, 0.0), error))


def index_interval(index: float, draws: Array, target: Target = "busy_s") -> tuple[float, float]:
    """Return the 90 % interval of a revenue index, as `widened` does with the INDEX_SD of the curve's target."""
    return widened(index, draws, INDEX_SD[target] * index)


def probability_below_one(index: float, draws: Array, target: Target = "busy_s") -> float:
    """Return the probability that the true index is below 1: the draws' mean normal tail at the estimator's error."""
    centres = draws if draws.size else np.array([index])
    return float(np.mean(ndtr((1.0 - centres) / (INDEX_SD[target] * centres))))
