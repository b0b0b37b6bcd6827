"""`valleywatch whatif` and `valleywatch waterfall` on published traffic, and what they refuse."""

from __future__ import annotations

import json
from math import fsum
from pathlib import Path
from typing import Any

import duckdb
import pytest

from models import service_time
from tests.conftest import FleetWarehouse
from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

VALLEY = "glm-5-h200"
TWO_DAYS = [request(**row) for row in busy_hours(n_hours=27, per_hour=60, law_of_a_valley=True)]
"""A day and three hours."""
TWO_PRICES = PRICE.replace("2026-01-01", "2026-01-01\neffective_to = 2026-11-29") + PRICE.replace(
    "2026-01-01", "2026-11-29"
).replace("cached_per_mtok = 0.1", "cached_per_mtok = 0.4")


def asked(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert place.valleywatch(*arguments, "--json") == code
    return json.loads(capsys.readouterr().out)


def refusal(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> str:
    capsys.readouterr()
    assert place.valleywatch(*arguments) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


@pytest.fixture(scope="module")
def two_days(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """One deployment over midnight, whose cached tokens cost four times as much on the second day."""
    place = Place(tmp_path_factory.mktemp("two-days"), SOURCE + TWO_PRICES)
    place.write("a.jsonl", TWO_DAYS)
    place.settle()
    return place


def test_whatif_speaks_of_the_same_24_hours_as_status(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fleet_warehouse.place
    statuses = {row["deployment"]: row for row in asked(place, capsys, "status")}
    for deployment in (*fleet_warehouse.truth["deployments"], "agent-chat"):
        found = asked(place, capsys, "whatif", deployment)
        status = statuses[deployment]
        for name in ("hit_rate", "revenue_index", "index_low", "index_high", "floor_hit_rate", "exit_hit_rate", "side"):
            assert found["before"][name] == pytest.approx(status[name]), (deployment, name)
        # status adds hours up, each against its own traffic; here they are one mix.
        assert found["before"]["lost"]["value"] == pytest.approx(status["lost_24h"], rel=0.1)


def test_the_levers_of_a_deployment_in_the_valley_come_ranked_with_money(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(fleet_warehouse.place, capsys, "whatif", VALLEY)
    gains = [lever["gain"]["value"] for lever in found["levers"]]
    assert {"reach_exit", "lower_a", "reprice"} <= {lever["name"] for lever in found["levers"]}
    assert gains == pytest.approx(sorted(gains, reverse=True))
    assert gains[0] == pytest.approx(found["before"]["lost"]["value"])
    slope = found["slope"]
    assert slope["total"] == pytest.approx(slope["fixed_cost"] + slope["attention"] + slope["kv_load"])
    (reprice,) = [lever for lever in found["levers"] if lever["name"] == "reprice"]
    assert reprice["target"] == found["break_even_price_ratio"]


def test_doing_what_a_lever_says_does_what_it_says(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "reach_exit": "--hit-rate",
        "lower_a": "--slope",
        "reprice": "--price-ratio",
        "cut_fixed_cost": "--fixed-cost",
        "cut_kv_load": "--kv-load",
    }
    levers = asked(fleet_warehouse.place, capsys, "whatif", "agent-offload")["levers"]
    assert len(levers) >= 3
    for lever in levers:
        option = options[lever["name"]]
        found = asked(fleet_warehouse.place, capsys, "whatif", "agent-offload", option, repr(lever["target"]))
        assert found["after"]["revenue_index"] == pytest.approx(lever["index"]["value"], rel=1e-9)
        assert found["gain"]["value"] == pytest.approx(lever["gain"]["value"], rel=1e-9)
        gained = found["after"]["revenue"] - found["before"]["revenue"]
        assert gained == pytest.approx(found["gain"]["value"], rel=1e-9)


def test_whatif_of_a_day_is_of_its_traffic_and_its_prices(two_days: Place, capsys: pytest.CaptureFixture[str]) -> None:
    first = asked(two_days, capsys, "whatif", "pool", "--day", "2026-11-28")
    second = asked(two_days, capsys, "whatif", "pool", "--day", "2026-11-29")
    assert (first["before"]["price_ratio"], second["before"]["price_ratio"]) == (0.1, 0.4)
    assert (first["from_utc"], first["to_utc"]) == ("2026-11-28T00:00:00+00:00", "2026-11-29T00:00:00+00:00")
    n = two_days.rows("select sum(n_requests)::bigint as n from hourly_hit_rate where hour_utc < '2026-11-29'")
    assert first["n_requests"] == n[0]["n"]


def test_24_hours_across_a_change_of_prices_are_sold_at_what_was_paid(
    two_days: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(two_days, capsys, "whatif", "pool")
    (paid,) = two_days.rows(
        "select sum(miss_tokens * input_per_mtok + cached_tokens * cached_per_mtok) / 1e6 as money, "
        "sum(cached_tokens * cached_per_mtok) / sum(cached_tokens * input_per_mtok) as ratio "
        "from valley_status join hourly_hit_rate using (deployment, hour_utc) where hour_utc >= '2026-11-28 03:00'"
    )
    assert found["before"]["revenue"] == pytest.approx(paid["money"], rel=1e-9)
    assert found["before"]["price_ratio"] == pytest.approx(paid["ratio"], rel=1e-9)
    assert 0.1 < paid["ratio"] < 0.4


def test_packing_is_a_lever_where_the_curve_has_a_chunk_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(tmp_path / "chunks", SOURCE + PRICE)
    place.write("a.jsonl", TWO_DAYS)
    place.settle()
    assert "pack_tail_chunks" not in {one["name"] for one in asked(place, capsys, "whatif", "pool")["levers"]}
    with duckdb.connect(str(place.warehouse.folder / "warehouse.duckdb")) as connection:
        connection.execute("update mart.throughput_curve set chunk_tokens = 8192")
    with place.warehouse.writer() as writer:
        writer.publish()
    levers = {one["name"]: one for one in asked(place, capsys, "whatif", "pool", "--day", "2026-11-29")["levers"]}
    sizes = [
        row["input_tokens"] - row["cached_tokens"] for row in TWO_DAYS if row["timestamp"].startswith("2026-11-29")
    ]
    fill = sum(sizes) / 8192 / sum(max(1, -(-miss // 8192)) for miss in sizes)
    packed = levers["pack_tail_chunks"]
    assert packed["target"] == pytest.approx(packed["now"] * fill)
    assert packed["gain"]["value"] > 0


def test_a_hit_rate_that_was_never_measured_is_said_to_be_extrapolated(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fleet_warehouse.place
    low, high = asked(place, capsys, "whatif", VALLEY)["measured_hit_rates"]
    for x, is_told in ((low - 0.01, True), (low + 0.01, False), (high - 0.01, False), ((1 + high) / 2, True)):
        capsys.readouterr()
        assert place.valleywatch("whatif", VALLEY, "--hit-rate", str(x)) == 0
        assert ("is extrapolated" in capsys.readouterr().err) is is_told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("glm-5-h20",),
            "no deployment 'glm-5-h20' has traffic in the published snapshot (did you mean 'glm-5-h200'?)",
        ),
        ((VALLEY, "--price-ratio", "1.5"), "--price-ratio 1.5 is out of range: give a ratio from 0 to 1"),
        ((VALLEY, "--hit-rate", "1"), "--hit-rate 1 is out of range: give 0 <= x < 1"),
        ((VALLEY, "--slope", "1"), "--slope 1 is out of range: give a number below 1"),
        ((VALLEY, "--slope", "nan"), "--slope nan is out of range"),
        ((VALLEY, "--kv-load", "-1"), "--kv-load -1 is out of range: give a number >= 0"),
        ((VALLEY, "--attention", "inf"), "--attention inf is out of range"),
        ((VALLEY, "--slope", ".2", "--fixed-cost", "0"), "contradict each other: slope 0.2"),
        ((VALLEY, "--day", "yesterday"), "'yesterday' is no date"),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, tuple) else "",
)
def test_whatif_refuses_what_cannot_be(
    fleet_warehouse: FleetWarehouse, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(fleet_warehouse.place, capsys, "whatif", *arguments, code=2)


def test_where_nothing_was_served_nothing_is_said(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(fleet_warehouse.place, capsys, "whatif", VALLEY, "--day", "2026-11-20", code=1)
    assert "2026-11-20T00:00Z to 2026-11-21T00:00Z: cannot tell, because no request of it reports" in said


@pytest.mark.parametrize(
    ("config", "reasons", "why"),
    [
        (SOURCE + PRICE, ["too_few"], "there are too few requests"),
        (SOURCE, ["no_price"], "no price is configured for its traffic"),
    ],
    ids=["curve", "price"],
)
def test_a_curve_or_a_price_that_lacks_is_no_verdict(
    place: Place, config: str, reasons: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(config)
    place.write("a.jsonl", [request(**row) for row in busy_hours(n_hours=1, per_hour=20)])
    place.settle()
    for command in (("whatif", "pool"), ("waterfall", "pool", "--from", "2026-11-28", "--to", "2026-11-28")):
        assert why in refusal(place, capsys, *command, code=1)
        assert asked(place, capsys, *command, code=1) == {"deployment": "pool", "reasons": reasons}


def test_without_any_traffic_the_command_says_what_to_do(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.ingest()
    assert "it knows none yet: see `valleywatch run`" in refusal(place, capsys, "whatif", "pool", code=2)


def waterfall(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found = asked(place, capsys, "waterfall", *arguments)
    change = found["after"]["revenue_per_busy_hour"] - found["before"]["revenue_per_busy_hour"]
    assert found["change"] == pytest.approx(change)
    assert fsum(found["parts"].values()) == pytest.approx(change, abs=1e-9 * found["before"]["revenue_per_busy_hour"])
    return found


def test_between_two_hours_the_hit_rate_explains_the_fall_into_the_valley(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    found = waterfall(fleet_warehouse.place, capsys, VALLEY, "--from", "2026-11-28T02", "--to", "2026-11-28T14")
    assert found["change"] < 0
    assert min(found["parts"], key=found["parts"].get) == "hit_rate"
    assert found["parts"]["price"] == found["parts"]["curve"] == 0


def test_between_two_days_a_new_price_is_told_apart_from_the_traffic(
    two_days: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    found = waterfall(two_days, capsys, "pool", "--from", "2026-11-28", "--to", "2026-11-29")
    (price, other) = found["parts"]["price"], found["change"] - found["parts"]["price"]
    assert price > 10 * abs(other)
    busy = two_days.rows("select sum(busy_us) / 1e6 as s from busy_periods where minute_utc < '2026-11-29'")[0]["s"]
    assert found["before"]["busy_s"] == pytest.approx(busy)
    assert found["before"]["modelled_busy_s"] == pytest.approx(busy, rel=0.02)
    (curve,) = two_days.rows("select * from throughput_curve where day_utc = '2026-11-28'")
    law = service_time.ServiceTime(*(curve[name] for name in "fcqk"))
    assert found["before"]["modelled_busy_s"] > 24 * 60 * law.f


def test_weeks_hold_all_their_days(two_days: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = waterfall(two_days, capsys, "pool", "--from", "2026-11-22", "--to", "2026-11-28", "--days", "7")
    assert found["before"]["n_requests"] < found["after"]["n_requests"] == len(TWO_DAYS)
    assert found["after"]["to_utc"] == "2026-12-05T00:00:00+00:00"


def test_a_log_without_instances_has_no_residual(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [request(**row, instance=None) for row in busy_hours(n_hours=24, per_hour=100)]
    place.write("a.jsonl", rows)
    place.settle()
    found = waterfall(place, capsys, "pool", "--from", "2026-11-28T02", "--to", "2026-11-28T03")
    assert found["before"]["busy_s"] is None
    assert found["parts"]["residual"] == found["parts"]["volume"] == 0
    assert place.valleywatch("waterfall", "pool", "--from", "2026-11-28T02", "--to", "2026-11-28T03") == 0
    assert "because the log names no instance" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "2026-11-28", "--to", "soon"), "'soon' is no date"),
        (("--from", "2026-11-28T25", "--to", "2026-11-28"), "'2026-11-28T25' is neither day nor hour"),
        (("--from", "2026-11-28", "--to", "2026-11-29", "--days", "0"), "--days 0 is out of range: give 1 to 366"),
        (("--from", "2026-11-28T02", "--to", "2026-11-29", "--days", "7"), "--days 7 goes with days"),
    ],
    ids=["no date", "no hour", "no days", "days of hours"],
)
def test_waterfall_refuses_what_is_no_period(
    place: Place, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(place, capsys, "waterfall", "pool", *arguments, code=2)


def test_names_from_logs_are_shown_not_obeyed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    name = "pool\x1b[31m'; drop table x; --"
    place.write("a.jsonl", [request(1, deployment=name)])
    place.settle()
    said = refusal(place, capsys, "whatif", name, code=1)
    assert "\x1b" not in said
    assert "\\x1b[31m'; drop table x; --" in said
