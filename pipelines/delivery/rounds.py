"""One round of delivery: what is due goes out, and what became of it is kept.

Belongs here: the order of sending and keeping. Does not belong here: what is due (`due`), backoff (`attempts`), digests
(`messages`), words (`details`), connections (`channels`).

The writer's lock is not held while anything is sent: the job must not wait for an endpoint. A round that dies between
sending and keeping leaves the alert due, so the next sends it once more under the same key: at least once, never lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from pipelines.alerts.conditions import write_conditions
from pipelines.delivery.attempts import is_given_up, next_attempt
from pipelines.delivery.channel import Channel, DeliveryError
from pipelines.delivery.details import Place, known_of, notices
from pipelines.delivery.due import SEND, WAIT, Alert, fate, next_moment, unsettled
from pipelines.delivery.messages import Manner, Message, beginnings, followings, is_in_digest
from pipelines.delivery.settings import ChannelSettings
from pipelines.faults import reach
from pipelines.overview import Overview
from pipelines.report import report_path
from pipelines.settings import Settings
from pipelines.times import to_instant, to_us
from pipelines.warehouse import Warehouse
from pipelines.warehouse.disk import lock, make_folder

WRITER_WAIT_S = 300.0
"""What was sent must be kept, so a round waits for a job that writes; longer than steps of jobs take."""
LOCK = "delivery.lock"
"""Held during a round; written to when one begins."""
Clock = Callable[[], datetime]


@dataclass(slots=True)
class Round:
    """What a round did. next_attempt: when the first message that was not taken is tried again."""

    recorded: int = 0
    sent: int = 0
    waiting: int = 0
    dead: int = 0
    next_attempt: datetime | None = None


def deliver(
    warehouse: Warehouse,
    settings: Settings,
    channels: Sequence[Channel],
    tell: Callable[[str], None],
    clock: Clock = lambda: datetime.now(UTC),
) -> Round:
    """Look for conditions, tell every channel what is due, keep what became of it, and publish that.

    channels: those of `settings.alerts`, in their order. Raises BusyError where another round is under way, or the
    warehouse stays locked.
    """
    done = Round()
    make_folder(warehouse.folder)
    with lock(warehouse.folder / LOCK, 0.0):
        with warehouse.writer(wait_s=WRITER_WAIT_S) as writer:
            done.recorded = write_conditions(writer, settings.alerting, clock())
            waiting = {of.label: unsettled(writer, of.label) for of in settings.alerts}
            is_changed = done.recorded > 0
        for channel, of in zip(channels, settings.alerts, strict=True):
            out = _Out(warehouse, settings, of, channel, tell, clock, done)
            is_changed |= out.tell_all(waiting[of.label])
        if is_changed:
            with warehouse.writer(wait_s=WRITER_WAIT_S) as writer:
                writer.run("alerts/set_notified")
                writer.publish()
    return done


@dataclass(slots=True)
class _Out:
    """A round at one channel."""

    warehouse: Warehouse
    settings: Settings
    of: ChannelSettings
    channel: Channel
    tell: Callable[[str], None]
    clock: Clock
    done: Round

    def tell_all(self, alerts: list[Alert]) -> bool:
        """Tell the channel what is due, beginnings first; say whether anything was kept."""
        begins = [alert for alert in alerts if alert.action == "trigger"]
        kept, is_up = self._tell(begins, beginnings)
        became = {row["dedup_key"]: row for row in kept}
        for action in ("update", "resolve"):
            follows = [_opened(alert, became) for alert in alerts if alert.action == action]
            if is_up:
                then, is_up = self._tell(follows, followings)
                kept += then
        if is_up and self.channel.keeps_alive:
            self._keep_alive()
        return bool(kept)

    def _tell(
        self, alerts: list[Alert], into_messages: Callable[[Sequence[Alert], Manner], list[Message]]
    ) -> tuple[list[dict[str, Any]], bool]:
        """Settle and send; return what became of each alert, and whether the channel takes anything."""
        fates = [(alert, fate(alert, self.of, self.settings.alerting, self.settings.silences, self.clock()))
                 for alert in alerts]  # fmt: skip
        settled = [_row(alert, status, None, self.clock()) for alert, status in fates if status not in (SEND, WAIT)]
        self._keep(settled)
        due = [alert for alert, status in fates if status == SEND]
        self._note_waiting(alert for alert, status in fates if status == WAIT)
        if self.channel.closes_by_key:
            due = self._whole_digests(due)
        is_up = True
        messages = into_messages(due, self._manner)
        known = self._known(alert for message in messages for alert in message.shown)
        while messages:
            message = messages.pop(0)
            try:
                rows = self._send(message, known)
            except DeliveryError as error:
                if not error.is_transient and len(message.alerts) > 1 and message.digest_key is None:
                    # One alert that is refused must not take the others of its batch with it.
                    messages[:0] = [Message((alert,), 1, None) for alert in message.alerts]
                    continue
                rows = self._failed(message, error)
                if error.is_transient:
                    messages.clear()
                    is_up = False
            self._keep(rows)
            settled += rows
        return settled, is_up

    def _send(self, message: Message, known: dict[str, Overview]) -> list[dict[str, Any]]:
        """Send one message; return what became of its alerts. Raises DeliveryError where it was not taken."""
        now = self.clock()
        shown = notices(message.shown, known, self._place)
        reach("alert_sending")
        try:
            n_more = len(message.alerts) - len(shown)
            remark = self.channel.send(shown, n_more=n_more, digest_key=message.digest_key, now=now)
        except DeliveryError:
            raise
        except Exception as error:  # noqa: BLE001
            # A fault of one channel must not silence the others; its text may hold what nobody may read.
            what = f"{type(error).__name__} in valleywatch's own code: please report it"
            raise DeliveryError("fault", what, is_transient=True) from None
        reach("alert_sent")
        if remark is not None:
            self.tell(f"alert channel {self.of.label}: {remark}")
        self.done.sent += len(message.alerts)
        return [_row(alert, "sent", message.digest_key, now, counted=1) for alert in message.alerts]

    def _failed(self, message: Message, error: DeliveryError) -> list[dict[str, Any]]:
        now = self.clock()
        rows = []
        for alert in message.alerts:
            first = now if alert.first_attempt_us is None else to_instant(alert.first_attempt_us)
            attempts = alert.attempts + 1
            is_dead = not error.is_transient or is_given_up(first, attempts, now)
            row = _row(alert, "dead" if is_dead else "waiting", None, now, counted=1) | {"error": str(error)}
            if not is_dead:
                # The whole message is tried again at one time.
                key = message.digest_key or message.alerts[0].dedup_key
                at = next_attempt(f"{self.of.label}\0{key}", attempts, now, error.retry_after_s)
                row["next_attempt_us"] = to_us(at)
                self._note(at)
            rows.append(row)
        n_dead = sum(row["status"] == "dead" for row in rows)
        self.done.dead += n_dead
        self.done.waiting += len(rows) - n_dead
        fate_words = "given up: `valleywatch alerts retry` tries again" if n_dead else "it is tried again"
        self.tell(f"alert channel {self.of.label}: {error}; {len(rows)} alerts were not delivered, {fate_words}")
        return rows

    def _keep_alive(self) -> None:
        """Tell again of all that is open, to a channel that forgets."""
        with self.warehouse.writer(wait_s=WRITER_WAIT_S) as writer:
            rows = writer.rows("alerts/still_open", channel=self.of.label)
        alerts = [Alert(**row) for row in rows]
        known = self._known(alerts)
        try:
            for start in range(0, len(alerts), self.channel.notices_at_once):
                batch = alerts[start : start + self.channel.notices_at_once]
                given = notices(batch, known, self._place)
                self.channel.send(given, n_more=0, digest_key=None, now=self.clock())
        except DeliveryError as error:
            self.tell(f"alert channel {self.of.label}: {error}; open alerts were not told again, the next round will")

    def _whole_digests(self, due: list[Alert]) -> list[Alert]:
        """Leave out ends of a digest's alerts until all of its alerts have ended."""
        digests = {alert.opened_as for alert in due if alert.action == "resolve" and is_in_digest(alert)}
        if not digests:
            return due
        with self.warehouse.writer(wait_s=WRITER_WAIT_S) as writer:
            partly = {
                key
                for key in digests
                for member in writer.rows("alerts/digest_members", channel=self.of.label, sent_as=key)
                if not member["is_over"]
            }
        return [alert for alert in due if alert.action != "resolve" or alert.opened_as not in partly]

    def _keep(self, rows: list[dict[str, Any]]) -> None:
        """Keep what became of alerts at this channel."""
        if rows:
            frame = pl.DataFrame([row | {"channel": self.of.label} for row in rows], schema=_COLUMNS)
            with self.warehouse.writer(wait_s=WRITER_WAIT_S) as writer, writer.transaction():
                with writer.registered("became", frame.to_arrow()):
                    writer.run("alerts/forget_deliveries", channel=self.of.label)
                writer.insert_frame("ops.alert_deliveries", frame)
            reach("alert_kept")

    def _known(self, alerts: Iterable[Alert]) -> dict[str, Overview]:
        wanted = list(alerts)
        if not wanted or not self.warehouse.snapshot.exists():
            return {}
        with self.warehouse.reader() as reader:
            return known_of(reader, wanted)

    def _note_waiting(self, alerts: Iterable[Alert]) -> None:
        at = next_moment(alerts)
        if at is not None:
            self.done.waiting += 1
            self._note(at)

    def _note(self, at: datetime) -> None:
        self.done.next_attempt = at if self.done.next_attempt is None else min(at, self.done.next_attempt)

    @property
    def _manner(self) -> Manner:
        return Manner(
            self.settings.alerting.digest_over,
            self.channel.notices_at_once,
            self.channel.is_for_people,
            self.channel.closes_by_key,
        )

    @property
    def _place(self) -> Place:
        return Place(self.settings.report.url, report_path(self.warehouse))


_COLUMNS = {
    "dedup_key": pl.String, "kind": pl.String, "level": pl.Int64, "channel": pl.String, "status": pl.String,
    "attempts": pl.Int64, "first_attempt_us": pl.Int64, "next_attempt_us": pl.Int64, "settled_us": pl.Int64,
    "error": pl.String, "sent_as": pl.String,
}  # fmt: skip


def _row(alert: Alert, status: str, digest_key: str | None, now: datetime, *, counted: int = 0) -> dict[str, Any]:
    """Return what became of an alert; counted: attempts that this is."""
    first = alert.first_attempt_us if alert.first_attempt_us is not None or not counted else to_us(now)
    return alert.identity | {
        "status": status,
        "attempts": alert.attempts + counted,
        "first_attempt_us": first,
        "next_attempt_us": None,
        "settled_us": None if status == "waiting" else to_us(now),
        "error": None,
        "sent_as": (digest_key or alert.dedup_key) if status == "sent" else None,
    }


def _opened(alert: Alert, became: dict[str, dict[str, Any]]) -> Alert:
    """Return the alert with what this very round made of the one that began it."""
    row = became.get(alert.dedup_key)
    return alert if row is None else replace(alert, opening_status=row["status"], opened_as=row["sent_as"])
