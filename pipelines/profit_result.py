"""Profit and loss over hours: sums of the published ones, and what they are made of.

Belongs here: adding hours up, saying of how many each sum is. Does not belong here: an hour's money
(`profit_and_loss`), how it is said (`commands.profit`, the report).

A sum is of the hours of which it is known, None where of none: that some are missing is told by their number, never
hidden in a smaller amount. Sums of money are correctly rounded, so parts add up to the whole in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from pipelines import reason_codes
from pipelines.warehouse import Reader

SUMS = (
    "miss_revenue", "cached_revenue", "output_revenue", "cache_write_revenue", "gross_revenue", "in_time_revenue",
    "late_revenue", "unknown_time_revenue", "discount_given", "instance_hours", "cost", "margin", "saved_busy_s",
    "cache_value", "cache_value_low", "cache_value_high",
)  # fmt: skip
COUNTS = ("n_requests", "n_unknown", "n_in_time", "n_late", "n_unknown_time")


@dataclass(frozen=True, slots=True)
class ProfitAndLoss:
    """Hours of one deployment; sums, counts and hours by name of a column of `profit_and_loss`.

    sums: money in `currency` (none of several), instance hours, seconds; None = known of no hour. hours: of how many
    hours with traffic each sum is. loss_hours: known to cost more than they bring in. revenue_per_busy_hour,
    in_time_revenue_per_busy_hour: over the hours of which both are known. reasons: code and hours, the most frequent
    first.
    """

    deployment: str
    first_hour: int
    last_hour: int
    traffic_hours: int
    currency: str | None
    sums: dict[str, float | None]
    counts: dict[str, int | None]
    hours: dict[str, int]
    loss_hours: int
    revenue_per_busy_hour: float | None
    in_time_revenue_per_busy_hour: float | None
    reasons: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ProfitPart:
    """Requests of one model or band of lengths; money as in `ProfitAndLoss`. hit_rate: Σ cached / Σ input tokens."""

    name: str | None
    n_requests: int
    n_unknown: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    hit_rate: float | None
    sums: dict[str, float | None]


def profits(reader: Reader, first_hour: int | None = None, last_hour: int | None = None) -> list[ProfitAndLoss]:
    """Return every deployment's hours from the first to the last, both inclusive, or its last 24."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in reader.rows("report/profit_hours", first_hour=first_hour, last_hour=last_hour):
        found.setdefault(row["deployment"], []).append(row)
    return [_added(deployment, rows, first_hour, last_hour) for deployment, rows in found.items()]


def parts(reader: Reader, whole: ProfitAndLoss, by: str) -> list[ProfitPart]:
    """Return what a deployment's revenue is made of, by "model" or "length"; in their order."""
    stretch = {"first_hour": whole.first_hour, "last_hour": whole.last_hour}
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in reader.rows("report/profit_parts", deployment=whole.deployment, **stretch):
        groups.setdefault(row["model"] if by == "model" else row["input_tokens_from"], []).append(row)
    named: Callable[[Any, dict[str, Any]], str | None] = _model if by == "model" else _band
    order = sorted(groups, key=lambda key: (key is None, key))
    return [_part(named(key, groups[key][0]), groups[key], whole.currency) for key in order]


def _model(key: Any, _row: dict[str, Any]) -> str | None:
    return None if key is None else str(key)


def _band(_key: Any, row: dict[str, Any]) -> str:
    if row["input_tokens_to"] is None:
        return f"{row['input_tokens_from']:,} and more"
    return f"{row['input_tokens_from']:,} to {row['input_tokens_to'] - 1:,}"


def _added(
    deployment: str, rows: Sequence[dict[str, Any]], first_hour: int | None, last_hour: int | None
) -> ProfitAndLoss:
    currencies = {row["currency"] for row in rows if row["currency"] is not None}
    is_one = len(currencies) == 1
    money = [name for name in SUMS if name not in ("instance_hours", "saved_busy_s")]
    reasons = Counter(code for row in rows for code in reason_codes.listed(row["reasons"]))
    if len(currencies) > 1:
        reasons["several_currencies"] += len(rows)
        rows = [row | dict.fromkeys(money) for row in rows]
    return ProfitAndLoss(
        deployment=deployment,
        first_hour=rows[-1]["hour_index"] - 23 if first_hour is None else first_hour,
        last_hour=rows[-1]["hour_index"] if last_hour is None else last_hour,
        traffic_hours=len(rows),
        currency=currencies.pop() if is_one else None,
        sums={name: _sum(rows, name) for name in SUMS},
        counts={name: _count(rows, name) for name in COUNTS},
        hours={name: sum(row[name] is not None for row in rows) for name in SUMS},
        loss_hours=sum(row["is_loss"] is True for row in rows),
        revenue_per_busy_hour=_per_busy_hour(rows, "gross_revenue"),
        in_time_revenue_per_busy_hour=_per_busy_hour(rows, "in_time_revenue"),
        reasons=tuple(reasons.most_common()),
    )


def _part(name: str | None, rows: Sequence[dict[str, Any]], currency: str | None) -> ProfitPart:
    money = ("miss_revenue", "cached_revenue", "output_revenue", "cache_write_revenue", "gross_revenue")
    input_tokens, cached_tokens = _count(rows, "reported_input_tokens"), _count(rows, "cached_tokens")
    return ProfitPart(
        name=name,
        n_requests=_count(rows, "n_requests") or 0,
        n_unknown=_count(rows, "n_unknown") or 0,
        input_tokens=input_tokens,
        cached_tokens=cached_tokens,
        output_tokens=_count(rows, "output_tokens"),
        hit_rate=cached_tokens / input_tokens if input_tokens and cached_tokens is not None else None,
        sums={name: None if currency is None else _sum(rows, name) for name in money},
    )


def _sum(rows: Iterable[dict[str, Any]], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return fsum(known) if known else None


def _count(rows: Iterable[dict[str, Any]], name: str) -> int | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) if known else None


def _per_busy_hour(rows: Iterable[dict[str, Any]], name: str) -> float | None:
    known = [row for row in rows if row[name] is not None and row["busy_s"]]
    busy_s = fsum(row["busy_s"] for row in known)
    return fsum(row[name] for row in known) / busy_s * 3600 if busy_s else None
