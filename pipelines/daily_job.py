"""`valleywatch run`: which days to do, and doing them through the Dagster job in this process.

Belongs here: choosing days and executing the job. Does not belong here: the steps themselves (`assets/`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from pipelines.alerts.record import mark_changed_judgement
from pipelines.changes import tell_changes
from pipelines.contracts import breaches
from pipelines.display import shown
from pipelines.errors import NothingYetError, UnreachableError, UsageError, ValleywatchError
from pipelines.heartbeat import beat, noting_failure
from pipelines.ingest import FileOutcome, ingest_sources
from pipelines.opening import warehouse_of
from pipelines.prices.memory import ask_to_reprice
from pipelines.report import publish_if_behind
from pipelines.running_day import reopen_days
from pipelines.settings import Settings, load_settings
from pipelines.stopping import heed
from pipelines.times import FIRST_DAY, to_day, to_day_index
from pipelines.warehouse import Warehouse

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Our own lines say what a person at a terminal wants to know, errors too; Dagster's events are in its history."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run did."""

    files: tuple[FileOutcome, ...]
    days: tuple[date, ...]


def run(
    config_path: Path,
    *,
    days: Sequence[date] | None,
    tell: Callable[[str], None],
    reprice: bool = False,
    fixed_now: datetime | None = None,
) -> RunOutcome:
    """Ingest what is new, then do the job for `days`, or for every day whose results no longer follow from the logs.

    A changed policy makes every judged day such a day, changed prices those that lacked one; others keep theirs, unless
    `reprice` asks for those of the rows on `days`. Only the last day publishes; what an earlier run judged and died
    before publishing is published too.
    """
    settings = load_settings(config_path)
    warehouse = warehouse_of(settings)
    now = fixed_now or datetime.now(UTC)
    _require_days_of_job(days, now)
    with noting_failure(warehouse, now):
        return _run(config_path, settings, warehouse, days, tell, reprice=reprice, now=now, fixed_now=fixed_now)


def _run(
    config_path: Path,
    settings: Settings,
    warehouse: Warehouse,
    days: Sequence[date] | None,
    tell: Callable[[str], None],
    *,
    reprice: bool,
    now: datetime,
    fixed_now: datetime | None,
) -> RunOutcome:
    with warehouse.writer() as writer:
        tell("reading the sources")
        files = ingest_sources(writer, settings, now, tell)
        tell_changes(mark_changed_judgement(writer, settings), tell)
        reopen_days(writer, to_day_index(now.date()))
        if reprice:
            ask_to_reprice(writer, [to_day_index(day) for day in days or ()])
        with_data = {row["day_index"] for row in writer.rows("ops/lake_days")}
        dirty = {row["day_index"] for row in writer.rows("ops/dirty_days")}
    if not with_data and any(file.status == "unreachable" for file in files):
        raise UnreachableError("no request is loaded yet, and a store could not be reached, as said above: run again")
    if not with_data and files and all(file.status == "deferred" for file in files):
        raise NothingYetError(
            "no request is loaded yet: all there is is still being written; run again when it has settled"
        )
    if not with_data:
        raise ValleywatchError(
            f"no request is loaded: {len(files)} files were read and none holds an acceptable line; "
            "see what was said of each, `valleywatch formats` for what is read, and the source's path"
        )
    todo = sorted(with_data & dirty) if days is None else sorted(to_day_index(day) for day in set(days))
    if not todo:
        tell("nothing new: every day is up to date")
    else:
        with _job(config_path, fixed_now, tell) as execute:
            for position, day_index in enumerate(todo, 1):
                heed()
                tell(f"{to_day(day_index)} (day {position} of {len(todo)})")
                execute(to_day(day_index), position == len(todo))
    publish_if_behind(warehouse, now)
    beat(warehouse, fixed_now or datetime.now(UTC), to_day(todo[-1]).isoformat() if todo else None)
    return RunOutcome(tuple(files), tuple(to_day(day_index) for day_index in todo))


def _require_days_of_job(days: Sequence[date] | None, now: datetime) -> None:
    for day in days or ():
        if not FIRST_DAY <= day <= now.date():
            raise UsageError(f"{day} is no day of the job: it knows the UTC days from {FIRST_DAY} to today")


@contextmanager
def _job(
    config_path: Path, fixed_now: datetime | None, tell: Callable[[str], None]
) -> Iterator[Callable[[date, bool], None]]:
    """Give what executes the job for one day and, if so asked, publishes; DAGSTER_HOME, where set, keeps its history.

    The history is for people: one that cannot be kept stops nothing.
    """
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")
    import dagster as dg
    from sqlalchemy.exc import SQLAlchemyError

    from pipelines.assets.step import ExpectedFailure
    from pipelines.cadence import ScheduleSettings
    from pipelines.definitions import build_defs
    from pipelines.resources import Workplace
    from pipelines.schedules import PUBLISHED, TOLD

    clock = fixed_now.isoformat() if fixed_now is not None else None
    workplace = Workplace(config_path=str(config_path), fixed_now=clock, n_retries=0)
    job = build_defs(workplace, ScheduleSettings()).resolve_job_def("daily")
    keys = list(job.asset_layer.selected_asset_keys) if job.asset_layer else []
    every = [key for key in keys if key.to_user_string() != TOLD]
    unpublished = [key for key in every if key.to_user_string() not in PUBLISHED]

    def execute_in(instance: dg.DagsterInstance, day: date, publishes: bool) -> None:
        job.execute_in_process(
            run_config=_QUIET,
            partition_key=day.isoformat(),
            instance=instance,
            asset_selection=every if publishes else unpublished,
        )

    def execute(day: date, publishes: bool) -> None:
        try:
            try:
                execute_in(kept, day, publishes)
            except SQLAlchemyError as error:
                tell(f"warning: {_not_kept(error)}; {day} is done without")
                execute_in(ephemeral, day, publishes)
        except ExpectedFailure as failure:
            raise failure.error from None
        except dg.DagsterError as error:
            with workplace.writer() as writer:
                why = "; ".join(breaches(writer, to_day_index(day))) or str(error)
            raise ValleywatchError(f"{day} was not finished: {why}; what was published before is unchanged") from error

    with ExitStack() as open_ones:
        kept = ephemeral = open_ones.enter_context(dg.DagsterInstance.ephemeral())
        if os.environ.get("DAGSTER_HOME"):
            try:
                kept = open_ones.enter_context(dg.DagsterInstance.get())
            except (dg.DagsterError, SQLAlchemyError, OSError) as error:
                tell(f"warning: {_not_kept(error)}; the days are done without")
        yield execute


def _not_kept(error: Exception) -> str:
    first = shown(str(error).partition("\n")[0], 200)
    return (
        f"Dagster's history in DAGSTER_HOME = {os.environ['DAGSTER_HOME']!r} cannot be kept: {first}. It must be an "
        "absolute path of a folder that this user may write; a damaged history may be deleted, no result rests on it"
    )
