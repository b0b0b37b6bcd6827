"""`valleywatch profit` and what status says of margins: the published hours, added up and taken apart."""

from __future__ import annotations

import json
from math import fsum
from typing import Any

import pytest

from pipelines.prices.memory import ask_to_reprice
from tests.place import SOURCE, Place, request
from tests.profit.conftest import COSTS, DAY, LINES, PRICES, at, judged


def asked(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert place.valleywatch("profit", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_the_sums_are_those_of_the_hours(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    hours = settled.rows("select * from profit_and_loss")
    found = asked(settled, capsys, "pool")
    for name in ("gross_revenue", "in_time_revenue", "cost", "margin", "discount_given", "cache_value"):
        assert found[name] == fsum(hour[name] for hour in hours)
        assert found["known_hours"][name] == 3
    assert found["loss_hours"] == sum(hour["is_loss"] is True for hour in hours)
    assert found["revenue_per_busy_hour"] == pytest.approx(
        found["gross_revenue"] / fsum(hour["busy_s"] for hour in hours) * 3600
    )
    assert asked(settled, capsys) == [found]
    assert settled.valleywatch("status", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["margin_per_day"], row["margin_hours"]) == (found["margin"], 3)


@pytest.mark.parametrize("by", ["model", "length"])
def test_the_parts_add_up_to_the_whole(settled: Place, capsys: pytest.CaptureFixture[str], by: str) -> None:
    found = asked(settled, capsys, "pool", "--by", by)
    assert fsum(part["gross_revenue"] for part in found["parts"]) == pytest.approx(found["gross_revenue"], rel=1e-14)
    for part in found["parts"]:
        lines = [line for line in LINES if _name(line, by) == part[by]]
        assert part["n_requests"] == len(lines)
        reported = [line for line in lines if line["cached_tokens"] is not None]
        assert part["cached_tokens"] == sum(line["cached_tokens"] for line in reported)
        assert part["input_tokens"] == sum(line["input_tokens"] for line in reported)
        assert part["hit_rate"] == part["cached_tokens"] / part["input_tokens"]
    assert sum(part["n_requests"] for part in found["parts"]) == len(LINES)


def _name(line: dict[str, Any], by: str) -> str:
    if by == "model":
        return str(line["model"])
    return "4,096 to 16,383" if line["input_tokens"] < 16384 else "16,384 to 65,535"


def test_an_hour_is_the_exact_sum_of_its_parts(settled: Place) -> None:
    for hour in settled.rows("select * from profit_and_loss"):
        parts = settled.rows(f"select * from profit_breakdown where hour_utc = '{hour['hour_utc']}'")
        assert hour["n_requests"] == sum(part["n_requests"] for part in parts)
        for name in ("miss_revenue", "cached_revenue", "output_revenue", "cache_write_revenue", "gross_revenue"):
            assert hour[name] == pytest.approx(fsum(part[name] for part in parts), rel=1e-15)


def test_a_model_a_request_is_no_row_a_request(place: Place) -> None:
    place.write("a.jsonl", [request(n, model=f"m-{n % 150}", timestamp=at(n / 60)) for n in range(400)])
    place.settle()
    found = place.rows("select model, n_requests from profit_breakdown")
    assert len(found) == 101
    assert sum(row["n_requests"] for row in found) == 400
    # The first fifty models have a request more and are named first.
    assert {f"m-{n}" for n in range(100)} >= {row["model"] for row in found if row["n_requests"] == 3}


def test_a_stretch_is_named_by_days_or_hours(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    hours = settled.rows("select gross_revenue from profit_and_loss order by hour_utc")
    found = asked(settled, capsys, "pool", "--from", "2026-11-28T01", "--to", "2026-11-28T02")
    assert found["gross_revenue"] == fsum(hour["gross_revenue"] for hour in hours[1:])
    assert (found["from_utc"], found["to_utc"]) == ("2026-11-28T01:00:00+00:00", "2026-11-28T03:00:00+00:00")
    assert asked(settled, capsys, "--from", "2026-11-28")[0]["traffic_hours"] == 3
    assert asked(settled, capsys, "--to", "2026-11-27") == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere"], 2, "no deployment 'nowhere'"),
        (["--by", "model"], 2, "--by model is of one deployment"),
        (["pool", "--from", "2026-11-28", "--to", "2026-11-27"], 2, "is before --from"),
        (["pool", "--from", "28.11."], 2, "YYYY-MM-DD"),
        (["pool", "--from", "2026-11-20", "--to", "2026-11-21"], 1, "no request of it"),
    ],
)
def test_a_mistake_is_answered_in_words(
    settled: Place, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert settled.valleywatch("profit", *arguments) == code
    assert said in capsys.readouterr().err


def test_what_is_not_known_is_said_with_its_reason(copied: Place, capsys: pytest.CaptureFixture[str]) -> None:
    judged(copied, SOURCE + PRICES)
    assert copied.valleywatch("profit") == 0
    seen = capsys.readouterr()
    assert seen.out.splitlines()[2].split()[:1] == ["pool"]
    assert " ?" in seen.out
    assert "no cost of an instance hour is configured for it (3 of 3 hours)" in seen.err


def test_currencies_are_never_added(copied: Place, capsys: pytest.CaptureFixture[str]) -> None:
    begins, noon = "effective_from = 2026-01-01", "2026-11-28T02:00:00Z"
    dollars = PRICES.replace(begins, f"{begins}\neffective_to = {noon}")
    euros = PRICES.replace(begins, f'effective_from = {noon}\ncurrency = "EUR"')
    with copied.warehouse.writer() as writer:
        ask_to_reprice(writer, [DAY])
    judged(copied, SOURCE + dollars + euros + COSTS)
    found = asked(copied, capsys, "pool")
    assert (found["currency"], found["gross_revenue"], found["margin"], found["cost"]) == (None, None, None, None)
    assert found["reasons"]["several_currencies"] == 3
    assert found["instance_hours"] == 3
