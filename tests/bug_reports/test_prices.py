"""Bug reports A 12 and 13: a price that is not known is not zero, and a sum that lacks a part says so."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours


def status_of(place: Place, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    assert place.valleywatch("status", "--json") == 0
    return {row["deployment"]: row for row in json.loads(capsys.readouterr().out)}


def around_midnight(n_hours: int) -> list[dict[str, Any]]:
    """Traffic of which half is before the midnight at which a price begins to hold."""
    return [
        row | {"timestamp": (datetime.fromisoformat(row["timestamp"]) - timedelta(hours=n_hours // 2)).isoformat()}
        for row in busy_hours(n_hours=n_hours, per_hour=150, law_of_a_valley=True)
    ]


def test_eidan_203_a_deployment_without_a_price_costs_an_unknown_amount_not_nothing(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(SOURCE + PRICE.replace('"*"', '"pool"'))
    traffic = busy_hours(n_hours=4, per_hour=150, law_of_a_valley=True)
    place.write("a.jsonl", [request(**row) for row in traffic])
    place.write("b.jsonl", [request(**row, deployment="x-new-1") for row in traffic])
    place.settle()
    found = status_of(place, capsys)
    assert (found["pool"]["reasons"], found["x-new-1"]["reasons"]) == (["no_exit"], ["no_price"])
    assert found["x-new-1"]["lost_24h"] is None
    assert found["pool"]["lost_24h"] > 0
    assert place.rows("select count(lost_per_hour) as n from valley_status where deployment = 'x-new-1'") == [{"n": 0}]


def test_eidan_203_the_cost_of_a_day_that_is_priced_in_part_is_marked_as_a_part(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(SOURCE + PRICE.replace("2026-01-01", "2026-11-28"))
    rows = around_midnight(4)
    place.write("a.jsonl", [request(**row) for row in rows])
    place.settle()
    pool = status_of(place, capsys)["pool"]
    known = place.rows("select sum(lost_per_hour) as lost, count(lost_per_hour) as n, count(*) as hours "
                       "from valley_status")[0]  # fmt: skip
    assert (pool["lost_24h"], pool["lost_hours"], pool["traffic_hours"]) == (pytest.approx(known["lost"]), 2, 4)
    assert (known["n"], known["hours"]) == (2, 4)
    assert place.valleywatch("status") == 0
    assert " USD in 2 of 4 hours " in capsys.readouterr().out
    assert place.valleywatch("report") == 0
    (path,) = (place.warehouse.folder / "report").glob("d-*.html")
    page = path.read_text()
    assert "in 2 of its last 4 hours of traffic; of the others it is not known." in page
    assert "(2 of 4 hours)" in re.sub("<[^>]*>", "", page)


def test_eidan_203_hours_in_another_currency_are_not_added(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    euro = PRICE.replace("2026-01-01", "2026-11-28") + 'currency = "EUR"\n'
    place.configure(SOURCE + PRICE + euro)
    rows = around_midnight(8)
    place.write("a.jsonl", [request(**row) for row in rows])
    place.settle()
    pool = status_of(place, capsys)["pool"]
    known = place.rows("select currency, sum(lost_per_hour) as lost, count(lost_per_hour) as n from valley_status "
                       "group by all order by all")  # fmt: skip
    assert [(row["currency"], row["n"]) for row in known] == [("EUR", 4), ("USD", 4)]
    assert (pool["currency"], pool["lost_24h"], pool["lost_hours"]) == ("EUR", pytest.approx(known[0]["lost"]), 4)
    assert pool["traffic_hours"] == 8
