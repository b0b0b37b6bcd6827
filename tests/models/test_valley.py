"""Closed forms of the valley, against figures typed in and against a grid that knows none of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import valley

# Floor / index at the floor / exit; rows a, columns r = .25, .20, .10, .05, .02.
PRICE_RATIOS = (0.25, 0.20, 0.10, 0.05, 0.02)
TABLE = {
    10 / 19: ".452/.919/.700 .526/.884/.775 .684/.779/.900 .782/.694/.953 .864/.615/.982",
    0.47: ".387/.947/.624 .469/.917/.718 .646/.823/.875 .756/.745/.941 .848/.669/.977",
    0.35: ".213/.988/.381 .319/.972/.536 .546/.906/.794 .687/.843/.902 .805/.778/.962",
    0.25: "none .134/.996/.250 .423/.960/.667 .603/.914/.842 .753/.861/.939",
    0.16: "none none .236/.992/.417 .474/.966/.724 .673/.929/.893",
}
CASES = [(a, r, cell) for a, row in TABLE.items() for r, cell in zip(PRICE_RATIOS, row.split(), strict=True)]

slopes = st.floats(0.01, 0.95)
price_ratios = st.floats(0.001, 0.95)
hit_rates = st.floats(0, 0.999)


@pytest.mark.parametrize(("a", "r", "cell"), CASES)
def test_valley_is_where_the_published_table_says(a, r, cell):
    found = valley.locate_valley(a, r)
    if cell == "none":
        assert found is None
    else:
        floor, index, leave = map(float, cell.split("/"))
        assert found.floor_hit_rate == pytest.approx(floor, abs=5.001e-4)
        assert 1 - found.floor_depth == pytest.approx(index, abs=5.001e-4)
        assert found.exit_hit_rate == pytest.approx(leave, abs=5.001e-4)


@pytest.mark.parametrize(("a", "r"), [(a, r) for a, r, cell in CASES if cell != "none"])
def test_closed_forms_agree_with_a_fine_grid(a, r):
    x = np.linspace(0, 0.9999, 1_000_000)
    index = (1 - a * x) + r * x / (1 - x) * (1 - a * x)
    found = valley.locate_valley(a, r)
    lowest = int(np.argmin(index))
    assert x[lowest] == pytest.approx(found.floor_hit_rate, abs=2e-6)
    assert index[lowest] == pytest.approx(1 - found.floor_depth, abs=1e-9)
    back = lowest + int(np.argmax(index[lowest:] >= 1))
    assert x[back] == pytest.approx(found.exit_hit_rate, abs=2e-6)


def bisected(function, low, high):
    """Where a rising function crosses 0, for many at once."""
    for _ in range(36):
        middle = (low + high) / 2
        is_left = function(middle) < 0
        low, high = np.where(is_left, middle, low), np.where(is_left, high, middle)
    return (low + high) / 2


def test_closed_forms_are_the_optima_and_roots_of_a_hundred_thousand_curves():
    """The floor by the sign of R(x)'s derivative, taken by the product rule; the exit by R(x) itself."""
    dice = np.random.default_rng(20_261_129)
    r = dice.uniform(0.001, 0.9, 100_000)
    a = r + (0.98 - r) * dice.uniform(0.001, 1, r.size)

    def index(x):
        return (1 - a * x) + r * x / (1 - x) * (1 - a * x)

    def slope(x):
        return -a + r * ((1 - a * x) / (1 - x) ** 2 - a * x / (1 - x))

    floors = bisected(slope, np.zeros_like(r), np.full_like(r, 1 - 1e-12))
    exits = bisected(lambda x: index(x) - 1, floors, np.full_like(r, 1 - 1e-12))
    found = [valley.locate_valley(*pair) for pair in zip(a.tolist(), r.tolist(), strict=True)]
    assert np.abs(floors - [one.floor_hit_rate for one in found]).max() < 1e-9
    assert np.abs(exits - [one.exit_hit_rate for one in found]).max() < 1e-9
    assert np.abs(1 - index(floors) - [one.floor_depth for one in found]).max() < 1e-9


def test_the_articles_own_figures_follow_from_a_slope_of_ten_nineteenths():
    tps0, a = 1000.0, 10 / 19
    assert valley.tps_miss(0.7, tps0, a) / valley.tps_miss(0.4, tps0, a) == pytest.approx(0.8)
    assert valley.tps_hit(0.7, tps0, a) / valley.tps_hit(0.4, tps0, a) == pytest.approx(2.8)
    assert valley.exit_hit_rate(a, 0.25) == pytest.approx(0.7)
    assert valley.neutral_price_ratio(0.4, 0.7, tps0, a) == pytest.approx(1 / 6)


@given(a=slopes, r=price_ratios)
def test_a_valley_exists_exactly_when_the_slope_exceeds_the_price_ratio(a, r):
    found = valley.locate_valley(a, r)
    assert (found is not None) == (a > r)
    if a > r + 1e-9:
        assert 0 < found.floor_hit_rate < found.exit_hit_rate < 1
        assert 0 < found.floor_depth < 1


@given(a=slopes, r=price_ratios)
def test_depth_and_index_of_the_floor_are_the_index_at_the_floor_hit_rate(a, r):
    if found := valley.locate_valley(a, r):
        index = valley.revenue_index(found.floor_hit_rate, a, r)
        assert valley.floor_index(a, r) == pytest.approx(index)
        assert 1 - found.floor_depth == pytest.approx(index)


@given(x=st.floats(0.001, 0.999), a=slopes, r=price_ratios)
def test_break_even_slope_and_price_ratio_give_an_index_of_one(x, a, r):
    assert valley.revenue_index(x, valley.break_even_slope(x, r), r) == pytest.approx(1)
    assert valley.revenue_index(x, a, valley.break_even_price_ratio(x, a)) == pytest.approx(1)


@given(x=hit_rates, a=slopes, r=price_ratios)
def test_index_is_the_revenue_of_both_throughputs(x, a, r):
    revenue = valley.tps_miss(x, 7.0, a) + r * valley.tps_hit(x, 7.0, a)
    assert valley.revenue_index(x, a, r) == pytest.approx(revenue / 7.0)


@given(x1=st.floats(0, 0.6), gain=st.floats(0.01, 0.39), a=slopes)
def test_at_the_neutral_price_ratio_a_move_earns_nothing(x1, gain, a):
    r = valley.neutral_price_ratio(x1, x1 + gain, 100.0, a)
    assert valley.revenue_index(x1, a, r) == pytest.approx(valley.revenue_index(x1 + gain, a, r))


def test_arrays_are_evaluated_entry_by_entry():
    x = np.array([0.0, 0.4, 0.7])
    expected = [valley.revenue_index(value, 0.5, 0.1) for value in x.tolist()]
    assert valley.revenue_index(x, 0.5, 0.1) == pytest.approx(expected)


def test_free_cached_tokens_make_a_valley_without_an_exit():
    found = valley.locate_valley(0.25, 0.0)
    assert (found.floor_hit_rate, found.exit_hit_rate) == (1, None)
    assert found.floor_depth == pytest.approx(0.25)


@pytest.mark.parametrize("a", [0.0, -0.2])
def test_a_flat_or_rising_line_has_no_valley(a):
    assert valley.locate_valley(a, 0.1) is None
    assert valley.locate_valley(a, 0.0) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: valley.revenue_index(1.0, 0.3, 0.1), "hit rate 1.0 is outside its domain: 0 <= x < 1"),
        (lambda: valley.tps_hit(np.array([0.2, -0.1]), 10.0, 0.3), "hit rate -0.1 is outside"),
        (lambda: valley.tps_miss(float("nan"), 10.0, 0.3), "hit rate nan is outside its domain: 0 <= x <= 1"),
        (lambda: valley.tps_miss(0.5, 0.0, 0.3), "tps0 0.0 is outside its domain: tps0 > 0"),
        (lambda: valley.locate_valley(1.0, 0.1), "slope a 1.0 is outside its domain: a < 1"),
        (lambda: valley.locate_valley(float("-inf"), 0.1), "slope a -inf is outside"),
        (lambda: valley.floor_index(0.3, -0.1), "price ratio -0.1 is outside its domain: 0 <= r <= 1"),
        (lambda: valley.break_even_slope(0.5, 1.1), "price ratio 1.1 is outside"),
        (lambda: valley.neutral_price_ratio(0.5, 0.5, 10.0, 0.3), "move to hit rate 0.5 is outside"),
    ],
)
def test_a_number_outside_the_domain_is_refused_with_value_and_rule(call, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        call()


def test_without_computing_anything_only_the_miss_throughput_has_a_limit():
    assert valley.tps_miss(1.0, 100.0, 0.3) == pytest.approx(70)
