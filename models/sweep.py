"""The article's straight line from a controlled benchmark: one length, several hit rates, repeated.

Belongs here: medians per hit rate, the line through them, and the singular points it leaves out.
Does not belong here: which shape the points have (`families`) and which chunk size (`chunks`); benchmarks of several
lengths (`length_sweep`); production logs (`busy_periods`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.chunks import ChunkFit, find_chunk_in_points, leaves_small_tail
from models.curve_fit import CurveFit, Reason
from models.domain import Array, require
from models.families import FamilyChoice, choose_for_points
from models.least_squares import MAD_TO_SIGMA, central_interval, inliers, solve_non_negative
from models.service_time import ServiceTime
from models.trust import SWEEP, doubts

# Two points always lie on a line.
MIN_HIT_RATES = 3
# Rounding of cached tokens to blocks moves the hit rate of a repeat by less.
HIT_RATE_DECIMALS = 3
# A benchmark of one length may miss its target by a few tokens, no more.
MAX_LENGTH_SPREAD = 0.01
# Smaller departures from the smooth law do not change what an operator would do.
SINGULAR_AT_LEAST = 0.05


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The repeats at one hit rate. tps_miss: median [tokens/s]. deviation: tps_miss over the line, minus 1.

    is_tail: singular, and explained by the chunk size that was found: a small last chunk is left.
    """

    hit_rate: float
    miss_tokens: float
    tps_miss: float
    n_repeats: int
    deviation: float
    is_singular: bool
    is_tail: bool


@dataclass(frozen=True, slots=True, eq=False)
class SweepFit:
    """A fitted sweep. `curve` holds the line, family "line"; the deviations are |deviation| of points up to x_max.

    law: the service-time law at this length only: of one length, f cannot be told from c and k, so f = 0.
    families: the shape of the regular points; None with too few. chunks: the chunk size that all points show; None with
    too few. n_unusable: rows with a number that is missing, not finite or outside its domain.
    """

    curve: CurveFit
    law: ServiceTime | None = None
    families: FamilyChoice | None = None
    chunks: ChunkFit | None = None
    points: tuple[SweepPoint, ...] = ()
    median_deviation: float | None = None
    worst_deviation: float | None = None
    n_unusable: int = 0

    @property
    def singular_points(self) -> tuple[SweepPoint, ...]:
        """Hit rates whose throughput departs from the smooth law; the line leaves them out."""
        return tuple(point for point in self.points if point.is_singular)


@dataclass(frozen=True, slots=True)
class _Medians:
    """One entry per hit rate, ascending, each array of shape (n,); repeats: tps_miss of every row, per hit rate."""

    hit_rate: Array
    input_tokens: Array
    prefill_s: Array
    tps_miss: Array
    repeats: tuple[Array, ...]


def fit_sweep(
    hit_rate: Array, input_tokens: Array, prefill_s: Array, *, x_max: float = 0.9, seed: int = 0, n_draws: int = 200
) -> SweepFit:
    """Fit tps0 * (1 - a*x) to the medians per hit rate, 0 <= x <= x_max, without singular points.

    hit_rate [1], input_tokens [tokens], prefill_s [s]: shape (n,), one entry per measured request. Intervals: seeded
    bootstrap of the repeats; of the residuals where nothing was repeated. Too little data is a fit without numbers.
    Raises ValueError when the lengths differ by 1 % or more: a slope belongs to a length.
    """
    require(0 < x_max < 1, "x_max", x_max, rule="0 < x_max < 1")
    x, length, seconds = (np.asarray(column, dtype=np.float64) for column in (hit_rate, input_tokens, prefill_s))
    with np.errstate(invalid="ignore"):
        usable = (x >= 0) & (x <= 1) & (length > 0) & np.isfinite(length) & (seconds > 0) & np.isfinite(seconds)
    x, length, seconds = x[usable], length[usable], seconds[usable]
    _require_one_length(length)
    reference = float(np.median(length)) if len(length) else float("nan")
    nothing = SweepFit(CurveFit("sweep", "line", reference), n_unusable=int((~usable).sum()))
    medians = _medians(x, length, seconds)
    if _in_range(medians, x_max).sum() < MIN_HIT_RATES:
        reason: Reason = "too_few" if len(x) < MIN_HIT_RATES else "narrow_hit_range"
        return replace(nothing, curve=nothing.curve.doubted(reason))
    return _fit_medians(nothing, medians, x_max, seed=seed, n_draws=n_draws)


def _fit_medians(nothing: SweepFit, medians: _Medians, x_max: float, *, seed: int, n_draws: int) -> SweepFit:
    """The law through all regular points, and the line through those in range; no numbers where there is no line."""
    poor = replace(nothing, curve=nothing.curve.doubted("poor_fit"))
    weighted, in_range = _law_rows(medians), _in_range(medians, x_max)
    regular = inliers(weighted, at_least=SINGULAR_AT_LEAST)
    if (in_range & regular).sum() < MIN_HIT_RATES:
        return poor
    law = solve_non_negative(weighted[regular].T @ weighted[regular]).tolist()
    curve, deviation = _line(nothing.curve, medians, regular & in_range, in_range=in_range, seed=seed, n_draws=n_draws)
    if curve.a is None:
        return poor
    size = np.abs(deviation[in_range])
    computing = medians.hit_rate < 1
    miss_tokens = (1 - medians.hit_rate) * medians.input_tokens
    cached_tokens = medians.input_tokens - miss_tokens
    chunks = find_chunk_in_points(miss_tokens[computing], cached_tokens[computing], medians.prefill_s[computing])
    return replace(
        nothing,
        curve=curve,
        law=ServiceTime(0.0, *law) if any(law) else None,
        families=_families(medians, regular, curve.reference_input_tokens, x_max),
        chunks=chunks,
        points=_points(medians, deviation, ~regular, chunks.chunk_tokens if chunks else None),
        median_deviation=float(np.median(size)),
        worst_deviation=float(size.max()),
    )


def is_one_length(input_tokens: Array) -> bool:
    """Whether prompts of these lengths (n,) are a benchmark of one: those that are numbers differ by less than 1 %."""
    length = np.asarray(input_tokens, dtype=np.float64)
    length = length[np.isfinite(length) & (length > 0)]
    return not len(length) or bool(length.max() < (1 + MAX_LENGTH_SPREAD) * length.min())


def _require_one_length(length: Array) -> None:
    if not is_one_length(length):
        lengths = np.unique(length)
        shown = ", ".join(f"{value:.0f}" for value in lengths[:8]) + (" …" if len(lengths) > 8 else "")
        raise ValueError(
            f"input lengths differ by 1 % or more ({shown} tokens): a slope belongs to one length, split them"
        )


def _medians(x: Array, length: Array, seconds: Array) -> _Medians:
    order = np.lexsort((seconds, x))
    x, length, seconds = x[order], length[order], seconds[order]
    rounded = np.round(x, HIT_RATE_DECIMALS)
    starts = np.flatnonzero(np.diff(rounded)) + 1
    columns = (x, length, seconds, (1 - x) * length / seconds)
    groups = [np.split(column, starts) if len(x) else [] for column in columns]
    hit_rate, input_tokens, prefill_s, tps_miss = (np.array([np.median(part) for part in parts]) for parts in groups)
    return _Medians(hit_rate, input_tokens, prefill_s, tps_miss, repeats=tuple(groups[-1]))


def _in_range(medians: _Medians, x_max: float) -> NDArray[np.bool_]:
    return np.asarray(np.round(medians.hit_rate, HIT_RATE_DECIMALS) <= x_max)


def _families(medians: _Medians, regular: NDArray[np.bool_], input_tokens: float, x_max: float) -> FamilyChoice | None:
    """The shape of the regular points that compute something, those of hit rate x_max within rounding included."""
    shown = regular & (medians.hit_rate < 1)
    rounding = 10.0**-HIT_RATE_DECIMALS / 2
    return choose_for_points(medians.hit_rate[shown], medians.tps_miss[shown], input_tokens, x_max=x_max + rounding)


def _law_rows(medians: _Medians) -> Array:
    """Rows (M, M(P + M/2), P, seconds), over the measured seconds so that residuals are relative: shape (n, 4)."""
    seconds, cached = medians.prefill_s, medians.hit_rate * medians.input_tokens
    miss = medians.input_tokens - cached
    return np.stack([miss, miss * (cached + miss / 2), cached, seconds], axis=1) / seconds[:, np.newaxis]


def _line(
    curve: CurveFit,
    medians: _Medians,
    regular: NDArray[np.bool_],
    *,
    in_range: NDArray[np.bool_],
    seed: int,
    n_draws: int,
) -> tuple[CurveFit, Array]:
    """The line through the regular points, and every point's relative deviation from it."""
    x, y = medians.hit_rate[regular], medians.tps_miss[regular]
    repeats = [medians.repeats[i] for i in np.flatnonzero(regular)]
    tps0, a = _lines(x, y[np.newaxis])
    line = tps0 * (1 - a * medians.hit_rate)
    deviation = np.divide(medians.tps_miss, line, out=np.full(len(line), np.inf), where=line > 0) - 1
    samples = _resampled(repeats, y, tps0 * (1 - a * x), n_draws=n_draws, seed=seed)
    (tps0_low, tps0_high), (a_low, a_high) = map(central_interval, _lines(x, samples))
    x_low, x_high = central_interval(x)
    fit = replace(
        curve,
        tps0=float(tps0[0]),
        a=float(a[0]) if tps0[0] > 0 else None,
        tps0_low=tps0_low,
        tps0_high=tps0_high,
        a_low=a_low,
        a_high=a_high,
        n_minutes=len(x),
        n_requests=sum(map(len, repeats)),
        x_low=x_low,
        x_high=x_high,
        residual_scale=MAD_TO_SIGMA * float(np.median(np.abs(deviation[in_range]))),
    )
    half_difference, kept_share = _half_difference(x, y), float(regular.sum() / in_range.sum())
    found = doubts(fit, half_difference=half_difference, kept_share=kept_share, limits=SWEEP)
    return fit.doubted(*found), deviation


def _lines(x: Array, y: Array) -> tuple[Array, Array]:
    """tps0 and a (NaN where tps0 <= 0) of least squares lines: x (n,), y (n_lines, n) -> two arrays (n_lines,)."""
    intercept, slope = np.linalg.lstsq(np.stack([np.ones_like(x), x], axis=1), y.T, rcond=None)[0]
    return intercept, np.divide(-slope, intercept, out=np.full(len(slope), np.nan), where=intercept > 0)


def _resampled(repeats: list[Array], y: Array, line: Array, *, n_draws: int, seed: int) -> Array:
    """Medians of resampled repeats, or the line plus resampled residuals if nothing was repeated: (n_draws, n)."""
    rng = np.random.default_rng(seed)
    if max(map(len, repeats)) == 1:
        return np.asarray(line + rng.choice(y - line, size=(n_draws, len(y))))
    return np.stack([np.median(rng.choice(part, size=(n_draws, len(part))), axis=1) for part in repeats], axis=1)


def _half_difference(x: Array, y: Array) -> float:
    """Largest |ratio - 1| between the lines of alternate hit rates, over the hit rates seen."""
    if len(x) < 4:
        return float("inf")
    (even_tps0, even_a), (odd_tps0, odd_a) = (_lines(x[start::2], y[np.newaxis, start::2]) for start in (0, 1))
    return float(np.abs(even_tps0 * (1 - even_a * x) / (odd_tps0 * (1 - odd_a * x)) - 1).max())


def _points(
    medians: _Medians, deviation: Array, singular: NDArray[np.bool_], chunk_tokens: int | None
) -> tuple[SweepPoint, ...]:
    miss_tokens = (1 - medians.hit_rate) * medians.input_tokens
    # Rounding of hit rates moves the last chunk by a token or two, never by its half.
    tail = singular & (leaves_small_tail(miss_tokens, chunk_tokens) if chunk_tokens else False)
    repeats = np.array([len(part) for part in medians.repeats])
    columns = (medians.hit_rate, miss_tokens, medians.tps_miss, repeats, deviation, singular, tail)
    return tuple(SweepPoint(*point) for point in zip(*(column.tolist() for column in columns), strict=True))
