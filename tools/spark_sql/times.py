"""Telling times, dates and their parts by the nodes of a parsed statement.

Belongs here: predicates on one node, as in `nodes`, of what no two engines handle alike. Does not belong here: what is
wrong with a construct (`rules`).
"""

from __future__ import annotations

import re

from sqlglot import exp

from tools.spark_sql.nodes import calls, is_cast_to

_TIME = re.compile(r"(_at|_utc)$")
_DATE = re.compile(r"^(day_utc|day)$")
_PARTS = (exp.Extract, exp.Hour, exp.Minute, exp.Second, exp.Day, exp.Month, exp.Year, exp.Week, exp.DayOfYear)
_WEEKDAYS = (exp.DayOfWeek, exp.DayOfWeekIso)
_TIMES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "TIMESTAMPLTZ", "TIMESTAMP_S", "TIMESTAMP_MS",
          "TIMESTAMP_NS", "INTERVAL")  # fmt: skip


def is_day_of_week(node: exp.Expr) -> bool:
    """Return whether a node is the number of a day in its week."""
    return calls("weekday", of=_WEEKDAYS)(node) or (
        isinstance(node, exp.Extract) and node.name.lower() in ("dow", "dayofweek", "weekday")
    )


def _is_a_date(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.CurrentDate | exp.Date)
        or is_cast_to("DATE")(node)
        or (isinstance(node, exp.Column) and bool(_DATE.search(node.name)))
    )


def is_difference_of_dates(node: exp.Expr) -> bool:
    """Return whether a date is taken from a date."""
    return isinstance(node, exp.Sub) and _is_a_date(node.left.unnest()) and _is_a_date(node.right.unnest())


def is_date(node: exp.Expr) -> bool:
    """Return whether a node makes a date of a time."""
    return isinstance(node, exp.Date | exp.TsOrDsToDate) or is_cast_to("DATE")(node)


def is_part_of_time(node: exp.Expr) -> bool:
    """Return whether a node is the hour, day, … of a time."""
    return isinstance(node, _PARTS) or calls("date_part", "datepart")(node)


def is_time(node: exp.Expr) -> bool:
    """Return whether a node is a time, by its type or its name."""
    named = isinstance(node, exp.Column) and bool(_TIME.search(node.name) or _DATE.search(node.name))
    return (
        named
        or isinstance(node, exp.UnixToTime | exp.AtTimeZone | exp.Interval | exp.DateFromParts)
        or is_cast_to(*_TIMES)(node)
    )


def is_epoch_in_small_units(node: exp.Expr) -> bool:
    """Return whether a node calls epoch_ms, epoch_us or epoch_ns; the first is parsed as a time of milliseconds."""
    return calls("epoch_us", "epoch_ns", "epoch_ms")(node) or (
        isinstance(node, exp.UnixToTime) and node.args.get("scale") == exp.UnixToTime.MILLIS
    )


def is_unknown_part(node: exp.Expr) -> bool:
    """Return whether a part of a time is asked for that Spark does not know."""
    return isinstance(node, exp.Extract) and node.name.lower() in ("epoch", "isodow")
