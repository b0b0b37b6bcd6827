"""Which shape a curve has, on published kernel curves and on simulated servers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.families import choose_for_points, choose_for_rows, line_good_until, line_through
from models.service_time import ServiceTime, straight_line, tps_miss
from tests.models.kernel_curves import HIT_RATES, KERNEL_CURVES
from tests.models.simulate import busy_rows, serve

LENGTH = 32_768
GRID = np.round(np.arange(0, 0.96, 0.05), 2)


@pytest.mark.parametrize("curve", KERNEL_CURVES, ids=str)
def test_the_line_through_a_kernel_curve_has_the_listed_slope(curve):
    line = choose_for_points(HIT_RATES, curve.tps_miss, curve.input_tokens).fits[0]
    assert line.family == "line"
    assert line.a == pytest.approx(curve.a, abs=0.03)


@pytest.mark.parametrize(
    "curve", [curve for curve in KERNEL_CURVES if curve.hyperbola_rmse <= curve.line_rmse / 2], ids=str
)
def test_the_hyperbola_is_kept_where_it_is_listed_as_twice_as_good(curve):
    found = choose_for_points(HIT_RATES, curve.tps_miss, curve.input_tokens)
    assert found.family == "hyperbola"
    assert found.kept.law.f == found.kept.law.k == 0


def test_a_hyperbola_twice_as_good_is_listed_seven_times():
    assert sum(curve.hyperbola_rmse <= curve.line_rmse / 2 for curve in KERNEL_CURVES) == 7


@pytest.mark.parametrize(
    ("law", "family"),
    [
        (ServiceTime(0, 4e-5, 2e-9, 0), "hyperbola"),
        (ServiceTime(0, 4e-5, 1e-10, 4e-6), "service_time"),
    ],
    ids=["attention", "slow loading"],
)
def test_the_shape_of_a_known_law_is_found_through_noise(law, family):
    for seed in range(10):
        noise = np.random.default_rng(seed).lognormal(0, 0.005, len(GRID))
        found = choose_for_points(GRID, tps_miss(law, GRID, LENGTH) * noise, LENGTH)
        assert found.family == family


def test_a_straight_line_is_found_and_a_flat_curve_is_no_law_with_more_parameters():
    assert choose_for_points(GRID, 2_000 * (1 - 0.45 * GRID), LENGTH).family == "line"
    flat = choose_for_points(GRID, np.full(len(GRID), 2_000.0), LENGTH)
    assert flat.family in ("line", "hyperbola")
    assert flat.kept.a == pytest.approx(0, abs=1e-9)


def test_densely_measured_hit_rates_do_not_count_for_more():
    law = ServiceTime(0, 4e-5, 2e-9, 0)
    dense = np.unique(np.concatenate([GRID[GRID <= 0.9], np.linspace(0.8, 0.9, 50)]))
    assert line_through(dense, tps_miss(law, dense, LENGTH))[1] == pytest.approx(straight_line(law, LENGTH).a, abs=1e-3)


def test_the_line_ends_where_loading_bends_the_curve_down():
    law = ServiceTime(0.01, 4e-5, 0, 0)
    line = straight_line(law, 8192)
    until = line_good_until(law, line.tps0, line.a, 8192)
    x = np.linspace(0, until, 500)
    off = np.abs(line.tps0 * (1 - line.a * x) / tps_miss(law, x, 8192) - 1)
    assert off.max() <= 0.05 + 1e-3
    assert 0 < until < 0.99
    assert line_good_until(law, line.tps0, line.a, 8192, within=10.0) <= 1
    assert line_good_until(law, 2 * line.tps0, line.a, 8192) == 0


def test_a_straight_curve_is_good_everywhere():
    law = ServiceTime(0, 4e-5, 0, 0)
    assert line_good_until(law, 25_000, 0.0, LENGTH) == 1


def test_short_prompts_end_the_line_early_and_long_ones_late():
    until = {
        str(c): choose_for_points(HIT_RATES, c.tps_miss, c.input_tokens).line_good_until_hit_rate for c in KERNEL_CURVES
    }
    assert until["GLM-5-NVFP4, B200x8, 8K"] < 0.9
    assert until["Llama-3.1-70B, H100x8, 64K"] > 0.9
    # One point at .99, a quarter of the level, says nothing of the middle.
    assert until["DeepSeek-V3.2, H200x8, 32K"] == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("n_points", [0, 1, 3])
def test_three_points_have_no_shape(n_points):
    assert choose_for_points(GRID[:n_points], 1 - GRID[:n_points], LENGTH) is None


@pytest.mark.parametrize(
    ("x", "tps", "message"),
    [
        ([0, 0.5, 0.5], [3, 2, 1], "ascending"),
        ([0, 0.5, 1.0], [3, 2, 1], "hit rate 1.0"),
        ([0, 0.5, 0.7], [3, 2, 0], "tps_miss 0.0"),
    ],
    ids=["repeated", "nothing computed", "no throughput"],
)
def test_points_that_are_no_curve_are_refused(x, tps, message):
    with pytest.raises(ValueError, match=message):
        choose_for_points(np.array(x, dtype=float), np.array(tps, dtype=float), LENGTH)


LAWS = {
    "hyperbola": ServiceTime(0, 8e-5, 1.8e-9, 0),
    "service_time": ServiceTime(0.4, 8e-5, 1.8e-9, 4e-6),
}


@pytest.mark.parametrize("family", LAWS)
def test_the_shape_is_found_in_busy_rows(family):
    rows = busy_rows(serve(LAWS[family], load=0.5, n_requests=4_000, seed=5))
    found = choose_for_rows(rows, reference_input_tokens=LENGTH)
    assert found.family == family
    assert found.kept.a == pytest.approx(straight_line(LAWS[family], LENGTH).a, abs=0.02)
    assert found.kept.error < found.fits[0].error
    assert 0 < found.line_good_until_hit_rate <= 1


def test_rows_of_one_length_give_the_line_its_slope():
    x = np.random.default_rng(0).uniform(0, 0.95, 600)
    miss = (1 - x) * LENGTH
    busy = miss / (9_000 * (1 - 0.4 * x)) * np.random.default_rng(1).lognormal(0, 0.02, 600)
    rows = replace(
        busy_rows(serve(LAWS["hyperbola"], load=0.01, n_requests=600, seed=5, overhead_s=0)),
        hour_index=np.arange(600) // 50,
        busy_s=busy,
        n_requests=np.ones(600),
        miss_tokens=miss,
        cached_tokens=x * LENGTH,
        attention_tokens2=miss * (x * LENGTH + miss / 2),
        period_begins=np.ones(600),
    )
    found = choose_for_rows(rows, reference_input_tokens=LENGTH)
    assert found.fits[0].a == pytest.approx(0.4, abs=0.01)
    assert found.fits[0].tps0 == pytest.approx(9_000, rel=0.01)
    assert found.family == "line"


def test_too_few_rows_have_no_shape():
    rows = busy_rows(serve(LAWS["hyperbola"], load=0.5, n_requests=5, seed=5))
    assert choose_for_rows(rows, reference_input_tokens=LENGTH) is None
