"""A webhook of the user's own: JSON of a schema that is published, signed where there is a secret.

Belongs here: the body (docs/alert-webhook.schema.json), its signature and its key. Does not belong here: how it is
posted (`post`).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from pydantic import SecretStr

from pipelines.delivery.channels import forms
from pipelines.delivery.channels.post import Post, encoded
from pipelines.delivery.notice import Figures, Notice
from pipelines.display import as_utc

WEBHOOK_SCHEMA_VERSION = 1
"""Raised when a reader of the former would misread the new; new keys alone do not."""


@dataclass(frozen=True)
class WebhookChannel:
    """One receiver of all alerts, each with its key: it can tell what is open by itself."""

    label: str
    post: Post
    secret: SecretStr | None
    notices_at_once: ClassVar[int] = 100
    is_for_people: ClassVar[bool] = False
    keeps_alive: ClassVar[bool] = False
    closes_by_key: ClassVar[bool] = False

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> None:
        """Deliver one message; see Channel."""
        assert digest_key is None, "digests are for people"
        assert not n_more, "digests are for people"
        body = encoded(webhook_message(notices, now))
        headers = {"Idempotency-Key": _key(",".join(sorted(map(alert_id, notices))))}
        if self.secret is not None:
            headers["X-Valleywatch-Signature"] = signature(self.secret, body, now)
        self.post.send(body, now, headers)


def webhook_message(notices: Sequence[Notice], now: datetime) -> dict[str, Any]:
    """Return the body as docs/alert-webhook.schema.json describes it."""
    return {
        "schema_version": WEBHOOK_SCHEMA_VERSION,
        "sent_at": forms.iso(now),
        "alerts": [_alert(notice) for notice in notices],
    }


def alert_id(notice: Notice) -> str:
    """Return what is the same each time that this alert is sent, and of no other."""
    return _key(f"{notice.dedup_key} {notice.kind} {forms.iso(notice.at)} {notice.level}")


def signature(secret: SecretStr, body: bytes, now: datetime) -> str:
    """Return `t=UNIX_SECONDS,v1=HEX` where HEX is the HMAC-SHA-256 of `t.body`: an old message cannot be sent anew."""
    moment = str(int(as_utc(now).timestamp()))
    code = hmac.new(secret.get_secret_value().encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={code.hexdigest()}"


def _alert(notice: Notice) -> dict[str, Any]:
    return {
        "id": alert_id(notice),
        "dedup_key": notice.dedup_key,
        "kind": notice.kind,
        "action": notice.action,
        "severity": forms.severity(notice),
        "level": notice.level,
        "deployment": notice.deployment,
        "since": forms.iso(notice.since),
        "at": forms.iso(notice.at),
        "headline": notice.headline,
        "sentences": list(notice.sentences),
        "figures": None if notice.figures is None else _figures(notice.figures),
        "report_url": forms.report_link(notice),
    }


def _figures(figures: Figures) -> dict[str, Any]:
    moment = figures.newest_hour
    return asdict(figures) | {"newest_hour": None if moment is None else forms.iso(moment)}


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
