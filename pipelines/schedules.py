"""When the job runs by itself.

Belongs here: schedules and sensors. Does not belong here: which hours are dirty (the data says).
"""

import dagster as dg

PUBLISHED = ("snapshot", "report")
"""Assets that a run of several days leaves to its last day."""

daily = dg.define_asset_job("daily", selection=dg.AssetSelection.all(), executor_def=dg.in_process_executor)
"""The whole job, from logs to report, for one UTC day."""

daily_schedule = dg.build_schedule_from_partitioned_job(
    daily,
    name="daily_0130_utc",
    description="Yesterday, once its late lines have had time to arrive.",
    hour_of_day=1,
    minute_of_hour=30,
)
