"""What a slope's interval says of the valley."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from models.valley import exit_hit_rate, floor_hit_rate
from models.valley_interval import valley_interval


def test_bounds_are_the_valleys_of_the_slopes_bounds():
    found = valley_interval(0.35, 0.30, 0.41, 0.1)
    assert found.low is not None
    assert found.high is not None
    assert (found.low.floor_hit_rate, found.high.floor_hit_rate) == (
        floor_hit_rate(0.30, 0.1),
        floor_hit_rate(0.41, 0.1),
    )
    assert (found.low.exit_hit_rate, found.high.exit_hit_rate) == (exit_hit_rate(0.30, 0.1), exit_hit_rate(0.41, 0.1))
    assert found.probability > 0.999


def test_a_slope_that_may_be_below_the_price_ratio_has_no_least_floor():
    found = valley_interval(0.12, 0.05, 0.19, 0.1)
    assert found.low is None
    assert found.high is not None
    assert 0.5 < found.probability < 0.95


@pytest.mark.parametrize("r", [0.02, 0.1, 0.19, 0.2, 0.21, 0.4])
def test_the_probability_is_that_of_slopes_above_the_price_ratio(r):
    slopes = norm(0.2, 0.05).rvs(200_000, random_state=np.random.default_rng(1))
    low, high = norm(0.2, 0.05).ppf([0.05, 0.95])
    assert valley_interval(0.2, low, high, r).probability == pytest.approx((slopes > r).mean(), abs=0.005)


@pytest.mark.parametrize(("r", "probability"), [(0.1, 1.0), (0.2, 0.5), (0.3, 0.0)])
def test_a_slope_without_doubt_has_a_valley_or_none(r, probability):
    assert valley_interval(0.2, 0.2, 0.2, r).probability == probability


def test_an_upper_bound_beyond_all_slopes_is_the_steepest_valley():
    found = valley_interval(0.9, 0.8, 1.3, 0.1)
    assert found.high is not None
    assert found.high.floor_hit_rate > 0.98


def test_bounds_that_do_not_enclose_the_slope_are_refused():
    with pytest.raises(ValueError, match="within its interval"):
        valley_interval(0.2, 0.3, 0.4, 0.1)
