"""The curve at the lengths of a deployment's own traffic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.busy_periods import fit_busy_periods
from models.curve_fit import CurveFit
from models.length_bands import LengthBand, curves_by_length, length_bands
from models.service_time import ServiceTime, straight_line
from tests.models.simulate import busy_rows, rows_from, serve

LAW = ServiceTime(f=0.02, c=8e-5, q=1.8e-9, k=2e-7)


@pytest.fixture(scope="module")
def day():
    requests = serve(LAW, load=0.4, n_requests=8_000, seed=11)
    lengths = np.array([request.miss_tokens + request.cached_tokens for request in requests], dtype=float)
    return busy_rows(requests), lengths


def test_bands_hold_equal_shares_of_the_tokens(day):
    _, lengths = day
    bands = length_bands(lengths)
    held = [lengths[(lengths > band.low) & (lengths <= band.high)].sum() / lengths.sum() for band in bands]
    assert held == pytest.approx([0.25] * 4, abs=0.01)
    for band in bands:
        inside = np.sort(lengths[(lengths > band.low) & (lengths <= band.high)])
        assert inside[inside <= band.median].sum() / inside.sum() == pytest.approx(0.5, abs=0.01)


def test_counts_stand_for_repeated_lengths(day):
    _, lengths = day
    distinct, counts = np.unique(lengths, return_counts=True)
    shuffled = np.random.default_rng(0).permutation(len(distinct))
    assert length_bands(distinct[shuffled], counts[shuffled]) == length_bands(lengths)


def test_one_length_is_one_band_and_nothing_none():
    assert length_bands(np.full(9, 4096.0)) == (LengthBand(4096, 4096, 4096),)
    assert length_bands(np.array([])) == ()
    assert length_bands(np.array([10.0]), np.array([0])) == ()


@pytest.mark.parametrize(
    ("lengths", "counts", "message"),
    [([0.0], [1], "input_tokens 0.0"), ([1.0], [-1], "n_requests -1"), ([np.nan], [1], "input_tokens nan")],
    ids=["empty prompt", "negative count", "no number"],
)
def test_lengths_that_are_none_are_refused(lengths, counts, message):
    with pytest.raises(ValueError, match=message):
        length_bands(np.array(lengths), np.array(counts))


def test_the_slope_grows_with_length_and_each_band_agrees(day):
    rows, lengths = day
    bands = length_bands(lengths)
    fit = fit_busy_periods(rows, reference_input_tokens=20_000, seed=1)
    curves = curves_by_length(fit, rows, bands, seed=1)
    true = [straight_line(LAW, band.median) for band in bands]
    assert [curve.a for curve in curves] == pytest.approx([line.a for line in true], abs=0.03)
    assert [curve.tps0 for curve in curves] == pytest.approx([line.tps0 for line in true], rel=0.02)
    assert [curve.a for curve in curves] == sorted(curve.a for curve in curves)
    checked = [curve for curve in curves if curve.agrees is not None]
    assert len(checked) >= 3
    assert all(curve.agrees for curve in checked)
    assert all(curve.a_low < curve.a < curve.a_high for curve in curves)


def test_a_band_that_the_law_does_not_describe_disagrees(day):
    rows = busy_rows(serve(LAW, load=0.1, n_requests=8_000, seed=12, overhead_s=0))
    bands = length_bands(day[1])
    # Beyond a length the engine spills: twice the time, which no coefficient of the law can say.
    long = (rows.miss_tokens + rows.cached_tokens) / rows.n_requests > bands[2].high
    spilt = replace(rows, busy_s=rows.busy_s * np.where(long, 2, 1))
    fit = fit_busy_periods(spilt, reference_input_tokens=20_000, seed=1)
    assert curves_by_length(fit, spilt, bands, seed=1)[-1].agrees is False


def test_bands_with_too_few_rows_are_stated_and_not_checked(day):
    rows, _ = day
    fit = fit_busy_periods(rows, reference_input_tokens=20_000, seed=1)
    far = LengthBand(900_000, 1_000_000, 950_000)
    (curve,) = curves_by_length(fit, rows_from(np.zeros((0, 7))), [far], seed=1)
    assert curve.a == pytest.approx(straight_line(fit.law, 950_000).a)
    assert (curve.own_a, curve.agrees, curve.n_minutes) == (None, None, 0)


def test_without_a_law_bands_have_no_curve():
    band = LengthBand(1, 9, 5)
    (curve,) = curves_by_length(CurveFit("busy_periods", "service_time", 1.0), rows_from([]), [band], seed=1)
    assert (curve.band, curve.a, curve.agrees) == (band, None, None)
