"""One message by SMTP: the standard library's client on a connection that is open already.

Belongs here: the session and what its replies mean. Does not belong here: the message (`email`).
"""

from __future__ import annotations

import binascii
import smtplib
import socket
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from typing import BinaryIO

from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.channels.addresses import Reach
from pipelines.delivery.channels.connection import Connection, Transport, connected
from pipelines.delivery.channels.endpoint import Endpoint
from pipelines.delivery.channels.redaction import Redaction

_LONGEST_SESSION = 64 * 1024
"""Bytes of replies; a usual session has one or two thousand."""


@dataclass(frozen=True)
class Mail:
    """How one channel sends mail: by which server, whom it may reach, and the secrets that no error may quote."""

    endpoint: Endpoint
    reach: Reach
    transport: Transport
    redaction: Redaction

    def send(self, message: EmailMessage, sender: str, recipients: tuple[str, ...]) -> int:
        """Return how many recipients were refused while others were not, once the server has the message.

        Raises DeliveryError; transient where the server says 4xx, also of one recipient where it refused all.
        """
        with connected(self.transport, self.endpoint, self.reach) as connection:
            try:
                with closing(_Session(connection.socket, self.endpoint)) as session:
                    self._begin(session, connection)
                    refused = session.send_message(message, sender, recipients)
                    with suppress(smtplib.SMTPException, OSError):  # It has the message, however it says goodbye.
                        session.quit()
            except (smtplib.SMTPException, binascii.Error) as error:  # the latter of a challenge that is no base64
                if connection.deadline.is_over:
                    raise TimeoutError from None
                raise self._not_taken(error) from None
        return len(refused)

    def _begin(self, session: _Session, connection: Connection) -> None:
        end = self.endpoint
        session.ehlo_or_helo_if_needed()
        if end.scheme == "smtp" and session.has_extn("starttls"):
            session.starttls(context=self.transport.tls)
            session.ehlo()
        elif end.scheme == "smtp" and not connection.is_allowed:
            remedy = "use smtps://, or list its address under `allow` where the network is trusted"
            raise DeliveryError("tls", f"{end.host} offers no STARTTLS: {remedy}", is_transient=False)
        if end.user is not None and end.password is not None:
            session.login(end.user.get_secret_value(), end.password.get_secret_value())

    def _not_taken(self, error: smtplib.SMTPException | binascii.Error) -> DeliveryError:
        end = self.endpoint
        said: bytes | str
        if isinstance(error, smtplib.SMTPRecipientsRefused):
            replies = list(error.recipients.values())
            code, said = next((reply for reply in replies if _is_transient(reply[0])), replies[0])
            what = f"{end.host} refused all {len(replies)} recipients, one with {code}"
        elif isinstance(error, smtplib.SMTPResponseException) and error.smtp_code > 0:
            code, said = error.smtp_code, error.smtp_error
            hint = (
                f", correct the login in {end.variable}" if isinstance(error, smtplib.SMTPAuthenticationError) else ""
            )
            what = f"{end.host} answered {code}{hint}"
        elif isinstance(error, smtplib.SMTPNotSupportedError):
            what = f"{end.host} lacks what the message or the login needs (8-bit addresses, AUTH)"
            return DeliveryError("smtp", what, is_transient=False)
        else:
            what = f"{end.host} ended the session or spoke no SMTP"
            return DeliveryError("smtp", what, is_transient=True)
        quote = self.redaction.quoted(said if isinstance(said, bytes) else said.encode())
        detail = f"{what} ({quote})" if quote else what
        return DeliveryError("smtp", detail, is_transient=_is_transient(code), status=code)


class _Session(smtplib.SMTP):
    """A session on a given connection. It names itself by its address: asking for its name could take any time."""

    def __init__(self, connection: socket.socket, endpoint: Endpoint) -> None:
        self._connection = connection
        own = connection.getsockname()[0]
        literal = f"[IPv6:{own.partition('%')[0]}]" if connection.family == socket.AF_INET6 else f"[{own}]"
        super().__init__(endpoint.host, endpoint.port, local_hostname=literal)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002
        return self._connection

    def getreply(self) -> tuple[int, bytes]:
        """Read one reply; its lines may be many, not endless."""
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock.makefile("rb"))
        return super().getreply()


class _Replies:
    """What a server says, of which a session keeps every line: no more than `_LONGEST_SESSION`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = _LONGEST_SESSION

    def readline(self, limit: int) -> bytes:
        line = self._file.readline(limit)
        self._left -= len(line)
        if self._left < 0:
            raise smtplib.SMTPServerDisconnected("it said too much")
        return line

    def close(self) -> None:
        self._file.close()


def _is_transient(code: int) -> bool:
    return not 500 <= code < 600
