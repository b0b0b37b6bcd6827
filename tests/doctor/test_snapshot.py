"""The published snapshot: missing, closed, damaged, of another layout, behind."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from pipelines.times import to_day_index
from pipelines.warehouse import engine
from tests.doctor.conftest import LATER, Patient, closed_to_us
from tests.place import NOW


def test_age_and_size_of_a_sound_one(patient: Patient) -> None:
    found = patient.found("snapshot")
    assert (found.level, found.value) == ("ok", (LATER - NOW).total_seconds())
    assert found.what.startswith("valleywatch-000001.duckdb, layout 5, ")


def test_nothing_published_and_a_link_to_nothing_are_told_apart(patient: Patient) -> None:
    target = patient.warehouse.snapshot.resolve()
    target.unlink()
    dangling = patient.found("snapshot_missing")
    assert (dangling.level, "points to snapshots/valleywatch-000001.duckdb" in dangling.what) == ("bad", True)
    patient.warehouse.snapshot.unlink()
    assert patient.found("snapshot_missing").what.startswith("nothing is published")


def test_flipped_bytes_anywhere_in_what_is_read_are_found_and_the_file_named(patient: Patient) -> None:
    path, dice, seen = patient.warehouse.snapshot.resolve(), random.Random(3), set()
    whole = path.read_bytes()
    for _ in range(8):
        content = bytearray(whole)
        for _ in range(200):
            content[dice.randrange(12288, len(content))] ^= 0xFF
        path.write_bytes(content)
        patient.stand_still()
        broken = [finding for finding in patient.findings() if finding.level == "bad"]
        seen.add(len(broken))
        for finding in broken:
            assert finding.code == "snapshot_damaged"
            assert str(path) in finding.what
    assert seen == {1}


def test_another_layout_names_both(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SCHEMA_VERSION", 99)
    found = patient.found("snapshot_damaged")
    assert "was written by layout 5, this version reads layout 99" in found.what


def test_one_that_this_user_may_not_read(patient: Patient, open_folder: Path) -> None:
    shutil.copytree(patient.folder, open_folder / "place", symlinks=True)
    other = Patient(open_folder / "place")
    other.warehouse.folder.chmod(0o777)
    (other.warehouse.folder / "snapshots").chmod(0o755)
    with closed_to_us(other.warehouse.snapshot.resolve()):
        found = other.found("snapshot_closed")
    assert (found.level, "as the user that runs the job" in found.remedy) == ("bad", True)


def test_days_that_wait_to_be_judged_are_a_warning_once_they_are_over(patient: Patient) -> None:
    assert patient.found("days_behind").level == "ok"
    today, yesterday = to_day_index(NOW.date()), to_day_index(NOW.date()) - 1
    dirty = [{"day_index": yesterday}, {"day_index": today}]
    patient.change(lambda writer: writer.insert_rows("ops.dirty_days", dirty))
    assert patient.found("days_behind").level == "ok"
    patient.stand_still(LATER.replace(day=30, hour=1))
    found = patient.found("days_behind", LATER.replace(day=30, hour=2))
    assert (found.level, found.value) == ("warn", 1)
    assert found.what.endswith("since their lines changed: 2026-11-28")


def test_a_lake_that_lost_a_file_or_half_of_one(patient: Patient) -> None:
    first, second = sorted(patient.warehouse.folder.glob("lake/*/*.parquet"))
    assert patient.found("lake").value == 2
    first.unlink()
    found = patient.found("lake_damaged")
    assert (found.level, found.value) == ("bad", 1)
    assert str(first.relative_to(patient.warehouse.folder)) in found.what
    second.chmod(0o600)
    second.write_bytes(second.read_bytes()[:-1])
    second.chmod(0o400)
    assert patient.found("lake_damaged").value == 2
