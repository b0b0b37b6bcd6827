"""Prometheus Alertmanager, by version 2 of its API. It groups, routes and silences by itself.

Belongs here: an alert's labels, annotations and times. Does not belong here: how it is posted (`post`). Labels are what
Alertmanager knows an alert by: none may change while it is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import SecretStr

from pipelines.delivery.channels import forms
from pipelines.delivery.channels.post import Post, encoded
from pipelines.delivery.notice import Notice
from pipelines.display import as_utc

API_PATH = "/api/v2/alerts"
KEPT_OPEN = timedelta(hours=26)
"""How long an alert stays open without being sent again: a daily pass and two hours in which it may be late."""
ALERT_NAMES = {
    "entry": "ValleywatchValley",
    "untrustworthy": "ValleywatchUntrustworthy",
    "stale": "ValleywatchStale",
    "data_blocked": "ValleywatchDataBlocked",
}


@dataclass(frozen=True)
class AlertmanagerChannel:
    """One Alertmanager."""

    label: str
    post: Post
    token: SecretStr | None
    notices_at_once: ClassVar[int] = 100
    is_for_people: ClassVar[bool] = False
    keeps_alive: ClassVar[bool] = True
    closes_by_key: ClassVar[bool] = False

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> None:
        """Deliver one message; see Channel."""
        assert digest_key is None, "digests are for people"
        assert not n_more, "digests are for people"
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token.get_secret_value()}"}
        self.post.send(encoded([posted_alert(notice, now) for notice in notices]), now, headers)


def posted_alert(notice: Notice, now: datetime) -> dict[str, Any]:
    """Return the alert as it is now; open, it ends by itself when it is not sent again for `KEPT_OPEN`."""
    labels = {
        "alertname": ALERT_NAMES[forms.family(notice)],
        "severity": forms.severity(notice),
        "valleywatch_key": notice.dedup_key,
    }
    if notice.deployment is not None:
        labels["deployment"] = forms.subject(notice)
    annotations = {
        "summary": forms.headline(notice),
        "description": "\n".join(forms.sentences(notice)),
        "kind": notice.kind,
        "level": str(notice.level),
    }
    for name, text in forms.figures(notice.figures):
        annotations[name.lower().replace(" ", "_")] = text
    begun = as_utc(notice.since)
    ends = (
        max(as_utc(notice.at), begun + timedelta(seconds=1)) if notice.action == "resolve" else as_utc(now) + KEPT_OPEN
    )
    alert = {"labels": labels, "annotations": annotations, "startsAt": forms.iso(begun), "endsAt": forms.iso(ends)}
    if url := forms.report_link(notice):
        annotations["report"] = url
        alert["generatorURL"] = url
    return alert
