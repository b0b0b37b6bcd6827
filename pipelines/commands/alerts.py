"""`valleywatch alerts`: what was recorded and told to whom, and the errands around it."""

from __future__ import annotations

import argparse
import getpass
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.alerts.ledger import KEY_DIGITS, Listed, acknowledge, listed, revive
from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_json, write_table
from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.channels import build_channels
from pipelines.delivery.notice import Notice
from pipelines.delivery.patience import deliver_patiently
from pipelines.display import utc_time
from pipelines.errors import UsageError
from pipelines.metrics.textfile import publish_metrics
from pipelines.opening import warehouse_of
from pipelines.settings import Settings, load_settings
from pipelines.times import US_PER_HOUR, to_hour, to_instant, to_us
from pipelines.warehouse import Warehouse

DAYS = 7
WRITER_WAIT_S = 60.0


def add_to(commands: Any) -> None:
    """Declare the command and its errands."""
    parser = commands.add_parser("alerts", help="what was told to whom; send what is due, acknowledge, try again, test")
    parser.add_argument("--days", type=int, default=DAYS, metavar="N", help=f"how far back (default: {DAYS})")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=show)
    errands = parser.add_subparsers(title="errands", metavar="ERRAND")
    send_parser = errands.add_parser("send", help="one round of delivery, as cron wants it")
    send_parser.set_defaults(execute=send)
    ack = errands.add_parser("ack", help="note that somebody has seen an alert")
    ack.add_argument("key", metavar="KEY", help="the first characters of its key, as `valleywatch alerts` shows it")
    ack.add_argument("--by", default=None, metavar="NAME", help="who (default: you)")
    ack.add_argument("--note", default=None, metavar="TEXT")
    ack.set_defaults(execute=acknowledge_one)
    retry = errands.add_parser("retry", help="make what was given up due again")
    retry.add_argument("key", metavar="KEY", nargs="?", help="one alert's (default: all)")
    retry.set_defaults(execute=retry_dead)
    test = errands.add_parser("test", help="send a test message to every channel, or to one")
    test.add_argument("channel", metavar="CHANNEL", nargs="?", help="its name")
    test.set_defaults(execute=send_test)
    for errand in (send_parser, ack, retry, test):
        add_config(errand)


def show(options: argparse.Namespace) -> int:
    """Print the alerts of the last days, and older ones that have not ended."""
    settings = load_settings(options.config)
    if options.days < 0:
        raise UsageError(f"--days {options.days} is negative: say how many days back")
    since = to_us(datetime.now(UTC) - timedelta(days=options.days)) // US_PER_HOUR
    with _warehouse(settings).reader() as reader:
        found = listed(reader, since)
    if options.json:
        write_json([_as_json(one) for one in found])
        return 0
    if not found:
        tell(f"no alert in the last {options.days} days, and none is open")
        return 0
    write_table(("key", "hour UTC", "kind", "what", "delivered", "seen by"), [_line(one) for one in found])
    return 0


def send(options: argparse.Namespace) -> int:
    """Deliver what is due; exit 1 where something was given up, 75 where something is to be tried again."""
    settings = load_settings(options.config)
    if not settings.alerts:
        tell("no [[alerts]] are configured: alerts are recorded alone, see the view alert_outbox")
    done = deliver_patiently(settings, tell, patience_s=0.0)
    tell(
        f"{done.recorded} alerts recorded, {done.sent} delivered, {done.waiting} waiting for another try, "
        f"{done.dead} given up"
    )
    publish_metrics(settings, _warehouse(settings), tell)
    return 1 if done.dead else 75 if done.waiting else 0


def acknowledge_one(options: argparse.Namespace) -> int:
    """Note who has seen an alert."""
    settings = load_settings(options.config)
    by = options.by if options.by is not None else getpass.getuser()
    with _warehouse(settings).writer(wait_s=WRITER_WAIT_S) as writer:
        deployment = acknowledge(writer, options.key, by, options.note, datetime.now(UTC))
        writer.publish()
    tell(f"noted: {by} has seen the alert of {deployment or 'the whole warehouse'}")
    return 0


def retry_dead(options: argparse.Namespace) -> int:
    """Make what was given up due again, and deliver it."""
    settings = load_settings(options.config)
    with _warehouse(settings).writer(wait_s=WRITER_WAIT_S) as writer:
        n_deliveries = revive(writer, options.key)
        writer.publish()
    tell(f"{n_deliveries} deliveries are due again")
    return send(options)


def send_test(options: argparse.Namespace) -> int:
    """Send every channel, or one, a message that says it is a test; exit 1 where one does not take it."""
    settings = load_settings(options.config)
    names = [channel.label for channel in settings.alerts]
    if options.channel is not None and options.channel not in names:
        raise UsageError(f"no channel is called {options.channel!r}: [[alerts]] has {', '.join(names) or 'none'}")
    if not names:
        raise UsageError("no [[alerts]] are configured: there is nothing to test")
    now = datetime.now(UTC)
    n_failed = 0
    for channel in build_channels(settings.alerts, os.environ):
        if options.channel in (None, channel.label):
            try:
                channel.send([_test_notice(now)], n_more=0, digest_key=None, now=now)
                tell(f"{channel.label}: taken")
            except DeliveryError as error:
                tell(f"{channel.label}: {error}")
                n_failed += 1
    return 1 if n_failed else 0


def _test_notice(now: datetime) -> Notice:
    hour = to_hour(to_us(now) // US_PER_HOUR)
    return Notice(
        dedup_key=f"valleywatch-test-{to_us(now)}", kind="resumed", level=0, deployment=None, since=hour, at=hour,
        headline="this is a test of valleywatch: nothing is wrong", sentences=(), figures=None, report_url=None,
    )  # fmt: skip


def _line(one: Listed) -> tuple[str, ...]:
    alert = one.alert
    times = Counter(delivery["status"] for delivery in one.deliveries)
    delivered = ", ".join(
        f"{delivery['channel']} {delivery['status'].replace('_', ' ')}" for delivery in one.deliveries
    ) if len(times) > 1 else "".join(f"{status.replace('_', ' ')} ({n})" for status, n in times.items())  # fmt: skip
    return (
        alert["dedup_key"][:KEY_DIGITS],
        utc_time(to_hour(alert["hour_index"])),
        alert["kind"].replace("_", " ") + (" (open)" if alert["is_open"] and alert["action"] == "trigger" else ""),
        alert["message"],
        delivered or "not yet",
        alert["acknowledged_by"] or "",
    )


def _as_json(one: Listed) -> dict[str, Any]:
    return {**_timed(one.alert), "deliveries": [_timed(delivery) for delivery in one.deliveries]}


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with instants for its counts of microseconds and hours."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_us"):
            found[name.removesuffix("_us") + "_at"] = None if value is None else to_instant(value)
        elif name == "hour_index":
            found["hour_utc"] = to_hour(value)
        else:
            found[name] = value
    return found


def _warehouse(settings: Settings) -> Warehouse:
    return warehouse_of(settings)
