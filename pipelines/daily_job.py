"""`valleywatch run`: which days to do, and doing them through the Dagster job in this process.

Belongs here: choosing days and executing the job. Does not belong here: the steps themselves (`assets/`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from pipelines.alerts.record import Changed, mark_changed_judgement
from pipelines.contracts import breaches
from pipelines.errors import NothingYetError, UnreachableError, UsageError, ValleywatchError
from pipelines.heartbeat import beat
from pipelines.ingest import FileOutcome, ingest_sources
from pipelines.opening import warehouse_of
from pipelines.prices.memory import ask_to_reprice
from pipelines.report_data import publish_if_behind
from pipelines.settings import load_settings
from pipelines.stopping import heed
from pipelines.times import FIRST_DAY, day_text, to_day, to_day_index
from pipelines.warehouse import Warehouse

_QUIET = {"loggers": {"console": {"config": {"log_level": "WARNING"}}}}
"""Our own progress lines say what a person at a terminal wants to know; Dagster's events are in its history."""


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
    with warehouse.writer() as writer:
        tell("reading the sources")
        files = ingest_sources(writer, settings, now, tell)
        _tell_changes(mark_changed_judgement(writer, settings), tell)
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
    for position, day_index in enumerate(todo, 1):
        heed()
        tell(f"{to_day(day_index)} (day {position} of {len(todo)})")
        _execute(config_path, warehouse, to_day(day_index), fixed_now, publishes=position == len(todo))
    publish_if_behind(warehouse, now)
    beat(warehouse, now, to_day(todo[-1]).isoformat() if todo else None)
    return RunOutcome(tuple(files), tuple(to_day(day_index) for day_index in todo))


def _tell_changes(changed: Changed, tell: Callable[[str], None]) -> None:
    if changed.policy:
        tell("policy, costs or objectives changed: every judged day is judged again")
    elif changed.judged_again:
        tell(f"prices changed: {_days_text(changed.judged_again)} had none for all traffic and is judged again")
    if changed.kept:
        tell(
            f"warning: the price rows no longer say what {_days_text(changed.kept)} was published at; it keeps its "
            "prices. See `valleywatch status`; `valleywatch run --day D --reprice` judges a day at the rows of now"
        )


def _days_text(days: Sequence[int]) -> str:
    first, last = day_text(days[0]), day_text(days[-1])
    return first if len(days) == 1 else f"each of {len(days)} days from {first} to {last}"


def _require_days_of_job(days: Sequence[date] | None, now: datetime) -> None:
    for day in days or ():
        if not FIRST_DAY <= day <= now.date():
            raise UsageError(f"{day} is no day of the job: it knows the UTC days from {FIRST_DAY} to today")


def _execute(
    config_path: Path, warehouse: Warehouse, day: date, fixed_now: datetime | None, *, publishes: bool
) -> None:
    """Execute the job for one day; DAGSTER_HOME, where set, keeps its history."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")
    import dagster as dg

    from pipelines.definitions import build_defs
    from pipelines.schedules import PUBLISHED

    definitions = build_defs(
        config_path=str(config_path), fixed_now=fixed_now.isoformat() if fixed_now is not None else None
    )
    job = definitions.resolve_job_def("daily")
    every = job.asset_layer.selected_asset_keys if job.asset_layer else ()
    chosen = [key for key in every if publishes or key.to_user_string() not in PUBLISHED]
    try:
        with dg.DagsterInstance.get() if os.environ.get("DAGSTER_HOME") else dg.DagsterInstance.ephemeral() as instance:
            job.execute_in_process(
                run_config=_QUIET, partition_key=day.isoformat(), instance=instance, asset_selection=chosen
            )
    except dg.DagsterError as error:
        with warehouse.writer() as writer:
            why = "; ".join(breaches(writer, to_day_index(day))) or str(error)
        raise ValleywatchError(f"{day} was not finished: {why}; what was published before is unchanged") from error
