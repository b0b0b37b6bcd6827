"""An hour with several prices: every request pays that of its own arrival and length, and the index is exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from models import service_time
from pipelines.priced_traffic import last_24_hours, situation
from tests.place import PRICE, SOURCE, Place
from tests.prices.conftest import TRAFFIC, judged


def rows(*keys: str) -> str:
    """Return a configuration of rows of the plain price with other keys."""
    return SOURCE + "".join(f"{PRICE}{more}\n" for more in keys)


def at(prices: tuple[float, float], more: str) -> str:
    plain = PRICE.replace("= 1.0", f"= {prices[0]}").replace("= 0.1", f"= {prices[1]}")
    return f"{plain}{more}\n"


def by_hand(place: Place, hour: int, price_of: Callable[[dict[str, Any]], tuple[float, float]]) -> dict[str, float]:
    """Return revenue and index of an hour, request by request, on the fitted curve."""
    (law,) = place.rows("select f, c, q, k from throughput_curve")
    earned = without = busy = cold = 0.0
    for row in TRAFFIC:
        if datetime.fromisoformat(row["timestamp"]).hour != hour:
            continue
        length, hit = row["input_tokens"], row["cached_tokens"]
        miss_price, cached_price = price_of(row)
        miss = length - hit
        earned += (miss_price * miss + cached_price * hit) / 1e6
        without += miss_price * length / 1e6
        busy += law["f"] + law["c"] * miss + law["q"] * miss * (hit + miss / 2) + law["k"] * hit
        cold += law["f"] + law["c"] * length + law["q"] * length**2 / 2
    return {"earned": earned, "without": without, "index": earned / busy / (without / cold)}


def minute_of(row: dict[str, Any]) -> int:
    moment = datetime.fromisoformat(row["timestamp"])
    return moment.hour * 60 + moment.minute


CHEAP, DEAR = (1.0, 0.1), (3.0, 0.9)
CASES = {
    "a band ends within the hour": (
        at(CHEAP, 'hours_utc = "01:31-00:29"') + at(DEAR, 'hours_utc = "00:29-01:31"'),
        lambda row: DEAR if 29 <= minute_of(row) < 91 else CHEAP,
    ),
    "a price of the length": (
        at(CHEAP, "input_tokens_to = 20_001") + at(DEAR, "input_tokens_from = 20_001"),
        lambda row: DEAR if row["input_tokens"] > 20_000 else CHEAP,
    ),
    "another price from a minute on": (
        at(CHEAP, "") + at(DEAR, "").replace("2026-01-01", "2026-11-28T01:17:00Z"),
        lambda row: DEAR if minute_of(row) >= 77 else CHEAP,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_request_pays_the_price_of_its_own_arrival_and_length(priced: Place, case: str) -> None:
    config, price_of = CASES[case]
    found = judged(priced, SOURCE + config)
    for hour, row in enumerate(found):
        expected = by_hand(priced, hour, price_of)
        assert row["miss_revenue"] + row["cached_revenue"] == pytest.approx(expected["earned"], rel=1e-12)
        assert row["miss_revenue"] + row["cached_at_miss_price"] == pytest.approx(expected["without"], rel=1e-12)
        assert row["revenue_index"] == pytest.approx(expected["index"], rel=1e-12)
        assert row["price_ratio"] == pytest.approx(row["cached_revenue"] / row["cached_at_miss_price"], rel=1e-12)
        lost = expected["earned"] / expected["index"] - expected["earned"]
        assert row["lost_per_hour"] == pytest.approx(lost, rel=1e-9)
        assert (row["n_prices"] > 1) is (row["input_per_mtok"] is None)
    assert max(row["n_prices"] for row in found) == 2


def test_the_day_as_a_whole_is_priced_hour_by_hour_too(priced: Place, capsys: pytest.CaptureFixture[str]) -> None:
    config, price_of = CASES["a price of the length"]
    judged(priced, SOURCE + config)
    assert priced.valleywatch("status", "--json") == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    hours = [by_hand(priced, hour, price_of) for hour in range(3)]
    earned, without = (sum(hour[name] for hour in hours) for name in ("earned", "without"))
    # index = earned / without * cold / busy: the last is the same at any price.
    (flat,) = priced.rows("select sum(cached_tokens) as cached, sum(miss_tokens) as miss from hourly_hit_rate")
    judged(priced, SOURCE + PRICE)
    capsys.readouterr()
    assert priced.valleywatch("status", "--json") == 0
    (before,) = json.loads(capsys.readouterr().out)
    flat_share = (flat["miss"] + 0.1 * flat["cached"]) / (flat["miss"] + flat["cached"])
    assert verdict["revenue_index"] / before["revenue_index"] == pytest.approx(earned / without / flat_share, rel=1e-9)
    assert (verdict["n_prices"], verdict["input_per_mtok"]) == (2, None)
    assert (before["n_prices"], before["input_per_mtok"]) == (1, 1.0)


def test_the_report_says_that_there_are_several_prices(priced: Place) -> None:
    judged(priced, SOURCE + CASES["a price of the length"][0])
    assert priced.valleywatch("report") == 0
    (page,) = (priced.warehouse.folder / "report").glob("d-*.html")
    assert ">2</data> in its newest hour, by time or length" in page.read_text()


def test_rows_that_say_the_same_in_pieces_change_nothing(priced: Place, at_one_price: Place) -> None:
    pieces = [f'hours_utc = "{hours}"\n{length}' for hours in ("10:15-01:29", "01:29-10:15")
              for length in ("input_tokens_to = 7000", "input_tokens_from = 7000")]  # fmt: skip
    judged(priced, rows(*pieces))
    before, after = at_one_price.views(), priced.views()
    assert len(before.pop("price_book")) == 1
    assert len(after.pop("price_book")) == 4
    differing = {view for view in before if before[view] != after[view]}
    assert differing == set()


@pytest.mark.parametrize(
    ("config", "reasons"),
    [
        (rows("input_tokens_to = 20_000"), ["partly_priced"] * 3),
        (rows('hours_utc = "00:30-02:00"'), ["partly_priced", "", "no_price"]),
        (rows("weekdays = 'sun'"), ["no_price"] * 3),
        (rows("input_tokens_from = 1_000_000"), ["no_price"] * 3),
        (rows("") + PRICE.replace("2026-01-01", "2026-11-28T01:30:00Z") + "currency = 'EUR'\n",
         ["", "mixed_currencies", ""]),
    ],
    ids=["a length", "a half hour", "another day", "no length", "two currencies"],
)  # fmt: skip
def test_an_hour_that_is_not_priced_as_a_whole_is_not_priced(priced: Place, config: str, reasons: list[str]) -> None:
    found = judged(priced, config)
    for row, reason in zip(found, reasons, strict=True):
        assert row["reasons"].split(",")[0] == reason or (reason == "" and row["reasons"] in ("", "no_exit"))
        for name in ("price_hash", "price_ratio", "revenue_index", "lost_per_hour", "miss_revenue", "currency"):
            assert (row[name] is None) is (reason != ""), name


def test_what_levers_say_of_hours_with_several_prices_is_what_they_earned(
    priced: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    config, price_of = CASES["a price of the length"]
    judged(priced, SOURCE + config)
    hours = [by_hand(priced, hour, price_of) for hour in range(3)]
    with priced.warehouse.reader() as reader:
        found = situation(reader, last_24_hours(reader, "pool"))
    earned, without = (sum(hour[name] for hour in hours) for name in ("earned", "without"))
    traffic, point = found.traffic, found.point
    tokens = traffic.moments
    as_sold = traffic.input_per_mtok * tokens.miss_tokens + traffic.cached_per_mtok * tokens.cached_tokens
    assert as_sold / 1e6 == pytest.approx(earned, rel=1e-12)
    assert point.input_per_mtok * tokens.input_tokens / 1e6 == pytest.approx(without, rel=1e-12)
    assert traffic.n_unpriced_hours == 0
    assert priced.valleywatch("status", "--json") == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    assert service_time.revenue_index(point.law, tokens, point.price_ratio) == pytest.approx(verdict["revenue_index"])
