"""A later price never rewrites history, and who tries to is told."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from pipelines.alerts.record import mark_changed_judgement
from pipelines.settings import load_settings
from tests.place import PRICE, SOURCE, Place, request
from tests.prices.conftest import DAY, TRAFFIC, compare, judged

pytestmark = pytest.mark.jobs

DEARER = PRICE.replace("= 0.1", "= 0.9")
FROM_NOW = DEARER.replace("2026-01-01", "2026-11-29")
CLOSED = PRICE + "effective_to = 2026-11-29\n"


def settle(place: Place, prices: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Do what a run does under these prices; return the days judged again and those that keep others."""
    place.configure(SOURCE + prices)
    found = compare(place)
    place.settle()
    return found


def results(place: Place) -> dict[str, list[str]]:
    """Return all views but the rows themselves and what is told of them."""
    return {view: rows for view, rows in place.views().items() if view not in ("price_book", "check_findings")}


def told(place: Place) -> list[str]:
    return [row["detail"] for row in place.rows("from check_findings where contract = 'prices' and not passed")]


@pytest.mark.parametrize(
    "prices", [PRICE + FROM_NOW, FROM_NOW + CLOSED, CLOSED], ids=["added", "closed first", "closed"]
)
def test_a_row_that_ends_or_begins_later_leaves_every_result_as_it_was(priced: Place, prices: str) -> None:
    before = results(priced)
    priced.write("later.jsonl", [request(1, deployment="other", timestamp="2026-11-29T01:00:00Z")])
    assert settle(priced, prices) == ((), ())
    judged(priced, SOURCE + prices, reprice=False)
    after = results(priced)
    assert {view for view in before if not set(before[view]) <= set(after[view])} == set()
    assert len(after["valley_status"]) == len(before["valley_status"]) + 1
    assert told(priced) == []
    assert compare(priced) == ((), ())


def test_a_row_edited_in_place_is_told_and_changes_nothing_published(
    priced: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    before = results(priced)
    assert priced.valleywatch("run") == 0
    priced.configure(SOURCE + DEARER)
    assert priced.valleywatch("run") == 0
    assert "the price rows no longer say what 2026-11-28 was published at" in capsys.readouterr().err
    assert priced.rows("select cached_per_mtok from price_book") == [{"cached_per_mtok": 0.9}]
    assert priced.valleywatch("status") == 0
    assert "published days are priced as the price rows say" in capsys.readouterr().err
    for _ in range(2):
        assert results(priced) == before
        (detail,) = told(priced)
        assert "published at 1 and 0.1 USD" in detail
        assert "would be 1 and 0.9 USD" in detail
        assert "effective_to" in detail
        assert "--day 2026-11-28 --reprice" in detail
        judged(priced, SOURCE + DEARER, reprice=False)


def test_a_day_is_repriced_when_somebody_asks_for_it(priced: Place) -> None:
    assert settle(priced, DEARER) == ((), (DAY,))
    judged(priced, SOURCE + DEARER)
    assert told(priced) == []
    rows = priced.rows("select distinct price_ratio, cached_per_mtok from valley_status")
    assert rows == [{"price_ratio": 0.9, "cached_per_mtok": 0.9}]
    assert priced.rows("select count(*) as n from price_history") == [{"n": 2}]
    judged(priced, SOURCE + PRICE, reprice=False)
    assert priced.rows("select distinct price_ratio from valley_status") == [{"price_ratio": 0.9}]


def test_a_row_put_back_as_it_was_ends_the_warning(priced: Place) -> None:
    assert settle(priced, DEARER) == ((), (DAY,))
    assert len(told(priced)) == 1
    assert settle(priced, PRICE) == ((), ())
    assert told(priced) == []


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ("", "would be unpriced"),
        (PRICE + "weekdays = 'sun'\n", "would be unpriced"),
        (PRICE + "output_per_mtok = 4.0\n", "would be 1 and 0.1 USD"),
        (PRICE + "currency = 'EUR'\n", "would be 1 and 0.1 EUR"),
        (PRICE + "input_tokens_to = 100\n" + DEARER + "input_tokens_from = 100\n", "would be 2 prices"),
    ],
    ids=["removed", "restricted", "another output price", "another currency", "tiers"],
)
def test_whatever_changes_in_a_row_of_a_published_day_is_told(priced: Place, prices: str, said: str) -> None:
    before = results(priced)
    assert settle(priced, prices) == ((), (DAY,))
    assert said in told(priced)[0]
    assert results(priced) == before


def test_hours_without_a_price_take_one_that_comes_later(priced: Place) -> None:
    half = PRICE.replace("2026-01-01", "2026-11-28T01:30:00Z")
    assert [row["price_ratio"] for row in judged(priced, SOURCE + half)] == [None, None, 0.1]
    assert settle(priced, PRICE.replace("= 0.1", "= 0.2")) == ((DAY,), (DAY,))
    rows = priced.rows("select price_ratio from valley_status order by hour_utc")
    assert [row["price_ratio"] for row in rows] == [0.2, 0.2, 0.1]


def test_late_lines_of_a_priced_hour_are_sold_at_its_published_price_others_at_that_of_now(priced: Place) -> None:
    assert settle(priced, DEARER) == ((), (DAY,))
    late = [row | {"number": 9000 + row["number"]} for row in TRAFFIC[:5]]
    late.append({"number": 9999, "timestamp": "2026-11-28T20:00:00Z"})
    priced.write("late.jsonl", [request(**row) for row in late])
    priced.settle()
    found = priced.rows("select hour(hour_utc) as h, cached_per_mtok as price from valley_status order by 1")
    assert [(row["h"], row["price"]) for row in found] == [(0, 0.1), (1, 0.1), (2, 0.1), (20, 0.9)]


def test_a_changed_policy_keeps_the_prices(priced: Place) -> None:
    priced.configure(SOURCE + DEARER + "[policy]\nmin_requests = 1000\n")
    with priced.warehouse.writer() as writer:
        assert mark_changed_judgement(writer, load_settings(priced.config)).policy
    priced.settle()
    rows = priced.rows("select distinct cached_per_mtok as price, p_in_valley as p from valley_status")
    assert rows == [{"price": 0.1, "p": None}]


def test_a_hash_names_the_prices_it_is_the_hash_of(priced: Place) -> None:
    (used,) = priced.rows("select distinct price_hash from valley_status")
    (row,) = priced.rows(f"from price_history where price_hash = '{used['price_hash']}'")
    part: list[Any] = [0, 60, 0, None, 1.0, 0.1, None, None, "USD"]
    names = ("from_minute", "to_minute", "input_tokens_from", "input_tokens_to", "input_per_mtok", "cached_per_mtok",
             "cache_write_per_mtok", "output_per_mtok", "currency")  # fmt: skip
    assert [row[name] for name in names] == part
    assert used["price_hash"] == hashlib.sha256(json.dumps([part], separators=(",", ":")).encode()).hexdigest()
    assert row["source"] == "prices.1"


def test_repricing_needs_the_days_named(priced: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert priced.valleywatch("run", "--reprice") == 2
    assert "name the days with --day D" in capsys.readouterr().err
