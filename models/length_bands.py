"""The curve at a few lengths of a deployment's own traffic: a slope belongs to a deployment and a length.

Belongs here: which lengths, the straight line at each, and whether each band's own rows agree with the common law.
Does not belong here: the law itself (`busy_periods`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from models.busy_periods import fit_busy_periods
from models.curve_fit import CurveFit
from models.domain import Array, require
from models.regression_rows import BusyRows
from models.service_time import tps_miss
from models.trust import PRODUCTION
from models.uncertainty import with_line

N_BANDS = 4


@dataclass(frozen=True, slots=True)
class LengthBand:
    """Input lengths above `low` and up to `high` [tokens], the lowest band's `low` included. median: by tokens."""

    low: float
    high: float
    median: float


@dataclass(frozen=True, slots=True)
class BandCurve:
    """The straight line of one length band.

    tps0 [tokens/s], a: of the common law at the band's median length, *_low and *_high their 90 % interval; None where
    there is no law. own_tps0, own_a: of a fit to the band's rows alone; None where they are too few or untrustworthy.
    n_minutes: rows of that fit. own_deviation: largest |own curve / common curve - 1| over the hit rates of the band's
    rows. agrees: whether it is as small as that of two halves of good data must be; None where there is no own fit.
    """

    band: LengthBand
    tps0: float | None = None
    a: float | None = None
    tps0_low: float | None = None
    tps0_high: float | None = None
    a_low: float | None = None
    a_high: float | None = None
    own_tps0: float | None = None
    own_a: float | None = None
    n_minutes: int = 0
    own_deviation: float | None = None
    agrees: bool | None = None


def length_bands(
    input_tokens: Array, n_requests: Array | None = None, *, n_bands: int = N_BANDS
) -> tuple[LengthBand, ...]:
    """Bands that hold an equal share of all input tokens each, and the length half of a band's tokens reach.

    input_tokens [tokens] > 0: lengths of requests, shape (n,), in any order; n_requests: how many have it, shape (n,),
    or one each. By tokens, since tokens are what is sold: most requests are short, most tokens sit in long ones. Equal
    lengths never part, so bands may be fewer than n_bands; of no requests, none.
    """
    length = np.asarray(input_tokens, dtype=np.float64)
    count = np.ones(len(length)) if n_requests is None else np.asarray(n_requests, dtype=np.float64)
    require(np.isfinite(length) & (length > 0), "input_tokens", length, rule="> 0 tokens")
    require(np.isfinite(count) & (count >= 0), "n_requests", count, rule=">= 0")
    require(n_bands >= 1, "n_bands", n_bands, rule=">= 1")
    order = np.argsort(length[count > 0])
    length, tokens = length[count > 0][order], (length * count)[count > 0][order]
    if not len(length):
        return ()
    share = np.cumsum(tokens) / tokens.sum()
    highs = np.unique(length[np.searchsorted(share, np.arange(1, n_bands + 1) / n_bands).clip(max=len(length) - 1)])
    lows = np.concatenate([length[:1], highs[:-1]])
    bands = []
    for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
        inside = (length <= high) & ((length > low) | (low == length[0]))
        middle = np.searchsorted(np.cumsum(tokens[inside]), tokens[inside].sum() / 2)
        bands.append(LengthBand(low, high, float(length[inside][middle])))
    return tuple(bands)


def curves_by_length(
    fit: CurveFit, rows: BusyRows, bands: Sequence[LengthBand], *, seed: int, n_draws: int = 200
) -> tuple[BandCurve, ...]:
    """The line at each band's median length from the fit's law, checked by fitting the band's rows on their own.

    A row belongs to the band of its mean input length: what a row costs is a sum over its requests, so choosing rows by
    what they were asked leaves the regression unbiased; by how long they took would not. A band that disagrees says
    that the law's one q and f do not hold at all lengths: the caller should doubt the curve away from its own band.
    """
    return tuple(_band_curve(fit, rows, band, first=band is bands[0], seed=seed, n_draws=n_draws) for band in bands)


def _band_curve(fit: CurveFit, rows: BusyRows, band: LengthBand, *, first: bool, seed: int, n_draws: int) -> BandCurve:
    if fit.law is None or fit.draws is None:
        return BandCurve(band)
    there = with_line(replace(fit, reference_input_tokens=band.median), fit.law.as_array(), fit.draws)
    own = fit_busy_periods(
        _select(rows, _in_band(rows, band, first=first)),
        reference_input_tokens=band.median,
        seed=seed,
        n_draws=n_draws,
    )
    usable = own.trustworthy and own.law is not None
    deviation = _deviation(fit, own) if usable else None
    return BandCurve(
        band,
        there.tps0,
        there.a,
        there.tps0_low,
        there.tps0_high,
        there.a_low,
        there.a_high,
        own_tps0=own.tps0 if usable else None,
        own_a=own.a if usable else None,
        n_minutes=own.n_minutes,
        own_deviation=deviation,
        agrees=None if deviation is None else deviation <= PRODUCTION.max_half_difference,
    )


def _in_band(rows: BusyRows, band: LengthBand, *, first: bool) -> NDArray[np.bool_]:
    """Rows whose mean input length lies in the band."""
    requests = np.asarray(rows.n_requests, dtype=np.float64)
    tokens = np.asarray(rows.miss_tokens, dtype=np.float64) + rows.cached_tokens
    mean = np.divide(tokens, requests, out=np.full(len(tokens), np.nan), where=requests > 0)
    return np.asarray((mean <= band.high) & ((mean > band.low) | first))


def _select(rows: BusyRows, chosen: NDArray[np.bool_]) -> BusyRows:
    return BusyRows(**{field.name: np.asarray(getattr(rows, field.name))[chosen] for field in fields(rows)})


def _deviation(fit: CurveFit, own: CurveFit) -> float:
    """Largest |ratio - 1| of the two curves at the band's length, over the hit rates its rows have seen."""
    if fit.law is None or own.law is None or own.x_low is None or own.x_high is None:
        return float("inf")
    x = np.linspace(min(own.x_low, 0.95), min(own.x_high, 0.95), 10)
    length = own.reference_input_tokens
    return float(np.abs(tps_miss(own.law, x, length) / tps_miss(fit.law, x, length) - 1).max())
