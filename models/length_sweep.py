"""The service-time law from a benchmark whose length varies, with the hit rate or on its own.

Belongs here: the law through (M, P, seconds) points, and its straight lines at the lengths that were measured.
Does not belong here: benchmarks of one length (`sweep`); production logs (`busy_periods`).

The usual one computes the same number of tokens after ever longer contexts: its hit rate rises because its length does,
and a straight line through its points belongs to no length. Its fixed cost and its cost per token cannot be told apart,
nor attention and loading: the first of each pair is then left out, which is how a long prompt runs that is computed
chunk by chunk, each chunk after all before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.cross_validation import left_out_losses, simplest_as_good
from models.curve_fit import CurveFit, Family
from models.domain import Array
from models.families import TOLERANCE, line_good_until
from models.least_squares import MAD_TO_SIGMA, central_interval, inliers, solve_non_negative
from models.service_time import ServiceTime, StraightLine, straight_line, straight_line_draws, tps_miss
from models.sweep import MAX_LENGTH_SPREAD, SINGULAR_AT_LEAST
from models.trust import SWEEP, doubts

# Two coefficients always fit two points.
MIN_POINTS = 3
# A benchmark measures few sizes, traffic as many as it has requests.
MAX_POINTS = 200
# Below, the range of context is too short to have a slope.
SHORTEST_LINE = 1024


@dataclass(frozen=True, slots=True)
class LengthPoint:
    """The repeats of one size. tps_miss: median [tokens/s]. deviation: measured over the law's throughput, minus 1."""

    input_tokens: float
    hit_rate: float
    tps_miss: float
    n_repeats: int
    deviation: float
    is_singular: bool


@dataclass(frozen=True, slots=True)
class LengthLine:
    """The straight line of the law at one measured length, and `line_good_until`."""

    input_tokens: float
    line: StraightLine
    good_until_hit_rate: float


@dataclass(frozen=True, slots=True, eq=False)
class LengthSweepFit:
    """A fitted benchmark. `curve` holds the law and its line at the longest input.

    Its family is "hyperbola" for the law with f = k = 0, "service_time" for the whole one. lines: at measured lengths
    of at least 1,024 tokens, ascending. line_deviation, line_worst_deviation: median and largest |line/measured - 1| of
    the straight line through the points themselves, the reason not to use it. n_unusable: rows with a number that is
    missing, not finite or outside its domain, or that compute nothing.
    """

    curve: CurveFit
    points: tuple[LengthPoint, ...] = ()
    lines: tuple[LengthLine, ...] = ()
    line_deviation: float | None = None
    line_worst_deviation: float | None = None
    n_unusable: int = 0


def fit_length_sweep(
    hit_rate: Array, input_tokens: Array, prefill_s: Array, *, seed: int = 0, n_draws: int = 200
) -> LengthSweepFit:
    """Fit the law to the medians per size, least squares of relative residuals, without singular points.

    hit_rate [1], input_tokens [tokens], prefill_s [s]: shape (n,), one entry per measured request. The four
    coefficients are kept only where they predict left-out sizes better than the two of the hyperbola. Intervals: seeded
    bootstrap of the residuals. Too little data is a fit without numbers. Raises ValueError for more than 200 sizes.
    """
    x, length, seconds = (np.asarray(column, dtype=np.float64) for column in (hit_rate, input_tokens, prefill_s))
    with np.errstate(invalid="ignore"):
        usable = (x >= 0) & (x < 1) & (length > 0) & np.isfinite(length) & (seconds > 0) & np.isfinite(seconds)
    sizes = np.stack([(1 - x[usable]) * length[usable], x[usable] * length[usable]], axis=1).round(3)
    points, place, repeats = np.unique(sizes, axis=0, return_inverse=True, return_counts=True)
    if len(points) > MAX_POINTS:
        raise ValueError(f"{len(points)} different prompt sizes: a benchmark measures few, this looks like traffic")
    longest = float(max(length[np.isfinite(length)], default=float("nan")))
    nothing = LengthSweepFit(CurveFit("sweep", "service_time", longest), n_unusable=int((~usable).sum()))
    if len(points) < MIN_POINTS:
        return replace(nothing, curve=nothing.curve.doubted("too_few"))
    every = [seconds[usable][place.ravel() == size] for size in range(len(points))]
    medians = np.array([np.median(part) for part in every], dtype=np.float64)
    return _fit(nothing, points, medians, repeats, seed=seed, n_draws=n_draws)


def _fit(
    nothing: LengthSweepFit,
    points: Array,
    seconds: Array,
    repeats: NDArray[np.int64],
    *,
    seed: int,
    n_draws: int,
) -> LengthSweepFit:
    miss, cached = points.T
    features = np.stack([np.ones_like(miss), miss, miss * (cached + miss / 2), cached], axis=1)
    family, columns = _family(features, seconds)
    weighted = np.column_stack([features[:, columns], seconds]) / seconds[:, np.newaxis]
    regular = inliers(weighted, at_least=SINGULAR_AT_LEAST)
    coefficients = _solve(weighted[regular], columns)
    poor = replace(nothing, curve=replace(nothing.curve, family=family).doubted("poor_fit"))
    if not coefficients[:3].any() or regular.sum() < MIN_POINTS:
        return poor
    law, longest = ServiceTime(*coefficients.tolist()), nothing.curve.reference_input_tokens
    fitted_s = features @ coefficients
    draws = _draws(weighted[regular], columns, seed=seed, n_draws=n_draws)
    draws = draws[draws[:, :3].any(axis=1)]
    line = straight_line(law, longest)
    (tps0_low, tps0_high), (a_low, a_high) = map(central_interval, straight_line_draws(draws, longest))
    x = cached / (miss + cached)
    x_low, x_high = central_interval(x[regular])
    curve = replace(
        nothing.curve,
        family=family,
        law=law,
        tps0=line.tps0,
        a=line.a,
        tps0_low=tps0_low,
        tps0_high=tps0_high,
        a_low=a_low,
        a_high=a_high,
        n_minutes=int(regular.sum()),
        n_requests=int(repeats[regular].sum()),
        x_low=x_low,
        x_high=x_high,
        residual_scale=MAD_TO_SIGMA * float(np.median(np.abs(seconds / fitted_s - 1))),
        draws=draws,
    )
    found = doubts(
        curve,
        half_difference=_half_difference(weighted[regular], columns, x[regular], longest),
        kept_share=float(regular.mean()),
        limits=SWEEP,
    )
    off = np.abs(_straight(x, miss / seconds) / (miss / seconds) - 1)
    rows = zip((miss + cached).tolist(), x.tolist(), (miss / seconds).tolist(), repeats.tolist(), strict=True)
    deviations = zip((fitted_s / seconds - 1).tolist(), (~regular).tolist(), strict=True)
    return replace(
        nothing,
        curve=curve.doubted(*found),
        points=tuple(LengthPoint(*row, *deviation) for row, deviation in zip(rows, deviations, strict=True)),
        lines=_lines(law, np.unique(miss + cached)),
        line_deviation=float(np.median(off)),
        line_worst_deviation=float(off.max()),
    )


def _family(features: Array, seconds: Array) -> tuple[Family, list[int]]:
    """The law's columns that these points can tell apart and that predict better; one size of M tells two apart."""
    hyperbola: tuple[Family, list[int]] = ("hyperbola", [1, 2])
    whole: tuple[Family, list[int]] = ("service_time", [0, 1, 2, 3])
    miss = features[:, 1]
    if miss.max() < (1 + MAX_LENGTH_SPREAD) * miss.min() or len(miss) <= len(whole[1]):
        return hyperbola
    losses = []
    for _, columns in (hyperbola, whole):
        weighted = np.column_stack([features[:, columns], seconds]) / seconds[:, np.newaxis]
        losses.append(left_out_losses(weighted[:, :, np.newaxis] * weighted[:, np.newaxis, :]))
    return (hyperbola, whole)[simplest_as_good(np.stack(losses), (2, 4), tolerance=TOLERANCE)]


def _solve(weighted: Array, columns: list[int]) -> Array:
    """f, c, q, k with those left out at 0: shape (4,)."""
    coefficients = np.zeros(4)
    coefficients[columns] = solve_non_negative(weighted.T @ weighted)
    return coefficients


def _draws(weighted: Array, columns: list[int], *, seed: int, n_draws: int) -> Array:
    """Laws of the fit plus resampled relative residuals: (n_draws, 4)."""
    features = weighted[:, :-1]
    fitted = features @ solve_non_negative(weighted.T @ weighted)
    # Fitting takes away a degree of freedom per coefficient; of five points that is much.
    spread = np.sqrt(len(features) / max(1, len(features) - len(columns)))
    residuals = np.random.default_rng(seed).choice(1 - fitted, size=(n_draws, len(fitted))) * spread
    rows = np.concatenate(
        [np.broadcast_to(features, (n_draws, *features.shape)), (fitted + residuals)[..., np.newaxis]], axis=-1
    )
    draws = np.zeros((n_draws, 4))
    draws[:, columns] = solve_non_negative(np.swapaxes(rows, 1, 2) @ rows)
    return draws


def _half_difference(weighted: Array, columns: list[int], x: Array, input_tokens: float) -> float:
    """Largest |ratio - 1| between the curves of alternate sizes at the longest input, over the hit rates seen."""
    even, odd = (_solve(weighted[np.argsort(x)][start::2], columns) for start in (0, 1))
    if len(weighted) < 2 * len(columns) or not (even[:3].any() and odd[:3].any()):
        return float("inf")
    grid = np.linspace(x.min(), min(x.max(), 0.95), 10)
    curves = [tps_miss(ServiceTime(*half.tolist()), grid, input_tokens) for half in (even, odd)]
    return float(np.abs(curves[0] / curves[1] - 1).max())


def _straight(x: Array, tps: Array) -> Array:
    """The straight line through the points, as if they were of one length."""
    design = np.stack([np.ones_like(x), x], axis=1)
    return np.asarray(design @ np.linalg.lstsq(design, tps, rcond=None)[0])


def _lines(law: ServiceTime, lengths: Array) -> tuple[LengthLine, ...]:
    lines = []
    for length in lengths[lengths >= SHORTEST_LINE].tolist():
        line = straight_line(law, length)
        lines.append(LengthLine(length, line, line_good_until(law, line.tps0, line.a, length)))
    return tuple(lines)
