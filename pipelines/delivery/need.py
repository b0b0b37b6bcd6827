"""Whether a round of delivery has anything to do, by what is published: a cheap question, asked every minute.

Belongs here: the question. Does not belong here: the round (`rounds`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pipelines.alerts.conditions import called_for_now
from pipelines.alerts.outbox import unrecorded
from pipelines.delivery.due import WAIT, fate, unsettled
from pipelines.delivery.rounds import LOCK
from pipelines.opening import warehouse_of
from pipelines.settings import Settings

KEPT_ALIVE = timedelta(hours=6)
"""An Alertmanager forgets what it is not told again within a day (`channels.alertmanager`); four rounds may fail."""


def need(settings: Settings, now: datetime) -> str | None:
    """Say why a round is needed; None where it is not, or nothing is published yet.

    What stopped a day is not published: whoever stopped it asks for a round.
    """
    warehouse = warehouse_of(settings)
    if not settings.alerts or not warehouse.snapshot.exists():
        return None
    with warehouse.reader() as reader:
        recorded = reader.rows("valley/written_alerts")
        if begun := unrecorded(recorded, called_for_now(reader, settings.alerting, now)):
            return f"{len(begun)} conditions began or ended"
        for of in settings.alerts:
            due = [
                alert
                for alert in unsettled(reader, of.label)
                if fate(alert, of, settings.alerting, settings.silences, now) != WAIT
            ]
            if due:
                return f"{len(due)} alerts are due at {of.label}"
            if of.kind == "alertmanager" and reader.rows("alerts/still_open", channel=of.label):
                lock = warehouse.folder / LOCK
                if not lock.exists() or now - datetime.fromtimestamp(lock.stat().st_mtime, UTC) > KEPT_ALIVE:
                    return f"{of.label} must be told again of what is open"
    return None
