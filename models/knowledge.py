"""What is known of a service-time law: a centre, or several, and how far the truth may lie off.

Belongs here: what a fitted curve tells, what can be said of an engine of which nothing is known, and what a benchmark
adds to either.
Does not belong here: what to measure (`plan`); intervals of verdicts (`uncertainty`), whose errors are used here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.curve_fit import Target
from models.design import size_features, with_level
from models.domain import Array, require
from models.least_squares import solve_non_negative
from models.sensitivity import log_index_gradient
from models.service_time import ServiceTime, TrafficMoments, straight_line_draws
from models.uncertainty import OWN_ERROR, slope_error

STEP = 1e-4
# Of an engine that nobody has measured, in tokens: f buys 10 to 3,000 computed tokens, attention costs as much as the
# linear layers at contexts of 20,000 to 500,000, and loading a token costs .001 to .3 of computing one. The published
# engines of tests/models/deployments.py lie within. The level, c, does not matter: only ratios make a valley.
PLAUSIBLE_C_S = 5e-5
FIXED_TOKENS = (10.0, 3_000.0)
EVEN_CONTEXT_TOKENS = (20_000.0, 500_000.0)
LOADING_SHARE = (0.001, 0.3)
PLAUSIBLE_STEPS = 5
# Column of the benchmark's log level, after f, c, q and k.
LEVEL = 4
# From a plausible engine to a real one takes seven at most.
MAX_PASSES = 20
SETTLED = 1e-6
# Nothing is known better than to a ten-thousandth of a request's time.
FLOOR_VARIANCE = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """laws: f, c, q, k of each possible engine, shape (m, 4); one where a curve is trusted. covariance: (4, 4), of the
    truth about them. is_measured: from a trusted curve."""

    laws: Array
    covariance: Array
    is_measured: bool

    @property
    def root(self) -> Array:
        """A with A·Aᵀ = covariance, (4, 4): taken of correlations, as variances differ by 1e16."""
        deviation = np.sqrt(np.diagonal(self.covariance))
        unit = np.where(deviation > 0, deviation, 1.0)
        values, vectors = np.linalg.eigh(self.covariance / np.outer(unit, unit))
        return np.asarray(unit[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 0.0)))


def of_curve(
    law: ServiceTime, draws: Array, *, moments: TrafficMoments, reference_input_tokens: float, target: Target
) -> Knowledge:
    """What a trusted curve tells: the scatter of its bootstrap draws (n, 4), and its estimator's own error.

    That error is known for a and for the index alone (`uncertainty.OWN_ERROR`). It is taken to lie in all four parts
    of a request's busy seconds alike, as large as both allow.
    """
    centre = law.as_array()
    length = reference_input_tokens
    half_hits = np.array([1.0, length / 2, 3 * length**2 / 8, length / 2])
    unit = (centre @ half_hits) / half_hits  # of each coefficient: what alone would take the request's time
    shifted = centre + STEP * np.diag(unit)
    tps0, slopes = straight_line_draws(np.vstack([centre, shifted]), length)
    per_slope = float(np.linalg.norm((slopes[1:] - slopes[0]) / STEP))
    laws = centre[np.newaxis]
    per_index = float(np.linalg.norm(log_index_gradient(laws, moments)[0] * unit))
    of_slope = slope_error(target, law.f * float(tps0[0]) / length)
    # The most that exceeds neither; without hits the index is 1 whatever the law.
    allowed = 1 / max(per_slope / of_slope, per_index / OWN_ERROR[target].index)
    scatter = np.cov(draws.T) if len(draws) > 1 else np.zeros((4, 4))
    return Knowledge(laws, scatter + np.diag((allowed * unit) ** 2), is_measured=True)


def of_nothing(c: float = PLAUSIBLE_C_S) -> Knowledge:
    """Every plausible engine that computes a token in c [s]: 125 laws, even over the logarithms of the ranges above."""
    fixed, context, loading = (
        np.geomspace(*bounds, 2 * PLAUSIBLE_STEPS + 1)[1::2]
        for bounds in (FIXED_TOKENS, EVEN_CONTEXT_TOKENS, LOADING_SHARE)
    )
    f, q, k = (axis.ravel() for axis in np.meshgrid(fixed, 2 / context, loading, indexing="ij"))
    laws = c * np.stack([f, np.ones_like(f), q, k], axis=1)
    # As weak as the ranges are wide: an engine at the end of one must not be drawn to its middle.
    return Knowledge(laws, np.diag(laws.max(axis=0) ** 2), is_measured=False)


def learned(before: Knowledge, sizes: NDArray[np.int64], seconds: Array, *, noise: float) -> tuple[Knowledge, float]:
    """What is known once requests of input and cached tokens (n, 2) took these seconds (n,); and the relative residual.

    The most likely law >= 0, whatever the benchmark's level: log seconds, linearised about one solution after another.
    noise: relative standard deviation of a point; the residual takes its place where it is larger. Several possible
    laws count as their mean.
    """
    require(seconds > 0, "seconds", seconds, rule="> 0 s")
    features, residual = size_features(sizes), 0.0
    centre = np.append(before.laws.mean(axis=0), 0.0)
    mean_request = features.mean(axis=0)
    # Each coefficient in units of what alone would take the mean request's time: they differ by 1e8 in seconds.
    unit = np.append((mean_request @ centre[:LEVEL]) / np.maximum(mean_request, 1.0), 1.0)
    precision = _inverse(with_level(before.covariance) / np.outer(unit, unit) + FLOOR_VARIANCE * np.eye(5))
    found = centre / unit
    for _ in range(MAX_PASSES):
        fitted = features @ (found * unit)[:LEVEL]
        rows = np.column_stack([features / fitted[:, np.newaxis] * unit[:LEVEL], np.ones(len(fitted))])
        target: Array = 1 + np.log(seconds / fitted)
        gram = _with_prior(rows, target, max(noise, residual), centre / unit, precision)
        last, found = found, solve_non_negative(gram, signed=(LEVEL,))
        residual = float(np.sqrt(((target - rows @ found) ** 2).sum() / max(1, len(seconds) - LEVEL)))
        if np.allclose(found, last, rtol=SETTLED, atol=SETTLED):
            break
    # At the level found: only ratios count, and a common factor of all four would be most of the spread.
    covariance = _inverse(gram[:LEVEL, :LEVEL]) * np.outer(unit, unit)[:LEVEL, :LEVEL]
    return Knowledge((found * unit)[np.newaxis, :LEVEL], covariance, is_measured=True), residual


def _with_prior(rows: Array, target: Array, noise: float, centre: Array, precision: Array) -> Array:
    """Gram sums (6, 6) of rows (n, 5) that give the target but for noise, and of the centre (5,) known so precisely."""
    whole = np.column_stack([rows, target]) / noise
    known = np.column_stack([np.eye(5), centre])
    return np.asarray(whole.T @ whole + known.T @ precision @ known)


def _inverse(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
