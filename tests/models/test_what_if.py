"""One change at a time or several: what comes out equals the same requests served and sold that way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models import valley
from models.operating_point import OperatingPoint
from models.what_if import Change, outlook, what_if
from tests.models.mixes import LAW, MIX, draws_around, index_by_request, moved, traffic
from tests.models.simulate import service_s

R = 0.05
POINT = OperatingPoint(LAW, draws_around(LAW), traffic(MIX), R, input_per_mtok=2.0)


def earned(law, mix, r) -> float:
    """Money in the busy seconds of the mix as it is."""
    sold = 2.0 * sum(m + r * p for m, p in mix) / 1e6
    return sold * sum(service_s(LAW, *size) for size in MIX) / sum(service_s(law, *size) for size in mix)


@pytest.mark.parametrize(
    ("change", "law", "mix", "r"),
    [
        (Change(price_ratio=0.3), LAW, MIX, 0.3),
        (Change(hit_rate=0.9), LAW, moved(MIX, 0.9), R),
        (Change(hit_rate=0.2), LAW, moved(MIX, 0.2), R),
        (Change(fixed_cost=0.001), replace(LAW, f=0.001), MIX, R),
        (Change(attention=0.0), replace(LAW, q=0.0), MIX, R),
        (Change(kv_load=1e-5), replace(LAW, k=1e-5), MIX, R),
        (Change(0.2, None, 0.8, 0.0, 1e-9, 0.0), replace(LAW, f=0.0, q=1e-9, k=0.0), moved(MIX, 0.8), 0.2),
    ],
    ids=lambda value: str(value) if isinstance(value, Change) else "",
)
def test_a_change_gives_what_the_changed_requests_give(change, law, mix, r) -> None:
    after, gained = what_if(POINT, change)
    assert after.index.value == pytest.approx(index_by_request(law, mix, r), rel=1e-9)
    assert after.revenue == pytest.approx(earned(law, mix, r), rel=1e-9)
    assert gained.value == pytest.approx(earned(law, mix, r) - earned(LAW, MIX, R), rel=1e-9)
    assert gained.low <= gained.value <= gained.high
    assert after.lost.value == pytest.approx(after.revenue / after.index.value - after.revenue)
    assert after.index.low < after.index.value < after.index.high


def test_no_change_changes_nothing() -> None:
    after, gained = what_if(POINT, Change())
    assert after == outlook(POINT)
    assert gained.value == 0


@pytest.mark.parametrize("x", [None, 0.3, 0.95])
def test_a_slope_is_the_articles_line_with_the_throughput_of_no_cache(x: float | None) -> None:
    after, gained = what_if(POINT, Change(slope=0.3, hit_rate=x))
    x = x or POINT.hit_rate
    assert after.index.value == pytest.approx(valley.revenue_index(x, 0.3, R))
    assert after.index.low == after.index.high
    assert after.valley == valley.locate_valley(0.3, R)
    assert after.side == ("descending" if x < valley.floor_hit_rate(0.3, R) else "ascending")
    tps0 = sum(m + p for m, p in MIX) / sum(service_s(LAW, m + p, 0) for m, p in MIX)
    per_s = 2.0e-6 * (valley.tps_miss(x, tps0, 0.3) + R * valley.tps_hit(x, tps0, 0.3))
    assert after.revenue == pytest.approx(per_s * sum(service_s(LAW, *size) for size in MIX), rel=1e-9)
    assert gained.value == pytest.approx(after.revenue - POINT.revenue)


def test_the_slope_of_the_mix_itself_changes_nothing_at_its_own_hit_rate() -> None:
    slope = POINT.mix_slope.slope
    after, gained = what_if(POINT, Change(slope=slope))
    assert after.index.value == pytest.approx(POINT.index.value, rel=1e-12)
    assert gained.value == pytest.approx(0, abs=1e-9 * POINT.revenue)


def test_the_side_is_the_sign_of_one_more_hit() -> None:
    assert what_if(POINT, Change(hit_rate=0.1))[0].side == "descending"
    assert what_if(POINT, Change(hit_rate=0.98))[0].side == "ascending"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: Change(slope=0.2, kv_load=0.0), "slope 0.2 is outside its domain: a slope stands for the whole curve"),
        (lambda: what_if(POINT, Change(price_ratio=2.0)), "price ratio 2.0"),
        (lambda: what_if(POINT, Change(hit_rate=-0.1)), "hit rate -0.1"),
        (lambda: what_if(POINT, Change(slope=1.0)), "slope a 1.0"),
        (lambda: what_if(POINT, Change(fixed_cost=-1.0)), "coefficient f -1.0"),
    ],
)
def test_a_change_outside_its_domain_is_refused(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        change()
