"""Floor and exit of a mix, against optimisation and root finding on sums over single requests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from models.bathtub import Earnings, move_to_hit_rate, trace, valley_of_mix, valleys_of_mix
from models.service_time import ServiceTime, revenue_index
from tests.models.mixes import LAW, MIX, draws_around, index_by_request, laws, moved, pairs, price_ratios, traffic
from tests.models.simulate import service_s

GRID = np.linspace(0, 0.9999, 400)


def random_mix(seed: int) -> tuple[ServiceTime, list[tuple[float, float]], float]:
    dice = np.random.default_rng(seed)
    law = ServiceTime(*dice.uniform([0, 1e-6, 0, 0], [0.05, 1e-4, 4e-9, 2e-5]).tolist())
    lengths = dice.lognormal(9.5, 1.0, 30)
    hit_rates = dice.beta(*dice.uniform(0.3, 3, 2), 30)
    mix = list(zip((lengths * (1 - hit_rates)).tolist(), (lengths * hit_rates).tolist(), strict=True))
    return law, mix, float(dice.uniform(0.01, 0.3))


def lowest(law, mix, r) -> tuple[float, float]:
    """Hit rate and index of the floor, by bounded minimisation on either side of the mix as it is."""
    here = sum(p for _, p in mix) / sum(m + p for m, p in mix)

    def index(x: float) -> float:
        return index_by_request(law, moved(mix, x), r)

    sides = [side for side in ((0.0, here), (here, 1.0)) if side[0] < side[1]]
    inside = [float(minimize_scalar(index, bounds=side, options={"xatol": 1e-12}).x) for side in sides]
    return min(((x, index(x)) for x in (0.0, *inside, here, 1.0)), key=lambda one: one[1])


@pytest.mark.parametrize("seed", range(40))
def test_floor_and_exit_are_where_a_numerical_search_finds_them(seed: int) -> None:
    law, mix, r = random_mix(seed)
    floor, index = lowest(law, mix, r)
    found = valley_of_mix(law, traffic(mix), r)
    if found is None:
        assert index >= 1 - 1e-9
        return
    assert 1 - found.floor_depth == pytest.approx(index, abs=1e-9)
    assert found.floor_hit_rate == pytest.approx(floor, abs=1e-5)
    if found.exit_hit_rate is None:
        assert index_by_request(law, moved(mix, 1.0), r) < 1
        return
    tried = np.linspace(found.floor_hit_rate, 1.0, 2000)
    recovered = [index_by_request(law, moved(mix, x), r) >= 1 for x in tried]
    first = recovered.index(True)
    expected = brentq(
        lambda x: index_by_request(law, moved(mix, x), r) - 1, tried[first - 1], tried[first], xtol=1e-13, rtol=1e-14
    )
    assert found.exit_hit_rate == pytest.approx(expected, abs=1e-9)


def test_the_seeds_hold_every_kind_of_valley() -> None:
    kinds = set()
    for seed in range(40):
        law, mix, r = random_mix(seed)
        found = valley_of_mix(law, traffic(mix), r)
        kinds.add("none" if found is None else "no exit" if found.exit_hit_rate is None else "exit")
    assert kinds == {"none", "no exit", "exit"}


@example(law=ServiceTime(0.0, 6.1e-05, 5e-324, 0.0), mix=[(1, 10)], r=0.5)
@example(law=ServiceTime(0.0, 6.1e-05, 5e-324, 0.0), mix=[(1, 2)], r=0.5)
@example(law=ServiceTime(0.0, 6.1e-05, 0.0, 5e-324), mix=[(1, 0)], r=0.5)
@given(law=laws, mix=pairs, r=price_ratios)
def test_no_hit_rate_earns_less_than_the_floor_and_the_exit_earns_as_much_as_no_cache(law, mix, r):
    sums = traffic(mix)
    index = trace(law.as_array()[np.newaxis], sums, r, GRID)[0]
    found = valley_of_mix(law, sums, r)
    if found is None:
        assert (index >= 1 - 1e-9).all()
        return
    assert (index >= 1 - found.floor_depth - 1e-9).all()
    assert revenue_index(law, move_to_hit_rate(sums, found.floor_hit_rate), r) == pytest.approx(
        1 - found.floor_depth, rel=1e-9
    )
    if found.exit_hit_rate is not None:
        assert found.floor_hit_rate < found.exit_hit_rate <= 1
        assume(found.exit_hit_rate < 1 - 1e-6)
        assert revenue_index(law, move_to_hit_rate(sums, found.exit_hit_rate), r) == pytest.approx(1, rel=1e-7)


@given(law=laws, mix=pairs, r=price_ratios, x=st.floats(0, 0.999))
def test_the_traced_index_is_the_index_of_the_moved_requests(law, mix, r, x):
    traced = trace(law.as_array()[np.newaxis], traffic(mix), r, np.array([x]))[0, 0]
    assert traced == pytest.approx(index_by_request(law, moved(mix, x), r), rel=1e-9)


@given(mix=pairs, x=st.floats(0, 1))
def test_moved_traffic_has_the_hit_rate_asked_for_and_the_same_prompts(mix, x):
    there = move_to_hit_rate(traffic(mix), x)
    assert there.cached_tokens / there.input_tokens == pytest.approx(x, abs=1e-12)
    assert (there.input_tokens, there.sum_input_sq) == (traffic(mix).input_tokens, traffic(mix).sum_input_sq)


def test_many_laws_at_once_equal_one_after_the_other() -> None:
    draws = draws_around(LAW)
    together = valleys_of_mix(draws, traffic(MIX), 0.1)
    for at, law in enumerate(draws):
        found = valley_of_mix(ServiceTime(*law.tolist()), traffic(MIX), 0.1)
        assert found is not None
        one = (together.floor_hit_rate[at], together.exit_hit_rate[at], together.floor_depth[at])
        assert one == pytest.approx((found.floor_hit_rate, found.exit_hit_rate, found.floor_depth), rel=1e-12)
    assert not together.never_recovers.any()


def test_a_slow_tier_has_no_exit_and_its_floor_is_a_full_cache() -> None:
    slow = ServiceTime(f=0.02, c=4e-5, q=1e-9, k=2e-5)
    found = valley_of_mix(slow, traffic(MIX), 0.05)
    assert (found.floor_hit_rate, found.exit_hit_rate) == (1.0, None)
    assert 1 - found.floor_depth == pytest.approx(index_by_request(slow, moved(MIX, 1.0), 0.05))
    assert valleys_of_mix(slow.as_array()[np.newaxis], traffic(MIX), 0.05).never_recovers.tolist() == [1.0]


def test_short_prompts_never_recover_what_their_fixed_cost_takes() -> None:
    short, fixed = [(300, 100)] * 5, ServiceTime(f=0.05, c=2e-5, q=0, k=0)
    assert valley_of_mix(fixed, traffic(short), 0.1).exit_hit_rate is None
    assert valley_of_mix(ServiceTime(f=0.0, c=2e-5, q=0, k=0), traffic(short), 0.1) is None


def test_without_fixed_cost_and_loading_a_full_cache_earns_without_end() -> None:
    law = ServiceTime(f=0, c=1e-5, q=5e-9, k=0)
    found = valley_of_mix(law, traffic(MIX), 0.05)
    assert 0 < found.floor_hit_rate < found.exit_hit_rate < 1
    assert trace(law.as_array()[np.newaxis], traffic(MIX), 0.05, np.array([1.0]))[0, 0] == np.inf


@pytest.mark.parametrize("law", [ServiceTime(0.02, 4e-5, 1e-9, 0), ServiceTime(0, 4e-5, 1e-9, 0)], ids=["f", "no f"])
def test_free_cached_tokens_never_recover(law: ServiceTime) -> None:
    found = valley_of_mix(law, traffic(MIX), 0.0)
    assert (found.floor_hit_rate, found.exit_hit_rate) == (pytest.approx(1), None)


def test_traffic_that_is_all_hits_or_all_misses_has_a_bathtub_too() -> None:
    misses, hits = [(m + p, 0) for m, p in MIX], [(0, m + p) for m, p in MIX]
    for mix in (misses, hits):
        found = valley_of_mix(LAW, traffic(mix), 0.05)
        assert 1 - found.floor_depth == pytest.approx(lowest(LAW, mix, 0.05)[1], abs=1e-9)
        assert trace(LAW.as_array()[np.newaxis], traffic(mix), 0.05, np.array([0.0, 1.0]))[0] == pytest.approx(
            [1.0, index_by_request(LAW, moved(mix, 1.0), 0.05)]
        )


def test_where_hits_lie_on_long_prompts_a_second_valley_may_follow_the_first() -> None:
    """One floor is told of: the deepest. The exit is where that valley ends, not where the next begins."""
    mix, law, r = [(6_000, 0)] * 400 + [(0, 90_000)] * 10, ServiceTime(0.05, 2e-5, 1.2e-9, 0), 0.3
    x = np.linspace(0, 1, 2001)
    index = trace(law.as_array()[np.newaxis], traffic(mix), r, x)[0]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(index))) != 0)
    assert turns.size >= 2
    found = valley_of_mix(law, traffic(mix), r)
    assert 1 - found.floor_depth == pytest.approx(index.min(), abs=1e-5)


@pytest.mark.parametrize("hours", [(1.0, 0.1, 3.0, 0.2), (2.0, 0.5, 2.0, 0.01)])
def test_a_mix_sold_at_two_prices_has_its_bathtub_in_money(hours: tuple[float, float, float, float]) -> None:
    """Half of the requests at the prices of one hour, half at those of another."""
    miss_price, cached_price = (np.tile(hours[at::2], len(MIX) // 2) for at in (0, 1))

    def money(mix) -> float:
        computed, cached = np.array(mix).T
        return float((miss_price * computed + cached_price * cached).sum())

    def index(x: float) -> float:
        there = moved(MIX, x)
        busy, without = (sum(service_s(LAW, *size) for size in mix) for mix in (there, moved(MIX, 0.0)))
        return money(there) / busy / (money(moved(MIX, 0.0)) / without)

    sold = Earnings(money(moved(MIX, 0.0)), money(MIX), money(moved(MIX, 1.0)))
    x = np.linspace(0, 0.999, 500)
    traced = trace(LAW.as_array()[np.newaxis], traffic(MIX), sold, x)[0]
    assert traced == pytest.approx([index(one) for one in x], rel=1e-9)
    found = valley_of_mix(LAW, traffic(MIX), sold)
    assert index(found.floor_hit_rate) == pytest.approx(1 - found.floor_depth, rel=1e-9)
    assert traced.min() == pytest.approx(1 - found.floor_depth, abs=1e-5)
    assert index(found.exit_hit_rate) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: move_to_hit_rate(traffic(MIX), 1.1), "hit rate 1.1 is outside its domain: 0 <= x <= 1"),
        (lambda: valley_of_mix(LAW, traffic([(0, 0)]), 0.1), "empty traffic has no index"),
        (lambda: valley_of_mix(LAW, traffic(MIX), -0.1), "price ratio -0.1"),
        (lambda: trace(LAW.as_array()[np.newaxis], traffic(MIX), 0.1, np.array([-0.5])), "hit rate -0.5"),
    ],
)
def test_a_number_outside_the_domain_is_refused_with_value_and_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
