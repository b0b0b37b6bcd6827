"""When the job runs by itself: the job, the ticks of the clock, and the runs they ask for.

Belongs here: the one schedule. Does not belong here: late files (`sensors`), which days need work (`due_days`), the
calendar (`cadence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import dagster as dg

from pipelines.cadence import ScheduleSettings
from pipelines.due_days import due_days
from pipelines.errors import UsageError, ValleywatchError
from pipelines.resources import Workplace

PUBLISHED = ("snapshot", "report")
"""Assets that a run of several days leaves to its last day."""
TOLD = "alerts"
"""The asset that is a round of delivery; `valleywatch run` makes its own, also when a day fails."""
MAX_RUNS = 10
"""Runs that one tick asks for: what more is due is asked for once these are done."""
MAX_RUNTIME_S = 3600
"""A scheduled run that takes longer has died without a word: it is marked as failed, and those that wait may begin."""
WAITING = (dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED)

daily = dg.define_asset_job(
    "daily",
    selection=dg.AssetSelection.all(),
    description="From logs to report, for one UTC day or a range of them, and who is told.",
    executor_def=dg.in_process_executor,
    tags={"dagster/max_runtime": str(MAX_RUNTIME_S)},
)
tell = dg.define_asset_job(
    "tell",
    selection=dg.AssetSelection.assets(TOLD),
    description="One round of delivery: what is due, or due again, at the alert channels.",
    executor_def=dg.in_process_executor,
    tags={"dagster/max_runtime": str(MAX_RUNTIME_S)},
)


def build_schedule(settings: ScheduleSettings) -> dg.ScheduleDefinition:
    """Return the schedule with the ticks that the configuration names; raise UsageError where these are none."""
    declare = dg.schedule(
        name="due_days",
        job=daily,
        cron_schedule=settings.cron_utc,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=(
            "Each hour the day that runs, and days before it that are not done."
            if settings.cadence == "hourly"
            else "Yesterday, once its late lines have had time to arrive, and days before it that are not done."
        ),
    )
    try:
        return declare(_ask)
    except dg.DagsterInvalidDefinitionError:
        raise UsageError(
            f"schedule.cron: {settings.cron_utc!r} is no time: write minute, hour, day, month and weekday, such as "
            "30 1 * * * for half past one UTC every day"
        ) from None


def _ask(context: dg.ScheduleEvaluationContext, workplace: Workplace) -> Iterator[dg.RunRequest | dg.SkipReason]:
    tick = context.scheduled_execution_time
    schedule = workplace.settings().schedule
    day = schedule.day_of(tick)
    waiting = days_of_runs(context.instance, WAITING)
    try:
        due = due_days(workplace.warehouse(), schedule.first_day, day)
        before = [(one.day, one.run_key(tick.date())) for one in due]
    except ValleywatchError as error:
        context.log.warning(f"only {day} is asked for, days before it may need work too: {error}")
        before = []
    asked = [pair for pair in before if pair[0].isoformat() not in waiting][: MAX_RUNS - 1]
    if day.isoformat() not in waiting:
        asked.append((day, f"{day}, tick of {tick.isoformat()}"))
    for one, run_key in asked:
        yield dg.RunRequest(run_key=run_key, partition_key=one.isoformat())
    if not asked:
        yield dg.SkipReason(f"runs for {day} and for all that is due before it wait already")


def days_of_runs(
    instance: dg.DagsterInstance, statuses: Iterable[dg.DagsterRunStatus], job_name: str = daily.name
) -> set[str | None]:
    """Return the partitions of a job's runs of these statuses; None stands for a run of several."""
    runs = instance.get_runs(dg.RunsFilter(job_name=job_name, statuses=list(statuses)))
    return {run.tags.get("dagster/partition") for run in runs}
