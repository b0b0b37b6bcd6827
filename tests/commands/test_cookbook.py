"""The cookbook: every question has an answer of the shape its header says, and money is the product's own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.adhoc.cookbook import questions
from pipelines.queries import load
from tests.conftest import FleetWarehouse
from tests.place import ABSENT, NOW, Place, request

Asked = Callable[..., list[dict[str, Any]]]


def ask(place: Place, name: str, **values: Any) -> list[dict[str, Any]]:
    """Ask a question of the cookbook in Python's own values."""
    question = questions()[name]
    with place.warehouse.reader() as reader:
        answer = reader.answer(question.text, question.bound([f"{key}={value}" for key, value in values.items()]))
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]


@pytest.fixture(scope="module")
def fleet(fleet_warehouse: FleetWarehouse) -> Asked:
    return lambda name, **values: ask(fleet_warehouse.place, name, **values)


@pytest.fixture
def said(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command of the product says of the same fleet."""

    def say(*arguments: str) -> Any:
        capsys.readouterr()
        assert fleet_warehouse.place.valleywatch(*arguments, "--json") == 0
        return json.loads(capsys.readouterr().out)

    return say


def test_the_cookbook_has_questions() -> None:
    assert len(questions()) >= 25
    assert all(entry.question.endswith("?") for entry in questions().values())


@pytest.mark.parametrize("name", questions())
def test_an_answer_has_rows_and_the_columns_its_header_says(name: str, fleet_warehouse: FleetWarehouse) -> None:
    question = questions()[name]
    with fleet_warehouse.place.warehouse.reader() as reader:
        answer = reader.answer(question.text, question.bound([]))
        assert answer.columns == list(load(f"adhoc/{name}").comments)
        assert list(answer.rows())


@pytest.mark.parametrize("price_ratio", [0.0, 0.05, 0.3])
def test_another_price_ratio_earns_what_whatif_says(fleet: Asked, said: Callable[..., Any], price_ratio: float) -> None:
    rows = fleet("price_ratio", price_ratio=price_ratio)
    assert len(rows) == 5
    for row in rows:
        whatif = said("whatif", row["deployment"], "--price-ratio", str(price_ratio))
        before, after = whatif["before"], whatif["after"]
        found = [row[name] for name in ("hit_rate", "price_ratio", "revenue", "revenue_index")]
        assert found == pytest.approx(
            [before[name] for name in ("hit_rate", "price_ratio", "revenue", "revenue_index")]
        )
        assert [row["revenue_then"], row["index_then"]] == pytest.approx([after["revenue"], after["revenue_index"]])
        assert row["earns_more"] == pytest.approx(after["revenue"] - before["revenue"], abs=1e-9)


def test_hits_cost_what_status_says(fleet: Asked, said: Callable[..., Any]) -> None:
    losers = {row["deployment"]: row["lost_24h"] for row in said("status") if row["lost_24h"] > 0}
    rows = fleet("lost_to_hits")
    assert {row["deployment"]: row["hits_cost"] for row in rows} == pytest.approx(losers)
    assert all(row["hits_cost_low"] < row["hits_cost"] < row["hits_cost_high"] for row in rows)
    by_hour = fleet("loss_by_hour_of_day", deployment="glm-5-h200")
    assert sum(row["cache_value"] for row in by_hour) == pytest.approx(-losers["glm-5-h200"])
    assert sum(row["earned"] - row["lost"] for row in by_hour) == pytest.approx(-losers["glm-5-h200"])


def test_margins_and_discounts_are_those_of_profit(fleet: Asked, said: Callable[..., Any]) -> None:
    profits = {row["deployment"]: row for row in said("profit")}
    margins = fleet("margins")
    assert {row["deployment"] for row in margins} == set(profits)
    for row in margins:
        profit = profits[row["deployment"]]
        loss_hours = profit["loss_hours"] if row["n_known_hours"] else None
        assert (row["margin"], row["n_loss_hours"]) == (pytest.approx(profit["margin"]), loss_hours)
    for row in fleet("discount_against_savings"):
        profit = profits[row["deployment"]]
        assert row["discount_given"] == pytest.approx(profit["discount_given"])
        assert row["saved_busy_hours"] * 3600 == pytest.approx(profit["saved_busy_s"])
        assert row["cache_value"] == pytest.approx(profit["cache_value"])
    for row in fleet("revenue_by_model"):
        assert row["gross_revenue"] == pytest.approx(profits[row["deployment"]]["gross_revenue"])


def test_bands_of_lengths_add_up_to_the_index_of_whatif(fleet: Asked, said: Callable[..., Any]) -> None:
    for deployment in ("glm-5-h200", "chat-short"):
        bands = fleet("index_by_length", deployment=deployment)
        assert len(bands) > 1
        revenue, busy, without = (
            sum(row[name] for row in bands) for name in ("revenue", "busy_s", "busy_without_cache_s")
        )
        revenue_without = sum(
            row["revenue"] * row["busy_without_cache_s"] / row["busy_s"] / row["revenue_index"] for row in bands
        )
        whatif = said("whatif", deployment)["before"]
        assert revenue == pytest.approx(whatif["revenue"])
        assert (revenue / busy) / (revenue_without / without) == pytest.approx(whatif["revenue_index"])


def test_a_point_of_hit_rate_is_worth_what_whatif_says(fleet: Asked, said: Callable[..., Any]) -> None:
    """Of the deployment with traffic in a single hour, which is its day."""
    (row,) = [row for row in fleet("one_more_point") if row["deployment"] == "agent-chat"]
    assert row["earns_per_hour"] == pytest.approx(said("whatif", "agent-chat")["marginal_point"]["value"])


def test_episodes_and_worst_hours_cost_what_the_views_say(fleet: Asked, said: Callable[..., Any]) -> None:
    told = {row["deployment"]: row["lost_total"] for row in said("episodes")}
    assert {row["deployment"]: row["lost_total"] for row in fleet("episodes_by_loss")} == pytest.approx(told)
    losses = [row["lost_per_hour"] for row in fleet("worst_hours")]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] > 0


def test_distributions_are_those_of_the_requests(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    rows = fleet_warehouse.place.rows(
        "select extract(hour from arrived_at) as hour, input_tokens, cached_tokens from requests "
        "where outcome = 'ok' and cached_tokens is not null and input_tokens > 0"
    )
    bands = {
        hour: Counter(
            5 if row["cached_tokens"] == row["input_tokens"] else row["cached_tokens"] * 5 // row["input_tokens"]
            for row in rows
            if row["hour"] == hour
        )
        for hour in (2, 14)
    }
    found = fleet("hit_rates_by_time_of_day")
    assert [row["n_first"] for row in found] == [bands[2][round(row["from_hit_rate"] * 5)] for row in found]
    assert [row["n_second"] for row in found] == [bands[14][round(row["from_hit_rate"] * 5)] for row in found]
    assert sum(row["share_second"] for row in found) == pytest.approx(1)
    for row in fleet("tokens_over_99"):
        those = [of for of in rows if of["hour"] // 3 * 3 == row["from_hour"]]
        over = [of for of in those if of["cached_tokens"] >= 0.99 * of["input_tokens"]]
        assert (row["n_requests"], row["input_tokens"]) == (len(those), sum(of["input_tokens"] for of in those))
        assert row["share_of_tokens"] == pytest.approx(
            sum(of["input_tokens"] for of in over) / row["input_tokens"], rel=1e-12
        )


def test_the_tail_is_the_slowest_share_of_each_deployment(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    requests = fleet_warehouse.place.rows(
        "select deployment, session_id, ttft_us from requests where outcome = 'ok' and ttft_us is not null "
        "order by ttft_us desc, request_id"
    )
    tails: Counter[tuple[str, str]] = Counter()
    for deployment in {row["deployment"] for row in requests}:
        slow = [row for row in requests if row["deployment"] == deployment]
        tails.update((row["deployment"], row["session_id"]) for row in slow[: len(slow) // 100])
    found = {(row["deployment"], row["session_id"]): row["n_in_tail"] for row in fleet("tail_sessions")}
    assert found == {key: tails[key] for key in found}
    assert min(found.values()) >= max(count for key, count in tails.items() if key not in found)


def test_who_would_notice_a_price_change_pays_by_the_token(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    first = fleet("price_change_by_session", change=0.5)[0]
    (tokens,) = fleet_warehouse.place.rows(
        "select sum(miss_tokens) as miss, sum(cached_tokens) as cached from requests "
        f"where outcome = 'ok' and deployment = 'coder-b200' and session_id = '{first['session_id']}'"
    )
    assert first["deployment"] == "coder-b200"
    assert first["bill"] == pytest.approx((1.40 * tokens["miss"] + 0.26 * tokens["cached"]) / 1e6)
    assert first["more"] == pytest.approx(0.5 * 0.26 * float(tokens["cached"]) / 1e6)


def test_every_request_is_inside_or_outside_the_busy_share(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    (all_of,) = fleet_warehouse.place.rows("select count(*) as n from requests")
    for busy_share, outside in ((0.0, 0), (2.0, all_of["n"])):
        rows = fleet("requests_outside_busy_share", busy_share=busy_share)
        assert sum(row["n_requests"] for row in rows) == all_of["n"]
        assert sum(row["n_outside"] for row in rows) == outside


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Little traffic: an hour that is held, a refused line, a session that computes again, one that failed."""
    place = Place(tmp_path_factory.mktemp("small"))
    place.write(
        "a.jsonl",
        [
            request(1, session_id="s", input_tokens=1000, cached_tokens=0),
            request(2, session_id="s", input_tokens=1500, cached_tokens=600, timestamp="2026-11-28T10:16:00Z"),
            request(3, session_id="t", cached_tokens=ABSENT),
            request(4, status=500),
            request(5, input_tokens=-1),
        ],
    )
    place.settle()
    return place


def test_what_was_refused_is_counted_by_source(small: Place) -> None:
    (row,) = ask(small, "quarantine_by_source")
    assert (row["source_name"], row["n_files"], row["n_lines"], row["lines"], row["share"]) == ("gateway", 1, 1, 5, 0.2)
    (reason,) = small.rows("select reason from quarantine")
    assert row["reason"] == reason["reason"]


def test_lateness_is_from_arrival_to_load(small: Place) -> None:
    (row,) = ask(small, "late_lines")
    assert row["n_lines"] == 4
    assert row["newest_loaded_at"] == NOW.replace(tzinfo=None)
    assert row["longest_late_s"] == 25.75 * 3600


def test_held_hours_say_why(small: Place, fleet: Asked) -> None:
    (row,) = ask(small, "held_hours")
    (status,) = small.rows("select reasons from valley_status")
    assert (row["n_held"], row["n_hours"], row["reasons"]) == (1, 1, status["reasons"])
    assert [row["n_held"] for row in fleet("held_hours")] == [0] * 5


def test_what_a_session_computes_again_is_within_what_it_had(small: Place) -> None:
    (row,) = ask(small, "missing_sessions")
    assert (row["session_id"], row["n_requests"], row["computed_again"]) == ("s", 2, 400)


def test_failures_and_coverage_are_of_all_requests(small: Place) -> None:
    (failed,) = ask(small, "requests_by_status")
    assert (failed["status"], failed["n_requests"], failed["share"]) == ("500", 1, 0.25)
    (covered,) = ask(small, "coverage")
    assert (covered["n_requests"], covered["n_reported"], covered["coverage"]) == (3, 2, pytest.approx(2 / 3))


def test_a_parameter_is_typed_and_checked(small: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert small.valleywatch("sql", "coverage", "--set", "days=3", "--csv") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    for value, words in (
        ("day=3", "did you mean 'days'?"),
        ("days=x", "is not a whole number"),
        ("days", "it takes days=7"),
    ):
        assert small.valleywatch("sql", "coverage", "--set", value) == 2
        assert words in capsys.readouterr().err
    assert small.valleywatch("sql", "select 1", "--set", "days=3") == 2
    assert "--set is for questions of the cookbook" in capsys.readouterr().err


def test_a_name_that_is_no_question_is_told_its_nearest(small: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert small.valleywatch("sql", "coverag") == 2
    assert "did you mean 'coverage'?" in capsys.readouterr().err
    assert small.valleywatch("sql", "valley_status") == 2
    assert "`from valley_status`" in capsys.readouterr().err


def test_the_cookbook_is_listed_without_a_warehouse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Place(tmp_path / "place").valleywatch("sql", "--cookbook", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["question"] for row in listed} == {
        name: entry.question for name, entry in questions().items()
    }


def test_costs_by_time_of_day_add_up_to_those_of_profit(fleet: Asked, said: Callable[..., Any]) -> None:
    costs = [row["cost"] for row in said("profit") if row["cost"] is not None]
    rows = fleet("cost_per_mtok")
    assert sum(row["cost"] for row in rows) == pytest.approx(sum(costs))
    assert all(row["cost_per_mtok"] == pytest.approx(row["cost"] / row["tokens_m"]) for row in rows)


def test_the_break_even_ratio_brings_the_line_to_one(fleet: Asked) -> None:
    for row in fleet("break_even_ratios"):
        x, a, r = row["hit_rate"], row["a"], row["break_even_price_ratio"]
        assert (1 - a * x) * (1 - (1 - r) * x) / (1 - x) == pytest.approx(1)
        assert (row["line_index"] < 1) == (row["price_ratio"] < r)


def test_the_nearest_exit_comes_first_and_none_comes_last(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    rows = fleet("nearest_exit")
    assert len(rows) == 5
    distances = [abs(row["to_go"]) for row in rows if row["to_go"] is not None]
    assert distances == sorted(distances)
    assert [row["to_go"] is None for row in rows] == sorted(row["to_go"] is None for row in rows)
    newest = fleet_warehouse.place.rows("select deployment, max(hour_utc) as hour_utc from valley_status group by all")
    assert {row["deployment"]: row["hour_utc"] for row in rows} == {
        row["deployment"]: row["hour_utc"] for row in newest
    }


def test_alerts_without_a_channel_are_told_as_such(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    recorded = fleet_warehouse.place.rows("select deployment, kind, hour_utc from alert_outbox order by hour_utc desc")
    assert [(row["deployment"], row["kind"], row["hour_utc"], row["status"]) for row in fleet("alerts_and_fate")] == [
        (row["deployment"], row["kind"], row["hour_utc"], None) for row in recorded
    ]


def test_prices_in_force_are_those_of_the_configuration(fleet: Asked, fleet_warehouse: FleetWarehouse) -> None:
    configured = fleet_warehouse.place.rows("select deployment, input_per_mtok, cached_per_mtok from price_book")
    assert {row["deployment"]: (row["input_per_mtok"], row["cached_per_mtok"]) for row in fleet("price_lists")} == {
        row["deployment"]: (row["input_per_mtok"], row["cached_per_mtok"]) for row in configured
    }


def test_days_are_counted_from_the_newest_hour_and_bound_what_is_read(tmp_path: Path) -> None:
    place = Place(tmp_path / "place")
    place.write(
        "a.jsonl",
        [request(n, timestamp=f"2026-11-{day}T23:15:00Z") for n, day in enumerate((20, 21, 27, 28), start=1)],
    )
    place.settle()
    for days, n_requests in ((1, 1), (2, 2), (8, 3), (9, 4)):
        for name in ("instances", "coverage"):
            assert [row["n_requests"] for row in ask(place, name, days=days)] == [n_requests]
    question = questions()["instances"]
    with place.warehouse.reader() as reader:
        for days, n_files in ((1, 1), (9, 4)):
            plan = reader.answer(f"explain analyze {question.text}", question.bound([f"days={days}"])).rows()
            scanned = re.findall(r"Row Groups Scanned: (\d+) / (\d+)", "".join(str(row) for row in plan))
            # A file of another day is not even opened: it is no part of what could be scanned.
            assert (str(n_files), str(n_files)) in scanned
