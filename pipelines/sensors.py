"""What the job does beside its ticks: days that changed after they were done.

Belongs here: sensors. Does not belong here: the clock (`schedules`), which days need work (`due_days`). A sensor reads
the published snapshot with one query and writes nothing; loading files is the job's.
"""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from pipelines.due_days import due_days
from pipelines.errors import ValleywatchError
from pipelines.resources import Workplace
from pipelines.schedules import MAX_RUNS, daily, days_of_runs

FINISHED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
UNFINISHED = tuple(status for status in dg.DagsterRunStatus if status not in FINISHED)


@dg.sensor(
    job=daily,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Days that late files, a changed policy or new prices touched after they were done; and missed ones.",
)
def late_days(context: dg.SensorEvaluationContext, workplace: Workplace) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Ask for the days before the schedule's own that need the job, the oldest first, once nothing is at work."""
    if days_of_runs(context.instance, UNFINISHED):
        yield dg.SkipReason("a run is at work or waits: what it publishes says what is left")
        return
    now = workplace.now()
    try:
        schedule = workplace.settings().schedule
        # The day of the schedule's newest tick and later ones are the schedule's.
        due = due_days(workplace.warehouse(), schedule.first_day, schedule.day_of(now))
    except ValleywatchError as error:
        yield dg.SkipReason(str(error))
        return
    for one in due[:MAX_RUNS]:
        yield dg.RunRequest(run_key=one.run_key(now.date()), partition_key=one.day.isoformat())
    if not due:
        yield dg.SkipReason("every day with data is done")
