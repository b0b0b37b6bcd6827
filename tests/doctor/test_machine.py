"""Room, clock, versions, modes and owners: what is asked of the machine and of files."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta
from importlib import metadata
from pathlib import Path

import pytest

from pipelines.doctor import head_room
from pipelines.doctor.versions import unmet
from pipelines.heartbeat import NAME
from pipelines.times import day_text
from tests.doctor.conftest import LATER, NOBODY, Patient
from tests.place import NOW, PRICE, SOURCE


def tmpfs(folder: Path, options: str) -> None:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, timeout=10)
    if mounted.returncode:
        pytest.skip(f"notyet: no tmpfs can be mounted here ({mounted.stderr.strip()})")


@pytest.mark.skipif(os.geteuid() != 0, reason="notyet: mounting a tmpfs takes root")
def test_a_disk_that_is_really_full(patient: Patient, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    tmpfs(disk, "size=24m,nr_inodes=500")
    try:
        subprocess.run(["cp", "-a", str(patient.warehouse.folder), str(disk)], check=True, timeout=10)
        patient.configure(f'[warehouse]\npath = "{disk}/warehouse"\n{SOURCE}{PRICE}')
        found = patient.found("disk_full")
        assert (found.level, "lake/ may be deleted" in found.remedy) == ("bad", True)
        assert isinstance(found.value, int)
        assert found.value < 24 << 20
        assert patient.found("inodes").level == "bad"
    finally:
        subprocess.run(["umount", str(disk)], check=True, timeout=10)


@pytest.mark.parametrize(("days", "level"), [(2.9, "bad"), (29, "warn"), (31, "ok")])
def test_growth_of_the_newest_days_tells_how_long_there_is_room(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, days: float, level: str
) -> None:
    rows = [
        {"file": f"lake/day={day_text(day)}/grown.parquet", "day_index": day, "last_day_index": day,
         "n_requests": 1, "size_bytes": 7 << 30, "sha256": ""}
        for day in (20780, 20784)
    ]  # fmt: skip

    def change(writer: object) -> None:
        writer.insert_rows("ops.lake_files", rows)  # type: ignore[attr-defined]

    with patient.warehouse.writer() as writer:
        change(writer)
        for row in rows:
            path = patient.warehouse.folder / row["file"]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes((patient.warehouse.folder.glob("lake/*/*.parquet").__next__()).read_bytes())
        writer.publish()
    patient.stand_still()
    # 14 GiB since day 20780, six days before the present one.
    usage = head_room.shutil.disk_usage(patient.folder)._replace(free=int(days * (14 << 30) / 6))
    monkeypatch.setattr(head_room.shutil, "disk_usage", lambda _folder: usage)
    assert patient.found("disk_growth").level == level


def test_without_recent_traffic_there_is_no_rate(patient: Patient) -> None:
    assert patient.found("disk_growth").value is not None
    assert patient.found("disk_growth", NOW + timedelta(days=30)).value is None


def test_what_a_killed_run_left_behind(patient: Patient) -> None:
    left = patient.warehouse.folder / "tmp" / "left"
    with left.open("wb") as file:
        file.truncate((1 << 30) + 1)
    patient.stand_still()
    found = patient.found("scratch_left")
    assert (found.level, found.value) == ("warn", (1 << 30) + 1)
    (patient.warehouse.folder / "damaged-0001").mkdir(mode=0o700)
    assert patient.found("damaged_aside").level == "ok"


def test_a_database_that_is_mostly_free_blocks(patient: Patient) -> None:
    os.truncate(patient.warehouse.folder / "warehouse.duckdb", 300 << 20)
    patient.stand_still()
    found = patient.found("database_bloat")
    assert (found.level, "valleywatch rebuild" in found.remedy) == ("warn", True)


def test_a_clock_that_went_back(patient: Patient) -> None:
    assert patient.found("clock", NOW - timedelta(minutes=9)).level == "ok"
    found = patient.found("clock_back", NOW - timedelta(minutes=11))
    assert (found.level, found.value) == ("bad", 660)
    assert "it is 2026-11-29 11:49 UTC, and " in found.what
    assert found.what.endswith("2026-11-29 12:00 UTC")


def test_traffic_of_hours_to_come(patient: Patient) -> None:
    found = patient.found("hours_ahead", NOW.replace(hour=8))
    assert (found.level, found.value) == ("bad", 3600)


def test_whether_a_time_service_keeps_the_clock(patient: Patient, tmp_path: Path) -> None:
    def asked() -> list[tuple[str, str]]:
        findings = patient.findings(run=tmp_path / "run")
        return [(one.level, one.code) for one in findings if one.code.startswith(("clock_s", "clock_u"))]

    assert asked() == [("ok", "clock_unknown")]
    state = tmp_path / "run" / "systemd" / "timesync"
    state.mkdir(parents=True)
    assert asked() == [("warn", "clock_unsynchronized")]
    (state / "synchronized").touch()
    assert asked() == [("ok", "clock_synchronized")]


def test_requirements_are_held_against_what_is_installed() -> None:
    here = {"duckdb": "2.0.1", "polars": "2.2.0", "genai-prices": "0.1"}

    def version_of(name: str) -> str:
        if name not in here:
            raise metadata.PackageNotFoundError(name)
        return here[name]

    asked = ["duckdb<2.1,>=2.0.1", "polars==2.1.*", "pyarrow==26.*", 'genai-prices>=0.2.3; extra == "prices"',
             'dagster-webserver==1.13.28; extra == "ui"']  # fmt: skip
    assert unmet(asked, version_of) == [
        "polars 2.2.0 is not ==2.1.*",
        "pyarrow is missing",
        "genai-prices 0.1 is not >=0.2.3",
    ]


def test_an_installation_that_was_changed_is_bad(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert patient.found("packages").level == "ok"
    monkeypatch.setattr(metadata, "version", lambda _name: "0.0.1")
    assert (patient.found("packages").level, patient.found("packages").value) != ("ok", 0)


def test_a_job_of_another_version_is_a_warning(patient: Patient) -> None:
    assert patient.found("version").level == "ok"
    path = patient.warehouse.folder / NAME
    path.write_text(path.read_text().replace('"version": "', '"version": "9'))
    assert patient.found("version_differs").level == "warn"


@pytest.mark.parametrize(
    ("name", "mode", "code"),
    [
        (".", 0o750, "mode_folder"),
        ("lake", 0o755, "mode_folder"),
        ("warehouse.duckdb", 0o640, "mode_database"),
        ("snapshots/valleywatch-000001.duckdb", 0o644, "mode_database"),
        (NAME, 0o604, "mode_published"),
        ("lake/day=2026-11-28/*.parquet", 0o600, "mode_lake"),
    ],
)
def test_what_others_may_read_or_write_is_a_warning_whose_remedy_works(
    patient: Patient, name: str, mode: int, code: str
) -> None:
    folder = patient.warehouse.folder
    for path in [folder] if name == "." else folder.glob(name):
        path.chmod(mode)
    found = patient.found(code)
    assert (found.level, found.value) == ("warn", f"{mode:04o}")
    subprocess.run(found.remedy, shell=True, check=True, timeout=10)
    assert patient.found(code).level == "ok"


def test_a_configuration_that_anybody_may_write_is_bad(patient: Patient) -> None:
    patient.config.chmod(0o666)
    found = patient.found("mode_configuration")
    assert (found.level, found.value) == ("bad", "0666")
    subprocess.run(found.remedy, shell=True, check=True, timeout=10)
    assert patient.found("mode_configuration").level == "ok"


@pytest.mark.skipif(os.geteuid() != 0, reason="notyet: giving files to another user takes root")
def test_files_of_another_user_are_bad_and_the_remedy_works(patient: Patient) -> None:
    os.chown(patient.warehouse.folder / "writer.lock", NOBODY, NOBODY)
    found = patient.found("owners")
    assert (found.level, found.what) == ("bad", "1 file of another user: writer.lock")
    subprocess.run(found.remedy, shell=True, check=True, timeout=10)
    assert patient.found("owners").level == "ok"


def test_a_warehouse_that_is_no_folder(patient: Patient) -> None:
    patient.configure(f'[warehouse]\npath = "valleywatch.toml"\n{SOURCE}{PRICE}')
    assert patient.found("warehouse_no_folder", LATER).level == "bad"
