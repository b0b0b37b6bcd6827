"""A day's verdicts and its profit and loss: requests, curves, prices and costs read, hours put together and stored.

Belongs here: what a day is read from, and replacing its rows. Does not belong here: an hour's verdict (`verdicts`), its
money (`profit_and_loss`), what follows over hours (`alerts`).
"""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl

from models.service_time import ServiceTime
from pipelines import reason_codes
from pipelines.decoding import decode_s_per_token
from pipelines.prices.hours import price_hours
from pipelines.prices.memory import day_prices, remember
from pipelines.prices.sales import sales_of_day
from pipelines.profit_and_loss import Hour, beyond_input, breakdown_rows, profit_row, sold_at
from pipelines.settings import Settings
from pipelines.times import HOURS_PER_DAY, US_PER_DAY
from pipelines.verdicts import Curve, observe_hour, saved_busy_s
from pipelines.warehouse import Writer


def observe_day(writer: Writer, day_index: int, settings: Settings, now: datetime) -> int:
    """Replace the day's observations (states are set by `alerts.record`); return the number of hours."""
    hours = {
        "first_hour": day_index * HOURS_PER_DAY,
        "last_hour": day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1,
    }
    curves = _curves(writer, day_index)
    traffic = writer.rows("valley/traffic", **hours)
    prices = day_prices(writer, day_index, settings.book, [(row["deployment"], row["hour_index"]) for row in traffic])
    deployments = dict.fromkeys(row["deployment"] for row in traffic)
    objectives = {name: settings.objective_rows.of(name) for name in deployments}
    gates = {name: objective for name, objective in objectives.items() if objective is not None}
    writer.open_days(day_index, day_index)
    sales = sales_of_day(writer, day_index, prices, gates)
    day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
    seen = {(row["deployment"], row["hour_index"]): row for row in writer.rows("valley/instances", **day)}
    priced = price_hours(prices, traffic, sales)
    decoding = decode_s_per_token(traffic, seen, sales, settings.policy)
    rows, profits, breakdown = [], [], []
    for row in traffic:
        key = (row["deployment"], row["hour_index"])
        curve, sold = curves.get(row["deployment"]), sold_at(prices.lists[key], sales.get(key, ()))
        beyond = None
        if settings.policy.revenue_scope == "full":
            beyond = beyond_input(sold, decoding.get(row["deployment"]), settings.policy.min_coverage)
        rows.append(observe_hour(row, curve, priced[key], beyond, settings.policy))
        if row["deployment"] not in decoding:
            rows[-1]["decode_s"] = None
        hour = Hour(
            traffic=row,
            priced=priced[key],
            currency=prices.lists[key].currency,
            cost=settings.cost_rows.of(*key, seen[key]["n_instances"] if key in seen else None),
            is_gated=row["deployment"] in gates,
            status=rows[-1],
            saved_busy_s=saved_busy_s(row, curve),
        )
        profits.append(profit_row(hour, sold))
        breakdown += breakdown_rows(hour, sold)
    writer.run("valley/clear_status", **hours)
    writer.insert_rows("mart.valley_status", rows)
    writer.run("valley/clear_profit_and_loss", **hours)
    writer.insert_frame("mart.profit_and_loss", pl.DataFrame(profits, infer_schema_length=None))
    writer.run("valley/clear_profit_breakdown", **hours)
    writer.insert_frame("mart.profit_breakdown", pl.DataFrame(breakdown, infer_schema_length=None))
    remember(writer, day_index, prices, [row["price_hash"] for row in rows if row["price_hash"] is not None], now)
    return len(rows)


def _curves(writer: Writer, day_index: int) -> dict[str, Curve]:
    draws: dict[str, list[tuple[float, ...]]] = {}
    for row in writer.rows("valley/draws", day_index=day_index):
        draws.setdefault(row["deployment"], []).append((row["f"], row["c"], row["q"], row["k"]))
    return {
        row["deployment"]: Curve(
            target=row["target"],
            reference_input_tokens=row["reference_input_tokens"],
            a=row["a"],
            a_low=row["a_low"],
            a_high=row["a_high"],
            law=None if row["f"] is None else ServiceTime(row["f"], row["c"], row["q"], row["k"]),
            draws=np.array(draws.get(row["deployment"], [])).reshape(-1, 4),
            first_hour=row["window_from_hour"],
            is_trustworthy=row["trustworthy"],
            reasons=reason_codes.listed(row["reasons"]),
        )
        for row in writer.rows("valley/curves", day_index=day_index)
    }
