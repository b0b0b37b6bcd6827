"""The last success and what stopped the job since."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipelines.errors import BusyError, DiskFullError, UsageError, ValleywatchError
from pipelines.heartbeat import FAILURE_NAME, NAME, beat, last_beat, last_failure, noting_failure
from tests.doctor.conftest import LATER, Patient
from tests.place import NOW, PRICE, SOURCE


def test_a_success_of_yesterday_is_in_time_and_an_older_one_is_not(patient: Patient) -> None:
    in_time = patient.found("success", NOW + timedelta(hours=26))
    assert (in_time.level, in_time.value) == ("ok", 26 * 3600)
    late = patient.found("success_old", NOW + timedelta(hours=26, seconds=1))
    assert late.level == "bad"
    assert late.what == "the last success ended 2026-11-29 12:00 UTC, 26 h ago, for 2026-11-29"
    assert "valleywatch run" in late.remedy


def test_an_hourly_job_is_late_after_three_hours(patient: Patient) -> None:
    patient.configure(SOURCE + PRICE + '[schedule]\ncadence = "hourly"\n')
    assert patient.found("success", NOW + timedelta(hours=3)).level == "ok"
    assert patient.found("success_old", NOW + timedelta(hours=3, seconds=1)).level == "bad"


UNREADABLE = (
    "",
    "[]",
    "{",
    '{"finished_at": "yesterday", "day": null, "version": "1"}',
    '{"finished_at": "2026-11-29T12:00:00", "day": null, "version": "1"}',
)


@pytest.mark.parametrize("content", [None, *UNREADABLE])
def test_without_a_readable_success_there_was_none(patient: Patient, content: str | None) -> None:
    path = patient.warehouse.folder / NAME
    path.unlink()
    if content is not None:
        path.write_text(content)
    assert patient.found("success_never").level == "bad"


def failing(patient: Patient, error: ValleywatchError, hours_after: int) -> None:
    with pytest.raises(type(error)), noting_failure(patient.warehouse, NOW + timedelta(hours=hours_after)):
        raise error


def test_a_failure_after_the_success_is_told_and_one_before_it_is_not(patient: Patient) -> None:
    failing(patient, ValleywatchError("the contract of the requests is broken"), -1)
    assert patient.found("success").level == "ok"
    failing(patient, ValleywatchError("the contract of the marts is broken"), 1)
    found = patient.found("run_failed", LATER + timedelta(hours=1))
    assert (found.level, found.value) == ("bad", 3600)
    assert found.what == "the run of 2026-11-29 13:00 UTC failed since: the contract of the marts is broken"
    old = patient.found("success_old", NOW + timedelta(days=2))
    assert old.what.endswith("; the run of 2026-11-29 13:00 UTC failed: the contract of the marts is broken")
    beat(patient.warehouse, NOW + timedelta(hours=2), None)
    assert patient.found("success", NOW + timedelta(hours=3)).what.endswith("60 min ago, with nothing new")


def test_a_failure_that_may_pass_is_a_warning(patient: Patient) -> None:
    failing(patient, DiskFullError("no space is left"), 1)
    assert patient.found("run_failed", LATER).level == "warn"


@pytest.mark.parametrize("error", [BusyError("being written"), UsageError("no day of the job")])
def test_a_run_that_says_nothing_about_the_job_is_not_noted(patient: Patient, error: ValleywatchError) -> None:
    failing(patient, error, 1)
    assert last_failure(patient.warehouse) is None


def test_notes_are_the_owners_alone_and_leave_nothing_beside_them(patient: Patient) -> None:
    failing(patient, ValleywatchError("why"), 1)
    folder = patient.warehouse.folder
    assert {path.stat().st_mode & 0o777 for path in (folder / NAME, folder / FAILURE_NAME)} == {0o600}
    assert list(folder.glob(".last_*")) == []
    kept = last_beat(patient.warehouse)
    assert kept is not None
    assert (kept.finished, kept.day) == (NOW, "2026-11-29")


def test_a_run_that_fails_says_why_to_whoever_asks_later(patient: Patient, capsys: pytest.CaptureFixture[str]) -> None:
    (patient.warehouse.folder / "warehouse.duckdb").write_bytes(b"damaged" * 1000)
    assert patient.valleywatch("run") == 1
    said = capsys.readouterr().err
    failure = last_failure(patient.warehouse)
    assert failure is not None
    assert failure.error in said
    assert "valleywatch rebuild" in failure.error


def test_a_day_that_a_contract_stopped_is_named_with_its_breach(patient: Patient) -> None:
    finding = {"contract": "hourly marts", "expectation": "hit_rate is between 0 and 1", "severity": "block"}
    rows = [finding | {"day_index": day, "passed": False, "detail": f"day {day}"} for day in (20784, 20785)]
    patient.change(lambda writer: writer.insert_rows("ops.findings", rows))
    found = patient.found("blocked_days")
    assert (found.level, found.value) == ("bad", 2)
    assert (
        found.what
        == "2026-11-28, 2026-11-27 stopped; the newest by the hourly marts: hit_rate is between 0 and 1 (day 20785)"
    )
    assert "--day 2026-11-28" in found.remedy


def test_what_status_notes_of_the_newest_day_is_told_as_well(patient: Patient) -> None:
    row = {"day_index": 20786, "contract": "requests", "expectation": "enough requests report cached_tokens"}
    row |= {"severity": "warn", "passed": False, "detail": "coverage = 0.5"}
    patient.change(lambda writer: writer.insert_rows("ops.findings", [row]))
    found = patient.found("data")
    assert (found.level, "coverage = 0.5" in found.what) == ("warn", True)
