"""A day's results as the orchestrator shows them: counts that it plots over days, and a table by deployment.

Belongs here: rows of `sql/shown/` as metadata. Does not belong here: judging them, markup. Names from logs go into
cells of tables, which are text to the web interface, and into images as text; never into Markdown or links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from math import fsum
from operator import itemgetter
from typing import Any

import dagster as dg

from pipelines import display
from pipelines.report import report_path
from pipelines.report_figures.day_index import index_by_hour_markdown
from pipelines.settings import Settings
from pipelines.times import HOURS_PER_DAY
from pipelines.warehouse import Warehouse, Writer

MAX_ROWS = 50
"""Deployments that a table names; the views have them all."""


def traffic_shown(writer: Writer, day_index: int) -> dict[str, Any]:
    """Show a day's requests and hit rates."""
    rows = writer.rows("shown/traffic_of_day", **_hours(day_index))
    inputs = sum(row["reported_input_tokens"] or 0 for row in rows)
    cached = sum(row["cached_tokens"] or 0 for row in rows)
    shown: dict[str, Any] = {"deployments": len(rows), "requests": sum(row["n_requests"] for row in rows)}
    if inputs:
        shown["hit_rate"] = cached / inputs
    return shown | _table(
        "by_deployment",
        ("deployment", "requests", "hit rate"),
        (
            (
                display.shown(row["deployment"]),
                display.count(row["n_requests"]),
                display.share(row["cached_tokens"] / row["reported_input_tokens"])
                if row["reported_input_tokens"]
                else display.NOT_KNOWN,
            )
            for row in rows
        ),
    )


def curves_shown(writer: Writer, day_index: int) -> dict[str, Any]:
    """Show a day's curves, the ones that cannot be trusted with their reasons."""
    rows = writer.rows("shown/curves_of_day", day_index=day_index)
    return {"curves": len(rows), "trusted": sum(row["trustworthy"] for row in rows)} | _table(
        "by_deployment",
        ("deployment", "slope a", "90 % interval", "tps0", "estimator", "trusted"),
        (
            (
                display.shown(row["deployment"]),
                display.number(row["a"]),
                display.interval(row["a_low"], row["a_high"]),
                display.number(row["tps0"]),
                row["estimator"],
                "yes" if row["trustworthy"] else f"no: {row['reasons']}",
            )
            for row in rows
        ),
    )


def verdicts_shown(writer: Writer, day_index: int) -> dict[str, Any]:
    """Show where each deployment stood in the day's last hour, and how its index went over the day."""
    rows = writer.rows("shown/verdicts_of_day", **_hours(day_index))
    of = {name: list(hours) for name, hours in groupby(rows, key=itemgetter("deployment"))}
    n_of = Counter(hours[-1]["state"] for hours in of.values())
    states = {name: n_of[name] for name in ("in_valley", "escaped", "no_valley", "unknown")}
    return (
        states
        | _table(
            "by_deployment",
            ("deployment", "state", "index", "90 % interval", "hits cost", "reasons"),
            (_verdict(name, hours) for name, hours in of.items()),
        )
        | {
            "index_by_hour": dg.MetadataValue.md(
                index_by_hour_markdown({name: _by_hour(hours) for name, hours in of.items()})
            )
        }
    )


def report_link(settings: Settings, warehouse: Warehouse) -> dict[str, Any]:
    """Link to the report: where it is served, or else its file on this machine."""
    return {"report": dg.MetadataValue.url(settings.report.url or report_path(warehouse).as_uri())}


def money_shown(writer: Writer, day_index: int) -> dict[str, Any]:
    """Show a day's profit and loss, each currency on its own."""
    rows = writer.rows("shown/money_of_day", **_hours(day_index))
    of = {currency: list(hours) for currency, hours in groupby(rows, key=itemgetter("currency"))}
    return _table(
        "by_currency",
        ("currency", "revenue", "margin", "hits earned", "hours", "without a price", "without a margin"),
        ((display.shown(currency), *_money(currency, hours)) for currency, hours in of.items()),
    )


def work_shown(work: dict[str, Any]) -> dict[str, Any]:
    """Show what an engine says of its work, its page as a link."""
    page = work.get("spark_ui")
    return work | ({} if page is None else {"spark_ui": dg.MetadataValue.url(page)})


def _money(currency: str | None, hours: list[dict[str, Any]]) -> tuple[str, ...]:
    known = {
        name: [hour[name] for hour in hours if hour[name] is not None]
        for name in ("gross_revenue", "margin", "cache_value")
    }
    lacking = (len(hours) - len(known[name]) for name in ("gross_revenue", "margin"))
    sums = (fsum(values) if values else None for values in known.values())
    return (
        *(display.money(amount, currency) for amount in sums),
        *(display.count(n_hours) for n_hours in (len(hours), *lacking)),
    )


def _by_hour(hours: list[dict[str, Any]]) -> list[float | None]:
    index_of = {hour["hour_index"] % HOURS_PER_DAY: hour["revenue_index"] for hour in hours}
    return [index_of.get(hour) for hour in range(HOURS_PER_DAY)]


def _verdict(name: str, hours: list[dict[str, Any]]) -> tuple[str, ...]:
    last = hours[-1]
    known = [hour for hour in hours if hour["lost_per_hour"] is not None]
    currencies = {hour["currency"] for hour in known}
    lost = fsum(hour["lost_per_hour"] for hour in known) if len(currencies) == 1 else None
    return (
        display.shown(name),
        last["state"].replace("_", " "),
        display.index(last["revenue_index"]),
        display.interval(last["index_low"], last["index_high"]),
        display.money(lost, next(iter(currencies), None)),
        last["reasons"].replace(",", ", "),
    )


def _table(name: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    records = [dg.TableRecord(dict(zip(columns, row, strict=True))) for row in rows]
    shown = {name: dg.MetadataValue.table(records[:MAX_ROWS], dg.TableSchema([dg.TableColumn(c) for c in columns]))}
    return shown | ({"not_listed": len(records) - MAX_ROWS} if len(records) > MAX_ROWS else {})


def _hours(day_index: int) -> dict[str, int]:
    first = day_index * HOURS_PER_DAY
    return {"first_hour": first, "last_hour": first + HOURS_PER_DAY - 1}
