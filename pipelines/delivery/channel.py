"""What all channels have in common, for whoever sends through them.

Belongs here: the protocol and how sending can fail. Does not belong here: any channel (`channels`), when to try again
(`attempts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pipelines.delivery.notice import Notice
from pipelines.errors import ValleywatchError


class DeliveryError(ValleywatchError):
    """A message was not taken. Its text holds no secret and at most 200 characters of what the other side said.

    reason is a code: `refused`, `timeout`, `dns`, `tls`, `address`, `redirect`, `status`, `secret`, `smtp`, `fault`.
    is_transient says whether the same message may be taken later, retry_after_s when the other side wants it again.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        is_transient: bool,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.is_transient = is_transient
        self.retry_after_s = retry_after_s
        self.status = status


class Channel(Protocol):
    """A way out. One message is one call; it returns once the other side has taken it, or raises DeliveryError."""

    @property
    def label(self) -> str:
        """Its name in the tables."""

    @property
    def closes_by_key(self) -> bool:
        """Whether the end of one of a digest's alerts would end all that went under its key."""

    @property
    def notices_at_once(self) -> int:
        """Notices that one message can carry."""

    @property
    def is_for_people(self) -> bool:
        """Whether many alerts at once are told in one digest, `n_more` of them by number alone."""

    @property
    def keeps_alive(self) -> bool:
        """Whether open alerts must be sent again for as long as they are open."""

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> str | None:
        """Deliver one message of 1 to `notices_at_once` notices, or a digest; return what is to be said although it
        was taken, such as that one of several recipients was refused.

        digest_key: where not None the message stands for all of them under this key (`n_more` are not in `notices`),
        so that whoever knows alerts by key opens and closes one.
        """
