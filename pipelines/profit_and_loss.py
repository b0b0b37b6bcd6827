"""The profit and loss of a deployment-hour: what was sold, what its instances cost, what its hits earned.

Belongs here: sales × prices → money, by hour and by model and length; margins. Does not belong here: the verdict
(`verdicts`), what instances cost (`costs`), sums over hours (`profit_result`).

Unknown is None, never 0. Money is of what is known to be sold; requests that lack a count earned something beside it,
and where that can be bounded the bound is kept, so that a loss is said where it is certain and not before. Sums are
correctly rounded (`fsum`), so an hour is the sum of its parts in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from models.profit import TOKENS_PER_PRICE, BeyondInput
from pipelines.costs import HourCost
from pipelines.prices.hours import PricedHour
from pipelines.prices.lists import PriceList
from pipelines.prices.rows import Prices
from pipelines.prices.sales import Sale

BAND_ENDS: dict[int, int | None] = {
    0: 1024, 1024: 4096, 4096: 16384, 16384: 65536, 65536: 262144, 262144: None,
}  # fmt: skip
"""The bands of `sql/valley/tokens_by_price.sql`."""
MONEY = ("miss_revenue", "cached_revenue", "output_revenue", "cache_write_revenue")
TIMELINESS = {"in_time": "in_time", "late": "late", "unknown_time": "unknown"}
"""Columns of `profit_and_loss` and the word of a sale."""


@dataclass(frozen=True, slots=True)
class Sold:
    """A sale in money; None = not known or not priced. at_most: what its unknown counts can have earned beside it."""

    sale: Sale
    miss_revenue: float | None = None
    cached_revenue: float | None = None
    output_revenue: float | None = None
    cache_write_revenue: float | None = None
    cached_at_miss_price: float | None = None
    n_unknown: int = 0
    at_most: float | None = 0.0
    lacks_output_price: bool = False

    @property
    def gross(self) -> float:
        """What it is known to have earned."""
        return fsum(value for name in MONEY if (value := getattr(self, name)) is not None)


def sold_at(listed: PriceList, sales: Iterable[Sale]) -> list[Sold]:
    """Return sales in money, at the prices of their parts."""
    return [
        Sold(sale, n_unknown=sale.n_requests, at_most=None)
        if sale.part is None
        else _sold(sale, listed.parts[sale.part].prices)
        for sale in sales
    ]


def _sold(sale: Sale, prices: Prices) -> Sold:
    sells_writes = bool(prices.cache_write_per_mtok)
    is_bounded = (not sale.n_unknown_output or prices.output_per_mtok == 0) and not (
        sells_writes and sale.n_unknown_writes
    )
    unreported = 0.0 if sale.is_reported else _money(sale.input_tokens, prices.input_per_mtok)
    return Sold(
        sale,
        miss_revenue=_money(sale.miss_tokens, prices.input_per_mtok),
        cached_revenue=_money(sale.cached_tokens, prices.cached_per_mtok),
        output_revenue=_money(sale.output_tokens, prices.output_per_mtok),
        cache_write_revenue=_money(sale.cache_write_tokens, prices.cache_write_per_mtok),
        cached_at_miss_price=_money(sale.cached_tokens, prices.input_per_mtok),
        n_unknown=sale.n_unknown_with_writes if sells_writes else sale.n_unknown,
        at_most=unreported if is_bounded else None,
        lacks_output_price=prices.output_per_mtok is None and sale.output_tokens != 0,
    )


def beyond_input(sold: Sequence[Sold], decode_s_per_token: float | None, min_coverage: float) -> BeyondInput | str:
    """Return what the full scope adds to the prompts of the requests that report hits, or the reason why not known.

    decode_s_per_token: None where it is not known; prefill alone is counted then.
    """
    counted = [one for one in sold if one.sale.is_reported]
    n_requests = sum(one.sale.n_requests for one in counted)
    if any(one.lacks_output_price for one in counted):
        return "no_output_price"
    if sum(one.sale.n_unknown_output for one in counted) > (1 - min_coverage) * n_requests:
        return "output_not_reported"
    if sum(one.n_unknown for one in counted) > (1 - min_coverage) * n_requests:
        return "cache_writes_not_reported"
    output, writes = (_total(counted, name) or 0.0 for name in ("output_revenue", "cache_write_revenue"))
    tokens = sum(one.sale.output_tokens or 0 for one in counted)
    return BeyondInput(output, writes, tokens * (decode_s_per_token or 0.0))


@dataclass(frozen=True, slots=True)
class Hour:
    """What an hour's row follows from besides its sales.

    status: its row of `valley_status`. saved_busy_s: busy seconds that its hits saved; None without a trusted curve.
    """

    traffic: dict[str, Any]
    priced: PricedHour
    currency: str | None
    cost: HourCost
    is_gated: bool
    status: dict[str, Any]
    saved_busy_s: float | None


def profit_row(hour: Hour, sold: Sequence[Sold]) -> dict[str, Any]:
    """Return the hour's row of `profit_and_loss`."""
    reasons = [hour.priced.reason] if hour.priced.reason else []
    priced = None if reasons else sold
    row: dict[str, Any] = {name: _total(priced, name) for name in MONEY}
    n_unknown = sum(one.n_unknown for one in sold)
    is_known = priced is not None and (n_unknown < hour.traffic["n_requests"] or not sold)
    if priced is not None and not is_known:
        reasons.append("sales_not_reported")
    if any(one.lacks_output_price for one in sold):
        reasons.append("no_output_price")
        is_known = False
    gross = fsum(one.gross for one in sold) if is_known else None
    bounds = [one.at_most for one in sold]
    at_most = fsum(filter(None, bounds)) if is_known and None not in bounds else None
    margin = None
    if hour.cost.reason is not None:
        reasons.append(hour.cost.reason)
    elif gross is not None and hour.cost.currency != hour.currency:
        reasons.append("cost_in_other_currency")
    elif gross is not None and hour.cost.cost is not None:
        margin = gross - hour.cost.cost
    for column, word in TIMELINESS.items():
        timed = [one for one in sold if one.sale.timeliness == word]
        row[f"n_{column}"] = sum(one.sale.n_requests for one in timed) if hour.is_gated else None
        row[f"{column}_revenue"] = fsum(one.gross for one in timed) if hour.is_gated and is_known else None
    full_price = _total(priced, "cached_at_miss_price")
    return row | _cache_value(hour.status) | {
        "deployment": hour.traffic["deployment"],
        "hour_index": hour.traffic["hour_index"],
        "n_requests": hour.traffic["n_requests"],
        "n_unknown": n_unknown,
        "gross_revenue": gross,
        "unknown_revenue_at_most": at_most,
        "discount_given": None if full_price is None else full_price - (row["cached_revenue"] or 0.0),
        "instance_hours": hour.cost.instance_hours,
        "cost": hour.cost.cost,
        "margin": margin,
        "is_loss": _is_loss(margin, n_unknown, at_most),
        "busy_us": hour.traffic["busy_us"],
        "saved_busy_s": hour.saved_busy_s,
        # Of an hour that sold nothing a currency is known by its cost alone.
        "currency": hour.currency if priced is not None else None,
        "reasons": ",".join(dict.fromkeys(reasons)),
    }  # fmt: skip


def breakdown_rows(hour: Hour, sold: Sequence[Sold]) -> list[dict[str, Any]]:
    """Return the hour's rows of `profit_breakdown`: by model and band of lengths."""
    groups: dict[tuple[str | None, int], list[Sold]] = {}
    for one in sold:
        groups.setdefault((one.sale.model, one.sale.input_tokens_from), []).append(one)
    is_priced = hour.priced.reason is None
    return [
        {
            "deployment": hour.traffic["deployment"],
            "hour_index": hour.traffic["hour_index"],
            "model": model,
            "input_tokens_from": input_tokens_from,
            "input_tokens_to": BAND_ENDS[input_tokens_from],
            "n_requests": sum(one.sale.n_requests for one in group),
            "n_unknown": sum(one.n_unknown for one in group),
            "reported_input_tokens": _count(one.sale.input_tokens for one in group if one.sale.is_reported),
            "miss_tokens": _count(one.sale.miss_tokens for one in group),
            "cached_tokens": _count(one.sale.cached_tokens for one in group),
            "output_tokens": _count(one.sale.output_tokens for one in group),
            **{name: _total(group if is_priced else None, name) for name in MONEY},
            "gross_revenue": _gross(group) if is_priced else None,
            "currency": hour.currency if is_priced else None,
        }
        for (model, input_tokens_from), group in groups.items()
    ]


def _gross(group: Sequence[Sold]) -> float | None:
    is_known = sum(one.n_unknown for one in group) < sum(one.sale.n_requests for one in group)
    return fsum(one.gross for one in group) if is_known and not any(one.lacks_output_price for one in group) else None


def _cache_value(status: dict[str, Any]) -> dict[str, float | None]:
    """Return what the hits earned against the same busy seconds without a cache, and its interval."""
    if status["lost_per_hour"] is None:
        return {"cache_value": None, "cache_value_low": None, "cache_value_high": None}
    parts = ("miss_revenue", "cached_revenue", "output_revenue", "cache_write_revenue")
    earned = fsum(filter(None, (status[name] for name in parts)))
    return {
        "cache_value": -status["lost_per_hour"],
        "cache_value_low": earned - earned / status["index_low"],
        "cache_value_high": earned - earned / status["index_high"],
    }


def _is_loss(margin: float | None, n_unknown: int, at_most: float | None) -> bool | None:
    """Say whether the hour costs more than it brings in; None where requests that lack a count could turn it."""
    if margin is None:
        return None
    if margin >= 0:
        return False
    if n_unknown and (at_most is None or margin + at_most >= 0):
        return None
    return True


def _money(tokens: int | None, per_mtok: float | None) -> float | None:
    return None if tokens is None or per_mtok is None else tokens / TOKENS_PER_PRICE * per_mtok


def _total(sold: Sequence[Sold] | None, name: str) -> float | None:
    """Return a sum of what is known: None where nothing is, 0 where nothing was asked for."""
    if sold is None:
        return None
    known = [value for one in sold if (value := getattr(one, name)) is not None]
    return fsum(known) if known or not sold else None


def _count(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
