"""A folder with a configuration, logs and a warehouse, and what a user, the job or a reader does with it.

`settle` does the job's steps through the same plain functions as the Dagster assets, without Dagster: it is what tests
use that need the whole chain often. The clock stands still at NOW.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.alerts.record import judge_day
from pipelines.cli import main
from pipelines.curves import fit_day
from pipelines.display import anchor
from pipelines.engines.duck import DUCKDB
from pipelines.engines.interface import Engine
from pipelines.ingest import FileOutcome, ingest_sources
from pipelines.marts import refresh_busy_periods, refresh_hours
from pipelines.opening import warehouse_of
from pipelines.settings import load_settings
from pipelines.warehouse import Reader, Warehouse, Writer

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)

SOURCE = """
[[sources]]
name = "gateway"
format = "canonical"
path = "logs/*"
"""
PRICE = """
[[prices]]
deployment = "*"
effective_from = 2026-01-01
input_per_mtok = 1.0
cached_per_mtok = 0.1
"""

EXCERPTS = """
[privacy]
quarantine_excerpts = true
"""

LINE: dict[str, Any] = {
    "timestamp": "2026-11-28T10:15:00Z",
    "request_id": "r-1",
    "deployment": "pool",
    "instance": "pool-0",
    "input_tokens": 1000,
    "cached_tokens": 400,
    "output_tokens": 20,
    "ttft_ms": 250.0,
    "status": 200,
}
ABSENT = object()

VIEWS = (
    "alert_deliveries",
    "alert_outbox",
    "busy_periods",
    "check_findings",
    "curve_by_length",
    "curve_candidates",
    "curve_families",
    "hit_rate_histogram",
    "hourly_hit_rate",
    "ingest_files",
    "lake_files",
    "price_book",
    "price_history",
    "profit_and_loss",
    "profit_breakdown",
    "quarantine",
    "requests",
    "throughput_curve",
    "valley_episodes",
    "valley_status",
)
CLOCK_COLUMNS = {
    "alert_outbox": ("written_at", "delivered_at", "acknowledged_at"),
    "alert_deliveries": ("first_attempt_at", "next_attempt_at", "settled_at"),
    "ingest_files": ("loaded_at",),
    "price_history": ("first_seen_at",),
}
"""Columns that say when the job ran, not what it found."""
LAYOUT = "lake_files"
"""The view that says how requests lie in files, which follows the order of reading, not what they are."""


def request(number: int | str = 1, **changes: Any) -> dict[str, Any]:
    """Return a good canonical line, `changes` applied; the value ABSENT leaves a key out."""
    row = LINE | {"request_id": f"r-{number}"} | changes
    return {key: value for key, value in row.items() if value is not ABSENT}


def as_bytes(rows: Iterable[dict[str, Any]]) -> bytes:
    """Return the rows as JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Place:
    """See the module's docstring."""

    def __init__(self, folder: Path, config: str = SOURCE + PRICE) -> None:
        self.folder = folder
        self.config = folder / "valleywatch.toml"
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.configure(config)

    def configure(self, config: str) -> None:
        self.config.write_text(config)

    def write(self, name: str, content: bytes | Iterable[dict[str, Any]]) -> Path:
        """Write a log; rows become JSON lines, a name in .gz is compressed."""
        data = content if isinstance(content, bytes) else as_bytes(content)
        path = self.logs / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") and not isinstance(content, bytes) else data)
        return path

    @property
    def warehouse(self) -> Warehouse:
        return warehouse_of(load_settings(self.config))

    def valleywatch(self, *arguments: str) -> int:
        """Type a command."""
        return main([*arguments, "--config", str(self.config)])

    def ingest(self, now: datetime = NOW) -> list[FileOutcome]:
        """Ingest the sources and publish."""
        with self.warehouse.writer() as writer:
            outcomes = ingest_sources(writer, load_settings(self.config), now, lambda _line: None)
            writer.publish()
        return outcomes

    def settle(self, now: datetime = NOW) -> list[FileOutcome]:
        """Do the whole job for every day that is dirty, and publish."""
        return self._do_days(do_day, now)

    def aggregate(self, now: datetime = NOW) -> list[FileOutcome]:
        """Do the job as far as the marts, and publish: what rests on no curve needs no more, in half the time."""
        return self._do_days(lambda writer, day_index, _place, _now: refresh_day(writer, day_index), now)

    def _do_days(self, do: Callable[[Writer, int, Place, datetime], None], now: datetime) -> list[FileOutcome]:
        settings = load_settings(self.config)
        with self.warehouse.writer() as writer:
            outcomes = ingest_sources(writer, settings, now, lambda _line: None)
            with_data = {row["day_index"] for row in writer.rows("ops/lake_days")}
            for row in writer.rows("ops/dirty_days"):
                if row["day_index"] in with_data:
                    do(writer, row["day_index"], self, now)
            writer.publish()
        return outcomes

    def page(self, deployment: str) -> str:
        """What a reader finds on a deployment's page of the report that is published."""
        page = (self.warehouse.folder / "report" / f"{anchor(deployment)}.html").read_text()
        return html.unescape(re.sub(r"<[^>]+>", "", page))

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Ask the published snapshot."""
        with self.warehouse.reader() as reader:
            return answer(reader, query)

    def views(self, *, without: Iterable[str] = ()) -> dict[str, list[str]]:
        """Return all rows of all views but LAYOUT, in an order of their own; `without` and clocks left out."""
        found = {}
        with self.warehouse.reader() as reader:
            for view in (view for view in VIEWS if view != LAYOUT):
                columns, rows = reader.ask(f"select * from {view}")
                drop = {*CLOCK_COLUMNS.get(view, ()), *without}
                kept = sorted(set(columns) - drop)
                shown = ", ".join(f"{column}={{{columns.index(column)}!r}}" for column in kept)
                found[view] = sorted(shown.format(*row) for row in rows)
        return found


def answer(reader: Reader, query: str) -> list[dict[str, Any]]:
    columns, rows = reader.ask(query)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def refresh_day(writer: Writer, day_index: int, engine: Engine = DUCKDB) -> None:
    """Replace the marts of one day after its requests are loaded."""
    refresh_hours(writer, "hourly_hit_rate", day_index, engine)
    refresh_hours(writer, "hit_rate_histogram", day_index, engine)
    refresh_busy_periods(writer, day_index, engine)


def do_day(writer: Writer, day_index: int, place: Place, now: datetime = NOW) -> None:
    """Do one day of the job after its requests are loaded."""
    settings = load_settings(place.config)
    refresh_day(writer, day_index)
    fit_day(writer, day_index, settings.policy)
    judge_day(writer, day_index, settings, now)
