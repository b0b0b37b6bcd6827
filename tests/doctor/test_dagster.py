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
from dagster._daemon.types import DaemonHeartbeat

from pipelines.doctor.finding import Finding
from tests.conftest import REPO, FleetWarehouse
from tests.doctor.conftest import Patient, closed_to_us
from tests.place import Place

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


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield instance


def asked(patient: Place, home: Path | str, *, ahead: timedelta = timedelta()) -> dict[str, Finding]:
    """What the doctor finds of Dagster now, or after a while, by code."""
    assert isinstance(patient, Patient)
    findings = patient.findings(datetime.now(UTC) + ahead, {"DAGSTER_HOME": str(home)})
    return {finding.code: finding for finding in findings if finding.code.startswith("dagster")}


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


def test_a_home_that_cannot_be_used(patient: Patient, home: Path, tmp_path: Path, open_folder: Path) -> None:
    assert patient.found("dagster_home_unset").level == "ok"
    for name, code in (
        ("dagster_home", "relative"),
        (str(tmp_path / "gone"), "missing"),
        (str(patient.config), "missing"),
    ):
        found = asked(patient, name)
        assert list(found) == [f"dagster_home_{code}"]
        assert (found[f"dagster_home_{code}"].level, found[f"dagster_home_{code}"].value) == ("bad", name)
    assert list(asked(patient, home)) == ["dagster_home"]
    assert os.listdir(home) == ["dagster.yaml"]  # looking begins no history
    (home / "dagster.yaml").unlink()
    assert asked(patient, home)["dagster_home_bare"].level == "warn"
    shutil.copytree(patient.folder, open_folder / "place", symlinks=True)
    (open_folder / "home").mkdir()
    with closed_to_us(open_folder / "home"):
        assert asked(Patient(open_folder / "place"), open_folder / "home")["dagster_home_closed"].level == "bad"


def test_a_run_whose_process_is_gone_is_a_zombie_and_one_at_work_is_not(
    patient: Patient, home: Path, instance: dg.DagsterInstance
) -> None:
    alive = run_of(instance, STARTED, os.getpid())
    assert asked(patient, home)["dagster_zombie"].level == "ok"
    pid = dead_pid()
    dead = run_of(instance, STARTED, pid)
    found = asked(patient, home)["dagster_zombie"]
    assert (found.level, found.value) == ("bad", dead.run_id)
    assert found.what.startswith(f"run {dead.run_id} (daily, 2026-11-28) is STARTED since 20")
    assert found.what.endswith(f"but its process {pid} is gone")
    instance.delete_run(dead.run_id)
    assert asked(patient, home)["dagster_zombie"].level == "ok"
    late = asked(patient, home, ahead=timedelta(hours=4, minutes=1))["dagster_zombie"]
    assert (late.value, "more than 4 h" in late.what) == (alive.run_id, True)


def test_a_run_that_never_got_a_process_is_a_zombie_after_a_while(
    patient: Patient, home: Path, instance: dg.DagsterInstance
) -> None:
    run = run_of(instance, dg.DagsterRunStatus.STARTING)
    assert asked(patient, home)["dagster_zombie"].level == "ok"
    found = asked(patient, home, ahead=timedelta(minutes=4))["dagster_zombie"]
    assert (found.value, "no process of it has begun" in found.what) == (run.run_id, True)


def test_the_place_in_a_pool_that_a_zombie_or_an_ended_run_keeps(
    patient: Patient, home: Path, instance: dg.DagsterInstance
) -> None:
    run = run_of(instance, STARTED, dead_pid())
    instance.event_log_storage.initialize_concurrency_limit_to_default("duckdb_write")
    instance.event_log_storage.claim_concurrency_slot("duckdb_write", run.run_id, "requests")
    found = asked(patient, home)
    assert found["dagster_zombie"].what.endswith("; runs wait for its place in the pool duckdb_write")
    assert "dagster_place_kept" not in found
    instance.report_run_failed(run)
    assert "dagster_place_kept" not in asked(patient, home)
    found = asked(patient, home, ahead=timedelta(minutes=11))
    assert found["dagster_zombie"].level == "ok"
    assert (found["dagster_place_kept"].level, found["dagster_place_kept"].value) == ("bad", run.run_id)
    assert found["dagster_place_kept"].remedy.startswith(f"dagster run delete --force {run.run_id}")
    instance.delete_run(run.run_id)
    assert "dagster_place_kept" not in asked(patient, home, ahead=timedelta(minutes=11))


def test_a_failed_run_is_bad_until_a_later_one_of_its_partition_succeeds(
    patient: Patient, home: Path, instance: dg.DagsterInstance
) -> None:
    failed = run_of(instance, FAILURE)
    found = asked(patient, home)["dagster_failed"]
    assert (found.level, found.value) == ("bad", failed.run_id)
    assert asked(patient, home, ahead=timedelta(days=3))["dagster_failed"].level == "ok"
    run_of(instance, SUCCESS)
    assert asked(patient, home)["dagster_failed"].level == "ok"


def test_a_daemon_that_stopped_and_what_waits_for_it(
    patient: Patient, home: Path, instance: dg.DagsterInstance
) -> None:
    run_of(instance, SUCCESS)
    assert asked(patient, home)["dagster_daemon_never"].level == "ok"
    instance.add_daemon_heartbeat(DaemonHeartbeat(datetime.now(UTC).timestamp(), "SCHEDULER", None, []))
    run_of(instance, dg.DagsterRunStatus.QUEUED)
    found = asked(patient, home)
    assert (found["dagster_daemon"].level, "dagster_queued" in found) == ("ok", False)
    found = asked(patient, home, ahead=timedelta(hours=1, minutes=1))
    assert found["dagster_daemon"].level == "warn"
    assert found["dagster_queued"].level == "bad"


def test_a_history_that_is_damaged_is_disposable(patient: Patient, home: Path, instance: dg.DagsterInstance) -> None:
    run_of(instance, SUCCESS)
    assert asked(patient, home)["dagster_failed"].level == "ok"
    (home / "history" / "runs.db").write_bytes(b"no database" * 1000)
    found = asked(patient, home)["dagster_history_damaged"]
    assert (found.level, "history is disposable" in found.remedy) == ("bad", True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_real_job_killed_half_way_is_found_and_another_run_repairs_it(
    fleet_warehouse: FleetWarehouse, home: Path, tmp_path: Path
) -> None:
    fleet_warehouse.copy(tmp_path / "place")
    patient = Patient(tmp_path / "place", fleet_warehouse.place.config.read_text())
    expected = patient.views(without=("path", "source_file"))
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
    found = asked(patient, home)["dagster_zombie"]
    assert found.level == "bad"
    assert "pool duckdb_write" in found.what
    assert "2026-11-28) is STARTED" in found.what
    delete = [sys.executable, "-P", "-m", *found.remedy.partition(";")[0].split()]
    subprocess.run(delete, cwd=REPO, env=environment, check=True, timeout=60)
    subprocess.run(job, cwd=REPO, env=environment, check=True, timeout=100)
    assert asked(patient, home)["dagster_zombie"].level == "ok"
    command = [sys.executable, "-P", "-m", "pipelines", "run", "--config", str(patient.config)]
    subprocess.run(command, cwd=REPO, env=environment, check=True, timeout=100)
    assert patient.views(without=("path", "source_file")) == expected
    assert [one for one in patient.findings(datetime.now(UTC)) if one.level == "bad"] == []
