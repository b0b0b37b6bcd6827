"""Alerts that nobody has got.

Belongs here: what waits, what was given up, what was never taken up. Does not belong here: sending again (`valleywatch
alerts`), whether channels are configured (`configuration`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.display import utc_time
from pipelines.doctor.case import Case, changed_at
from pipelines.doctor.finding import Finding, bad, ok
from pipelines.doctor.phrases import DAY_S, HOUR_S, counted, span
from pipelines.prices.globs import matches
from pipelines.times import from_us
from pipelines.warehouse import Reader

MAX_WAITING_S = HOUR_S
DEAD_FOR_S = 7 * DAY_S
"""A delivery that was given up longer ago is history: what it told of has been in the report since."""
_AGAIN = "put right what the error names, then `valleywatch alerts retry`"


def check_deliveries(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find deliveries that wait for too long or were given up, those that somebody has acknowledged left out."""
    rows = reader.rows("doctor/deliveries")
    dead = [row for row in rows if row["status"] == "dead" and _age_s(case, row["since_us"]) < DEAD_FOR_S]
    waiting = [row for row in rows if row["status"] == "waiting" and _age_s(case, row["since_us"]) > MAX_WAITING_S]
    if dead:
        yield bad(
            "alerts_dead",
            f"{counted(len(dead), 'alert')} given up; the newest, {_told(dead[0])}",
            len(dead),
            rule=f"no alert of the last {span(DEAD_FOR_S)} is lost",
            remedy=_AGAIN,
        )
    if waiting:
        yield bad(
            "alerts_waiting",
            f"{counted(len(waiting), 'alert')} not delivered yet; the newest, {_told(waiting[0])}",
            len(waiting),
            rule=f"an alert is delivered within {span(MAX_WAITING_S)} of the first attempt",
            remedy=_AGAIN,
        )
    if not dead and not waiting:
        yield ok("alerts", "no alert waits or was given up", 0)


def check_untried(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find alerts that a channel should have been given and that none was, when the snapshot was published."""
    published = changed_at(case.warehouse.snapshot.resolve())
    oldest = int(published.timestamp() // HOUR_S) - case.settings.alerting.max_alert_age_hours
    untried = [
        row
        for row in reader.rows("doctor/untried_alerts", from_hour=oldest)
        if (published - from_us(row["written_us"])).total_seconds() > MAX_WAITING_S and _is_wanted(case, row)
    ]
    if untried:
        written = utc_time(from_us(untried[0]["written_us"]))
        yield bad(
            "alerts_untried",
            f"{counted(len(untried), 'alert')} never given to a channel, the oldest of {written} UTC",
            len(untried),
            rule=f"an alert is taken up within {span(MAX_WAITING_S)}",
            remedy="run `valleywatch run`, which delivers what is recorded, and see what it says of the channels",
        )


def _is_wanted(case: Case, row: dict[str, Any]) -> bool:
    """Say whether some channel takes alerts of this deployment and kind."""
    return any(
        (not channel.events or row["kind"] in channel.events)
        and (row["deployment"] is None or any(matches(glob, row["deployment"]) for glob in channel.deployments))
        for channel in case.settings.alerts
    )


def _told(row: dict[str, Any]) -> str:
    error = f": {row['error']}" if row["error"] else ""
    when = utc_time(from_us(row["since_us"]))
    return f"{row['kind']} to {row['channel']} after {counted(row['attempts'], 'attempt')}, {when} UTC{error}"


def _age_s(case: Case, instant_us: int) -> float:
    return case.age_s(from_us(instant_us))
