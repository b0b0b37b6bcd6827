"""A range of days in one run: as if done one by one, also where one of them is blocked or the run is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from pipelines.faults import VARIABLE
from tests.orchestration.jobs import execute, failures, marts_break_on
from tests.orchestration.services import environment, make_home
from tests.place import PRICE, SOURCE, Place, request

pytestmark = pytest.mark.jobs

LAST = date(2026, 11, 28)
FOLDERS = ("path", "source_file")
BIN = Path(sys.executable).parent


def days(n: int) -> list[date]:
    return [LAST - timedelta(days=ahead) for ahead in reversed(range(n))]


def logs_of(place: Place, n_days: int, per_day: int = 12) -> Place:
    """Two deployments at low traffic, a log a day; the second one is quiet every third day."""
    for number, day in enumerate(days(n_days)):
        rows = [
            request(
                f"{number}-{n}",
                timestamp=f"{day}T{n % 24:02}:{number % 60:02}:00Z",
                deployment=name,
                instance=f"{name}-0",
                input_tokens=1000 + 100 * n,
                cached_tokens=(37 * n * (number + 1)) % 1000,
            )
            for name in ("pool", "quiet")
            if name == "pool" or number % 3
            for n in range(per_day)
        ]
        place.write(f"{day}.jsonl", rows)
    return place


def one_by_one(place: Place, n_days: int) -> Place:
    for day in days(n_days):
        assert place.valleywatch("run", "--day", f"{day}") == 0
    return place


def materialize(place: Place, home: Path, n_days: int, **changes: str) -> subprocess.CompletedProcess[str]:
    """Type Dagster's own command, as an operator does for a backfill."""
    between = f"{days(n_days)[0]}...{days(n_days)[-1]}"
    return subprocess.run(
        [BIN / "dagster", "asset", "materialize", "--select", "*", "--partition-range", between,
         "-m", "pipelines.definitions"],
        cwd=place.folder, env=environment(place, home) | changes, capture_output=True, text=True, timeout=3000,
    )  # fmt: skip


def test_a_range_is_as_its_days_one_by_one(tmp_path: Path) -> None:
    together, alone = (logs_of(Place(tmp_path / name), 3) for name in ("together", "alone"))
    result = execute(together, days(3)[0], LAST)
    assert result.success
    assert together.views(without=FOLDERS) == one_by_one(alone, 3).views(without=FOLDERS)
    # One snapshot, one reading of the sources, and events for each day with what is particular to it.
    assert [path.name for path in together.warehouse.snapshots()] == ["valleywatch-000001.duckdb"]
    made = [event.materialization for event in result.get_asset_materialization_events()]
    assert {m.partition for m in made} == {f"{day}" for day in days(3)}
    requests = {m.partition: m.metadata["requests"].value for m in made if m.asset_key.path == ["hourly_hit_rate"]}
    assert requests == {"2026-11-26": 12, "2026-11-27": 24, "2026-11-28": 24}


def test_days_that_rest_on_a_blocked_one_are_left_out_and_named_and_the_others_are_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = logs_of(Place(tmp_path, SOURCE + PRICE + "\n[policy]\nwindow_days = 2\n"), 5)
    with monkeypatch.context() as patch:
        marts_break_on(patch, days(5)[1])
        result = execute(place, days(5)[0], LAST)
    assert not result.success
    (said,) = failures(result).values()
    assert said.startswith(
        "not done, and what was published of it before is unchanged: 2026-11-25: the contract of the"
    )
    assert "; 2026-11-26: the contract of the throughput curves is broken: " in said
    assert "2026-11-27" not in said
    judged = "select distinct hour_utc::date::varchar as day from valley_status order by 1"
    assert [row["day"] for row in place.rows(judged)] == ["2026-11-24", "2026-11-27", "2026-11-28"]
    checks = {check.check_name: check for check in result.get_asset_check_evaluations()}
    assert (checks["marts_contract"].passed, checks["marts_contract"].severity.value) == (False, "WARN")
    assert checks["marts_contract"].metadata["days_blocked"].value == 1
    left_out = [
        event.materialization.partition
        for event in result.get_asset_materialization_events()
        if event.asset_key.path == ["valley_status"] and "left_out" in event.materialization.metadata
    ]
    assert sorted(left_out) == ["2026-11-25", "2026-11-26"]
    # Nothing is left of it once the day is sound.
    with monkeypatch.context() as patch:
        marts_break_on(patch)
        assert execute(place, days(5)[0], LAST).success
    assert len(place.rows(judged)) == 5


def test_a_range_of_blocked_days_alone_stops_where_it_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = logs_of(Place(tmp_path), 2)
    marts_break_on(monkeypatch, *days(2))
    result = execute(place, days(2)[0], LAST)
    assert not result.success
    assert not place.warehouse.snapshot.exists()
    (check,) = [one for one in result.get_asset_check_evaluations() if one.check_name == "marts_contract"]
    assert check.severity.value == "ERROR"


@pytest.mark.parametrize(
    "n_days",
    [
        pytest.param(3, marks=[pytest.mark.dagster, pytest.mark.timeout(600)]),
        pytest.param(60, marks=[pytest.mark.slow, pytest.mark.timeout(3600)]),
    ],
)
def test_a_backfill_by_dagster_s_command_killed_in_its_middle_leaves_whole_data_and_a_rerun_ends_it(
    tmp_path: Path, n_days: int
) -> None:
    import dagster as dg

    place, home = logs_of(Place(tmp_path / "place"), n_days), make_home(tmp_path / "home")
    assert place.valleywatch("run", "--day", f"{days(n_days)[0]}") == 0
    before = place.views()
    killed = materialize(place, home, n_days, **{VARIABLE: "verdicts_committed"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # What is published is what was published; the history alone does not know that the run has ended.
    assert place.views() == before
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert [run.status.value for run in instance.get_runs()] == ["STARTED"]
    again = materialize(place, home, n_days)
    assert again.returncode == 0, again.stderr
    alone = one_by_one(logs_of(Place(tmp_path / "alone"), n_days), n_days)
    assert place.views(without=FOLDERS) == alone.views(without=FOLDERS)
