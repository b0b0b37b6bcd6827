"""A warehouse whose outbox is written by hand, and rounds of delivery from it under a clock that stands still."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.alerts.outbox import alert_row, record
from pipelines.delivery.channel import Channel
from pipelines.delivery.rounds import Round, deliver
from pipelines.settings import load_settings
from pipelines.times import US_PER_HOUR, to_us
from tests.place import PRICE, SOURCE, Place

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
HOUR = to_us(NOW) // US_PER_HOUR
ONE_CHANNEL = """
[[alerts]]
kind = "webhook"
url_env = "VALLEYWATCH_TEST_URL"
"""


class Desk:
    """See the module's docstring."""

    def __init__(self, place: Place, config: str = ONE_CHANNEL) -> None:
        self.place = place
        self.now = NOW
        self.said: list[str] = []
        place.configure(SOURCE + PRICE + config)

    def write(self, *alerts: dict[str, Any]) -> None:
        with self.place.warehouse.writer() as writer:
            record(writer, [], list(alerts), self.now)

    def round(self, *channels: Channel) -> Round:
        return deliver(
            self.place.warehouse, load_settings(self.place.config), channels, self.said.append, lambda: self.now
        )

    def later(self, **ahead: float) -> None:
        self.now += timedelta(**ahead)

    def deliveries(self, columns: str = "kind, channel, status") -> list[tuple[Any, ...]]:
        """What the published snapshot says became of the alerts."""
        return [
            tuple(row.values())
            for row in self.place.rows(
                f"select {columns} from alert_deliveries order by dedup_key, kind, level, channel"
            )
        ]


def entry(name: str = "pool", hour_index: int = HOUR - 3) -> dict[str, Any]:
    said = f"{name} entered the valley"
    return alert_row("entry", f"key of {name}", name, hour_index, said, depth=0.1)


def exit_of(name: str = "pool", hour_index: int = HOUR - 1) -> dict[str, Any]:
    return alert_row("exit", f"key of {name}", name, hour_index, f"{name} left the valley", depth=0.1)


def worsening(name: str = "pool", level: int = 1) -> dict[str, Any]:
    said = f"{name} is deeper in the valley"
    return alert_row("worsening", f"key of {name}", name, HOUR - 2, said, level=level, depth=0.1 * 2**level)


def entries(n: int) -> Sequence[dict[str, Any]]:
    return [entry(f"pool {number:05}") for number in range(n)]
