"""Where there is no verdict: each lack has its reason, and what is not known is NULL, never 0."""

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pipelines.alerts.record import judge_day
from pipelines.prices.memory import ask_to_reprice
from pipelines.settings import load_settings
from tests.conftest import FleetWarehouse
from tests.place import ABSENT, NOW, PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

DAY = 20785
"""2026-11-28 in whole days since 1970-01-01."""
PRICED = (
    "price_ratio", "revenue_index", "index_low", "index_high", "p_in_valley", "floor_hit_rate", "exit_hit_rate",
    "floor_depth", "p_valley", "lost_per_hour", "currency", "side",
)  # fmt: skip


def judged(place: Place, config: str) -> Place:
    """Judge the day anew under another configuration, its prices included."""
    place.configure(config)
    with place.warehouse.writer() as writer:
        ask_to_reprice(writer, [DAY])
        judge_day(writer, DAY, load_settings(place.config), NOW)
        writer.publish()
    return place


def status(place: Place, deployment: str) -> list[dict[str, Any]]:
    return place.rows(f"select * from valley_status where deployment = '{deployment}' order by hour_utc")


def test_without_a_price_nothing_is_known_and_nothing_is_zero(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = fleet_warehouse.place.config.read_text().replace('deployment = "glm-5-h200"', 'deployment = "other"')
    place = judged(fleet_warehouse.copy(tmp_path / "copy"), config)
    rows = status(place, "glm-5-h200")
    assert {row["state"] for row in rows} == {"unknown"}
    assert {row["reasons"] for row in rows} == {"no_price"}
    assert {row[column] for row in rows for column in PRICED} == {None}
    assert all(row["hit_rate"] > 0 for row in rows)
    assert place.valleywatch("status", "--json") == 0
    verdict = {row["deployment"]: row for row in json.loads(capsys.readouterr().out)}["glm-5-h200"]
    known = ("revenue_index", "lost_24h", "price_ratio", "floor_hit_rate", "lever")
    assert {verdict[key] for key in known} == {None}
    assert verdict["state"] == "unknown"
    assert verdict["reasons"] == ["no_price"]
    assert place.valleywatch("status") == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("glm-5-h200"))
    cells = re.split(r"  +", row)
    assert cells == [
        "glm-5-h200",
        "2026-11-28 23:00",
        "0.624",
        "?",
        "?",
        "unknown",
        "?",
        "because no price is configured for its traffic",
    ]


def test_a_price_of_another_time_is_no_price(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    config = fleet_warehouse.place.config.read_text().replace(
        "effective_from = 2026-01-01", "effective_from = 2026-11-29"
    )
    rows = status(judged(fleet_warehouse.copy(tmp_path / "copy"), config), "coder-b200")
    assert {(row["state"], row["reasons"]) for row in rows} == {("unknown", "no_price")}


def test_a_higher_price_of_cached_tokens_ends_the_valley(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    config = fleet_warehouse.place.config.read_text().replace("cached_per_mtok = 0.14", "cached_per_mtok = 0.70")
    place = judged(fleet_warehouse.copy(tmp_path / "copy"), config)
    rows = status(place, "glm-5-h200")
    assert {row["state"] for row in rows} == {"no_valley"}
    assert {row["floor_hit_rate"] for row in rows} == {None}
    assert place.rows("select * from valley_episodes where deployment = 'glm-5-h200'") == []


def test_in_a_fixed_fleet_only_hours_at_capacity_are_evaluated(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    config = fleet_warehouse.place.config.read_text().replace('capacity = "elastic"', 'capacity = "fixed"')
    rows = status(judged(fleet_warehouse.copy(tmp_path / "copy"), config), "glm-5-h200")
    assert {row["regime"] for row in rows} == {"capacity_limited", "demand_limited"}
    assert [row["is_held"] for row in rows] == [row["regime"] == "demand_limited" for row in rows]
    assert all((row["busy_share"] >= 0.7) is (row["regime"] == "capacity_limited") for row in rows)


def test_judging_twice_writes_no_alert_twice(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    place = fleet_warehouse.copy(tmp_path / "copy")
    assert judged(place, place.config.read_text()).views() == fleet_warehouse.place.views()


def test_deployments_judged_a_few_at_a_time_are_judged_alike(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.alerts.record.HOURS_AT_ONCE", 30)
    place = fleet_warehouse.copy(tmp_path / "copy")
    judged(place, place.config.read_text())
    for view in ("valley_status", "valley_episodes"):
        query = f"select * from {view} order by all"
        assert place.rows(query) == fleet_warehouse.place.rows(query)


def test_a_new_policy_version_opens_new_episodes(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    place = fleet_warehouse.copy(tmp_path / "copy")
    before = {row["dedup_key"] for row in place.rows("select dedup_key from valley_episodes")}
    after = judged(place, place.config.read_text() + "version = 2\n")
    keys = {row["dedup_key"] for row in after.rows("select dedup_key from valley_episodes")}
    assert len(keys) == len(before) == 2
    assert not keys & before


@pytest.mark.parametrize(
    ("rows", "hour_reasons", "curve_reasons"),
    [
        pytest.param(busy_hours(n_hours=4, per_hour=150), set(), set(), id="enough of everything"),
        pytest.param(
            busy_hours(n_hours=1, per_hour=20), {"low_traffic", "too_few"}, {"too_few"}, id="too few requests"
        ),
        pytest.param(
            busy_hours(n_hours=4, per_hour=150, reported=0.5), {"low_coverage"}, {"low_coverage"}, id="low coverage"
        ),
        pytest.param(
            busy_hours(n_hours=4, per_hour=150, reported=0.0),
            {"not_reported"},
            {"low_coverage"},
            id="cached tokens never reported",
        ),
        pytest.param(
            [row | {"instance": ABSENT} for row in busy_hours(n_hours=4, per_hour=150)],
            {"no_timing"},
            {"no_timing"},
            id="no instance",
        ),
        pytest.param(
            [row | {"ttft_ms": ABSENT} for row in busy_hours(n_hours=4, per_hour=150)],
            {"no_timing"},
            {"no_timing"},
            id="no time to first token",
        ),
        pytest.param(
            busy_hours(n_hours=4, per_hour=150, hit_rates=(0.5, 0.52)),
            {"narrow_hit_range"},
            {"narrow_hit_range"},
            id="one hit rate",
        ),
    ],
)
def test_what_is_lacking_is_said(
    place: Place, rows: Iterable[dict[str, Any]], hour_reasons: set[str], curve_reasons: set[str]
) -> None:
    place.write("a.jsonl", (request(**row) for row in rows))
    place.settle()
    curve = place.rows("select trustworthy, reasons from throughput_curve where day_utc = '2026-11-28'")[0]
    assert curve_reasons <= set(filter(None, curve["reasons"].split(",")))
    assert curve["trustworthy"] is not bool(curve_reasons)
    for row in place.rows("select * from valley_status where hour_utc < '2026-11-29'"):
        assert hour_reasons <= set(filter(None, row["reasons"].split(",")))
        if hour_reasons:
            assert row["state"] == "unknown"
            assert row["is_held"]
            assert row["p_in_valley"] is None
        else:
            assert row["revenue_index"] is not None
    if hour_reasons:
        assert place.rows("select * from valley_episodes") == []
        assert place.rows("select * from alert_outbox") == []


def test_a_quiet_hour_between_busy_ones_holds_the_state(place: Place) -> None:
    rows = busy_hours(n_hours=5, per_hour=150, law_of_a_valley=True)
    quiet = [row for row in rows if "T02:" not in row["timestamp"]]
    quiet += [row for row in rows if "T02:" in row["timestamp"]][:10]
    place.write("a.jsonl", (request(**row) for row in quiet))
    place.settle()
    found = {row["hour_utc"].hour: row for row in status(place, "pool")}
    assert [found[hour]["state"] for hour in range(5)] == ["unknown", *["in_valley"] * 4]
    assert [found[hour]["is_held"] for hour in range(5)] == [False, False, True, False, False]
    assert found[2]["reasons"].split(",")[0] == "low_traffic"
    assert len(place.rows("select * from alert_outbox")) == 1


def test_an_unpriced_deployment_does_not_borrow_the_glob_of_another(place: Place) -> None:
    place.configure(SOURCE + PRICE.replace('"*"', '"pool-*"'))
    place.write("a.jsonl", (request(**row) for row in busy_hours(n_hours=4, per_hour=150)))
    place.settle()
    assert {row["reasons"] for row in status(place, "pool")} == {"no_price"}


def test_an_exact_name_is_priced_before_a_glob_and_later_before_earlier(place: Place) -> None:
    exact = PRICE.replace('"*"', '"pool"').replace("0.1", "0.2")
    later = exact.replace("2026-01-01", "2026-06-01").replace("0.2", "0.3")
    place.configure(SOURCE + PRICE + exact + later)
    place.write("a.jsonl", (request(**row) for row in busy_hours(n_hours=2, per_hour=40)))
    place.settle()
    assert {row["price_ratio"] for row in status(place, "pool")} == {0.3}


def test_dice_of_the_traffic_are_seeded() -> None:
    state = random.getstate()
    assert busy_hours(n_hours=1, per_hour=5) == busy_hours(n_hours=1, per_hour=5)
    assert random.getstate() == state


@pytest.mark.parametrize(
    ("log_format", "line", "reason"),
    [
        ("canonical", request(1, status=503), "all_failed"),
        ("aiperf", {"metadata": {"request_start_ns": 1795860900 * 10**9, "benchmark_phase": "warmup"}, "metrics": {},
                    "error": None}, "all_left_out"),
    ],
)  # fmt: skip
def test_an_hour_in_which_no_request_counts_says_whether_they_failed_or_were_left_out(
    place: Place, log_format: str, line: dict[str, Any], reason: str
) -> None:
    place.configure(SOURCE.replace('"canonical"', f'"{log_format}"') + 'deployment = "pool"\n' + PRICE)
    place.write("a.jsonl", [line])
    place.settle()
    (row,) = place.rows("select state, reasons from valley_status")
    assert (row["state"], row["reasons"].split(",")[0]) == ("unknown", reason)
