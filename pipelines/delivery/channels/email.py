"""E-mail: one message an alert, in plain text with an HTML alternative, all of one key in one thread.

Belongs here: the message. Does not belong here: the session with a server (`smtp`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape
from typing import ClassVar

from pipelines.delivery.channels import forms
from pipelines.delivery.channels.smtp import Mail
from pipelines.delivery.notice import Notice
from pipelines.display import as_utc

_SUBJECT_LIMIT = 200
_POLICY = SMTP.clone(cte_type="7bit")  # not every server takes 8 bits


@dataclass(frozen=True)
class EmailChannel:
    """One sender and those it writes to."""

    label: str
    mail: Mail
    sender: str
    recipients: tuple[str, ...]
    notices_at_once: ClassVar[int] = 1
    is_for_people: ClassVar[bool] = True
    keeps_alive: ClassVar[bool] = False
    closes_by_key: ClassVar[bool] = False

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> str | None:
        """Deliver one message; see Channel."""
        message = email_message(notices, n_more, digest_key, now, self.sender, self.recipients)
        refused = self.mail.send(message, self.sender, self.recipients)
        return f"{refused} of {len(self.recipients)} recipients were refused" if refused else None


_STYLE = "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;max-width:42em;line-height:1.45"
"""Readers of mail drop style sheets and keep styles of elements."""


def email_message(
    notices: Sequence[Notice],
    n_more: int,
    digest_key: str | None,
    now: datetime,
    sender: str,
    recipients: Sequence[str],
) -> EmailMessage:
    """Return the message. The same alert has the same Message-ID whenever it is sent."""
    domain = sender.rpartition("@")[2]
    is_digest = digest_key is not None or len(notices) > 1 or n_more > 0
    message = EmailMessage(policy=_POLICY)
    message["From"] = f"valleywatch <{sender}>"
    message["To"] = ", ".join(recipients)
    message["Date"] = format_datetime(as_utc(now))
    message["Auto-Submitted"] = "auto-generated"
    if is_digest:
        key = digest_key or "".join(notice.dedup_key + notice.kind for notice in notices)
        message["Message-ID"] = _message_id(key, "digest", domain)
        title = forms.digest_title(notices, n_more)
        message["Subject"] = f"[valleywatch] {forms.SIGNS[forms.digest_action(notices)]} {title}"
    else:
        notice = notices[0]
        first = _message_id(notice.dedup_key, forms.family(notice), domain)
        if notice.action == "trigger":
            message["Message-ID"] = first
        else:
            message["Message-ID"] = _message_id(notice.dedup_key, f"{notice.kind} {forms.iso(notice.at)}", domain)
            message["In-Reply-To"] = first
            message["References"] = first
        title = _titled(notice)
        message["Subject"] = f"[valleywatch] {forms.SIGNS[notice.action]} {title}"[:_SUBJECT_LIMIT]
    message.set_content(_text(notices, n_more, title))
    message.add_alternative(_html(notices, n_more, title), subtype="html")
    return message


def _text(notices: Sequence[Notice], n_more: int, title: str) -> str:
    parts = [] if len(notices) == 1 and not n_more else [f"{title}\n"]
    for notice in notices:
        lines = [_titled(notice), "", *forms.sentences(notice), ""]
        lines += [f"{name}: {text}" for name, text in forms.figures(notice.figures)]
        lines.append(f"{forms.subject(notice)}: {forms.since(notice)}")
        if url := forms.report_link(notice):
            lines.append(f"Report: {url}")
        parts.append("\n".join(lines) + "\n")
    if n_more:
        parts.append(forms.n_more_words(n_more) + "\n")
    return "\n".join(parts)


def _html(notices: Sequence[Notice], n_more: int, title: str) -> str:
    parts = [f"<h1>{escape(title)}</h1>"] if len(notices) > 1 or n_more else []
    for notice in notices:
        parts.append(f"<h2 style='font-size:1.15em'>{forms.SIGNS[notice.action]} {escape(_titled(notice))}</h2>")
        parts += [f"<p>{escape(sentence)}</p>" for sentence in forms.sentences(notice)]
        rows = [*forms.figures(notice.figures), (forms.subject(notice), forms.since(notice))]
        cells = "".join(
            f"<tr><th align=left valign=top nowrap>{escape(name)}&emsp;</th><td>{escape(text)}</td></tr>"
            for name, text in rows
        )
        parts.append(f"<table>{cells}</table>")
        if url := forms.report_link(notice):
            parts.append(f'<p><a href="{escape(url)}">Report</a></p>')
    if n_more:
        parts.append(f"<p>{escape(forms.n_more_words(n_more))}</p>")
    return f'<!doctype html>\n<html><body style="{_STYLE}">\n' + "\n".join(parts) + "\n</body></html>\n"


def _titled(notice: Notice) -> str:
    return f"{forms.WORDS[notice.action]}: {forms.headline(notice)}"


def _message_id(key: str, what: str, domain: str) -> str:
    return f"<{hashlib.sha256(f'{key} {what}'.encode()).hexdigest()[:40]}@{domain}>"
