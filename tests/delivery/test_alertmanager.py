"""Alerts in the real Alertmanager: they appear once, stay, and end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.notice import Notice
from tests.delivery.alertmanager import Alertmanager, wait_for
from tests.delivery.conftest import Build
from tests.delivery.notices import RESOLVED, TRIGGER, WORSE, many
from tests.report.test_hostile_names import HOSTILE


@pytest.fixture
def now() -> datetime:
    """The server's own time: it ends alerts by its clock."""
    return datetime.now(UTC).replace(microsecond=0)


def at_hours(notice: Notice, now: datetime, since: int, at: int, key: str) -> Notice:
    """Return the notice of so many hours ago, under a key of its own."""
    return replace(notice, since=now - timedelta(hours=since), at=now - timedelta(hours=at), dedup_key=key)


def test_an_alert_appears_stays_one_and_ends(build: Build, alertmanager: Alertmanager, now: datetime) -> None:
    channel = build("alertmanager", alertmanager.url)
    key = "one"
    for notice in (TRIGGER, TRIGGER, WORSE, TRIGGER):  # sent again at each pass
        channel.send([at_hours(notice, now, 10, 10, key)], n_more=0, digest_key=None, now=now)
    wait_for(lambda: alertmanager.by_key(key), "the alert")
    (alert,) = alertmanager.by_key(key)
    assert alert["labels"] == {
        "alertname": "ValleywatchValley",
        "deployment": "glm-5-h200",
        "severity": "critical",
        "valleywatch_key": key,
    }
    assert alert["annotations"]["summary"] == TRIGGER.headline
    assert alert["annotations"]["revenue_index"] == "0.938 (0.935–0.941)"
    assert alert["generatorURL"] == TRIGGER.report_url
    assert datetime.fromisoformat(alert["startsAt"]) == now - timedelta(hours=10)
    assert datetime.fromisoformat(alert["endsAt"]) == now + timedelta(hours=26)
    wait_for(lambda: alertmanager.notified(key), "its own notification")
    channel.send([at_hours(RESOLVED, now, 10, 2, key)], n_more=0, digest_key=None, now=now)
    wait_for(lambda: not alertmanager.by_key(key), "its end")
    wait_for(lambda: "resolved" in alertmanager.notified(key), "the notification of its end")
    assert set(alertmanager.notified(key)[:-1]) == {"firing"}


def test_alerts_of_each_kind_and_of_any_name_are_taken(build: Build, alertmanager: Alertmanager, now: datetime) -> None:
    channel = build("alertmanager", f"{alertmanager.url}/")
    names = [name for name in HOSTILE.values() if len(name) <= 256]
    notices = [
        replace(notice, deployment=name, headline=f"{name} is in the valley", report_url=f"https://example.com/{name}")
        for notice, name in zip(many(len(names), since=now, at=now), names, strict=True)
    ]
    kinds = ("entry", "stale", "untrustworthy", "data_blocked")
    notices += [
        replace(TRIGGER, kind=kind, dedup_key=kind, deployment=None, figures=None, report_url=None, sentences=())
        for kind in kinds
    ]
    channel.send(notices, n_more=0, digest_key=None, now=now)
    keys = {notice.dedup_key for notice in notices}
    wait_for(lambda: keys <= {alert["labels"]["valleywatch_key"] for alert in alertmanager.alerts()}, "all of them")
    assert len([alert for alert in alertmanager.alerts() if alert["labels"]["valleywatch_key"] in keys]) == len(notices)


def test_what_it_refuses_is_not_tried_again(build: Build, alertmanager: Alertmanager, now: datetime) -> None:
    channel = build("alertmanager", f"{alertmanager.url}/elsewhere")
    with pytest.raises(DeliveryError) as caught:
        channel.send([TRIGGER], n_more=0, digest_key=None, now=now)
    assert (caught.value.reason, caught.value.status, caught.value.is_transient) == ("status", 404, False)
