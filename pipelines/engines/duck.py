"""DuckDB in this process: what the marts are made with unless the configuration names a cluster.

Belongs here: how much is done at once. Does not belong here: the statements, DuckDB itself (`warehouse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from pipelines.times import HOURS_PER_DAY, US_PER_DAY, US_PER_HOUR
from pipelines.warehouse import Writer

BYTES_PER_ROW = 150
"""What a request may take in the windows of the hourly marts; too little would only make the engine spill."""


class DuckDb:
    """The engine of one machine: see `interface.Engine`."""

    def append_hours(self, writer: Writer, mart: str, day_index: int, hours: Sequence[int]) -> None:
        """Append the hours in runs that the memory holds, since each run reads the day's files once."""
        writer.open_days(day_index, day_index)
        n_requests = writer.rows("ops/requests_of_day", day_index=day_index)[0]["n_requests"]
        at_once = hours_at_once(n_requests, writer.warehouse.memory_bytes)
        for first, last in runs(hours, at_once):
            bounds = {"from_us": first * US_PER_HOUR, "to_us": (last + 1) * US_PER_HOUR}
            writer.insert(f"mart.{mart}", f"mart/{mart}", **bounds)

    def append_busy_periods(self, writer: Writer, day_index: int) -> None:
        """Append the day at once: a busy period may take all of it, and the one before it."""
        writer.open_days(day_index - 1, day_index)
        day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
        writer.insert("mart.busy_periods", "mart/busy_periods", context_from_us=day["from_us"] - US_PER_DAY, **day)

    def shown(self) -> dict[str, Any]:
        """Return nothing: an engine inside the process has no other place to look at."""
        return {}


DUCKDB = DuckDb()


def hours_at_once(n_requests: int, memory_bytes: int) -> int:
    """Return how many hours of a day of `n_requests` fit half the memory, if its hours are alike; 1 at least."""
    per_hour = n_requests * BYTES_PER_ROW / HOURS_PER_DAY
    return HOURS_PER_DAY if per_hour == 0 else max(1, min(HOURS_PER_DAY, int(memory_bytes / 2 / per_hour)))


def runs(hours: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Give the first and the last hour of every run of consecutive hours, none of more than `longest` hours."""
    for _, run in groupby(enumerate(hours), key=lambda pair: pair[1] - pair[0]):
        consecutive = [hour for _, hour in run]
        for start in range(0, len(consecutive), longest):
            part = consecutive[start : start + longest]
            yield part[0], part[-1]
