"""What `valleywatch whatif` found, as fields for programs and as tables for people.

Belongs here: names, units and how each number is shown. Does not belong here: how it is found (`models`), printing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from models.levers import Lever, LeverName, Rung
from models.operating_point import Estimate, OperatingPoint
from models.what_if import Outlook
from pipelines.display import index, interval, money, number, share
from pipelines.priced_traffic import PricedTraffic, Situation
from pipelines.times import to_hour
from pipelines.words import lever_words

Table: TypeAlias = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]
_SHOWN: dict[LeverName, Callable[[float], str]] = {
    "reach_exit": share,
    "lower_a": number,
    "reprice": number,
    "cut_fixed_cost": lambda value: f"{number(value)} s",
    "cut_kv_load": lambda value: f"{number(value * 1e6)} µs/token",
    "pack_tail_chunks": lambda value: f"{number(value)} s",
}


def situation_fields(found: Situation) -> dict[str, Any]:
    """Say what the answer is about: the hours (UTC, the last one exclusive), the traffic, its prices, its slope."""
    traffic, point = found.traffic, found.point
    slope = point.mix_slope
    return {
        "deployment": traffic.stretch.deployment,
        "from_utc": to_hour(traffic.stretch.first_hour),
        "to_utc": to_hour(traffic.stretch.last_hour + 1),
        "n_requests": int(traffic.moments.n_requests),
        "n_unpriced_hours": traffic.n_unpriced_hours,
        "n_hours_before_change": traffic.n_hours_before_change,
        "input_per_mtok": traffic.input_per_mtok,
        "cached_per_mtok": traffic.cached_per_mtok,
        "currency": traffic.currency,
        "slope": slope and {"total": slope.slope, **asdict(slope)},
        "break_even_slope": point.break_even_slope,
        "break_even_price_ratio": point.break_even_price_ratio,
        "marginal_point": asdict(point.marginal_point),
        "p_no_exit": point.p_no_exit,
        "measured_hit_rates": found.measured,
    }


def outlook_fields(seen: Outlook) -> dict[str, Any]:
    """Return one side of a comparison; a valley without an exit has `no_exit`."""
    valley = seen.valley
    return {
        "hit_rate": seen.hit_rate,
        "price_ratio": seen.price_ratio,
        "slope": seen.slope,
        "revenue_index": seen.index.value,
        "index_low": seen.index.low,
        "index_high": seen.index.high,
        "has_valley": valley is not None,
        "floor_hit_rate": valley and valley.floor_hit_rate,
        "exit_hit_rate": valley and valley.exit_hit_rate,
        "floor_depth": valley and valley.floor_depth,
        "no_exit": valley is not None and valley.exit_hit_rate is None,
        "side": seen.side,
        "revenue": seen.revenue,
        "lost": asdict(seen.lost),
    }


def rung_fields(rung: Rung) -> dict[str, Any]:
    """Return one price ratio of the ladder."""
    valley = rung.valley
    return {
        "price_ratio": rung.price_ratio,
        "revenue_index": asdict(rung.index),
        "floor_hit_rate": valley and valley.floor_hit_rate,
        "exit_hit_rate": valley and valley.exit_hit_rate,
        "revenue": rung.revenue,
    }


def left_out_words(traffic: PricedTraffic) -> str:
    """Say in parentheses which hours of a stretch were left out; empty where none were."""
    why = {"without a price": traffic.n_unpriced_hours, "of another engine or model": traffic.n_hours_before_change}
    said = [f"{count} hours {what}" for what, count in why.items() if count]
    return f" ({' and '.join(said)} left out)" if said else ""


def heading(traffic: PricedTraffic) -> str:
    """Say what was looked at."""
    return (
        f"{traffic.stretch}{left_out_words(traffic)}: {int(traffic.moments.n_requests):,} requests at "
        f"{number(traffic.input_per_mtok)} {traffic.currency} per million computed and "
        f"{number(traffic.cached_per_mtok)} {traffic.currency} per million cached tokens"
    )


def extrapolation(found: Situation, hit_rates: Sequence[float]) -> str | None:
    """Warn of hit rates at which the curve was not measured; None where there are none."""
    low, high = found.measured
    outside = [x for x in hit_rates if not low <= x <= high]
    if not outside:
        return None
    return (
        f"note: the curve was measured between hit rates of {share(low)} and {share(high)}; "
        f"what is said of {', '.join(share(x) for x in outside)} is extrapolated"
    )


def standing(seen: Outlook, point: OperatingPoint, currency: str) -> list[str]:
    """Say where it stands, in one line a fact."""
    slope, parts = seen.slope, point.mix_slope
    said = [
        f"index     {_estimate(seen.index)} at a hit rate of {share(seen.hit_rate)}; the hits {_cost(seen, currency)}",
        f"valley    {_valley(seen)}",
    ]
    if slope is not None and parts is not None:
        said.append(
            f"slope     {slope:.3f} = {parts.fixed_cost:.3f} fixed cost {parts.attention:+.3f} attention "
            f"{parts.kv_load:+.3f} KV loading; breaks even at {number(point.break_even_slope)}"
        )
    point_more = point.marginal_point
    worth = f"{money(point_more.value, currency)} ({_bounds(point_more)})"
    return [*said, f"a point   of hit rate more is worth {worth}"]


def lever_table(levers: tuple[Lever, ...], currency: str) -> Table:
    """Return the levers in their order."""
    rows = [
        (
            lever_words(lever.name),
            _SHOWN[lever.name](lever.now),
            _SHOWN[lever.name](lever.target),
            index(lever.index.value),
            money(lever.gain.value, currency),
            _bounds(lever.gain),
        )
        for lever in levers
    ]
    return ("lever", "now", "target", "index", "earns more", "90 % interval"), rows


def ladder_table(rungs: tuple[Rung, ...], currency: str) -> Table:
    """Return the price ratios, ascending."""
    rows = [
        (
            number(rung.price_ratio),
            index(rung.index.value),
            interval(rung.index.low, rung.index.high),
            "none" if rung.valley is None else share(rung.valley.floor_hit_rate),
            "none" if rung.valley is None or rung.valley.exit_hit_rate is None else share(rung.valley.exit_hit_rate),
            money(rung.revenue, currency),
        )
        for rung in rungs
    ]
    return ("price ratio", "index", "90 % interval", "floor", "exit", "revenue"), rows


def comparison_table(before: Outlook, after: Outlook, gained: Estimate, currency: str) -> Table:
    """Return the two outlooks side by side."""
    shown = [_column(seen, currency) for seen in (before, after)]
    rows = [(name, *(column[name] for column in shown)) for name in shown[0]]
    earned = f"{money(gained.value, currency)} ({_bounds(gained)})" if gained.low < gained.high else ""
    return ("", "before", "after"), [*rows, ("earns more", "", earned or money(gained.value, currency))]


def _column(seen: Outlook, currency: str) -> dict[str, str]:
    valley = seen.valley
    no_exit = valley is not None and valley.exit_hit_rate is None
    return {
        "hit rate": share(seen.hit_rate),
        "price ratio": number(seen.price_ratio),
        "slope": number(seen.slope),
        "index": _estimate(seen.index),
        "floor": "no valley" if valley is None else share(valley.floor_hit_rate),
        "exit": "no valley" if valley is None else "never" if no_exit else share(valley.exit_hit_rate),
        "depth": "no valley" if valley is None else share(valley.floor_depth),
        "side": seen.side,
        "revenue": money(seen.revenue, currency),
        "lost": money(seen.lost.value, currency),
    }


def _estimate(value: Estimate) -> str:
    said = index(value.value)
    return said if value.low == value.high else f"{said} ({interval(value.low, value.high)})"


def _bounds(value: Estimate) -> str:
    return "certain" if value.low == value.high else f"{number(value.low)} to {number(value.high)}"


def _cost(seen: Outlook, currency: str) -> str:
    lost = seen.lost
    if lost.value > 0:
        return f"cost {money(lost.value, currency)} ({number(lost.low)} to {number(lost.high)})"
    return f"earn {money(-lost.value, currency)} ({number(-lost.high)} to {number(-lost.low)})"


def _valley(seen: Outlook) -> str:
    valley = seen.valley
    if valley is None:
        return "none: no hit rate earns less than no cache"
    ends = "it never ends" if valley.exit_hit_rate is None else f"exit at {share(valley.exit_hit_rate)}"
    return f"floor at {share(valley.floor_hit_rate)}, {share(valley.floor_depth)} below no cache; {ends}"
