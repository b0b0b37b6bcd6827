"""A channel that keeps what it is given, and refuses when it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.notice import Notice


@dataclass
class Sent:
    """One message that was taken."""

    notices: tuple[Notice, ...]
    n_more: int
    digest_key: str | None

    @property
    def told(self) -> list[tuple[str, str | None]]:
        return [(notice.kind, notice.deployment) for notice in self.notices]


@dataclass
class Recorder:
    """See the module's docstring. `refusals` are raised in order, one a message, before anything is taken."""

    label: str = "webhook"
    notices_at_once: int = 1
    is_for_people: bool = True
    keeps_alive: bool = False
    closes_by_key: bool = False
    refusals: list[Exception] = field(default_factory=list)
    taken: list[Sent] = field(default_factory=list)

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.taken.append(Sent(tuple(notices), n_more, digest_key))

    @property
    def told(self) -> list[tuple[str, str | None]]:
        """Kind and deployment of every notice taken, in order."""
        return [pair for sent in self.taken for pair in sent.told]


def passing(retry_after_s: float | None = None) -> DeliveryError:
    return DeliveryError("status", "503 from hooks", is_transient=True, retry_after_s=retry_after_s, status=503)


def final() -> DeliveryError:
    return DeliveryError("status", "404 from hooks", is_transient=False, status=404)
