"""The one partitioning: UTC days.

Belongs here: partition definitions. Does not belong here: local time, anywhere.
"""

import dagster as dg

from pipelines.times import FIRST_DAY

DAILY_UTC = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), timezone="UTC", end_offset=1)
"""Days up to and including today: the running day can be evaluated before it ends."""
