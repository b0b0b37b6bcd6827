"""The machine's clock against what it wrote earlier, and against the logs.

Belongs here: signs that it is wrong. Does not belong here: setting it, asking a time server.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from pipelines.display import utc_time
from pipelines.doctor.case import Case, changed_at
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import span
from pipelines.heartbeat import last_beat
from pipelines.times import to_hour, to_instant
from pipelines.warehouse import Reader

TOLERATED = timedelta(minutes=10)
"""As far ahead as a request may have arrived (sql/ingest/judged.sql)."""
_SET = "set the clock (timedatectl set-ntp true); results are as their hours say, ages and alerts are not"


def check_clock(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find whether the clock went back since the job ran, or logs tell of hours that are yet to come."""
    row = reader.rows("doctor/newest_times")[0]
    beat = last_beat(case.warehouse)
    written = {
        "the snapshot was published": changed_at(case.warehouse.snapshot.resolve()),
        "a file was loaded": _instant(row["loaded_us"]),
        "an alert was recorded": _instant(row["written_us"]),
        "the last success ended": beat.finished if beat else None,
    }
    known = {name: moment for name, moment in written.items() if moment is not None}
    name, newest = max(known.items(), key=lambda item: item[1])
    rule = f"nothing was written more than {span(TOLERATED.total_seconds())} after the present"
    what = f"it is {utc_time(case.now)} UTC"
    if newest > case.now + TOLERATED:
        yield bad(
            "clock_back", f"{what}, and {name} {utc_time(newest)} UTC", -case.age_s(newest), rule=rule, remedy=_SET
        )
    else:
        yield ok("clock", what, case.now.isoformat(), rule=rule)
    if row["last_hour_index"] is not None and to_hour(row["last_hour_index"]) > case.now + TOLERATED:
        hour = to_hour(row["last_hour_index"])
        yield bad(
            "hours_ahead",
            f"{what}, and requests arrived {utc_time(hour)} UTC",
            -case.age_s(hour),
            rule="no request arrives in the future",
            remedy=f"{_SET}; or the producer's clock is ahead",
        )


def check_synchronized(case: Case) -> Iterator[Finding]:
    """Find whether the machine's time service has set the clock; others than systemd's leave no mark to look for."""
    state = case.run / "systemd" / "timesync"
    rule = "a time service keeps the clock"
    if (state / "synchronized").exists():
        yield ok("clock_synchronized", "systemd-timesyncd has set the clock", rule=rule)
    elif state.is_dir():
        yield warn(
            "clock_unsynchronized",
            "systemd-timesyncd has not set the clock since the machine started",
            rule=rule,
            remedy="timedatectl timesync-status says which server it asks and why it fails",
        )
    else:
        yield ok("clock_unknown", "whether the clock is kept cannot be told: no systemd-timesyncd here", rule=rule)


def _instant(instant_us: int | None) -> datetime | None:
    return None if instant_us is None else to_instant(instant_us)
