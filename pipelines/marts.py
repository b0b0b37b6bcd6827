"""Keeping the hourly marts in step with the lake.

Belongs here: which hours are replaced, in one transaction each mart. Does not belong here: what a mart contains
(`sql/mart/`), who computes it (`engines`).
"""

from __future__ import annotations

from pipelines.engines.duck import DUCKDB, runs
from pipelines.engines.interface import Engine
from pipelines.times import HOURS_PER_DAY, US_PER_DAY
from pipelines.warehouse import Writer


def refresh_hours(writer: Writer, mart: str, day_index: int, engine: Engine = DUCKDB) -> int:
    """Recompute exactly the dirty hours of `mart` on one day; return how many hours were replaced."""
    first, last = day_index * HOURS_PER_DAY, day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1
    with writer.transaction():
        hours = [
            row["hour_index"] for row in writer.rows("ops/dirty_hours", mart=mart, first_hour=first, last_hour=last)
        ]
        for start, end in runs(hours, HOURS_PER_DAY):
            writer.run(f"mart/clear_{mart}", first_hour=start, last_hour=end)
        if hours:
            engine.append_hours(writer, mart, day_index, hours)
        writer.run("ops/clean_hours", mart=mart, first_hour=first, last_hour=last)
    return len(hours)


def refresh_busy_periods(writer: Writer, day_index: int, engine: Engine = DUCKDB) -> bool:
    """Recompute the day's busy periods if one of its hours, or the midnight before it, is dirty; say whether."""
    first, last = day_index * HOURS_PER_DAY, day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1
    with writer.transaction():
        if not writer.rows("ops/dirty_hours", mart="busy_periods", first_hour=first, last_hour=last):
            return False
        writer.run("mart/clear_busy_periods", from_us=day_index * US_PER_DAY, to_us=(day_index + 1) * US_PER_DAY)
        engine.append_busy_periods(writer, day_index)
        writer.run("ops/clean_hours", mart="busy_periods", first_hour=first, last_hour=last)
    return True
