"""PagerDuty, by version 2 of its Events API: an alert is opened, added to and closed under one key.

Belongs here: the event. Does not belong here: how it is posted (`post`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from pydantic import SecretStr

from pipelines.delivery.channels import forms
from pipelines.delivery.channels.post import Post, encoded
from pipelines.delivery.notice import Notice

EVENTS_URL = "https://events.pagerduty.com/v2/enqueue"
"""Of the service region US; accounts of another one name theirs by `url_env`."""
_SUMMARY_LIMIT = 1024
_WORST_FIRST = ("critical", "error", "warning")


@dataclass(frozen=True)
class PagerDutyChannel:
    """One integration of a service."""

    label: str
    post: Post
    routing_key: SecretStr
    notices_at_once: ClassVar[int] = 1
    is_for_people: ClassVar[bool] = True
    keeps_alive: ClassVar[bool] = False
    closes_by_key: ClassVar[bool] = True

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> None:
        """Deliver one message; see Channel. A digest opens or closes one alert, under `digest_key`."""
        if digest_key is None:
            (notice,) = notices
            event = alert_event(notice)
        else:
            event = digest_event(notices, n_more, digest_key, now)
        self.post.send(encoded(event | {"routing_key": self.routing_key.get_secret_value()}), now)


def alert_event(notice: Notice) -> dict[str, Any]:
    """Return one alert as an event, but for its routing key. More of an open one is a trigger of the same key."""
    details: dict[str, Any] = {"kind": notice.kind, "level": notice.level, "since": forms.iso(notice.since)}
    details |= {name.lower().replace(" ", "_"): text for name, text in forms.figures(notice.figures)}
    details["details"] = list(forms.sentences(notice))
    return _event(
        "resolve" if notice.action == "resolve" else "trigger",
        notice.dedup_key,
        {
            "summary": _cut(forms.headline(notice)),
            "source": forms.subject(notice),
            "severity": forms.severity(notice),
            "timestamp": forms.iso(notice.at),
            "component": forms.subject(notice),
            "class": notice.kind,
            "custom_details": details,
        },
        [notice],
    )


def digest_event(notices: Sequence[Notice], n_more: int, digest_key: str, now: datetime) -> dict[str, Any]:
    """Return many alerts as one event."""
    told = [f"{forms.WORDS[notice.action]}: {forms.headline(notice)}" for notice in notices]
    severities = {forms.severity(notice) for notice in notices}
    return _event(
        "resolve" if forms.digest_action(notices) == "resolve" else "trigger",
        digest_key,
        {
            "summary": _cut(f"valleywatch: {forms.digest_title(notices, n_more)}"),
            "source": "valleywatch",
            "severity": next(severity for severity in _WORST_FIRST if severity in severities),
            "timestamp": forms.iso(now),
            "class": "digest",
            "custom_details": {"alerts": told, "more": n_more},
        },
        notices,
    )


def _event(action: str, key: str, payload: dict[str, Any], notices: Sequence[Notice]) -> dict[str, Any]:
    links = dict.fromkeys(filter(None, map(forms.report_link, notices)))
    return {
        "event_action": action,
        "dedup_key": key,
        "payload": payload,
        "client": "valleywatch",
        "links": [{"href": url, "text": "Report"} for url in links],
    }


def _cut(text: str) -> str:
    return text if len(text) <= _SUMMARY_LIMIT else text[: _SUMMARY_LIMIT - 1] + "…"
