"""A price history as vendors published it, looked up on both sides of every edge it has.

The dates and ratios of the first deployment are one vendor's of 2026: five prices of a cached token in half a year.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pipelines.prices.book import PriceBook
from pipelines.prices.file import read_price_file
from pipelines.prices.rows import to_minute
from pipelines.times import EPOCH
from tests.prices.look_up import part_at

HISTORY = Path(__file__).parent / "history.csv"


@pytest.fixture(scope="module")
def book() -> PriceBook:
    return PriceBook(read_price_file(HISTORY, HISTORY.name))


def ratio(book: PriceBook, deployment: str, at: str, input_tokens: int = 1000) -> tuple[float, float] | None:
    """Return input price and price ratio."""
    minute = to_minute(datetime.fromisoformat(f"{at}+00:00"))
    part = part_at(book, deployment, minute, input_tokens)
    if part is None:
        return None
    return part.prices.input_per_mtok, round(part.prices.cached_per_mtok / part.prices.input_per_mtok, 3)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-04-23T23:59", None),
        ("2026-04-24T00:00", (0.14, 0.2)),
        ("2026-04-25T12:00", (0.14, 0.2)),
        ("2026-04-25T23:59", (0.14, 0.2)),
        ("2026-04-26T00:00", (0.14, 0.02)),
        ("2026-04-27T12:00", (0.14, 0.02)),
        ("2026-08-16T15:59", (0.14, 0.02)),
        ("2026-08-16T16:00", (0.22, 0.032)),
        ("2026-08-16T16:01", (0.22, 0.032)),
        ("2026-08-17T00:59", (0.22, 0.032)),
        ("2026-08-17T01:00", (0.44, 0.032)),
        ("2026-08-17T03:59", (0.44, 0.032)),
        ("2026-08-17T04:00", (0.22, 0.032)),
        ("2026-08-17T06:00", (0.44, 0.032)),
        ("2026-08-17T09:59", (0.44, 0.032)),
        ("2026-08-17T10:00", (0.22, 0.032)),
        ("2026-08-21T23:59", (0.22, 0.032)),
        ("2026-08-22T00:30", (0.22, 0.032)),
        ("2026-08-22T02:00", (0.22, 0.032)),
        ("2026-08-23T02:00", (0.22, 0.032)),
        ("2026-08-24T00:59", (0.22, 0.032)),
        ("2026-08-24T02:00", (0.44, 0.032)),
        ("2026-09-09T23:59", (0.22, 0.032)),
        ("2026-09-10T00:00", (0.15, 0.02)),
        ("2026-09-11T09:00", (0.3, 0.02)),
        ("2026-09-12T09:00", (0.15, 0.02)),
    ],
)
def test_a_price_is_that_of_its_minute_and_its_day_of_the_week(
    book: PriceBook, at: str, expected: tuple[float, float] | None
) -> None:
    assert ratio(book, "deepseek-flash", at) == expected


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-11-28"], ids=["spring", "autumn", "winter"])
@pytest.mark.parametrize(
    ("at", "price"),
    [("00:00", 0.135), ("00:29", 0.135), ("00:30", 0.27), ("16:29", 0.27), ("16:30", 0.135), ("23:59", 0.135)],
)
def test_a_band_goes_on_after_midnight_and_clocks_are_never_changed(
    book: PriceBook, day: str, at: str, price: float
) -> None:
    assert ratio(book, "deepseek-chat", f"{day}T{at}") == (price, 0.259)


@pytest.mark.parametrize(("length", "price"), [(0, 1.25), (200_000, 1.25), (200_001, 2.5), (10**9, 2.5)])
def test_a_price_is_that_of_the_length_of_the_request(book: PriceBook, length: int, price: float) -> None:
    assert ratio(book, "gemini-2.5-pro", "2026-11-28T10:00", length) == (price, 0.1)


def test_hours_of_the_same_prices_have_the_same_hash_whatever_their_rows(book: PriceBook) -> None:
    def hash_at(at: str) -> str:
        return book.price_list("deepseek-flash", to_minute(datetime.fromisoformat(f"{at}+00:00")) // 60).price_hash

    assert hash_at("2026-08-17T00:00") == hash_at("2026-08-22T13:00") == hash_at("2026-08-16T16:00")
    assert len({hash_at("2026-08-17T00:00"), hash_at("2026-08-17T01:00"), hash_at("2026-09-12T01:00")}) == 3


def test_an_hour_in_which_a_band_ends_has_both_prices(book: PriceBook) -> None:
    hour = (datetime.fromisoformat("2026-11-28T16:00:00+00:00") - EPOCH) // timedelta(hours=1)
    listed = book.price_list("deepseek-chat", hour)
    assert [(part.from_minute, part.to_minute, part.prices.input_per_mtok) for part in listed.parts] == [
        (0, 30, 0.27),
        (30, 60, 0.135),
    ]
    assert listed.single is None
    assert book.price_list("deepseek-chat", hour + 1).single is not None
