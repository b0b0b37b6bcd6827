"""Alerts that nobody has got.

Belongs here: what waits, what was given up, what was never taken up. Does not belong here: sending again (`valleywatch
alerts`), whether channels are configured (`configuration`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from pipelines.delivery.due import SEND, fate, unsettled
from pipelines.display import utc_time
from pipelines.doctor.case import Case, changed_at
from pipelines.doctor.finding import Finding, bad, ok
from pipelines.doctor.phrases import DAY_S, HOUR_S, counted, span
from pipelines.times import to_hour, to_instant
from pipelines.warehouse import Reader

MAX_WAITING_S = HOUR_S
DEAD_FOR_S = 7 * DAY_S
"""A delivery that was given up longer ago is history: what it told of has been in the report since."""
_AGAIN = "put right what the error names, then `valleywatch alerts retry`"


def check_deliveries(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find deliveries that wait for too long or were given up, those that somebody has acknowledged left out."""
    labels = {of.label for of in case.settings.alerts}
    rows = [row for row in reader.rows("doctor/deliveries") if row["channel"] in labels]
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
        yield ok("alerts", "no delivery failed", 0)


def check_untried(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find alerts that are due and were never tried: a round publishes what it did, so the snapshot tells."""
    settings, then = case.settings, case.now - timedelta(seconds=MAX_WAITING_S)
    if changed_at(case.warehouse.snapshot.resolve()) > then:
        return
    untried = [
        alert
        for of in settings.alerts
        for alert in unsettled(reader, of.label)
        if not alert.attempts
        and all(fate(alert, of, settings.alerting, settings.silences, at) == SEND for at in (then, case.now))
    ]
    if untried:
        hour = utc_time(to_hour(untried[0].hour_index))
        yield bad(
            "alerts_untried",
            f"{counted(len(untried), 'alert')} due and not tried; the first is {untried[0].kind} of {hour} UTC",
            len(untried),
            rule=f"an alert is tried within {span(MAX_WAITING_S)} of being due",
            remedy="run `valleywatch alerts send` and see what it says; then look why nothing started it",
        )


def _told(row: dict[str, Any]) -> str:
    error = f": {row['error']}" if row["error"] else ""
    when = utc_time(to_instant(row["since_us"]))
    return f"{row['kind']} to {row['channel']} after {counted(row['attempts'], 'attempt')}, {when} UTC{error}"


def _age_s(case: Case, instant_us: int) -> float:
    return case.age_s(to_instant(instant_us))
