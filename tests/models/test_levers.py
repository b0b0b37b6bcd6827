"""Levers: each brings the hits to where they break even, and is worth what an independent sum says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import valley
from models.levers import break_even_coefficient, levers, price_ladder, with_coefficient
from models.operating_point import OperatingPoint, gain
from models.service_time import ServiceTime, marginal_index_draws
from tests.models.mixes import EVEN, LAW, MIX, draws_around, index_by_request, laws, moved, pairs, price_ratios, traffic
from tests.models.simulate import service_s


def point(law: ServiceTime = LAW, mix=EVEN, r: float = 0.1, spread: float = 0.02) -> OperatingPoint:
    return OperatingPoint(law, draws_around(law, spread=spread), traffic(mix), r, input_per_mtok=1.4)


def busy(law: ServiceTime, mix) -> float:
    return sum(service_s(law, *size) for size in mix)


def worth(mix, r: float) -> float:
    return 1.4 * sum(m + r * p for m, p in mix) / 1e6


LOSING = point(r=0.05)
NAMES = {"reach_exit", "lower_a", "reprice", "cut_fixed_cost", "cut_kv_load"}


@given(law=laws, mix=pairs.filter(lambda mix: any(p for _, p in mix)), r=price_ratios)
def test_the_slope_of_the_mix_makes_the_closed_forms_exact(law, mix, r):
    here = point(law, mix, r)
    slope, x = here.mix_slope, here.hit_rate
    assert slope.slope == pytest.approx(slope.fixed_cost + slope.attention + slope.kv_load)
    index = index_by_request(law, mix, r)
    tps0 = sum(m + p for m, p in mix) / busy(law, [(m + p, 0) for m, p in mix])
    if slope.slope < 1:
        assert valley.revenue_index(x, slope.slope, r) == pytest.approx(index, rel=1e-9)
        closed = valley.break_even_price_ratio(x, slope.slope)
        assert here.break_even_price_ratio == pytest.approx(closed, rel=1e-7, abs=1e-9)
    assert tps0 * (1 - slope.slope * x) == pytest.approx(sum(m for m, _ in mix) / busy(law, mix), rel=1e-9)
    if 0 <= here.break_even_price_ratio <= 1:
        assert index_by_request(law, mix, here.break_even_price_ratio) == pytest.approx(1, rel=1e-9)


def test_each_part_of_the_slope_belongs_to_its_coefficient() -> None:
    for name, part in (("f", "fixed_cost"), ("q", "attention"), ("k", "kv_load")):
        alone = replace(ServiceTime(0, LAW.c, 0, 0), **{name: getattr(LAW, name)})
        slope = point(alone).mix_slope
        assert slope.slope == pytest.approx(getattr(slope, part))
        assert getattr(slope, part) > 0
    assert point(ServiceTime(0, LAW.c, 0, 0)).mix_slope.slope == 0


def test_attention_lowers_the_slope_where_hits_lie_on_the_longest_prompts() -> None:
    assert point(mix=MIX).mix_slope.attention < 0 < point(mix=EVEN).mix_slope.attention


def test_a_tier_slower_than_computing_has_no_price_and_no_slope_that_is_enough() -> None:
    slower = point(replace(LAW, k=2e-4, q=0.0), r=0.5)
    assert slower.mix_slope.slope > 1
    assert slower.break_even_price_ratio > 1
    assert {"reprice", "reach_exit"}.isdisjoint(lever.name for lever in levers(slower))
    assert levers(slower)[0].gain.value > 0


def test_at_one_length_attention_is_the_secant_of_its_hyperbola() -> None:
    length, x, law = 50_000, 0.6, ServiceTime(0, 2e-5, 1e-9, 0)
    mix = [((1 - x) * length, x * length)]
    ratio = (mix[0][0] / busy(law, mix)) / (length / busy(law, [(length, 0)]))
    assert point(law, mix).mix_slope.attention == pytest.approx((1 - ratio) / x, rel=1e-9)


def test_every_lever_breaks_even_and_is_worth_the_loss() -> None:
    found = {lever.name: lever for lever in levers(LOSING)}
    assert set(found) == NAMES
    lost = worth(EVEN, 0.05) / index_by_request(LAW, EVEN, 0.05) - worth(EVEN, 0.05)
    assert LOSING.lost.value == pytest.approx(lost)
    for name in ("reach_exit", "lower_a", "reprice"):
        assert found[name].breaks_even
        assert found[name].index.value == pytest.approx(1, rel=1e-9)
        assert found[name].gain.value == pytest.approx(lost, rel=1e-9)
    assert index_by_request(LAW, EVEN, found["reprice"].target) == pytest.approx(1, rel=1e-9)
    assert index_by_request(LAW, moved(EVEN, found["reach_exit"].target), 0.05) == pytest.approx(1, rel=1e-9)
    assert found["lower_a"].now == pytest.approx(LOSING.mix_slope.slope)
    assert valley.revenue_index(LOSING.hit_rate, found["lower_a"].target, 0.05) == pytest.approx(1, rel=1e-9)


def test_a_cost_is_cut_to_where_the_hits_break_even() -> None:
    steep = replace(LAW, k=2e-5)
    here = point(steep, r=0.3)
    assert here.index.value < 1
    lever = {one.name: one for one in levers(here)}["cut_kv_load"]
    cured = replace(steep, k=lever.target)
    assert 0 < lever.target < steep.k
    assert lever.breaks_even
    assert index_by_request(cured, EVEN, 0.3) == pytest.approx(1, rel=1e-9)
    gained = worth(EVEN, 0.3) * (busy(steep, EVEN) / busy(cured, EVEN) - 1)
    assert lever.gain.value == pytest.approx(gained, rel=1e-9)


def test_where_a_cost_is_not_enough_the_lever_says_what_its_end_is_worth() -> None:
    lever = {one.name: one for one in levers(LOSING)}["cut_fixed_cost"]
    assert break_even_coefficient(LOSING, "f") < 0
    assert (lever.target, lever.breaks_even) == (0.0, False)
    cured = replace(LAW, f=0.0)
    assert lever.index.value == pytest.approx(index_by_request(cured, EVEN, 0.05))
    assert lever.gain.value == pytest.approx(worth(EVEN, 0.05) * (busy(LAW, EVEN) / busy(cured, EVEN) - 1))
    assert 0 <= lever.gain.low <= lever.gain.value <= lever.gain.high


def test_levers_are_ranked_by_money_then_by_how_little_has_to_change() -> None:
    found = levers(LOSING)
    gains = [round(lever.gain.value, 6) for lever in found]
    assert gains == sorted(gains, reverse=True)
    equal = [lever for lever in found if lever.gain.value == pytest.approx(gains[0])]
    changes = [abs(lever.target / lever.now - 1) for lever in equal]
    assert len(equal) >= 3
    assert changes == sorted(changes)


def test_where_the_hits_earn_only_repairs_are_left() -> None:
    found = levers(point(r=0.9))
    assert {lever.name for lever in found} == {"cut_fixed_cost", "cut_kv_load"}
    assert all(lever.target == 0 and lever.gain.value > 0 for lever in found)


def test_the_probability_of_no_exit_is_the_share_of_the_draws_that_have_none() -> None:
    assert point(r=0.3).p_no_exit == 0
    assert point(replace(LAW, k=2e-5), r=0.02).p_no_exit == 1
    whole = [(m + p, 0) for m, p in EVEN]
    just = (0.1 * busy(LAW, whole) - LAW.f * len(EVEN)) / sum(m for m, _ in whole)
    unsure = point(replace(LAW, k=just), r=0.1, spread=0.2)
    alone = [replace(unsure, law=ServiceTime(*law.tolist())).valley for law in np.abs(unsure.draws)]
    expected = np.mean([valley is not None and valley.exit_hit_rate is None for valley in alone])
    assert unsure.p_no_exit == pytest.approx(expected)
    assert 0 < expected < 1


def test_without_an_exit_no_hit_rate_is_promised() -> None:
    slow = point(replace(LAW, k=2e-5), r=0.02)
    assert slow.valley.exit_hit_rate is None
    assert "reach_exit" not in {lever.name for lever in levers(slow)}


def test_packing_saves_what_the_chunks_leave_empty() -> None:
    found = {lever.name: lever for lever in levers(LOSING, chunk_fill=0.6)}["pack_tail_chunks"]
    saved = 0.4 * LAW.f * len(EVEN)
    assert found.target == pytest.approx(0.6 * LAW.f)
    assert found.gain.value == pytest.approx(worth(EVEN, 0.05) * saved / (busy(LAW, EVEN) - saved))
    assert {lever.name for lever in levers(LOSING, chunk_fill=None)} == NAMES


def test_a_lever_at_a_price_is_certain_and_one_on_the_curve_is_not() -> None:
    found = {lever.name: lever for lever in levers(LOSING)}
    price = found["reprice"].gain
    assert price.low == price.value == price.high
    for name in ("reach_exit", "lower_a", "cut_kv_load"):
        assert found[name].gain.low < found[name].gain.value < found[name].gain.high


def test_wider_draws_give_wider_intervals() -> None:
    def width(spread: float) -> float:
        lost = point(r=0.05, spread=spread).lost
        return lost.high - lost.low

    assert width(0.0) < width(0.02) < width(0.1)


def test_without_draws_only_the_recipes_own_error_is_left() -> None:
    bare = OperatingPoint(LAW, np.empty((0, 4)), traffic(EVEN), 0.05, 1.4)
    assert bare.lost.low < bare.lost.value < bare.lost.high
    assert bare.lost.value == pytest.approx(LOSING.lost.value)
    assert {lever.name for lever in levers(bare)} == NAMES


@given(r=st.floats(0.02, 0.5))
def test_a_point_of_hit_rate_is_worth_what_moving_there_earns(r):
    here = point(r=r, spread=0.0)
    there = replace(here, moments=traffic(moved(EVEN, here.hit_rate + 1e-5)))
    assert 1e3 * gain(here, there).value == pytest.approx(here.marginal_point.value, rel=1e-2, abs=1e-5)
    (slope,) = marginal_index_draws(LAW.as_array()[np.newaxis], traffic(EVEN), r)
    assert np.sign(here.marginal_point.value) == np.sign(slope)


def test_the_ladder_is_the_same_traffic_at_other_prices() -> None:
    rungs = price_ladder(LOSING)
    assert [rung.price_ratio for rung in rungs] == [0.02, 0.05, 0.1, 0.2, 0.25, 0.5]
    for rung in rungs:
        assert rung.index.value == pytest.approx(index_by_request(LAW, EVEN, rung.price_ratio), rel=1e-9)
        assert rung.revenue == pytest.approx(worth(EVEN, rung.price_ratio))
    exits = [rung.valley.exit_hit_rate or 1.0 for rung in rungs if rung.valley is not None]
    assert len(exits) > 2
    assert exits == sorted(exits, reverse=True)


def test_traffic_without_hits_has_no_slope_and_no_levers_but_repairs() -> None:
    cold = point(mix=[(m + p, 0) for m, p in EVEN])
    assert cold.mix_slope is None
    assert cold.break_even_price_ratio is None
    assert cold.index.value == 1
    assert {lever.name for lever in levers(cold)} == {"cut_fixed_cost"} | {"cut_kv_load"}


def test_a_replaced_coefficient_is_certain_under_every_draw() -> None:
    after = with_coefficient(LOSING, "k", 1e-6)
    assert (after.draws[:, 3] == 1e-6).all()
    assert (after.draws[:, :3] == LOSING.draws[:, :3]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: point(r=1.2), "price ratio 1.2"),
        (lambda: replace(LOSING, input_per_mtok=0.0), "input_per_mtok 0.0 is outside its domain: finite and > 0"),
        (lambda: point(mix=[(0, 0)]), "input_tokens 0"),
        (lambda: point(ServiceTime(0, 0, 0, 0)), "the law gives this traffic a busy time"),
        (lambda: levers(LOSING, chunk_fill=1.5), "chunk_fill 1.5"),
    ],
)
def test_a_number_outside_the_domain_is_refused_with_value_and_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
