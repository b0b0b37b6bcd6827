"""A real SMTP server on loopback, and what it was handed."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.delivery.loopback import LOOPBACK, free_port


@dataclass
class Mailbox:
    """What the server was handed. `refuse` has a reply by recipient, `data` one to the message."""

    refuse: dict[str, str] = field(default_factory=dict)
    data: str = "250 taken"
    envelopes: list[Envelope] = field(default_factory=list)
    was_tls: list[bool] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Take a recipient or refuse it."""
        if address not in self.refuse:
            envelope.rcpt_tos.append(address)
        return self.refuse.get(address, "250 ok")

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Take the message or refuse it."""
        if self.data.startswith("2"):
            self.envelopes.append(envelope)
            self.was_tls.append(session.ssl is not None)
        return self.data

    @property
    def messages(self) -> list[EmailMessage]:
        """The messages, parsed as a reader would."""
        contents = [envelope.original_content or b"" for envelope in self.envelopes]
        return [email.message_from_bytes(content, policy=email.policy.default) for content in contents]  # type: ignore[misc]


@contextmanager
def mail_server(mailbox: Mailbox, **options: Any) -> Iterator[int]:
    """Serve SMTP on loopback; yield the port."""
    controller = Controller(mailbox, hostname=LOOPBACK, port=free_port(), **options)
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


def text_of(message: EmailMessage, kind: str = "plain") -> str:
    """The text of a message in one of its two forms."""
    part = message.get_body((kind,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")
