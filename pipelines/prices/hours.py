"""What each hour's traffic earned at its price list.

Belongs here: price list × tokens → sums of money, or why there are none. Does not belong here: which list an hour has
(`memory`), what follows from the money (`verdicts`).

Where one price holds in the whole hour the hourly mart's sums are enough. Where a price changes within the hour, or
with the length of the request, the requests themselves are summed by price, in integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from models.revenue import Revenue
from pipelines.prices.lists import PriceList
from pipelines.prices.memory import US_PER_MINUTE, DayPrices, Hour
from pipelines.prices.rows import Prices
from pipelines.times import US_PER_DAY, US_PER_HOUR
from pipelines.warehouse import Writer

TOKENS_PER_MTOK = 1e6
SEGMENTS = {
    "deployment": pl.String, "hour_index": pl.Int64, "part": pl.Int64, "from_us": pl.Int64, "to_us": pl.Int64,
    "input_tokens_from": pl.Int64, "input_tokens_to": pl.Int64,
}  # fmt: skip
Sold = dict[int | None, tuple[int, int]]
"""Miss and cached tokens by the number of a part; None: what no part prices."""


@dataclass(frozen=True, slots=True)
class PricedHour:
    """What an hour earned. `revenue` is None without reported tokens, and where `reason` says why it is not known.

    prices: those that its tokens were sold at; where there are no tokens, the only one that holds.
    """

    price_hash: str | None = None
    revenue: Revenue | None = None
    prices: tuple[Prices, ...] = ()
    reason: str | None = None

    def columns(self) -> dict[str, Any]:
        """Return the hour's prices as columns of `valley_status`; with several prices there is no one price."""
        if self.price_hash is None or not self.prices:
            return {}
        single = self.prices[0] if len(self.prices) == 1 else None
        found: dict[str, Any] = {
            "price_hash": self.price_hash,
            "n_prices": len(self.prices),
            "currency": self.prices[0].currency,
        }
        if single is not None:
            found |= {"input_per_mtok": single.input_per_mtok, "cached_per_mtok": single.cached_per_mtok}
            found["price_ratio"] = single.cached_per_mtok / single.input_per_mtok
        elif self.revenue is not None:
            found["price_ratio"] = self.revenue.price_ratio
        if self.revenue is not None:
            found |= {
                "miss_revenue": self.revenue.miss,
                "cached_revenue": self.revenue.cached,
                "cached_at_miss_price": self.revenue.cached_at_miss_price,
                "miss_at_cached_price": self.revenue.miss_at_cached_price,
            }
        return found


def price_hours(
    writer: Writer, day_index: int, prices: DayPrices, traffic: Iterable[dict[str, Any]]
) -> dict[Hour, PricedHour]:
    """Return what every row of the day's `traffic` earned."""
    tokens = _tokens_by_part(writer, day_index, prices)
    found = {}
    for row in traffic:
        hour = (row["deployment"], row["hour_index"])
        listed = prices.lists[hour]
        if listed.single:
            found[hour] = _priced(listed, {0: (row["miss_tokens"] or 0, row["cached_tokens"] or 0)})
        else:
            found[hour] = _priced(listed, tokens.get(hour, {}))
    return found


def _tokens_by_part(writer: Writer, day_index: int, prices: DayPrices) -> dict[Hour, Sold]:
    """Return miss and cached tokens by part of the hours that no single price covers, and of others beside them."""
    segments = [
        (
            deployment, hour_index, number,
            hour_index * US_PER_HOUR + part.from_minute * US_PER_MINUTE,
            hour_index * US_PER_HOUR + part.to_minute * US_PER_MINUTE,
            part.input_tokens_from, part.input_tokens_to,
        )
        for (deployment, hour_index), listed in prices.lists.items()
        if listed.single is None
        for number, part in enumerate(listed.parts)
    ]  # fmt: skip
    if not segments:
        return {}
    writer.open_days(day_index, day_index)
    found: dict[Hour, Sold] = {}
    with writer.registered("price_segments", pl.DataFrame(segments, schema=SEGMENTS, orient="row").to_arrow()):
        day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
        for row in writer.rows("valley/tokens_by_price", **day):
            parts = found.setdefault((row["deployment"], row["hour_index"]), {})
            parts[row["part"]] = (row["miss_tokens"], row["cached_tokens"])
    return found


def _priced(listed: PriceList, sold: Sold) -> PricedHour:
    if not listed.parts:
        return PricedHour(reason="no_price")
    if listed.currency is None:
        return PricedHour(reason="mixed_currencies")
    used = {number: tokens for number, tokens in sold.items() if any(tokens)}
    if None in used:
        return PricedHour(reason="partly_priced" if len(used) > 1 else "no_price")
    if not used and not listed.single:
        # Nothing was sold, so nothing says that the list prices all that could have been.
        return PricedHour()
    revenue = Revenue(0.0, 0.0, 0.0, 0.0)
    parts = [(listed.parts[number].prices, tokens) for number, tokens in used.items() if number is not None]
    for prices, (miss_tokens, cached_tokens) in parts:
        revenue += Revenue.at_prices(
            miss_tokens / TOKENS_PER_MTOK,
            cached_tokens / TOKENS_PER_MTOK,
            prices.input_per_mtok,
            prices.cached_per_mtok,
        )
    return PricedHour(
        price_hash=listed.price_hash,
        revenue=revenue if used else None,
        prices=tuple(dict.fromkeys(prices for prices, _ in parts)) or (listed.parts[0].prices,),
    )
