"""What the prompts of each hour earned at its price list.

Belongs here: price list × tokens → sums of money, or why there are none. Does not belong here: which list an hour has
(`memory`), what follows from the money (`verdicts`).

Where one price holds in the whole hour the hourly mart's sums are enough. Where a price changes within the hour, or
with the length of the request, the requests themselves are summed by price, in integers (`sales`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from models.revenue import Revenue
from pipelines.prices.lists import PriceList
from pipelines.prices.memory import DayPrices, Hour
from pipelines.prices.rows import Prices
from pipelines.prices.sales import Sale

TOKENS_PER_MTOK = 1e6
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
    prices: DayPrices, traffic: Iterable[dict[str, Any]], sales: dict[Hour, list[Sale]]
) -> dict[Hour, PricedHour]:
    """Return what the prompts of every row of the day's `traffic` earned."""
    found = {}
    for row in traffic:
        hour = (row["deployment"], row["hour_index"])
        listed = prices.lists[hour]
        if listed.single:
            found[hour] = _priced(listed, {0: (row["miss_tokens"] or 0, row["cached_tokens"] or 0)})
        else:
            found[hour] = _priced(listed, _by_part(sales.get(hour, ())))
    return found


def _by_part(sales: Iterable[Sale]) -> Sold:
    """Return miss and cached tokens of the requests that report them, by part."""
    found: Sold = {}
    for sale in sales:
        miss_tokens, cached_tokens = found.get(sale.part, (0, 0))
        found[sale.part] = (miss_tokens + (sale.miss_tokens or 0), cached_tokens + (sale.cached_tokens or 0))
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
