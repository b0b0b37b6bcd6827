"""What published results were priced at: a later price never rewrites history.

Belongs here: the price lists that hours were published with, which of them a day that is judged again keeps, and
telling when the rows say something else by now. Does not belong here: what the rows say (`book`), the verdicts.

The rule: an hour that was priced as a whole keeps its price list however often it is judged, until its day is judged
with `--reprice`. An hour without a price, or with one for a part of its traffic, takes what the rows say now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pipelines.display import shown
from pipelines.expectations import WARN, Finding
from pipelines.prices.book import PriceBook
from pipelines.prices.lists import Part, PriceList
from pipelines.prices.rows import Prices
from pipelines.times import HOURS_PER_DAY, day_text, hour_text, to_us
from pipelines.warehouse import Writer

CONTRACT = "prices"
EXPECTATION = "published days are priced as the price rows say"
US_PER_MINUTE = 60_000_000
NAMED_DEPLOYMENTS = 2
"""How many of the deployments that keep other prices a finding names."""
Hour = tuple[str, int]
"""A deployment and an hour_index."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An hour whose published prices are not those that the rows give it now."""

    deployment: str
    hour_index: int
    published: PriceList
    configured: PriceList


@dataclass(frozen=True, slots=True)
class DayPrices:
    """The price lists that a day is judged with; `kept` are those of its hours that differ from the rows."""

    lists: dict[Hour, PriceList]
    kept: tuple[Kept, ...]


def day_prices(writer: Writer, day_index: int, book: PriceBook, hours: Iterable[Hour]) -> DayPrices:
    """Return the price list of every one of the day's hours: the published one where there is one to keep."""
    repriced = writer.rows("ops/days_to_reprice", day_index=day_index)
    published = {} if repriced else _published(writer, day_index)
    lists, kept = {}, []
    for deployment, hour_index in hours:
        configured = book.price_list(deployment, hour_index)
        found = published.get((deployment, hour_index), configured)
        lists[deployment, hour_index] = found
        if found != configured:
            kept.append(Kept(deployment, hour_index, found, configured))
    return DayPrices(lists, tuple(kept))


def remember(writer: Writer, day_index: int, prices: DayPrices, used: Iterable[str], now: datetime) -> None:
    """Keep the lists that results name by hash, each once, and what is to be told of the day."""
    known = {row["price_hash"] for row in writer.rows("valley/price_hashes")}
    lists = {found.price_hash: found for found in prices.lists.values()}
    new = [lists[price_hash] for price_hash in sorted(set(used) - known)]
    writer.insert_rows("mart.price_history", [row for found in new for row in _history_rows(found, now)])
    _keep_finding(writer, day_index, prices.kept, n_hours=len(prices.lists))
    writer.run("ops/clear_days_to_reprice", day_index=day_index)


def ask_to_reprice(writer: Writer, days: Iterable[int]) -> None:
    """Note that these days take the prices of the rows when they are judged next."""
    with writer.transaction():
        for day_index in days:
            writer.run("ops/clear_days_to_reprice", day_index=day_index)
            writer.insert_rows("ops.days_to_reprice", [{"day_index": day_index}])


def compare_with_published(writer: Writer, book: PriceBook) -> tuple[list[int], list[int]]:
    """Compare every judged day with the rows; return the days that lack a price they could have now, and those that
    keep another. The latter are told (`check_findings`).
    """
    fillable: list[int] = []
    keeping: list[int] = []
    lists = _history(writer)
    for judged in writer.rows("valley/judged_days"):
        day_index = judged["day_index"]
        kept = []
        hours = _priced_hours(writer, day_index)
        for row in hours:
            configured = book.price_list(row["deployment"], row["hour_index"])
            if row["price_hash"] is None:
                if configured.parts and day_index not in fillable[-1:]:
                    fillable.append(day_index)
            elif row["price_hash"] != configured.price_hash:
                kept.append(Kept(row["deployment"], row["hour_index"], lists[row["price_hash"]], configured))
        _keep_finding(writer, day_index, kept, n_hours=len(hours))
        if kept:
            keeping.append(day_index)
    return fillable, keeping


def replace_price_book(writer: Writer, book: PriceBook) -> None:
    """Replace the table of price rows: those of the configuration, and known ones of deployments with traffic."""
    rows = dict.fromkeys(book.rows)
    for seen in writer.rows("valley/deployments"):
        rows |= dict.fromkeys(book.rows_of(seen["deployment"]))
    writer.run("valley/clear_price_book")
    writer.insert_rows("mart.price_book", [
        {
            "deployment": row.deployment,
            "effective_from_us": row.from_minute * US_PER_MINUTE,
            "effective_to_us": None if row.to_minute is None else row.to_minute * US_PER_MINUTE,
            "weekdays": row.weekdays_text,
            "hours_utc": row.hours_text,
            "input_tokens_from": row.input_tokens_from,
            "input_tokens_to": row.input_tokens_to,
            "source": row.source,
            **asdict(row.prices),
        }
        for row in rows
    ])  # fmt: skip


def _priced_hours(writer: Writer, day_index: int) -> list[dict[str, Any]]:
    first = day_index * HOURS_PER_DAY
    return writer.rows("valley/priced_hours", first_hour=first, last_hour=first + HOURS_PER_DAY - 1)


def _published(writer: Writer, day_index: int) -> dict[Hour, PriceList]:
    priced = [row for row in _priced_hours(writer, day_index) if row["price_hash"] is not None]
    lists = _history(writer) if priced else {}
    return {(row["deployment"], row["hour_index"]): lists[row["price_hash"]] for row in priced}


def _history(writer: Writer) -> dict[str, PriceList]:
    parts: dict[str, list[Part]] = {}
    for row in writer.rows("valley/price_history"):
        price_hash = row.pop("price_hash")
        prices = Prices(**{name: row.pop(name) for name in Prices.__dataclass_fields__})
        parts.setdefault(price_hash, []).append(Part(prices=prices, **row))
    return {price_hash: PriceList(tuple(found)) for price_hash, found in parts.items()}


def _history_rows(found: PriceList, now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "price_hash": found.price_hash,
            "from_minute": part.from_minute,
            "to_minute": part.to_minute,
            "input_tokens_from": part.input_tokens_from,
            "input_tokens_to": part.input_tokens_to,
            "source": part.source,
            "first_seen_us": to_us(now),
            **asdict(part.prices),
        }
        for part in found.parts
    ]


def _keep_finding(writer: Writer, day_index: int, kept: Sequence[Kept], *, n_hours: int) -> None:
    """Replace the day's finding; a day that has no hours left has none."""
    writer.run("ops/clear_findings", day_index=day_index, contract=CONTRACT)
    if not n_hours:
        return
    finding = Finding(EXPECTATION, WARN, not kept, _detail(day_index, kept))
    writer.insert_rows("ops.findings", [{"day_index": day_index, "contract": CONTRACT, **asdict(finding)}])


def _detail(day_index: int, kept: Sequence[Kept]) -> str:
    """Say which prices were kept, which would be taken, and both ways out."""
    if not kept:
        return ""
    firsts = {found.deployment: found for found in reversed(kept)}
    named = [
        f"{shown(found.deployment)} at {hour_text(found.hour_index)} was published at {_said(found.published)} and "
        f"would be {_said(found.configured)}"
        for found in sorted(firsts.values(), key=lambda found: found.deployment)[:NAMED_DEPLOYMENTS]
    ]
    more = len(firsts) - len(named)
    return (
        "; ".join(named)
        + (f"; and {more} more deployments" if more else "")
        + ". What was published stays. To change prices from a day on, leave the old row as it was, give it an "
        "effective_to and add a row. To correct this day's, run `valleywatch run "
        f"--day {day_text(day_index)} --reprice`"
    )


def _said(found: PriceList) -> str:
    if found.single is None:
        return "unpriced" if not found.parts else f"{len(found.parts)} prices ({shown(found.parts[0].source)})"
    one = found.single
    return (
        f"{one.input_per_mtok:g} and {one.cached_per_mtok:g} {one.currency} for computed and cached tokens "
        f"({shown(found.parts[0].source)})"
    )
