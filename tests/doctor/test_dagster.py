"""Dagster's home and history: what cannot be used, and runs that nothing works on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    InstigatorType,
    ScheduleInstigatorData,
)
from dagster._daemon.types import DaemonHeartbeat

from pipelines.doctor.case import Case
from pipelines.doctor.dagster_home import check_home, usable_home
from pipelines.doctor.dagster_runs import check_history
from pipelines.doctor.finding import Finding
from pipelines.settings import Settings
from tests.conftest import REPO, FleetWarehouse
from tests.doctor.conftest import Patient, closed_to_us

REPOSITORY = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("here"), "valleywatch")
STARTED, SUCCESS, FAILURE = (dg.DagsterRunStatus[name] for name in ("STARTED", "SUCCESS", "FAILURE"))


@dg.job
def daily() -> None:
    """A job of that name."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "dagster_home"
    folder.mkdir()
    shutil.copy(REPO / "dagster_home" / "dagster.yaml", folder)
    return folder


@pytest.fixture(scope="module")
def empty_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a history without runs, which take long to make."""
    folder = tmp_path_factory.mktemp("history")
    shutil.copy(REPO / "dagster_home" / "dagster.yaml", folder)
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        asked(folder)
        instance.delete_run(run_of(instance, SUCCESS).run_id)
    return folder


@pytest.fixture
def instance(home: Path, empty_history: Path) -> Iterator[dg.DagsterInstance]:
    shutil.copytree(empty_history, home, dirs_exist_ok=True)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield instance


def asked(home: Path | str, *, ahead: timedelta = timedelta()) -> dict[str, Finding]:
    """What is found of Dagster now, or after a while, by code; nothing of the warehouse is looked at."""
    now = datetime.now(UTC) + ahead
    case = Case(Path("valleywatch.toml"), Settings(folder=Path("/nowhere")), now, {"DAGSTER_HOME": str(home)})
    findings = list(check_home(case))
    if (usable := usable_home(case)) is not None:
        findings += check_history(case, usable)
    return {finding.code: finding for finding in findings}


def run_of(instance: dg.DagsterInstance, status: dg.DagsterRunStatus, pid: int | None = None) -> dg.DagsterRun:
    """A run of 28 November with that status, as the process with that number writes it."""
    run = instance.create_run_for_job(daily, status=status, tags={"dagster/partition": "2026-11-28"})
    if pid is not None:
        instance.report_engine_event(f"Started process for run (pid: {pid}).", run, EngineEventData.in_process(pid))
    return run


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as ended:
        pass
    return ended.pid


def test_a_home_that_cannot_be_used(home: Path, tmp_path: Path, open_folder: Path) -> None:
    assert asked("")["dagster_home_unset"].level == "ok"
    for name, code in (
        ("dagster_home", "relative"),
        (str(tmp_path / "gone"), "missing"),
        (str(home / "dagster.yaml"), "missing"),
    ):
        found = asked(name)
        assert list(found) == [f"dagster_home_{code}"]
        assert (found[f"dagster_home_{code}"].level, found[f"dagster_home_{code}"].value) == ("bad", name)
    assert list(asked(home)) == ["dagster_home"]
    assert [path.name for path in home.iterdir()] == ["dagster.yaml"]  # looking begins no history
    (home / "dagster.yaml").unlink()
    assert asked(home)["dagster_home_bare"].level == "warn"
    (open_folder / "home").mkdir()
    with closed_to_us(open_folder / "home"):
        assert asked(open_folder / "home")["dagster_home_closed"].level == "bad"


def test_a_run_whose_process_is_gone_is_a_zombie_and_one_at_work_is_not(
    patient: Patient, home: Path, instance: dg.DagsterInstance
) -> None:
    alive = run_of(instance, STARTED, os.getpid())
    assert asked(home)["dagster_zombie"].level == "ok"
    pid = dead_pid()
    dead = run_of(instance, STARTED, pid)
    found = asked(home)["dagster_zombie"]
    assert (found.level, found.value) == ("bad", dead.run_id)
    assert found.what.startswith(f"run {dead.run_id} (daily, 2026-11-28) is STARTED since 20")
    assert found.what.endswith(f"but its process {pid} is gone")
    (seen,) = [one for one in patient.findings(environment={"DAGSTER_HOME": str(home)}) if one.code == found.code]
    assert seen.value == dead.run_id
    instance.delete_run(dead.run_id)
    assert asked(home)["dagster_zombie"].level == "ok"
    late = asked(home, ahead=timedelta(hours=4, minutes=1))["dagster_zombie"]
    assert (late.value, "more than 4 h" in late.what) == (alive.run_id, True)


def test_a_run_that_never_got_a_process_is_a_zombie_after_a_while(home: Path, instance: dg.DagsterInstance) -> None:
    run = run_of(instance, dg.DagsterRunStatus.STARTING)
    assert asked(home)["dagster_zombie"].level == "ok"
    found = asked(home, ahead=timedelta(minutes=4))["dagster_zombie"]
    assert (found.value, "no process of it has begun" in found.what) == (run.run_id, True)


def test_the_place_in_a_pool_that_a_zombie_or_an_ended_run_keeps(home: Path, instance: dg.DagsterInstance) -> None:
    run = run_of(instance, STARTED, dead_pid())
    instance.event_log_storage.set_concurrency_slots("duckdb_write", 1)
    instance.event_log_storage.claim_concurrency_slot("duckdb_write", run.run_id, "requests")
    found = asked(home)
    assert found["dagster_zombie"].what.endswith("; runs wait for its place in the pool duckdb_write")
    assert "dagster_place_kept" not in found
    instance.report_run_failed(run)
    assert "dagster_place_kept" not in asked(home)
    found = asked(home, ahead=timedelta(minutes=11))
    assert found["dagster_zombie"].level == "ok"
    assert (found["dagster_place_kept"].level, found["dagster_place_kept"].value) == ("bad", run.run_id)
    assert found["dagster_place_kept"].remedy.startswith(f"dagster run delete --force {run.run_id}")
    instance.delete_run(run.run_id)
    assert "dagster_place_kept" not in asked(home, ahead=timedelta(minutes=11))


def test_a_failed_run_is_bad_until_a_later_one_of_its_partition_succeeds(
    home: Path, instance: dg.DagsterInstance
) -> None:
    failed = run_of(instance, FAILURE)
    found = asked(home)["dagster_failed"]
    assert (found.level, found.value) == ("bad", failed.run_id)
    assert asked(home, ahead=timedelta(days=3))["dagster_failed"].level == "ok"
    run_of(instance, SUCCESS)
    assert asked(home)["dagster_failed"].level == "ok"


def schedule(status: str) -> InstigatorState:
    origin = REPOSITORY.get_instigator_origin("daily_0130_utc")
    return InstigatorState(
        origin, InstigatorType.SCHEDULE, InstigatorStatus[status], ScheduleInstigatorData("30 1 * * *")
    )


def test_a_daemon_that_stopped_and_what_waits_for_it(home: Path, instance: dg.DagsterInstance) -> None:
    assert asked(home)["dagster_daemon_never"].level == "ok"
    instance.add_daemon_heartbeat(DaemonHeartbeat(datetime.now(UTC).timestamp(), "SCHEDULER", None, []))
    instance.create_run_for_job(
        daily, status=dg.DagsterRunStatus.QUEUED, remote_job_origin=RemoteJobOrigin(REPOSITORY, "daily")
    )
    found = asked(home)
    assert (found["dagster_daemon"].level, "dagster_queued" in found) == ("ok", False)
    later = timedelta(hours=1, minutes=1)
    found = asked(home, ahead=later)
    assert (found["dagster_daemon"].level, found["dagster_queued"].level) == ("warn", "bad")
    instance.add_instigator_state(schedule("RUNNING"))
    found = asked(home, ahead=later)
    assert (found["dagster_daemon"].level, "dagster_schedule_off" in found) == ("bad", False)
    instance.update_instigator_state(schedule("STOPPED"))
    assert asked(home)["dagster_schedule_off"].what == "daily_0130_utc is switched off"


def test_a_history_that_is_damaged_is_disposable(home: Path, instance: dg.DagsterInstance) -> None:
    run_of(instance, SUCCESS)
    assert asked(home)["dagster_failed"].level == "ok"
    (home / "history" / "runs.db").write_bytes(b"no database" * 1000)
    found = asked(home)["dagster_history_damaged"]
    assert (found.level, "history is disposable" in found.remedy) == ("bad", True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_real_job_killed_half_way_is_found_and_another_run_repairs_it(
    fleet_warehouse: FleetWarehouse, home: Path, tmp_path: Path
) -> None:
    fleet_warehouse.copy(tmp_path / "place")
    patient = Patient(tmp_path / "place", fleet_warehouse.place.config.read_text())
    expected = fleet_warehouse.place.views(without=("path", "source_file"))
    environment = os.environ | {
        "DAGSTER_HOME": str(home), "VALLEYWATCH_CONFIG": str(patient.config), "PYTHONPATH": str(REPO),
    }  # fmt: skip
    job = [
        sys.executable,
        "-P",
        "-m",
        "dagster",
        "asset",
        "materialize",
        "--select",
        "*",
        "-m",
        "pipelines.definitions",
    ]
    job += ["--partition", "2026-11-28"]
    shutil.rmtree(patient.warehouse.folder)
    killed = subprocess.run(job, cwd=REPO, env=environment | {"VALLEYWATCH_FAULT": "marts_judged"}, timeout=100)
    assert killed.returncode == -signal.SIGKILL
    found = asked(home)["dagster_zombie"]
    assert found.level == "bad"
    assert "2026-11-28) is STARTED" in found.what
    delete = [sys.executable, "-P", "-m", *found.remedy.partition(";")[0].split()]
    subprocess.run(delete, cwd=REPO, env=environment, check=True, timeout=60)
    subprocess.run(job, cwd=REPO, env=environment, check=True, timeout=100)
    assert asked(home)["dagster_zombie"].level == "ok"
    command = [sys.executable, "-P", "-m", "pipelines", "run", "--config", str(patient.config)]
    subprocess.run(command, cwd=REPO, env=environment, check=True, timeout=100)
    assert patient.views(without=("path", "source_file")) == expected
    assert [one for one in patient.findings(datetime.now(UTC)) if one.level == "bad"] == []
