"""The one partitioning: UTC days.

Belongs here: partition definitions. Does not belong here: local time, anywhere.
"""

import dagster as dg

FIRST_DAY = "2020-01-01"
"""Arrivals before this date are quarantined (`timestamp_before_2020`), so no partition lies before it."""

DAILY_UTC = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, timezone="UTC", end_offset=1)
"""Days up to and including today: the running day can be evaluated before it ends."""
