"""Keeping the hourly marts in step with the lake.

Belongs here: which hours are replaced, in one transaction each mart. Does not belong here: what a mart contains
(`sql/mart/`).
"""

from __future__ import annotations

from itertools import groupby

from pipelines.times import HOURS_PER_DAY, US_PER_DAY, US_PER_HOUR
from pipelines.warehouse import Writer


def refresh_hours(writer: Writer, mart: str, day_index: int) -> int:
    """Recompute exactly the dirty hours of `mart` on one day; return how many hours were replaced."""
    first, last = day_index * HOURS_PER_DAY, day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1
    with writer.transaction():
        hours = [
            row["hour_index"] for row in writer.rows("ops/dirty_hours", mart=mart, first_hour=first, last_hour=last)
        ]
        writer.open_days(day_index, day_index)
        for start, end in _runs(hours):
            writer.run(f"mart/clear_{mart}", first_hour=start, last_hour=end)
            writer.insert(f"mart.{mart}", f"mart/{mart}", from_us=start * US_PER_HOUR, to_us=(end + 1) * US_PER_HOUR)
        writer.run("ops/clean_hours", mart=mart, first_hour=first, last_hour=last)
    return len(hours)


def refresh_busy_periods(writer: Writer, day_index: int) -> bool:
    """Recompute the day's busy periods if one of its hours, or the midnight before it, is dirty; say whether."""
    first, last = day_index * HOURS_PER_DAY, day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1
    with writer.transaction():
        if not writer.rows("ops/dirty_hours", mart="busy_periods", first_hour=first, last_hour=last):
            return False
        writer.open_days(day_index - 1, day_index)
        day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
        writer.run("mart/clear_busy_periods", **day)
        writer.insert("mart.busy_periods", "mart/busy_periods", context_from_us=day["from_us"] - US_PER_DAY, **day)
        writer.run("ops/clean_hours", mart="busy_periods", first_hour=first, last_hour=last)
    return True


def _runs(hours: list[int]) -> list[tuple[int, int]]:
    """Return the first and last hour of every run of consecutive hours."""
    runs = [list(run) for _, run in groupby(enumerate(hours), key=lambda pair: pair[1] - pair[0])]
    return [(run[0][1], run[-1][1]) for run in runs]
