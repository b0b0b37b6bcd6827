"""How often the job runs by itself, and which day a tick of its schedule is for.

Belongs here: the section `[schedule]` and what follows from it by the calendar. Does not belong here: Dagster's own
objects (`schedules`, `sensors`), which days need work (`due_days`: the data says).
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from pipelines.section import Section
from pipelines.times import FIRST_DAY, HOURS_PER_DAY, US_PER_HOUR, to_day_index, to_us

Cadence = Literal["daily", "hourly"]
_CRON: dict[Cadence, str] = {"daily": "30 1 * * *", "hourly": "10 * * * *"}
"""Late enough for what was served before to have been written."""
_SPAN: dict[Cadence, timedelta] = {"daily": timedelta(days=1), "hourly": timedelta(hours=1)}


class ScheduleSettings(Section):
    """When the job runs by itself; read when Dagster loads the code location."""

    cadence: Cadence = "daily"
    """`daily` does the day before; `hourly` does the running day each hour, at a cost that follows the new data."""
    cron: Annotated[str, Field(pattern=r"^\S+(?: +\S+){4}$", max_length=100)] | None = None
    """Minute, hour, day, month and weekday, in UTC; without it half past one, or ten past each hour."""
    first_day: Annotated[date, Field(ge=FIRST_DAY)] = FIRST_DAY
    """The first day that Dagster has a partition of; earlier ones are left to `valleywatch run`."""

    @property
    def cron_utc(self) -> str:
        """The schedule's ticks."""
        return self.cron or _CRON[self.cadence]

    def day_of(self, tick: datetime) -> date:
        """Return the day that a tick is for: that of the last whole day, or of the last whole hour."""
        return (tick.astimezone(UTC) - _SPAN[self.cadence]).date()

    def hours_over(self, day_index: int, now: datetime) -> int | None:
        """Return how many hours of a day that runs on are over; None where its curves need not wait for its end."""
        if self.cadence == "daily" or day_index < to_day_index(now.astimezone(UTC).date()):
            return None
        return max(to_us(now) // US_PER_HOUR - day_index * HOURS_PER_DAY, 0)
