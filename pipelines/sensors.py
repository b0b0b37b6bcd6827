"""What is done beside the ticks of the clock: days that changed after they were done, alerts that are due.

Belongs here: sensors. Does not belong here: the clock (`schedules`), which days need work (`due_days`), which alerts
are due (`delivery.need`). A sensor reads the published snapshot and writes nothing; loading files is the job's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import dagster as dg

from pipelines.delivery.channels import build_channels
from pipelines.delivery.need import need
from pipelines.due_days import due_days
from pipelines.errors import ValleywatchError
from pipelines.resources import Workplace
from pipelines.schedules import MAX_RUNS, daily, days_of_runs, tell

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


@dg.sensor(
    job=tell,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Alerts that are due at a channel, or due again; deployments that have sent no data for too long.",
)
def alerts_due(context: dg.SensorEvaluationContext, workplace: Workplace) -> dg.RunRequest | dg.SkipReason:
    """Ask for a round of delivery where there is something to tell; the job's own round comes with its run."""
    if days_of_runs(context.instance, UNFINISHED) or days_of_runs(context.instance, UNFINISHED, tell.name):
        return dg.SkipReason("a run is at work or waits: a round of delivery follows it")
    now = workplace.now()
    try:
        settings = workplace.settings()
        # A round without its channels would fail each minute: what they lack is said here instead.
        build_channels(settings.alerts, os.environ)
        why = need(settings, now)
    except ValleywatchError as error:
        return dg.SkipReason(str(error))
    if why is None:
        return dg.SkipReason("no alert is due, or no channel is configured")
    context.log.info(why)
    return dg.RunRequest(partition_key=now.date().isoformat(), tags={"valleywatch/why": why})


@dg.run_failure_sensor(
    monitored_jobs=[daily],
    request_job=tell,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="A run that failed may have met data that broke its contract: a round of delivery tells of it.",
)
def failed_days(context: dg.RunFailureSensorContext, workplace: Workplace) -> dg.RunRequest | dg.SkipReason:
    """Ask for a round of delivery after a failed run: nothing of what stopped it is published."""
    try:
        channels = workplace.settings().alerts
    except ValleywatchError as error:
        return dg.SkipReason(str(error))
    if not channels:
        return dg.SkipReason("no channel is configured")
    return dg.RunRequest(run_key=context.dagster_run.run_id, partition_key=workplace.now().date().isoformat())
