"""Benchmarks whose length varies: computed after ever longer contexts, or at several lengths and hit rates."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.length_sweep import fit_length_sweep
from models.service_time import ServiceTime, straight_line
from tests.shared_data import shared

LAW = ServiceTime(0.03, 6e-5, 1.5e-9, 4e-7)
DEPTHS = np.array([0, 1024, 4096, 16_384, 65_536])


def columns(miss, cached, *, law=LAW, noise=0.0, seed=0):
    """Hit rate, length and seconds of prompts of these sizes."""
    miss, cached = (np.asarray(part, dtype=float) for part in (miss, cached))
    seconds = law.f + law.c * miss + law.q * miss * (cached + miss / 2) + law.k * cached
    noisy = seconds * np.random.default_rng(seed).lognormal(0, noise, len(seconds))
    return cached / (miss + cached), miss + cached, noisy


def grid():
    """Four lengths by ten hit rates."""
    lengths, x = np.repeat([2_048, 8_192, 32_768, 131_072], 10), np.tile(np.arange(10) / 10, 4)
    return (1 - x) * lengths, x * lengths


def test_the_same_tokens_after_ever_longer_contexts_are_a_chunk_of_a_long_prompt():
    found = fit_length_sweep(*columns(np.full(5, 512), DEPTHS))
    curve = found.curve
    assert (curve.family, curve.law.f, curve.law.k) == ("hyperbola", 0, 0)
    # Fixed and per-token cost are one number here, attention and loading another.
    assert 512 * curve.law.c == pytest.approx(LAW.f + 512 * LAW.c - 512**2 / 2 * (LAW.k / 512), rel=1e-6)
    assert 512 * curve.law.q == pytest.approx(512 * LAW.q + LAW.k, rel=1e-6)
    assert curve.trustworthy
    assert curve.residual_scale == pytest.approx(0, abs=1e-9)


def test_a_prompt_computed_chunk_by_chunk_takes_what_its_chunks_take():
    found = fit_length_sweep(*columns(np.full(5, 512), DEPTHS, law=ServiceTime(0, 6e-5, 1.5e-9, 0)))
    law, starts = found.curve.law, np.arange(0, 66_048, 512)
    chunks_s = (law.c * 512 + law.q * 512 * (starts + 256)).sum()
    assert chunks_s == pytest.approx(law.c * 66_048 + law.q * 66_048**2 / 2)


def test_the_straight_line_through_points_of_several_lengths_is_refused_with_its_error():
    found = fit_length_sweep(*columns(np.full(5, 512), DEPTHS, law=ServiceTime(0, 6e-5, 5e-9, 0)))
    assert found.line_deviation > 0.1
    assert found.line_worst_deviation > found.line_deviation
    assert found.curve.reference_input_tokens == 66_048


def test_a_grid_of_lengths_and_hit_rates_gives_the_whole_law():
    found = fit_length_sweep(*columns(*grid(), noise=0.01))
    curve = found.curve
    assert (curve.family, curve.trustworthy) == ("service_time", True)
    for line in found.lines:
        true = straight_line(LAW, line.input_tokens)
        assert line.line.a == pytest.approx(true.a, abs=0.02)
        assert line.line.tps0 == pytest.approx(true.tps0, rel=0.02)
    assert [line.input_tokens for line in found.lines] == [2_048, 8_192, 32_768, 131_072]
    assert (curve.tps0, curve.a) == (found.lines[-1].line.tps0, found.lines[-1].line.a)


def test_costs_that_the_grid_does_not_show_are_left_out():
    found = fit_length_sweep(*columns(*grid(), law=ServiceTime(0, 6e-5, 1.5e-9, 0), noise=0.01))
    assert found.curve.family == "hyperbola"


def test_intervals_hold_the_slope():
    true = straight_line(LAW, 131_072).a
    fits = [fit_length_sweep(*columns(*grid(), noise=0.03, seed=seed)).curve for seed in range(20)]
    assert sum(fit.a_low <= true <= fit.a_high for fit in fits) >= 14


def test_a_stalled_size_is_singular_and_left_out():
    x, length, seconds = columns(*grid(), noise=0.005)
    seconds[17] *= 3
    found = fit_length_sweep(x, length, seconds)
    (stalled,) = (point for point in found.points if point.is_singular)
    assert (stalled.input_tokens, stalled.hit_rate) == (8_192, pytest.approx(0.7))
    assert found.curve.a == pytest.approx(straight_line(LAW, 131_072).a, abs=0.02)


def test_repeats_are_one_point_and_their_order_does_not_matter():
    rows = columns(np.tile(np.full(5, 512), 3), np.tile(DEPTHS, 3), noise=0.02)
    order = np.random.default_rng(1).permutation(15)
    one, other = fit_length_sweep(*rows), fit_length_sweep(*(column[order] for column in rows))
    assert [point.n_repeats for point in one.points] == [3] * 5
    assert (one.curve.law, one.points, one.curve.a_low) == (other.curve.law, other.points, other.curve.a_low)


@pytest.mark.parametrize("n_points", [0, 1, 2, 3, 4])
def test_too_few_sizes_are_not_trusted(n_points):
    found = fit_length_sweep(*columns(np.full(n_points, 512), DEPTHS[:n_points]))
    assert "too_few" in found.curve.reasons
    assert (found.curve.law is None) == (n_points < 3)


def test_time_that_does_not_depend_on_the_work_is_not_trusted():
    x, length, _ = columns(*grid())
    found = fit_length_sweep(x, length, np.random.default_rng(0).lognormal(0, 2, len(x)))
    assert not found.curve.trustworthy


def test_unusable_rows_are_counted_and_left_out():
    x, length, seconds = columns(*grid())
    x, length, seconds = (
        np.append(column, bad) for column, bad in ((x, [1.0, 0.5]), (length, [9, 9]), (seconds, [1, np.nan]))
    )
    found = fit_length_sweep(x, length, seconds)
    assert found.n_unusable == 2
    assert len(found.points) == 40


def test_whole_hits_compute_nothing_and_have_no_curve():
    found = fit_length_sweep(np.ones(3), np.array([100.0, 200.0, 300.0]), np.ones(3))
    assert (found.curve.law, found.n_unusable, found.curve.reference_input_tokens) == (None, 3, 300)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.25, 0.5, 0.9, 0.99, 1.0, float("nan"), -1.0]),
            st.sampled_from([1.0, 512.0, 8192.0, 1e6, 0.0, float("inf")]),
            st.sampled_from([1e-6, 0.1, 1.0, 360.0, 0.0, float("nan")]),
        ),
        max_size=40,
    )
)
def test_no_rows_whatever_raise(rows):
    found = fit_length_sweep(*np.array(rows, dtype=float).reshape(-1, 3).T, n_draws=5)
    assert (found.curve.law is None) == (found.curve.a is None) == (found.points == ())


def test_traffic_is_refused():
    with pytest.raises(ValueError, match="201 different prompt sizes"):
        fit_length_sweep(*columns(np.arange(1, 202), np.zeros(201)))


# Computed tokens per second after 65,536 tokens: what the files say.
STRIX_HALO = {
    "gpt-oss-20b.default-hip": 278,
    "gpt-oss-20b.default-rocwmma": 227,
    "gpt-oss-20b.lhl-tune-tile": 427,
    "llama32-1b.default-hip": 425,
    "llama32-1b.default-rocwmma": 360,
    "llama32-1b.lhl-tune-tile": 706,
    "llama32-1b.lhl-tune": 698,
    "shisa-v2-unphi4-14b.default-hip": 108,
    "shisa-v2-unphi4-14b.default-rocwmma": 79,
}


@pytest.mark.parametrize(("name", "deepest"), STRIX_HALO.items())
def test_recorded_sweeps_of_growing_context_follow_the_hyperbola_and_no_line(name, deepest):
    path = shared(f"data/strix_halo/{name}.jsonl")
    rows = [row for row in map(json.loads, path.read_text().splitlines()) if row["n_prompt"] and not row["n_gen"]]
    miss, cached, ns = np.array([(row["n_prompt"], row["n_depth"], row["avg_ns"]) for row in rows], dtype=float).T
    found = fit_length_sweep(cached / (miss + cached), miss + cached, ns / 1e9)
    assert (found.curve.family, found.curve.trustworthy) == ("hyperbola", True)
    assert found.curve.residual_scale < 0.05
    assert found.line_worst_deviation > 1
    assert found.points[-1].tps_miss == pytest.approx(deepest, abs=1)
    slopes = [line.line.a for line in found.lines]
    assert slopes == sorted(slopes)
    assert slopes[0] < 0.15
    assert 0.35 < slopes[-1] < 0.5
