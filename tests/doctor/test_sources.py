"""Logs that no longer arrive, are not found, or are not loaded."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

from pipelines.heartbeat import beat
from pipelines.times import to_us
from tests.doctor.conftest import LATER, Patient, closed_to_us
from tests.place import NOW, PRICE, SOURCE, request

SECOND = '\n[[sources]]\nname = "second"\nformat = "canonical"\npath = "other/*"\n'


def test_a_path_that_names_nothing_is_bad_and_an_object_store_is_not_asked(patient: Patient) -> None:
    patient.configure(SOURCE + SECOND + PRICE)
    assert "no such folder" in patient.found("source_unlistable").what
    (patient.folder / "other").mkdir()
    found = patient.found("source_empty")
    assert (found.level, found.value) == ("bad", "second")
    patient.configure(f"{SOURCE}{SECOND}{PRICE}".replace("other/*", "s3://bucket/*"))
    assert {one.value for one in patient.findings() if one.code.startswith("source_")} == {"gateway", "second"}
    patient.configure(PRICE)
    assert patient.found("sources_none").level == "bad"


def test_a_folder_that_cannot_be_listed_is_named(patient: Patient, open_folder: Path) -> None:
    shutil.copytree(patient.folder, open_folder / "place", symlinks=True)
    other = Patient(open_folder / "place", f"{SOURCE}{PRICE}".replace("logs/*", "logs/**/*"))
    other.warehouse.folder.chmod(0o755)
    (other.logs / "closed").mkdir()
    with closed_to_us(other.logs / "closed"):
        found = other.found("source_unlistable")
    assert "logs/closed cannot be listed" in found.what


def test_a_source_is_silent_if_runs_find_nothing_new_and_not_if_no_run_looked(patient: Patient) -> None:
    assert patient.found("source").level == "ok"
    later = NOW + timedelta(hours=31)
    assert patient.found("source", later).level == "ok"
    beat(patient.warehouse, later, None)
    found = patient.found("source_stale", later)
    assert (found.level, found.value) == ("bad", "gateway")
    assert found.what.endswith("loaded 2026-11-29 12:00 UTC; a run 31 h later found nothing new")
    patient.configure(f"{SOURCE}{PRICE}\n[alerting]\nstale_after_hours = 31\n")
    assert patient.found("source", later).level == "ok"


def test_a_source_of_which_nothing_was_ever_loaded(patient: Patient) -> None:
    patient.configure(SOURCE + SECOND + PRICE)
    assert patient.found("source_stale").what == "second: nothing was ever loaded"


def test_a_deployment_that_stopped_serving_is_a_warning_for_two_weeks(patient: Patient) -> None:
    last = NOW.replace(hour=9)
    assert patient.found("deployments", last + timedelta(hours=30)).level == "ok"
    found = patient.found("deployments_stale", last + timedelta(hours=31))
    assert (found.level, found.what) == ("warn", "1 deployment silent: pool since 2026-11-29 09:00 UTC")
    assert patient.found("deployments", last + timedelta(days=14)).value == 0


def test_a_file_that_no_run_has_loaded_for_a_day_is_bad(patient: Patient) -> None:
    now = NOW + timedelta(days=3650)  # a change of a file's times changes its own time of change, to the real one
    patient.write("b.jsonl", [request("b")])
    patient.ingest(now)
    patient.stand_still()
    assert {one.level for one in patient.findings(now) if one.code.startswith("files_")} == {"ok"}
    path = patient.write("c.jsonl", [request("c")])
    found = patient.found("files_waiting", now)
    assert (found.level, found.value) == ("bad", 1)
    assert str(path) in found.what
    seen = path.stat()
    here = max(seen.st_mtime_ns, seen.st_ctime_ns) / 1e9
    assert patient.found("files_waiting", NOW.fromtimestamp(here + 86_399, NOW.tzinfo)).level == "ok"
    path.unlink()
    assert patient.found("files_waiting", now).level == "ok"


def test_a_file_refused_within_the_day_is_bad_and_one_refused_before_is_not(patient: Patient) -> None:
    patient.write("torn.jsonl.gz", b"\x1f\x8b\x08 not what gzip makes")
    os.utime(patient.logs / "torn.jsonl.gz", (0, 0))
    patient.ingest(NOW)
    patient.stand_still()
    found = patient.found("files_rejected")
    assert (found.level, found.value) == ("bad", 1)
    assert "torn.jsonl.gz (" in found.what
    assert patient.found("files_rejected", NOW + timedelta(days=1, seconds=1)).level == "ok"


def test_names_from_logs_are_shown_and_not_obeyed(patient: Patient) -> None:
    row: dict[str, Any] = {"deployment": "red \x1b[31m\u202e", "hour_index": to_us(NOW) // 3_600_000_000 - 40}
    counts = ("n_requests", "n_failed", "n_left_out", "n_reported", "n_rated", "input_tokens", "n_zero", "n_over_99")
    row |= dict.fromkeys(counts, 0) | {"n_requests": 1}
    patient.change(lambda writer: writer.insert_rows("mart.hourly_hit_rate", [row]))
    what = patient.found("deployments_stale", LATER).what
    assert "red \\x1b[31m\\u202e since" in what
