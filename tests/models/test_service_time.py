"""The mixture identities, against sums over single requests."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.service_time import (
    ServiceTime,
    TrafficMoments,
    busy_s,
    busy_without_cache_s,
    marginal_index_draws,
    revenue_index,
    revenue_index_draws,
    shift_misses_to_hits,
    straight_line,
    tps_miss,
)
from tests.models.simulate import Request, moments, service_s

LAW = ServiceTime(f=0.01, c=2.3e-5, q=8.9e-10, k=3e-7)
EMPTY = TrafficMoments(0, 0, 0, 0, 0, 0, 0)

sizes = st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 100_000)), min_size=1, max_size=20).filter(
    lambda pairs: sum(m + p for m, p in pairs) > 0
)
price_ratios = st.floats(0, 1)


def traffic(pairs) -> TrafficMoments:
    return moments([Request("i", 0, 0, miss, cached) for miss, cached in pairs])


def index_by_request(law, pairs, r) -> float:
    actual = sum(service_s(law, miss, cached) for miss, cached in pairs)
    without = sum(service_s(law, miss + cached, 0) for miss, cached in pairs)
    earned = sum(miss + r * cached for miss, cached in pairs)
    return earned / actual / (sum(miss + cached for miss, cached in pairs) / without)


@given(pairs=sizes, r=price_ratios)
def test_group_totals_equal_the_sums_over_requests(pairs, r):
    sums = traffic(pairs)
    assert busy_s(LAW, sums) == pytest.approx(sum(service_s(LAW, m, p) for m, p in pairs), rel=1e-9)
    without = sum(service_s(LAW, m + p, 0) for m, p in pairs)
    assert busy_without_cache_s(LAW, sums) == pytest.approx(without, rel=1e-9)
    assert revenue_index(LAW, sums, r) == pytest.approx(index_by_request(LAW, pairs, r), rel=1e-9)


@given(pairs=sizes, share=st.floats(-1, 1))
def test_a_shifted_share_equals_shifting_it_in_every_request(pairs, share):
    if share >= 0:
        shifted = [(m * (1 - share), p + share * m) for m, p in pairs]
    else:
        shifted = [(m - share * p, p * (1 + share)) for m, p in pairs]
    assert astuple(shift_misses_to_hits(traffic(pairs), share)) == pytest.approx(astuple(traffic(shifted)))


def marginal_index(law: ServiceTime, sums: TrafficMoments, r: float) -> float:
    return float(marginal_index_draws(law.as_array()[np.newaxis], sums, r)[0])


@given(pairs=sizes, r=price_ratios)
def test_the_marginal_index_is_the_slope_of_the_shifted_index(pairs, r):
    sums = traffic(pairs)
    step = 1e-6 if sums.miss_tokens else -1e-6
    shifted = shift_misses_to_hits(sums, step)
    gained = revenue_index(LAW, shifted, r) - revenue_index(LAW, sums, r)
    points = (shifted.cached_tokens - sums.cached_tokens) / sums.input_tokens
    assert marginal_index(LAW, sums, r) == pytest.approx(gained / points, rel=1e-3, abs=1e-3)


def test_one_more_hit_loses_money_on_the_descending_side_and_earns_on_the_ascending():
    attention_bound = ServiceTime(f=0.0, c=1e-5, q=1e-9, k=0.0)
    assert marginal_index(attention_bound, traffic([(40_000, 10_000)]), 0.02) < 0
    assert marginal_index(attention_bound, traffic([(1_000, 49_000)]), 0.25) > 0


@given(pairs=sizes, r=price_ratios)
def test_many_laws_at_once_equal_one_after_the_other(pairs, r):
    laws = [LAW, ServiceTime(0.02, 1e-5, 0, 0), ServiceTime(0, 1e-4, 1e-9, 1e-6)]
    together = revenue_index_draws(np.stack([law.as_array() for law in laws]), traffic(pairs), r)
    assert together == pytest.approx([revenue_index(law, traffic(pairs), r) for law in laws])


def test_a_draw_without_busy_time_is_not_a_number():
    assert np.isnan(revenue_index_draws(np.zeros((1, 4)), traffic([(10, 10)]), 0.1)).all()


def test_mean_length_and_hit_rate_can_have_the_wrong_sign():
    mixture = [(500, 100)] * 50 + [(60_000, 60_000)] + [(100, 9_000)] * 30
    n = len(mixture)
    mean = [(sum(m for m, _ in mixture) / n, sum(p for _, p in mixture) / n)]
    law = ServiceTime(0.01, 2.297e-5, 8.926e-10, 0)
    assert index_by_request(law, mixture, 0.2) == pytest.approx(revenue_index(law, traffic(mixture), 0.2))
    assert (revenue_index(law, traffic(mixture), 0.2) - 1) * (revenue_index(law, traffic(mean), 0.2) - 1) < 0


def test_throughput_at_a_hit_rate_is_computed_tokens_over_service_time():
    x, length = np.array([0.0, 0.3, 0.95]), 20_000
    expected = [(1 - v) * length / service_s(LAW, (1 - v) * length, v * length) for v in x.tolist()]
    assert tps_miss(LAW, x, length) == pytest.approx(expected)


def test_attention_alone_costs_at_most_17_6_percent_between_40_and_70_percent_hits():
    attention_only = ServiceTime(0, 0, 1e-9, 0)
    ratio = tps_miss(attention_only, 0.7, 1e5) / tps_miss(attention_only, 0.4, 1e5)
    assert 1 - ratio == pytest.approx(0.176, abs=5e-4)


def test_a_law_without_curvature_is_its_own_straight_line():
    line = straight_line(ServiceTime(0, 1e-4, 0, 0), 8192)
    assert (line.tps0, line.a) == pytest.approx((10_000, 0))
    assert line.worst_relative_residual == pytest.approx(0, abs=1e-12)


def test_the_straight_line_is_the_least_squares_line_of_the_curve():
    x = np.linspace(0, 0.9, 19)
    curve = tps_miss(LAW, x, 50_000)
    slope, intercept = np.polyfit(x, curve, 1)
    line = straight_line(LAW, 50_000)
    assert (line.tps0, line.a) == pytest.approx((intercept, -slope / intercept))
    assert line.worst_relative_residual == pytest.approx(np.abs((intercept + slope * x) / curve - 1).max())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ServiceTime(0.1, -1e-5, 0, 0), "coefficient c -1e-05 is outside its domain: finite and >= 0"),
        (lambda: ServiceTime(float("nan"), 0, 0, 0), "coefficient f nan"),
        (lambda: revenue_index(LAW, EMPTY, 0.1), "input_tokens 0 is outside its domain: > 0; empty traffic"),
        (lambda: marginal_index(LAW, EMPTY, 0.1), "empty traffic"),
        (lambda: revenue_index(ServiceTime(0, 0, 0, 0), traffic([(9, 9)]), 0.1), "positive busy time"),
        (lambda: revenue_index(LAW, traffic([(9, 9)]), 1.5), "price ratio 1.5"),
        (lambda: shift_misses_to_hits(EMPTY, 1.01), "share 1.01 is outside its domain: -1 <= share <= 1"),
        (lambda: tps_miss(LAW, 1.0, 8192), "hit rate 1.0"),
        (lambda: tps_miss(ServiceTime(0, 0, 0, 0), 0.5, 8192), "a law of zeros has no throughput"),
        (lambda: straight_line(LAW, 0), "input_tokens 0"),
        (lambda: straight_line(LAW, 8192, x_max=1.0), "x_max 1.0"),
    ],
)
def test_a_number_outside_the_domain_is_refused_with_value_and_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_groups_add_field_by_field():
    one, other = [(10, 90), (500, 20)], [(7, 0)]
    names = TrafficMoments.__slots__
    total = {name: getattr(traffic(one), name) + getattr(traffic(other), name) for name in names}
    assert replace(EMPTY, **total) == traffic(one + other)
