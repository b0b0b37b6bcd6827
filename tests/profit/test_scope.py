"""The full revenue scope end to end: the index counts what is sold and decoded beside prompts, on the fitted curve."""

from __future__ import annotations

import json
from math import fsum
from typing import Any

import pytest

from models.service_time import ServiceTime
from tests.models.simulate import service_s
from tests.place import SOURCE, Place, request
from tests.profit.conftest import COSTS, PRICES, at, judged, lines_of, prices_of

FULL = '[policy]\nrevenue_scope = "full"\n'
LIMITED = FULL + "capacity_limited_busy_share = 0.01\n"
"""So that these hours are limited by capacity: only such hours tell what decoding takes."""


@pytest.fixture
def full(copied: Place) -> Place:
    judged(copied, SOURCE + PRICES + LIMITED)
    return copied


def test_the_full_index_is_that_of_all_requests_by_hand(full: Place) -> None:
    """The middle hour, which reports everything."""
    (status,) = full.rows("select * from valley_status where hour(hour_utc) = 1")
    (row,) = full.rows("select f, c, q, k from throughput_curve")
    law = ServiceTime(**row)
    earned = cold = busy = cold_busy = 0.0
    for line in lines_of(1):
        miss_price, cached_price, output_price, write_price = prices_of(line)
        length, cached = line["input_tokens"], line["cached_tokens"]
        output = output_price * line["output_tokens"]
        earned += miss_price * (length - cached) + cached_price * cached + output
        earned += write_price * line["cache_write_tokens"]
        cold += miss_price * length + output
        busy += service_s(law, length - cached, cached)
        cold_busy += service_s(law, length, 0)
    decode_s = status["decode_s"]
    assert decode_s > 0
    expected = earned / (busy + decode_s) / (cold / (cold_busy + decode_s))
    assert status["revenue_index"] == pytest.approx(expected, rel=1e-9)
    assert status["lost_per_hour"] == pytest.approx(earned / expected - earned, rel=1e-6)
    assert status["index_low"] < status["revenue_index"] < status["index_high"]


def test_hours_with_a_request_or_two_that_report_less_have_an_index_too(full: Place) -> None:
    rows = full.rows("select revenue_scope, revenue_index, decode_s, reasons from valley_status order by hour_utc")
    assert [row["revenue_scope"] for row in rows] == ["full"] * 3
    assert None not in [row["revenue_index"] for row in rows]
    assert None not in [row["decode_s"] for row in rows]


def test_without_ends_prefill_alone_is_counted(place: Place) -> None:
    place.write("a.jsonl", [line | {"e2e_ms": None} for hour in range(3) for line in lines_of(hour)])
    place.configure(SOURCE + PRICES + LIMITED)
    place.settle()
    rows = place.rows("select revenue_index, decode_s from valley_status")
    assert {row["decode_s"] for row in rows} == {None}
    assert None not in [row["revenue_index"] for row in rows]


def test_decoding_is_that_of_hours_limited_by_capacity(full: Place) -> None:
    """By output token, and the same in all hours of the day."""
    rows = full.rows("select hour(hour_utc) as hour, decode_s from valley_status order by hour")
    outputs = [
        sum(line["output_tokens"] or 0 for line in lines_of(hour, lambda line: line["cached_tokens"] is not None))
        for hour in range(3)
    ]
    by_token = [row["decode_s"] / tokens for row, tokens in zip(rows, outputs, strict=True)]
    assert by_token == pytest.approx([by_token[0]] * 3, rel=1e-12)
    judged(full, SOURCE + PRICES + FULL)
    (idle,) = full.rows("select distinct decode_s, revenue_index is null as is_unknown from valley_status")
    assert list(idle.values()) == [None, False]


def test_status_speaks_of_the_same_scope(full: Place, capsys: pytest.CaptureFixture[str]) -> None:
    hours = full.rows("select * from valley_status order by hour_utc")
    assert full.valleywatch("status", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    indices = [hour["revenue_index"] for hour in hours]
    assert min(indices) < row["revenue_index"] < max(indices)
    assert row["lost_24h"] == pytest.approx(fsum(hour["lost_per_hour"] for hour in hours), rel=1e-12)
    assert row["price_ratio"] == pytest.approx(
        fsum(hour["cached_revenue"] for hour in hours) / fsum(hour["cached_at_miss_price"] for hour in hours), rel=1e-12
    )


def test_the_input_scope_knows_nothing_of_output(settled: Place, copied: Place) -> None:
    before = settled.rows("select * from valley_status order by hour_utc")
    judged(copied, SOURCE + PRICES.replace("output_per_mtok = 4.0", "output_per_mtok = 400.0") + COSTS)
    after = copied.rows("select * from valley_status order by hour_utc")
    assert [row["revenue_index"] for row in after] == [row["revenue_index"] for row in before]
    names = ("output_revenue", "cache_write_revenue", "decode_s")
    assert {row[name] for row in before for name in names} == {None}


@pytest.mark.parametrize(
    ("prices", "reason"),
    [
        (PRICES.replace("output_per_mtok = 6.0", ""), "no_output_price"),
        (PRICES, "output_not_reported"),
    ],
)
def test_what_output_earned_is_never_taken_for_nothing(place: Place, prices: str, reason: str) -> None:
    drop = {"output_tokens": None} if reason == "output_not_reported" else {}
    place.write("a.jsonl", [line | drop for hour in range(3) for line in lines_of(hour)])
    place.configure(SOURCE + prices + FULL)
    place.settle()
    rows = place.rows("select revenue_index, p_in_valley, lost_per_hour, reasons from valley_status")
    assert {tuple(row.values()) for row in rows} == {(None, None, None, reason)}


def test_time_in_flight_is_the_union_of_requests(place: Place) -> None:
    """Two overlapping requests from 0 to 40 s, another from 60 to 70 s, all on one instance."""

    def line(number: int, second: float, ttft_s: float, e2e_s: float) -> dict[str, Any]:
        times = {"timestamp": at(second / 60), "ttft_ms": ttft_s * 1e3, "e2e_ms": e2e_s * 1e3}
        return request(number, **times, cache_write_tokens=0)

    place.write("a.jsonl", [line(1, 0, 2, 30), line(2, 10, 3, 30), line(3, 60, 2, 10)])
    place.settle()
    with place.warehouse.writer() as writer:
        writer.open_days(0, 10**6)
        (found,) = writer.rows("valley/instances", from_us=0, to_us=2**60)
    assert found["in_flight_us"] == 50_000_000
    assert found["n_instances"] == 1


def hit_rates(lines: list[dict[str, Any]]) -> tuple[float, float]:
    tokens = sum(line["cached_tokens"] for line in lines) / sum(line["input_tokens"] for line in lines)
    return tokens, fsum(line["cached_tokens"] / line["input_tokens"] for line in lines) / len(lines)


def test_the_hit_rate_is_told_by_tokens_by_requests_and_by_busy_time(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long miss that takes 9 s, a short hit that takes 1 s."""
    lines = [
        request(1, timestamp=at(0), input_tokens=9000, cached_tokens=0, ttft_ms=9000.0),
        request(2, timestamp=at(1), input_tokens=1000, cached_tokens=900, ttft_ms=1000.0),
    ]
    place.write("a.jsonl", lines)
    place.settle()
    tokens, requests = hit_rates(lines)
    (status,) = place.rows("select hit_rate, mean_request_hit_rate, busy_hit_rate from valley_status")
    assert place.valleywatch("status", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    for found in (status, row):
        assert found["hit_rate"] == pytest.approx(tokens)
        assert found["mean_request_hit_rate"] == pytest.approx(requests)
        assert found["busy_hit_rate"] == pytest.approx(0.9 * 1 / 10)
