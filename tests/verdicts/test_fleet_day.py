"""The whole job on a day whose right answers are known: what it says against what the engines did."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FleetWarehouse
from tests.place import Place

DEPLOYMENTS = ("glm-5-h200", "coder-b200", "chat-short", "agent-offload")
ENOUGH = 200
"""Requests from which an hour's index is held to its truth."""


@pytest.fixture(scope="session")
def truth(fleet_warehouse: FleetWarehouse) -> dict[str, Any]:
    return fleet_warehouse.truth["deployments"]


def status_of(place: Place, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert place.valleywatch("status", "--json") == 0
    return {row["deployment"]: row for row in json.loads(capsys.readouterr().out)}


@pytest.fixture
def status(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return status_of(fleet_warehouse.place, capsys)


def hours_of(place: Place, deployment: str) -> list[dict[str, Any]]:
    return place.rows(
        "select status.*, hourly.n_requests from valley_status as status "
        "join hourly_hit_rate as hourly using (deployment, hour_utc) "
        f"where deployment = '{deployment}' order by hour_utc"
    )


def test_the_run_ends_well_and_prints_a_row_per_deployment_and_the_report(fleet_warehouse: FleetWarehouse) -> None:
    assert fleet_warehouse.exit_code == 0
    rows = fleet_warehouse.printed.splitlines()
    assert [row.split()[0] for row in rows[2:-1]] == sorted((*DEPLOYMENTS, "agent-chat"))
    assert rows[-1] == f"report: {fleet_warehouse.place.warehouse.folder / 'report' / 'index.html'}"


def test_every_line_of_the_day_is_accounted_for(fleet_warehouse: FleetWarehouse, truth: dict[str, Any]) -> None:
    files = fleet_warehouse.place.rows("select * from ingest_files where path like '%/fleet/%'")
    loaded = {Path(row["path"]).name.removesuffix(".jsonl.gz"): row["loaded"] for row in files}
    assert loaded == {name: facts["lines"] for name, facts in truth.items()}
    assert all(row["lines"] == row["loaded"] for row in files)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_counts_and_token_sums_are_exact(fleet_warehouse: FleetWarehouse, truth: dict[str, Any], name: str) -> None:
    found = fleet_warehouse.place.rows(
        "select sum(n_requests) as n, sum(input_tokens) as input, sum(n_failed) as failed, "
        f"sum(n_requests - n_reported) as unreported from hourly_hit_rate where deployment = '{name}'"
    )[0]
    facts = truth[name]
    expected = {key: facts[fact] for key, fact in {"n": "requests", "input": "input_tokens"}.items()}
    assert found == expected | {"failed": facts["failed"], "unreported": facts["unreported"]}


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_index_of_the_day_is_within_three_percent_of_the_truth(
    status: dict[str, dict[str, Any]], truth: dict[str, Any], name: str
) -> None:
    assert status[name]["revenue_index"] == pytest.approx(truth[name]["revenue_index"], rel=0.03)
    assert status[name]["index_low"] <= status[name]["revenue_index"] <= status[name]["index_high"]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_valleys_bounds_enclose_it_or_its_existence_is_in_doubt(fleet_warehouse: FleetWarehouse, name: str) -> None:
    for row in hours_of(fleet_warehouse.place, name):
        if row["p_valley"] is None:
            continue
        assert (row["floor_hit_rate"] is not None) == (row["p_valley"] > 0.5)
        assert (row["floor_low"] is not None) == (row["p_valley"] > 0.95)
        bounds = [row["floor_low"], row["floor_hit_rate"], row["floor_high"]]
        if None not in bounds:
            assert bounds == sorted(bounds)
            assert row["depth_low"] < row["floor_depth"] < row["depth_high"]
        assert (row["exit_hit_rate"] is None) <= (row["exit_low"] is None)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_index_of_every_busy_hour_is_within_three_percent_of_the_truth(
    fleet_warehouse: FleetWarehouse, truth: dict[str, Any], name: str
) -> None:
    by_hour = {row["hour_utc"]: row for row in truth[name]["hours"]}
    compared = 0
    for row in hours_of(fleet_warehouse.place, name):
        facts = by_hour[f"{row['hour_utc']:%Y-%m-%dT%H:%M:%SZ}"]
        if facts["requests"] >= ENOUGH:
            assert row["revenue_index"] == pytest.approx(facts["revenue_index"], rel=0.03), row["hour_utc"]
            compared += 1
    assert compared >= 15


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_curve_is_the_engines_own(fleet_warehouse: FleetWarehouse, truth: dict[str, Any], name: str) -> None:
    curve = fleet_warehouse.place.rows(
        f"select * from throughput_curve where deployment = '{name}' and day_utc = '2026-11-28'"
    )[0]
    assert curve["trustworthy"]
    assert curve["reasons"] == ""
    assert curve["a"] == pytest.approx(truth[name]["a"], abs=0.03)
    assert curve["tps0"] == pytest.approx(truth[name]["tps0"], rel=0.03)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_day_ends_in_the_true_state(status: dict[str, dict[str, Any]], truth: dict[str, Any], name: str) -> None:
    assert status[name]["state"] == truth[name]["verdict"]


def test_the_valley_is_entered_with_the_first_daytime_hours(
    fleet_warehouse: FleetWarehouse, truth: dict[str, Any]
) -> None:
    hours = truth["glm-5-h200"]["hours"]
    first_loss = next(row["hour_utc"] for row in hours if row["revenue_index"] < 1)
    seen = hours_of(fleet_warehouse.place, "glm-5-h200")
    states = [row["state"] for row in seen]
    entered = seen[states.index("in_valley")]["hour_utc"]
    assert f"{entered - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}" == first_loss
    assert states == ["escaped"] * 8 + ["in_valley"] * 16


def test_a_slow_tier_is_said_to_have_no_exit(status: dict[str, dict[str, Any]]) -> None:
    assert status["agent-offload"]["exit_hit_rate"] is None
    assert status["agent-offload"]["reasons"] == ["no_exit"]


def test_an_episode_is_one_alert(fleet_warehouse: FleetWarehouse) -> None:
    episodes = fleet_warehouse.place.rows("select * from valley_episodes order by deployment")
    alerts = fleet_warehouse.place.rows("select * from alert_outbox order by deployment")
    assert [row["deployment"] for row in episodes] == ["agent-offload", "glm-5-h200"]
    assert [(row["dedup_key"], row["kind"]) for row in alerts] == [(row["dedup_key"], "entry") for row in episodes]
    assert all(row["delivered_at"] is None for row in alerts)


def test_what_an_episode_lost_is_the_sum_of_its_hours(fleet_warehouse: FleetWarehouse) -> None:
    for episode in fleet_warehouse.place.rows("select * from valley_episodes"):
        hours = [row for row in hours_of(fleet_warehouse.place, episode["deployment"]) if row["state"] == "in_valley"]
        assert episode["entered_at"] == hours[0]["hour_utc"]
        assert episode["lost_total"] == pytest.approx(sum(row["lost_per_hour"] for row in hours))
        assert episode["peak_depth"] == max(1 - row["revenue_index"] for row in hours)


def test_a_replay_of_a_real_server_gives_a_trustworthy_curve(fleet_warehouse: FleetWarehouse) -> None:
    curve = fleet_warehouse.place.rows("select * from throughput_curve where deployment = 'agent-chat'")[0]
    assert curve["trustworthy"]
    assert curve["reasons"] == ""


def test_running_the_same_day_again_changes_no_table(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fleet_warehouse.place.views()
    again = fleet_warehouse.copy(tmp_path / "again")
    assert again.valleywatch("run", "--day", "2026-11-28") == 0
    assert again.views() == before
    assert capsys.readouterr().out == fleet_warehouse.printed.replace(
        str(fleet_warehouse.place.folder), str(again.folder)
    )
