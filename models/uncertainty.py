"""How well estimates are known, once bootstrap draws and the estimator's own error are put together.

Belongs here: intervals and probabilities, of a curve's line and of an index. Does not belong here: making draws
(`busy_periods`, `envelope`), policy.

The bootstrap holds the scatter of the rows, not the bias of the recipe: on some thousand requests its interval is a
tenth of the error. OWN_ERROR puts that error back, in proportion to what drives it: the fixed seconds of a request,
which engine and network share in a way that only followers within a busy period tell. Every constant was chosen on
300 simulated services (tests/models/random_services.py, numbers 0 to 299) and checked on 300 others (1000 to 1299),
where the 90 % intervals of index, tps0, a, floor, exit and depth held 89 to 95 % of the truths, by each of the three
times; that of the index by e2e_s more.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from models.curve_fit import CurveFit, Target
from models.service_time import ServiceTime, straight_line, straight_line_draws

Array = NDArray[np.float64]

INTERVAL = (0.05, 0.95)
"""Quantiles that bound a 90 % interval."""


@dataclass(frozen=True, slots=True)
class OwnError:
    """Standard deviations of an estimator's own error.

    slope: of a [1]. tps0, index: relative. slope_fixed, tps0_fixed: what is added for each unit of the share of fixed
    seconds, overhead included, in a request of the reference length without a hit. tps0_scatter: what is added for each
    unit of `residual_scale`.
    """

    slope: float
    tps0: float
    index: float
    slope_fixed: float = 0.0
    tps0_fixed: float = 0.0
    tps0_scatter: float = 0.0


OWN_ERROR: dict[Target, OwnError] = {
    # Where fixed seconds are below a hundredth, nine in ten are within .4 % (index), .6 % (tps0) and .01 (a). Beyond,
    # steps that are shared and chunks of long prompts, which the law does not know, bend the curve.
    "busy_s": OwnError(slope=0.003, tps0=0.0023, index=0.0018, slope_fixed=0.38, tps0_fixed=0.18),
    # The split of f into engine and network is in the draws. The level is that of the fastest requests.
    "ttft_s": OwnError(slope=0.01, tps0=0.008, index=0.002, tps0_scatter=0.4),
    # Decoding hides a part of the noise. On two of six generated fleets the index was 1.2 and 1.5 % off: its error is
    # stated at that, and holds more than nine in ten.
    "e2e_s": OwnError(slope=0.013, tps0=0.025, index=0.012, slope_fixed=0.15, tps0_scatter=0.4),
}
"""By the time that an estimator regresses."""
# From this share of fixed seconds on, the errors of a and tps0 grew no further.
MOST_FIXED = 0.12
# Standard deviation of what f takes from overhead or gives to it, as a share of both together.
FIXED_SHARE = 0.08
# Hit rates are seen from where: up to the first, errors were those of services seen from 0 on, from the second on f
# erred twice as much and c by this share.
SEEN_ENOUGH = (0.4, 0.5)
COMPUTE_SHARE = 0.035
NORMAL_95 = 1.6448536269514722


def widened(value: float, draws: Array, sd: float) -> tuple[float, float]:
    """Return the 90 % interval of an estimate: the draws' spread and the estimator's error, added in quadrature.

    value: the estimate. draws: shape (n_draws,), the same quantity under bootstrap laws; empty: only the estimator's
    error is known. sd: standard deviation of that error, in the value's unit.
    """
    low, high = np.quantile(draws, INTERVAL) if draws.size else (value, value)
    error = NORMAL_95 * sd
    return value - float(np.hypot(max(value - low, 0.0), error)), value + float(np.hypot(max(high - value, 0.0), error))


def with_own_error(draws: Array, fixed_s: float, x_low: float, seed: int) -> Array:
    """Move the bootstrap laws of busy periods by what the estimator errs in f and c, on which the index depends.

    draws: shape (n_draws, 4). fixed_s: f and overhead together [s]: what the one lacks was given to the other. x_low:
    the lowest hit rates seen. The index compares with a hit rate of 0; an engine that was never seen to compute most
    of a prompt tells less of it.
    """
    unseen = min(max((x_low - SEEN_ENOUGH[0]) / (SEEN_ENOUGH[1] - SEEN_ENOUGH[0]), 0.0), 1.0)
    shift_s = (1 + unseen) * FIXED_SHARE * fixed_s * ndtri(_even_shares(len(draws), seed, "f"))
    scale = 1 + unseen * COMPUTE_SHARE * ndtri(_even_shares(len(draws), seed, "c"))
    return np.column_stack([np.maximum(draws[:, 0] + shift_s, 0.0), draws[:, 1] * np.maximum(scale, 0.0), draws[:, 2:]])


def with_any_fixed_cost(draws: Array, fixed_s: float, seed: int) -> Array:
    """Let f of each bootstrap law be anything from nothing to all of the fixed seconds, where nothing tells.

    draws: shape (n_draws, 4). fixed_s: f and overhead together [s].
    """
    # Both ends lie within the 90 % interval.
    shares = ((_even_shares(len(draws), seed, "f") - INTERVAL[0]) / (INTERVAL[1] - INTERVAL[0])).clip(0.0, 1.0)
    return np.column_stack([fixed_s * shares, draws[:, 1:]])


def _even_shares(n: int, seed: int, coefficient: Literal["f", "c"]) -> Array:
    """n shares spread evenly over (0, 1), in an order that the seed makes, another for each coefficient."""
    return (np.random.default_rng([seed, ord(coefficient)]).permutation(n) + 0.5) / n


def slope_error(target: Target, fixed_share: float) -> float:
    """Return the standard deviation of the estimator's own error of a, given fixed seconds' share of a cold request."""
    error = OWN_ERROR[target]
    return error.slope + error.slope_fixed * min(fixed_share, MOST_FIXED)


def with_line(fit: CurveFit, law: Array, draws: Array) -> CurveFit:
    """The fit with this law (4,), its draws (n_draws, 4), and the line at its reference length with its interval.

    The fit's target, overhead and residual scale say how large the estimator's own error is.
    """
    line = straight_line(ServiceTime(*law.tolist()), fit.reference_input_tokens)
    tps0_draws, a_draws = straight_line_draws(draws, fit.reference_input_tokens)
    error = OWN_ERROR[fit.target]
    fixed_share = min((float(law[0]) + (fit.overhead_s or 0.0)) * line.tps0 / fit.reference_input_tokens, MOST_FIXED)
    level = error.tps0 + error.tps0_fixed * fixed_share + error.tps0_scatter * (fit.residual_scale or 0.0)
    tps0_low, tps0_high = widened(line.tps0, tps0_draws, level * line.tps0)
    a_low, a_high = widened(line.a, a_draws, slope_error(fit.target, fixed_share))
    return replace(
        fit,
        law=ServiceTime(*law.tolist()),
        tps0=line.tps0,
        a=line.a,
        tps0_low=tps0_low,
        tps0_high=tps0_high,
        a_low=a_low,
        a_high=a_high,
        draws=draws,
    )


def index_interval(index: float, draws: Array, target: Target = "busy_s") -> tuple[float, float]:
    """Return the 90 % interval of a revenue index, as `widened` does with the own error for the curve's target."""
    return widened(index, draws, OWN_ERROR[target].index * index)


def probability_below_one(index: float, draws: Array, target: Target = "busy_s") -> float:
    """Return the probability that the true index is below 1: the draws' mean normal tail at the estimator's error."""
    centres = draws if draws.size else np.array([index])
    return float(np.mean(ndtr((1.0 - centres) / (OWN_ERROR[target].index * centres))))
