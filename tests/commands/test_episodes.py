"""`valleywatch episodes` on a published snapshot, and what it says of other policies."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pipelines.alerts.record import judge_day
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.conftest import FleetWarehouse
from tests.place import NOW, Place

DAY = to_day_index(date(2026, 11, 28))


def asked(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert place.valleywatch("episodes", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def own(fleet_warehouse: FleetWarehouse, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A copy that tests judge by other policies."""
    return fleet_warehouse.copy(tmp_path_factory.mktemp("own"))


def test_the_list_is_the_view(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(fleet_warehouse.place, capsys)
    view = fleet_warehouse.place.rows("select * exclude (notified_at) from valley_episodes order by deployment")
    for row in view:
        row |= {name: row[name].isoformat() + "+00:00" for name in ("entered_at", "deepest_at")}
    assert found == view
    assert [row["deployment"] for row in found] == ["agent-offload", "glm-5-h200"]


def test_the_table_says_what_goes_on(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert fleet_warehouse.place.valleywatch("episodes", "glm-5-h200") == 0
    header, _, row = capsys.readouterr().out.splitlines()
    assert header.split() == [
        "deployment",
        "entered",
        "UTC",
        "left",
        "UTC",
        "hours",
        "held",
        "peak",
        "depth",
        "lost",
        "key",
    ]
    assert row.startswith("glm-5-h200  2026-11-28 08:00  ongoing")
    assert "USD" in row


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--from", "2026-11-28"), 2),
        (("--to", "2026-11-27"), 0),
        (("--from", "2026-11-28", "--to", "2026-11-28"), 2),
        (("chat-short",), 0),
        (("agent-offload", "--from", "2026-11-28"), 1),
    ],
)
def test_days_and_a_deployment_narrow_it(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: int
) -> None:
    assert len(asked(fleet_warehouse.place, capsys, *arguments)) == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("glm-5-h20",), "did you mean 'glm-5-h200'?"),
        (("--from", "2026-11-28", "--to", "2026-11-27"), "is before --from"),
        (("--from", "yesterday"), "'yesterday' is no date"),
        (("--policy", "window_days=3"), "cannot be tried"),
        (("--policy", "enter_hour=3"), "did you mean 'enter_hours'?"),
    ],
)
def test_mistakes_are_refused(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert fleet_warehouse.place.valleywatch("episodes", *arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


def test_the_present_policy_tried_is_what_is_published(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fleet_warehouse.place
    found = asked(place, capsys, "--policy", "enter_hours=2")
    assert found["present"] == found["tried"]
    extra = ("policy_version", "dedup_key")
    published = [{key: row[key] for key in row if key not in extra} for row in asked(place, capsys)]
    for side in ("present", "tried"):
        assert [{"deployment": row["deployment"], **row[side]} for row in found["episodes"]] == published


@pytest.mark.parametrize(
    "changes",
    [
        ("enter_hours=4", "leave_hours=1"),
        ("enter_probability=0.99", "leave_probability=0.01", "enter_hours=1"),
        ("capacity=fixed",),
        ("capacity=fixed", "capacity_limited_busy_share=0.2", "leave_hours=1"),
        ("min_requests=400",),
    ],
    ids=" ".join,
)
def test_what_is_said_of_another_policy_is_what_judging_by_it_gives(
    fleet_warehouse: FleetWarehouse, own: Place, capsys: pytest.CaptureFixture[str], changes: tuple[str, ...]
) -> None:
    options = [option for change in changes for option in ("--policy", change)]
    tried = asked(fleet_warehouse.place, capsys, *options)
    policy = "\n".join(change.replace("=fixed", '="fixed"') for change in changes if "capacity=" not in change)
    config = fleet_warehouse.place.config.read_text()
    own.configure(config.replace('"elastic"', '"fixed"' if "capacity=fixed" in changes else '"elastic"') + policy)
    with own.warehouse.writer() as writer:
        for day in (DAY, DAY + 1):
            judge_day(writer, day, load_settings(own.config), NOW)
        writer.publish()
    judged = [
        {key: row[key] for key in row if key not in ("policy_version", "dedup_key")} for row in asked(own, capsys)
    ]
    assert [{"deployment": row["deployment"], **row["tried"]} for row in tried["episodes"] if row["tried"]] == judged
    assert tried["tried"]["n_episodes"] == len(judged)
    assert judged != [] or "capacity=fixed" in changes


def test_the_comparison_names_what_differs(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    arguments = ("episodes", "glm-5-h200", "--policy", "enter_hours=4")
    assert fleet_warehouse.place.valleywatch(*arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = [line.split("  ") for line in printed.out.splitlines()]
    cells = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines if line[0]}
    assert cells["enter_hours"] == ["2", "4"]
    assert "leave_hours" not in cells
    assert cells["entered after"] == ["1 h, at most 1 h", "3 h, at most 3 h"]
    assert [cell[:22] for cell in cells["glm-5-h200"]] == ["since 2026-11-28 08:00", "since 2026-11-28 10:00"]


def test_trying_writes_nothing(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fleet_warehouse.place.warehouse.folder

    def stamps() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}

    before = stamps()
    asked(fleet_warehouse.place, capsys, "--policy", "enter_hours=4")
    assert stamps() == before


def test_a_configuration_that_has_not_been_run_yet_is_told(
    own: Place, fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    own.configure(fleet_warehouse.place.config.read_text() + "enter_hours = 7\n")
    capsys.readouterr()
    assert own.valleywatch("episodes", "--policy", "enter_hours=4") == 0
    assert "judged with another policy than the configured one" in capsys.readouterr().err
