"""A small hand-made report: one deployment in the valley, one without a verdict, one about which nothing is known."""

import math
from datetime import date, datetime, timedelta

import pytest

from pipelines.profit_result import COUNTS, SUMS, ProfitAndLoss
from pipelines.report_input import (
    BathtubView,
    CurveView,
    DeploymentReport,
    FamilyView,
    HeatCell,
    HourRow,
    LengthView,
    Report,
    TailView,
)
from pipelines.verdict import Verdict

A, R, TPS0 = 10 / 19, 0.1, 20_000.0
MIDNIGHT = datetime(2026, 3, 4)  # noqa: DTZ001 — as the warehouse gives it: UTC without a zone


def _band(low: int, high: int, median: int, tps0: float, a: float, **own: float) -> LengthView:
    unchecked = {"own_a": None, "own_deviation": None, "agrees": None}
    bounds = {"a_low": a - 0.02, "a_high": a + 0.02}
    tokens = {"low_input_tokens": low, "high_input_tokens": high, "median_input_tokens": median}
    return LengthView(**tokens, tps0=tps0, a=a, **bounds, **(unchecked | own))


def _profit() -> ProfitAndLoss:
    """Money of a day in which one hour sold nothing that is known and cache writes are not sold."""
    known = {"miss_revenue": 210.5, "cached_revenue": 90.25, "output_revenue": 55.0, "gross_revenue": 355.75}
    known |= {"in_time_revenue": 300.5, "cost": 360.0, "margin": -4.25}
    return ProfitAndLoss(
        deployment="glm-5-h200",
        first_hour=0,
        last_hour=23,
        traffic_hours=24,
        currency="USD",
        sums=dict.fromkeys(SUMS) | known,
        counts=dict.fromkeys(COUNTS),
        hours=dict.fromkeys(SUMS, 0) | dict.fromkeys(known, 24) | {"margin": 23},
        loss_hours=11,
        revenue_per_busy_hour=None,
        in_time_revenue_per_busy_hour=None,
        reasons=(("sales_not_reported", 1),),
    )


@pytest.fixture
def in_valley() -> DeploymentReport:
    xs = [k / 50 for k in range(50)]
    index = [(x, (1 - A * x) * (1 - (1 - R) * x) / (1 - x)) for x in xs]
    law = [(x, TPS0 * (1 - x) / (1 - x + 0.35 * x * (1 - 0.3 * x) * (1 - x) + 0.25 * x)) for x in xs]
    return DeploymentReport(
        name="glm-5-h200",
        model="glm-5",
        verdict=Verdict(
            state="in_valley",
            hit_rate=0.713,
            revenue_index=0.78,
            index_low=0.761,
            index_high=0.802,
            price_ratio=R,
            input_per_mtok=1.4,
            cached_per_mtok=0.14,
            floor_hit_rate=0.684,
            exit_hit_rate=0.9,
            floor_depth=0.221,
            side="ascending",
            regime="capacity_limited",
            busy_share=0.83,
            lost_24h=1234.5,
            currency="USD",
            lever="reach_exit",
            coverage=0.998,
            n_requests=48_211,
            n_failed=12,
        ),
        hours=tuple(
            HourRow(
                hour_utc=MIDNIGHT + timedelta(hours=hour),
                n_requests=2000 - 10 * hour,
                hit_rate=0.6 + hour / 100,
                revenue_index=0.8 - hour / 1000,
                index_low=0.78,
                index_high=0.81,
                state="in_valley" if hour > 1 else "escaped",
                side="descending" if hour < 9 else "ascending",
                lost_per_hour=50 + hour,
                reasons=("held:low_traffic",) if hour == 4 else (),
            )
            for hour in range(0, 24, 4)
        ),
        week=tuple(
            HourRow(hour_utc=MIDNIGHT + timedelta(hours=hour), hit_rate=0.6 + hour % 24 / 100)
            for hour in range(-144, 24)
        ),
        day_bins=tuple(
            HeatCell(MIDNIGHT + timedelta(hours=23), low, high, 100 + int(low * 100), 10_000)
            for low, high in ((0.0, 0.0), (0.35, 0.36), (0.7, 0.71), (0.72, 0.73), (0.995, 0.996), (1.0, 1.0))
        ),
        heat=tuple(
            HeatCell(MIDNIGHT + timedelta(hours=hour), low, high, 1 + (hour * 7 + int(low * 100)) % 11 * (1 + hour))
            for hour in range(24)
            for low, high in (
                (0.0, 0.0),
                (0.0, 0.01),
                (0.35, 0.36),
                (0.7, 0.71),
                (0.72, 0.73),
                (0.995, 0.996),
                (1.0, 1.0),
            )
        ),
        curve=CurveView(
            trustworthy=True,
            reference_input_tokens=32_768,
            tps0=TPS0,
            tps0_low=19_600,
            tps0_high=20_500,
            a=A,
            a_low=0.5,
            a_high=0.55,
            points=tuple((x, y * (1 + 0.05 * math.sin(50 * x)), 10 + int(400 * x) % 90) for x, y in law[10:45]),
            law=tuple(law),
            line=tuple((x, TPS0 * (1 - A * x)) for x in xs),
            band=tuple((x, y * 0.96, y * 1.04) for x, y in law),
            estimator="busy_period",
            n_minutes=1440,
            n_requests=48_211,
            residual_scale=0.043,
            line_good_until_hit_rate=0.917,
            families=(
                FamilyView("service_time", 0.021, 20_010.0, 0.523, True),
                FamilyView("line", 0.074, None, None, False),
            ),
            lengths=(
                _band(1_000, 24_000, 16_000, 24_300.0, 0.41, own_a=0.42, own_deviation=0.03, agrees=True),
                _band(24_000, 52_000, 36_500, 19_200.0, 0.54, own_a=0.31, own_deviation=0.187, agrees=False),
                _band(52_000, 131_000, 80_000, 13_900.0, 0.62),
            ),
            tail=TailView(8192, 0.0512, 312.4, 41.7, (0.25, 0.5, 0.75)),
        ),
        bathtub=BathtubView(tuple(index), tuple((x, y * (1 - 0.03 * x), y * (1 + 0.03 * x)) for x, y in index)),
        profit=_profit(),
    )


@pytest.fixture
def untrusted(in_valley: DeploymentReport) -> DeploymentReport:
    """A deployment whose curve is not trustworthy, given with a verdict that must therefore not be shown."""
    assert in_valley.curve is not None
    return DeploymentReport(
        name="qwen-3-l40s",
        verdict=in_valley.verdict,
        curve=CurveView(
            trustworthy=False,
            reasons=("narrow_hit_range", "poor_fit"),
            points=in_valley.curve.points[:5],
            law=in_valley.curve.law,
        ),
        bathtub=in_valley.bathtub,
    )


@pytest.fixture
def all_unknown() -> DeploymentReport:
    return DeploymentReport(name="new-pool", verdict=Verdict(), hours=(HourRow(hour_utc=MIDNIGHT),))


@pytest.fixture
def small_report(in_valley: DeploymentReport, untrusted: DeploymentReport, all_unknown: DeploymentReport) -> Report:
    return Report(
        generated_at=datetime(2026, 3, 5, 2, 30),  # noqa: DTZ001
        first_day=date(2026, 3, 4),
        last_day=date(2026, 3, 4),
        deployments=(in_valley, untrusted, all_unknown),
        quarantined=(("cached_exceeds_input", 17), ("not_json", 2)),
    )
