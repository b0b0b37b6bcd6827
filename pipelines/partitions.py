"""The one partitioning: UTC days.

Belongs here: partition definitions. Does not belong here: local time, anywhere.
"""

from datetime import date

import dagster as dg

from pipelines.times import FIRST_DAY


def utc_days(first_day: date) -> dg.DailyPartitionsDefinition:
    """Return the days from the first up to and including today: the running day can be evaluated before it ends."""
    return dg.DailyPartitionsDefinition(start_date=first_day.isoformat(), timezone="UTC", end_offset=1)


DAILY_UTC = utc_days(FIRST_DAY)
