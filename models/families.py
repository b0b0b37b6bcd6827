"""Which shape a throughput curve has: the article's straight line, a hyperbola, or the whole service-time law.

    line          tps0 * (1 - a*x)                                  2 parameters; knows no length
    hyperbola     tps0 * (1 + h) / (1 + h*(1 + x)), h = q*L/(2c)    2 parameters: the law with f = k = 0
    service_time  M / t(M, P)                                       3 parameters at one length, 4 at several

Belongs here: fitting each to the same data, choosing by what it predicts, and where the line stops being good.
Does not belong here: robust estimates and their intervals (`sweep`, `busy_periods`); singular points (`chunks`).

Source of the hyperbola: attention costs a computed token its context, linear layers do not (Mooncake, FAST'25, eq. 1),
so the seconds per computed token, c + q*L*(1 + x)/2, rise in a straight line with the hit rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.busy_periods import MIN_ROWS
from models.cross_validation import left_out_losses, losses, simplest_as_good
from models.curve_fit import Family
from models.domain import Array, require, require_hit_rate
from models.least_squares import gram_sums, inliers, solve_non_negative
from models.regression_rows import BusyRows, RegressionRows, regression_rows
from models.service_time import GRID_POINTS, ServiceTime, straight_line, tps_miss

# Less of throughput than this is not worth a parameter; on a simulated day .2 % hid .05 of slope.
TOLERANCE = 0.001
# Where the line errs by more, it may no longer stand for the curve: half the depth of a typical valley.
LINE_GOOD_WITHIN = 0.05
# Leaving one out must leave enough for three parameters.
MIN_POINTS = 4
# Slopes that are tried for rows of mixed length, and then more finely around the best.
SLOPES = np.linspace(-0.5, 0.97, 31)
FINER = np.linspace(-0.06, 0.06, 25)
STEEPEST = 0.99
# The order of the families in every array below.
FAMILIES: tuple[Family, ...] = ("line", "hyperbola", "service_time")
LAW_COLUMNS: dict[Family, list[int]] = {"hyperbola": [1, 2], "service_time": [0, 1, 2, 3]}


@dataclass(frozen=True, slots=True)
class FamilyFit:
    """One shape fitted to all the data. error: root mean square of the relative error on data left out [1].

    tps0 [tokens/s], a: the line, or the straight line through the law's curve; None where the fit has no throughput.
    law: None for the line.
    """

    family: Family
    error: float
    tps0: float | None
    a: float | None
    law: ServiceTime | None = None


@dataclass(frozen=True, slots=True)
class FamilyChoice:
    """The shape that is kept, all that were compared, and how far the line may stand for the curve.

    The rule: of the shapes whose left-out error is within one standard error, or .1 % of throughput, of the least, the
    one with the fewest parameters; of the line and the hyperbola, which have two each, the better.
    line_good_until_hit_rate: see `line_good_until`, against the law whatever was kept; None where either is missing.
    """

    family: Family
    fits: tuple[FamilyFit, ...]
    line_good_until_hit_rate: float | None

    @property
    def kept(self) -> FamilyFit:
        """The fit of the shape that is kept."""
        return self.fits[FAMILIES.index(self.family)]


def choose_for_points(x: Array, tps: Array, input_tokens: float, *, x_max: float = 0.9) -> FamilyChoice | None:
    """Choose by leaving out one hit rate after the other: x (n,) ascending, each once, tps_miss (n,) [tokens/s].

    Points beyond x_max inform neither the fits nor the choice, only how far the line is good. None with fewer than four
    points up to it: the law would fit any three. Of one length f cannot be told from c and k: the law has f = 0. Raises
    ValueError for hit rates outside [0, 1), not ascending, or throughputs that are not positive.
    """
    require_hit_rate(x)
    require(np.diff(x) > 0, "hit rates", x[1:], rule="ascending, each once")
    require(np.isfinite(tps) & (tps > 0), "tps_miss", tps, rule="> 0 tokens/s")
    require(input_tokens > 0, "input_tokens", input_tokens, rule="> 0 tokens")
    fitted = x <= x_max
    if fitted.sum() < MIN_POINTS:
        return None
    whole = _law_of_points("service_time", x, tps, input_tokens)
    x, tps = x[fitted], tps[fitted]
    predicted = np.empty((len(FAMILIES), len(x)))
    for left_out in range(len(x)):
        others = np.arange(len(x)) != left_out
        line = line_through(x[others], tps[others])
        predicted[0, left_out] = line[0] * (1 - line[1] * x[left_out]) if line else 0.0
        for row, family in enumerate(FAMILIES[1:], start=1):
            law = _law_of_points(family, x[others], tps[others], input_tokens)
            predicted[row, left_out] = tps_miss(law, float(x[left_out]), input_tokens) if law else 0.0
    loss = (predicted / tps - 1) ** 2
    line = line_through(x, tps)
    laws = [_law_of_points(family, x, tps, input_tokens) for family in FAMILIES[1:]]
    return FamilyChoice(
        FAMILIES[simplest_as_good(loss, (2, 2, 3), tolerance=TOLERANCE)],
        _fits(np.sqrt(loss.mean(axis=1)), line, laws, input_tokens),
        line_good_until(whole, *line, input_tokens) if whole and line else None,
    )


def choose_for_rows(rows: BusyRows, *, reference_input_tokens: float) -> FamilyChoice | None:
    """Choose by leaving out one hour after the other; each shape has an overhead per busy period besides.

    A row's line is taken at its own hit rate, whatever its lengths. Rows that are outliers to every shape count for
    none. None with fewer than ten usable rows or two blocks of time, or without misses. reference_input_tokens: the
    length at which the laws' straight lines are stated, and the law's is compared with the law [tokens].
    """
    require(reference_input_tokens > 0, "input_tokens", reference_input_tokens, rule="> 0 tokens")
    usable = regression_rows(rows)
    if len(usable.busy_s) < MIN_ROWS or not usable.features[:, 1].any():
        return None
    laws_rows = [usable.weighted(usable.features[:, [*LAW_COLUMNS[family], 4]]) for family in FAMILIES[1:]]
    line_rows = _line_rows(usable, _steepness(usable, SLOPES, np.ones(len(usable.busy_s), dtype=bool)))
    kept = np.any([inliers(part) for part in (line_rows, *laws_rows)], axis=0)
    if len(np.unique(usable.block[kept])) < 2:
        return None
    grams = [gram_sums(part[kept], usable.block[kept]) for part in laws_rows]
    # busy_s² over busy_s: the sum that makes a loss relative.
    scale = grams[0][:, -1, -1]
    # The slopes beside the best, so that each block's line can be chosen by the others.
    slopes = np.minimum(_steepness(usable, SLOPES, kept) + FINER, STEEPEST)
    line_grams = np.stack([_line_gram(usable, kept, a) for a in slopes.tolist()])
    loss = np.stack([_left_out_line(line_grams), *map(left_out_losses, grams)]) * len(scale) / scale.sum()
    coefficients = [solve_non_negative(gram.sum(axis=0)) for gram in grams]
    laws = [_law(family, found[:-1]) for family, found in zip(FAMILIES[1:], coefficients, strict=True)]
    line = _best_line(slopes, line_grams.sum(axis=1))
    whole = laws[-1]
    secant = straight_line(whole, reference_input_tokens) if whole else None
    return FamilyChoice(
        FAMILIES[simplest_as_good(loss, (2, 2, 4), tolerance=TOLERANCE)],
        _fits(np.sqrt(loss.mean(axis=1)), line, laws, reference_input_tokens),
        line_good_until(whole, secant.tps0, secant.a, reference_input_tokens) if whole and secant else None,
    )


def line_through(x: Array, tps: Array) -> tuple[float, float] | None:
    """tps0 and a of the line nearest to the curve that joins the points: x (n,) ascending, tps_miss (n,).

    Least squares on as even a grid as `straight_line` uses, between the points' ends, so that hit rates measured more
    densely do not count for more. None where the line does not start above 0.
    """
    grid = np.linspace(x[0], x[-1], GRID_POINTS)
    design = np.stack([np.ones_like(grid), grid], axis=1)
    intercept, slope = np.linalg.lstsq(design, np.interp(grid, x, tps), rcond=None)[0].tolist()
    return (intercept, -slope / intercept) if intercept > 0 else None


def line_good_until(
    law: ServiceTime, tps0: float, a: float, input_tokens: float, *, within: float = LINE_GOOD_WITHIN
) -> float:
    """First hit rate beyond which |line/curve - 1| exceeds `within`; 0 where it does so at once, 1 where never.

    On a grid of .001. The line is meant for x <= .9: beyond, fixed and loading costs bend the curve of an unpacked
    engine or a slow tier down, and a verdict read off the line is too kind.
    """
    x = np.arange(1000) / 1000
    off = np.abs(tps0 * (1 - a * x) / tps_miss(law, x, input_tokens) - 1) > within
    return float(x[np.argmax(off)]) if off.any() else 1.0


def _fits(
    errors: Array, line: tuple[float, float] | None, laws: list[ServiceTime | None], input_tokens: float
) -> tuple[FamilyFit, ...]:
    fits = [FamilyFit("line", float(errors[0]), *(line or (None, None)))]
    for family, error, law in zip(FAMILIES[1:], errors[1:].tolist(), laws, strict=True):
        secant = straight_line(law, input_tokens) if law else None
        fits.append(FamilyFit(family, error, secant.tps0 if secant else None, secant.a if secant else None, law))
    return tuple(fits)


def _law_of_points(family: Family, x: Array, tps: Array, input_tokens: float) -> ServiceTime | None:
    """The law of least squares, without f, which one length does not tell.

    Errors count in shares of the highest throughput, as the line's do: counted in shares of its own, one point at
    x = .99 would bend the law away from all others.
    """
    miss, cached = (1 - x) * input_tokens, x * input_tokens
    seconds = miss / tps
    features = np.stack([np.zeros_like(miss), miss, miss * (cached + miss / 2), cached], axis=1)
    columns = [column for column in LAW_COLUMNS[family] if column > 0]
    weighted = np.column_stack([features[:, columns], seconds]) * (tps / (tps.max() * seconds))[:, np.newaxis]
    found = solve_non_negative(weighted.T @ weighted)
    return _law(family, found if family == "hyperbola" else np.concatenate([[0.0], found]))


def _law(family: Family, coefficients: Array) -> ServiceTime | None:
    """f, c, q, k with those the family lacks at 0; None where computing takes no time."""
    every = np.zeros(4)
    every[LAW_COLUMNS[family]] = coefficients
    return ServiceTime(*every.tolist()) if every[:3].any() else None


def _line_rows(usable: RegressionRows, a: float) -> Array:
    """Rows (ΣM / (1 - a*x), period_begins, busy_s), weighted: the coefficients are 1/tps0 and the overhead."""
    miss, cached = usable.features[:, 1], usable.features[:, 3]
    pace = miss / (1 - a * cached / (miss + cached))
    return usable.weighted(np.column_stack([pace, usable.features[:, 4]]))


def _line_gram(usable: RegressionRows, kept: NDArray[np.bool_], a: float) -> Array:
    return gram_sums(_line_rows(usable, a)[kept], usable.block[kept])


def _steepness(usable: RegressionRows, slopes: Array, kept: NDArray[np.bool_]) -> float:
    """The slope of least squares among those given."""
    sums = np.stack([_line_gram(usable, kept, a).sum(axis=0) for a in slopes.tolist()])
    return float(slopes[np.argmin(losses(sums, solve_non_negative(sums)))])


def _best_line(slopes: Array, sums: Array) -> tuple[float, float] | None:
    """tps0 and a of least squares among slopes (n,) with sums (n, 3, 3); None where computing takes no time."""
    coefficients = solve_non_negative(sums)
    best = int(np.argmin(losses(sums, coefficients)))
    pace = float(coefficients[best, 0])
    return (1 / pace, float(slopes[best])) if pace > 0 else None


def _left_out_line(grams: Array) -> Array:
    """Left-out loss of each block, its slope chosen by the others: (slopes, blocks, 3, 3) -> (blocks,)."""
    others = grams.sum(axis=1, keepdims=True) - grams
    coefficients = solve_non_negative(others)
    best = np.argmin(losses(others, coefficients), axis=0)
    return np.asarray(losses(grams, coefficients)[best, np.arange(grams.shape[1])])
