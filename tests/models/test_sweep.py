"""The straight line of a controlled benchmark."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.service_time import ServiceTime, straight_line, tps_miss
from models.sweep import fit_sweep

LENGTH = 8192
HIT_RATES = np.round(np.arange(0, 0.96, 0.05), 2)
DIPS = (0.2, 0.4, 0.7)


def sweep(tps, *, repeats: int = 3, noise: float = 0.0, seed: int = 0):
    """Rows of a benchmark whose throughput at hit rate x is tps(x)."""
    x = np.repeat(HIT_RATES, repeats)
    seconds = (1 - x) * LENGTH / tps(x) * np.random.default_rng(seed).lognormal(0, noise, len(x))
    return x, np.full(len(x), LENGTH), seconds


def line(x):
    return 2_000 * (1 - 0.35 * x)


def dipped(x):
    return line(x) * np.where(np.isin(x, DIPS), 0.8, 1)


def test_an_exact_line_is_found_exactly():
    found = fit_sweep(*sweep(line))
    assert (found.curve.tps0, found.curve.a) == pytest.approx((2_000, 0.35))
    assert found.worst_deviation == pytest.approx(0, abs=1e-9)
    assert (found.curve.trustworthy, found.singular_points) == (True, ())


def test_singular_points_are_listed_and_left_out():
    found = fit_sweep(*sweep(dipped, noise=0.01))
    assert [point.hit_rate for point in found.singular_points] == list(DIPS)
    assert found.curve.a == pytest.approx(0.35, abs=0.01)
    assert [point.deviation for point in found.singular_points] == pytest.approx([-0.2] * 3, abs=0.02)


def test_a_curve_that_bends_has_no_singular_points():
    law = ServiceTime(f=0, c=7.1e-5, q=1.0e-9, k=5e-6)
    found = fit_sweep(*sweep(lambda x: tps_miss(law, x, LENGTH)))
    assert found.singular_points == ()
    assert found.curve.a == pytest.approx(straight_line(law, LENGTH).a)
    assert tps_miss(found.law, 0.6, LENGTH) == pytest.approx(tps_miss(law, 0.6, LENGTH))


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_interval_holds_the_slope_of_noisy_repeats(repeats):
    held = 0
    for seed in range(20):
        curve = fit_sweep(*sweep(line, repeats=repeats, noise=0.03, seed=seed)).curve
        held += curve.a_low <= 0.35 <= curve.a_high
    assert held >= 14


def test_one_stalled_repeat_changes_nothing():
    x, length, seconds = sweep(line, noise=0.01)
    stalled = seconds.copy()
    stalled[10] = 360.0
    assert fit_sweep(x, length, stalled).curve.a == pytest.approx(fit_sweep(x, length, seconds).curve.a, abs=0.01)


def test_the_order_of_rows_does_not_matter():
    rows = sweep(line, noise=0.03)
    order = np.random.default_rng(1).permutation(len(rows[0]))
    one, other = fit_sweep(*rows), fit_sweep(*(column[order] for column in rows))
    assert (one.curve.a, one.curve.a_low, one.points) == (other.curve.a, other.curve.a_low, other.points)


def test_points_beyond_x_max_are_shown_but_not_fitted():
    def cliff(x):
        return np.where(x > 0.9, 100.0, line(x))

    found = fit_sweep(*sweep(cliff))
    assert found.curve.a == pytest.approx(0.35)
    assert found.points[-1].tps_miss == pytest.approx(100)
    assert found.worst_deviation == pytest.approx(0, abs=1e-9)


def test_lengths_within_one_percent_are_one_length_and_others_are_refused():
    x, length, seconds = sweep(line)
    near = length + np.arange(len(length)) % 2 * 80
    assert fit_sweep(x, near, seconds).curve.a == pytest.approx(0.35, abs=0.02)
    with pytest.raises(ValueError, match=r"1 % or more \(4096, 8192 tokens\)"):
        fit_sweep(np.append(x, 0.5), np.append(length, 4096), np.append(seconds, 1.0))


@pytest.mark.parametrize(
    ("hit_rates", "reason"),
    [
        ([], "too_few"),
        ([0.5], "too_few"),
        ([0.1, 0.5], "too_few"),
        ([0.5] * 40, "narrow_hit_range"),
        ([0.0, 1.0] * 20, "narrow_hit_range"),
        ([1.0] * 9, "narrow_hit_range"),
    ],
    ids=str,
)
def test_too_little_is_a_fit_without_numbers(hit_rates, reason):
    found = fit_sweep(np.array(hit_rates), np.full(len(hit_rates), LENGTH), np.ones(len(hit_rates)))
    assert (found.curve.reasons, found.curve.a, found.curve.tps0) == ((reason,), None, None)
    assert (found.law, found.points, found.worst_deviation) == (None, (), None)


def test_full_hits_tell_the_cost_of_loading_and_are_not_singular():
    law = ServiceTime(f=0, c=2e-4, q=1e-8, k=5e-6)
    x, length, seconds = sweep(lambda x: tps_miss(law, x, LENGTH))
    found = fit_sweep(np.append(x, 1.0), np.append(length, LENGTH), np.append(seconds, law.k * LENGTH))
    assert found.singular_points == ()
    assert found.law.k == pytest.approx(law.k)


def test_few_regular_points_among_many_beyond_x_max_are_no_line():
    x = np.concatenate([[0.0, 0.3, 0.6], np.linspace(0.91, 0.99, 30)])
    tps = np.where(x < 0.9, [1.0, 5_000.0, 3.0] + [1.0] * 30, line(x))
    found = fit_sweep(x, np.full(len(x), LENGTH), (1 - x) * LENGTH / tps)
    assert (found.curve.a, found.curve.reasons) == (None, ("poor_fit",))


def test_unusable_rows_are_counted_and_left_out():
    x, length, seconds = sweep(line)
    broken = seconds.copy()
    broken[[0, 7, 20]] = [0.0, np.nan, -1.0]
    found = fit_sweep(x, length, broken)
    assert found.n_unusable == 3
    assert found.curve.a == pytest.approx(0.35)


def test_hit_rates_close_together_are_not_trusted():
    x = np.repeat(np.linspace(0.5, 0.6, 8), 3)
    found = fit_sweep(x, np.full(len(x), LENGTH), (1 - x) * LENGTH / line(x))
    assert "narrow_hit_range" in found.curve.reasons


def test_a_slope_that_ends_throughput_within_the_range_is_a_poor_fit():
    found = fit_sweep(*sweep(lambda x: 2_000 * np.maximum(1 - 1.2 * x, 0.001)))
    assert "poor_fit" in found.curve.reasons


def test_singular_points_of_an_engine_that_does_not_pack_are_explained_by_its_chunk_size():
    length, chunk_tokens, dice = 65_536, 2048, np.random.default_rng(0)
    # Last chunks nearly full but for some of a third, and three of five tokens.
    miss = chunk_tokens * np.arange(1, 33) - dice.integers(0, 500, 32)
    miss[3::5] -= 800
    miss[[1, 2, 4]] = chunk_tokens * np.array([1, 2, 4]) + 5
    cached = length - miss
    seconds = 0.1 * np.ceil(miss / chunk_tokens) + 2e-5 * miss + 1e-10 * miss * (cached + miss / 2)
    noisy = np.repeat(seconds, 3) * dice.lognormal(0, 0.002, 96)
    found = fit_sweep(np.repeat(cached / length, 3), np.full(96, length), noisy)
    assert found.chunks.chunk_tokens == chunk_tokens
    assert found.chunks.law.f == pytest.approx(0.1, rel=0.05)
    explained = [point for point in found.singular_points if point.is_tail]
    assert {round(point.miss_tokens) for point in explained} == {2053, 4101, 8197}
    assert all(point.deviation < -0.05 for point in explained)


def test_a_smooth_sweep_has_a_family_and_no_chunk_size():
    law = ServiceTime(f=0, c=4e-5, q=3e-9, k=0)
    found = fit_sweep(*sweep(lambda x: tps_miss(law, x, LENGTH), noise=0.002))
    assert found.families.family == "hyperbola"
    assert found.chunks.chunk_tokens is None
    assert 0.9 < found.families.line_good_until_hit_rate <= 1


def test_few_hit_rates_are_not_asked_for_a_chunk_size():
    x = np.repeat([0.0, 0.2, 0.4, 0.6, 0.8, 0.9], 3)
    found = fit_sweep(x, np.full(len(x), LENGTH), (1 - x) * LENGTH / line(x))
    assert found.chunks is None
    assert found.families.family == "line"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([i / 20 for i in range(21)]), st.sampled_from([1e-6, 0.1, 1.0, 3.0, 360.0, float("nan")])
        ),
        max_size=80,
    )
)
def test_no_rows_whatever_raise(rows):
    x, seconds = np.array(rows, dtype=float).reshape(-1, 2).T
    found = fit_sweep(x, np.full(len(x), LENGTH), seconds, n_draws=5)
    assert (found.curve.a is None) == (found.points == ())
