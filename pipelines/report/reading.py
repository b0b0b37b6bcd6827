"""The published snapshot → the report's input.

Belongs here: reading marts and handing them to pages and figures. Does not belong here: rendering, deciding anything,
money (`money`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np

from models import service_time
from models.uncertainty import INTERVAL
from pipelines import reason_codes
from pipelines.contracts import warnings
from pipelines.overview import Overview, overviews
from pipelines.profit_result import profits
from pipelines.report.money import money_of
from pipelines.report.shapes import curve_shapes
from pipelines.report_input import (
    BathtubView,
    CurveView,
    DeploymentReport,
    EpisodeView,
    HeatCell,
    HourRow,
    OtherCurve,
    Report,
)
from pipelines.times import to_hour
from pipelines.warehouse import Reader

MOST_HOURS = 31 * 24
"""Hours of the heat map at most: a month."""
CURVE_GRID = np.round(np.arange(0.0, 0.991, 0.01), 2)


def read_frame(reader: Reader, now: datetime) -> Report:
    """Return what the report says of all deployments together, without any of them."""
    covered = reader.rows("report/covered")[0]
    return Report(
        generated_at=now,
        first_day=None if covered["first_hour"] is None else to_hour(covered["first_hour"]).date(),
        last_day=None if covered["last_hour"] is None else to_hour(covered["last_hour"]).date(),
        warnings=warnings(reader),
        quarantined=tuple((row["reason"], row["n_lines"]) for row in reader.rows("report/quarantined")),
    )


def read_deployments(reader: Reader) -> Iterator[DeploymentReport]:
    """Yield each deployment, by name, one after the other: a month of a large fleet does not fit in memory at once."""
    points = _by_deployment(reader.rows("report/recent_points"))
    others = _by_deployment(reader.rows("report/other_curves"))
    families = _by_deployment(reader.rows("report/newest_families"))
    lengths = _by_deployment(reader.rows("report/newest_lengths"))
    episodes = _by_deployment(reader.rows("report/episodes"))
    bins = _by_deployment(reader.rows("report/day_bins"))
    weeks = _by_deployment(reader.rows("report/week_hours"))
    profit = {of.deployment: of for of in profits(reader)}
    for seen in overviews(reader):
        name = seen.deployment
        last_hour = weeks[name][-1]["hour_index"]
        money = money_of(reader, name, last_hour)
        yield DeploymentReport(
            name=name,
            verdict=seen.verdict,
            hours=tuple(_hour(row) for row in seen.hours),
            heat=tuple(
                _cell(row) for row in reader.rows("report/heat", deployment=name, from_hour=last_hour - MOST_HOURS + 1)
            ),
            day_bins=tuple(_cell(row) for row in bins.get(name, [])),
            week=tuple(_rate(row) for row in weeks[name]),
            curve=curve_shapes(
                _curve(seen, points.get(name, []), others.get(name, [])),
                seen,
                families.get(name, []),
                lengths.get(name, []),
            ),
            bathtub=_bathtub(seen),
            profit=profit.get(name),
            episodes=tuple(_episode(row) for row in episodes.get(name, [])),
            levers=money.levers,
            waterfall=money.waterfall,
            what_if=money.what_if,
            not_told=money.not_told,
        )


def _by_deployment(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(row["deployment"], []).append(row)
    return grouped


def _hour(row: dict[str, Any]) -> HourRow:
    return HourRow(
        hour_utc=to_hour(row["hour_index"]),
        n_requests=row["n_requests"],
        hit_rate=row["hit_rate"],
        revenue_index=row["revenue_index"],
        index_low=row["index_low"],
        index_high=row["index_high"],
        state=row["state"],
        side=row["side"],
        lost_per_hour=row["lost_per_hour"],
        # That there is no exit is said once, with the verdict; in every hour it would drown what is particular to one.
        reasons=tuple(code for code in reason_codes.listed(row["reasons"]) if code != "no_exit"),
    )


def _rate(row: dict[str, Any]) -> HourRow:
    return HourRow(hour_utc=to_hour(row["hour_index"]), n_requests=row["n_requests"], hit_rate=row["hit_rate"])


def _episode(row: dict[str, Any]) -> EpisodeView:
    left = row["left_hour_index"]
    return EpisodeView(
        entered_at=to_hour(row["entered_hour_index"]),
        left_at=None if left is None else to_hour(left),
        peak_depth=row["peak_depth"],
        lost_total=row["lost_total"],
        currency=row["currency"],
    )


def _cell(row: dict[str, Any]) -> HeatCell:
    return HeatCell(
        hour_utc=to_hour(row["hour_index"]),
        bin_low=row["bin_low_permille"] / 1000,
        bin_high=row["bin_high_permille"] / 1000,
        n_requests=row["n_requests"],
        input_tokens=row["input_tokens"],
    )


def _curve(seen: Overview, points: list[dict[str, Any]], others: list[dict[str, Any]]) -> CurveView | None:
    row = seen.curve
    if row is None:
        return None
    law: tuple[tuple[float, float], ...] = ()
    band: tuple[tuple[float, float, float], ...] = ()
    line: tuple[tuple[float, float], ...] = ()
    if seen.law is not None:
        length = row["reference_input_tokens"]
        law = _pairs(service_time.tps_miss(seen.law, CURVE_GRID, length))
        drawn = np.array([_throughput(draw, length) for draw in seen.draws])
        low, high = np.quantile(drawn, INTERVAL, axis=0)
        band = tuple(zip(CURVE_GRID.tolist(), low.tolist(), high.tolist(), strict=True))
        line = _pairs(row["tps0"] * (1 - row["a"] * CURVE_GRID))
    return CurveView(
        trustworthy=row["trustworthy"],
        reasons=reason_codes.listed(row["reasons"]),
        reference_input_tokens=round(row["reference_input_tokens"]),
        tps0=row["tps0"],
        tps0_low=row["tps0_low"],
        tps0_high=row["tps0_high"],
        a=row["a"],
        a_low=row["a_low"],
        a_high=row["a_high"],
        points=tuple(
            (point["cached_tokens"] / point["input_tokens"], point["miss_tokens"] / point["busy_us"] * 1e6,
             point["n_requests"])
            for point in points
        ),
        law=law,
        line=line,
        band=band,
        estimator=row["estimator"],
        target=row["target"],
        others=tuple(_other(other) for other in others),
        n_minutes=row["n_minutes"],
        n_requests=row["n_requests"],
        residual_scale=row["residual_scale"],
    )  # fmt: skip


def _other(row: dict[str, Any]) -> OtherCurve:
    return OtherCurve(
        row["estimator"],
        row["target"],
        row["a"],
        row["a_low"],
        row["a_high"],
        reason_codes.listed(row["reasons"]),
    )


def _throughput(draw: Any, input_tokens: float) -> Any:
    return service_time.tps_miss(service_time.ServiceTime(*map(float, draw)), CURVE_GRID, input_tokens)


def _pairs(values: Any) -> tuple[tuple[float, float], ...]:
    return tuple(zip(CURVE_GRID.tolist(), np.asarray(values).tolist(), strict=True))


def _bathtub(seen: Overview) -> BathtubView | None:
    if seen.bathtub is None:
        return None
    x, index, low, high = (
        values.tolist() for values in (seen.bathtub.hit_rate, seen.bathtub.index, seen.bathtub.low, seen.bathtub.high)
    )
    return BathtubView(
        curve=tuple(zip(x, index, strict=True)),
        band=tuple(zip(x, low, high, strict=True)),
    )
