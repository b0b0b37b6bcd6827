"""List prices of known models: the package's own answer at every instant and length, and nothing where it has none."""

from __future__ import annotations

import socket
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from pipelines.errors import UsageError
from pipelines.prices.book import PriceBook
from pipelines.prices.known import KnownPrices
from pipelines.settings import load_settings
from pipelines.times import EPOCH
from tests.place import PRICE, SOURCE, Place, request
from tests.prices.look_up import part_at

NAMES = (
    "deepseek-chat", "deepseek-v4-flash", "claude-opus-4-6", "gemini-2.5-pro", "gpt-5",
    "openrouter/deepseek/deepseek-v4-pro",
)  # fmt: skip
"""Models of one price, of bands, of dates, of both, and of tiers."""
KNOWN = '[price_book]\nknown_models = "genai-prices"\n'


def test_without_the_package_the_remedy_is_said(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.prices.known.PACKAGE", "genai-prices-that-nobody-installs")
    place.configure(SOURCE + KNOWN)
    with pytest.raises(UsageError, match=r"not installed: install valleywatch\[prices\], or remove the key"):
        load_settings(place.config)


class TestInstalled:
    """With the package."""

    @pytest.fixture(autouse=True)
    def _no_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_arguments: Any) -> None:
            raise AssertionError("no look-up may open a connection")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    @pytest.mark.parametrize("name", NAMES)
    def test_every_instant_and_length_has_the_price_the_package_gives(self, name: str) -> None:
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot

        book, data = PriceBook((), KnownPrices()), DataSnapshot(providers=providers, from_auto_update=False)
        provider, slash, model_ref = name.partition("/")
        _, model = data.find_provider_model(model_ref if slash else name, None, provider if slash else None, None)
        rows = book.rows_of(name)
        assert rows
        assert {row.source.split(":")[0] for row in rows} == {f"genai-prices {KnownPrices().version}"}
        edges = {edge for row in rows for edge in (row.from_minute, row.to_minute) if edge is not None}
        clocks = {minute for row in rows for band in row.bands for minute in band}
        lengths = {0} | {row.input_tokens_from for row in rows}
        lengths |= {max(0, length - 1) for length in lengths}
        for edge, clock, aside, length in product(edges, clocks, (-1, 0, 1), lengths):
            minute = edge + clock + aside
            if minute < min(edges):
                continue
            theirs = model.get_prices(EPOCH + timedelta(minutes=minute))
            ours = part_at(book, name, minute, length)
            assert ours is not None
            assert ours.prices.input_per_mtok == float(_at_length(theirs.input_mtok, length))
            assert ours.prices.cached_per_mtok == float(_at_length(theirs.cache_read_mtok, length))
            assert sum(row.holds_at(minute) and row.prices_length(length) for row in rows) == 1

    @pytest.mark.parametrize("name", ["no-such-model-9", "nobody/gpt-5", "", "/", "gpt-3.5-turbo-instruct"])
    def test_a_model_that_is_not_known_or_has_no_price_of_a_hit_is_unpriced(self, name: str) -> None:
        assert KnownPrices().rows_of(name) == ()

    def test_a_row_of_ones_own_keeps_a_deployment_from_the_package(self, place: Place) -> None:
        place.configure(SOURCE + KNOWN + PRICE.replace('"*"', '"gpt-*"').replace("2026-01-01", "2026-06-01"))
        book = load_settings(place.config).book
        assert [row.source for row in book.rows_of("gpt-5")] == ["prices.1"]
        assert part_at(book, "gpt-5", book.rows[0].from_minute - 1, 1000) is None
        assert book.rows_of("deepseek-chat")

    def test_the_price_book_shows_where_a_price_is_from_and_unknown_models_have_none(self, place: Place) -> None:
        place.configure(SOURCE + KNOWN)
        place.write("a.jsonl", [request(1, deployment="deepseek-chat"), request(2, deployment="mine")])
        place.settle()
        shown = place.rows("select deployment, hours_utc, source, currency from price_book order by all")
        source = f"genai-prices {KnownPrices().version}: deepseek/deepseek-chat"
        assert shown == [
            {"deployment": "deepseek-chat", "hours_utc": hours, "source": source, "currency": "USD"}
            for hours in ("00:30-16:30", "16:30-00:30")
        ]
        found = place.rows("select deployment, price_ratio, split(reasons, ',')[1] as r from valley_status order by 1")
        assert [row["price_ratio"] is None for row in found] == [False, True]
        assert "no_price" in place.rows("select reasons as r from valley_status where deployment = 'mine'")[0]["r"]


def _at_length(price: Any, input_tokens: int) -> Any:
    """The package's own words: a tier's price holds for all tokens of a request longer than its start."""
    if not hasattr(price, "tiers"):
        return price
    return next((tier.price for tier in reversed(price.tiers) if input_tokens > tier.start), price.base)
