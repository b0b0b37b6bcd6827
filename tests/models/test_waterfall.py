"""The parts of a change: they add up, they depend on no order, and each factor alone takes the whole change."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import fsum

import numpy as np
import pytest

from models.service_time import ServiceTime, TrafficMoments, busy_s
from models.waterfall import FACTORS, Period, explain, pooled_law, shapley
from tests.models.mixes import LAW, MIX, moved, traffic

BEFORE = Period(traffic(MIX), 1.4, 0.14, LAW, overhead_s=0.04, n_periods=30, measured_busy_s=150.0)


def random_period(seed: int) -> Period:
    dice = np.random.default_rng(seed)
    n = int(dice.integers(5, 200))
    lengths, hits = dice.lognormal(9, 1, n), dice.beta(1, 1, n)
    law = ServiceTime(*dice.uniform(0, [0.05, 1e-4, 4e-9, 2e-5]).tolist())
    period = Period(
        traffic(list(zip(lengths * (1 - hits), lengths * hits, strict=True))),
        float(dice.uniform(0.1, 5)),
        float(dice.uniform(0, 0.1)),
        law,
        overhead_s=float(dice.uniform(0, 0.1)),
        n_periods=float(dice.integers(0, 100)),
    )
    return replace(period, measured_busy_s=period.modelled_busy_s * float(dice.uniform(0.8, 1.3)))


@pytest.mark.parametrize("seed", range(30))
def test_the_parts_add_up_to_the_change(seed: int) -> None:
    before, after = random_period(seed), random_period(seed + 1000)
    found = explain(before, after)
    assert set(found.parts) == set(FACTORS)
    assert found.before == pytest.approx(3600 * before.revenue / before.measured_busy_s, rel=1e-12)
    scale = max(found.before, found.after)
    assert fsum(found.parts.values()) == pytest.approx(found.after - found.before, abs=1e-9 * scale)


@pytest.mark.parametrize("seed", range(10))
def test_back_again_is_the_same_parts_with_the_other_sign(seed: int) -> None:
    there, back = (explain(*pair) for pair in permutations((random_period(seed), random_period(seed + 50)), 2))
    for factor in FACTORS:
        assert there.parts[factor] == pytest.approx(-back.parts[factor], abs=1e-9 * there.before)


ALONE = {
    "price": replace(BEFORE, cached_per_mtok=0.3),
    "curve": replace(BEFORE, law=replace(LAW, q=4e-9), measured_busy_s=None),
    "lengths": replace(BEFORE, moments=traffic([(3 * m, 3 * p) for m, p in MIX]), measured_busy_s=None),
    "hit_rate": replace(BEFORE, moments=traffic(moved(MIX, 0.9)), measured_busy_s=None),
    "volume": replace(BEFORE, moments=traffic(MIX * 3), measured_busy_s=None),
    "residual": replace(BEFORE, measured_busy_s=190.0),
}


@pytest.mark.parametrize("factor", FACTORS)
def test_a_factor_that_changes_alone_is_the_whole_change(factor: str) -> None:
    after = ALONE[factor]
    if after.measured_busy_s is None:
        residual = BEFORE.measured_busy_s / BEFORE.modelled_busy_s
        after = replace(after, measured_busy_s=residual * after.modelled_busy_s)
    found = explain(BEFORE, after)
    change = found.after - found.before
    assert abs(change) > 1e-4 * found.before
    assert found.parts[factor] == pytest.approx(change, rel=1e-9)
    for other in set(FACTORS) - {factor}:
        assert found.parts[other] == pytest.approx(0, abs=1e-12 * found.before)


def test_denser_traffic_earns_more_only_by_the_overhead_it_shares() -> None:
    dense = replace(BEFORE, moments=traffic(MIX * 3))
    assert explain(replace(BEFORE, measured_busy_s=None), replace(dense, measured_busy_s=None)).parts["volume"] == 0
    assert explain(BEFORE, dense).parts["volume"] > 0


def test_without_measured_busy_time_there_is_no_residual() -> None:
    after = random_period(3)
    found = explain(replace(BEFORE, measured_busy_s=None), after)
    assert found.parts["residual"] == 0
    assert found.after == pytest.approx(3600 * after.revenue / busy_s(after.law, after.moments))


def test_shapley_is_the_mean_over_all_orders() -> None:
    names = ("price", "curve", "volume")
    worth = {frozenset(): 0.0, frozenset(names): 10.0}
    dice = np.random.default_rng(1)

    def value(chosen: frozenset) -> float:
        return worth.setdefault(chosen, float(dice.uniform(-5, 20)))

    found = shapley(names, value)
    orders = list(permutations(names))
    for name in names:
        marginal = [
            value(frozenset(order[: order.index(name) + 1])) - value(frozenset(order[: order.index(name)]))
            for order in orders
        ]
        assert found[name] == pytest.approx(sum(marginal) / len(orders))


def test_a_pooled_law_keeps_the_busy_time_of_every_day_together() -> None:
    days = [MIX, moved(MIX, 0.9), [(5_000, 0)] * 9]
    laws = np.array([LAW.as_array() * factor for factor in (1, 1.5, 0.7)])
    groups = [traffic(day) for day in days]
    apart = sum(busy_s(ServiceTime(*law.tolist()), group) for law, group in zip(laws, groups, strict=True))
    together = traffic([size for day in days for size in day])
    assert busy_s(pooled_law(laws, groups), together) == pytest.approx(apart, rel=1e-12)
    assert pooled_law(laws[[0, 0]], groups[:2]) == LAW


def test_a_coefficient_that_nothing_was_multiplied_with_is_the_plain_mean() -> None:
    cold = traffic([(5_000, 0)] * 9)
    laws = np.array([LAW.as_array(), LAW.as_array() * 3])
    assert pooled_law(laws, [cold, cold]).k == pytest.approx(2 * LAW.k)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: replace(BEFORE, measured_busy_s=0.0), "measured busy time 0.0"),
        (lambda: replace(BEFORE, law=ServiceTime(0, 0, 0, 0), overhead_s=0.0), "modelled busy time 0.0"),
        (lambda: replace(BEFORE, moments=TrafficMoments(0, 0, 0, 0, 0, 0, 0)), "requests 0"),
        (lambda: pooled_law(np.empty((0, 4)), []), "laws 0"),
    ],
)
def test_a_period_that_says_nothing_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
