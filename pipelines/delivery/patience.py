"""Rounds of delivery until nothing is due again soon.

Belongs here: waiting between rounds. Does not belong here: a round (`rounds`), when a message is due again
(`attempts`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from pipelines.delivery.channels import build_channels
from pipelines.delivery.rounds import Clock, Round, deliver
from pipelines.opening import warehouse_of
from pipelines.settings import Settings
from pipelines.stopping import heed


def deliver_patiently(
    settings: Settings,
    tell: Callable[[str], None],
    *,
    patience_s: float | None = None,
    environment: Mapping[str, str] = os.environ,
    clock: Clock = lambda: datetime.now(UTC),
) -> Round:
    """Deliver what is due, and again what was not taken, for `patience_s` or as long as is configured; return the sums.

    Raises UsageError where a channel's variable is not set, BusyError where another round is under way.
    """
    warehouse = warehouse_of(settings)
    channels = build_channels(settings.alerts, environment)
    until = time.monotonic() + (settings.alerting.patience_s if patience_s is None else patience_s)
    done = deliver(warehouse, settings, channels, tell, clock)
    while done.next_attempt is not None:
        wait_s = max(0.0, (done.next_attempt - clock()).total_seconds())
        if time.monotonic() + wait_s > until:
            break
        heed()
        time.sleep(wait_s)
        again = deliver(warehouse, settings, channels, tell, clock)
        again.recorded += done.recorded
        again.sent += done.sent
        again.dead += done.dead
        done = again
    return done
