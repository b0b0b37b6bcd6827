"""What Dagster's history tells: runs without a process, places in pools, failed runs, the daemon, its schedules.

Belongs here: questions to the instance; nothing is written to it. Does not belong here: the data, which is whole
whatever the history says. Imported where a history exists alone: Dagster takes two seconds to load.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from pipelines.display import utc_time
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import HOUR_S, counted, listed, span
from pipelines.doctor.processes import owner

_UNDER_WAY = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
MAX_RUNTIME_S = 4 * HOUR_S
"""Where dagster.yaml sets no `max_runtime_seconds`."""
START_TIMEOUT_S = 180
MAX_QUEUED_S = HOUR_S
MAX_DAEMON_SILENCE_S = 300
"""Dagster itself calls a daemon unhealthy after half of this."""
MAX_PLACE_S = 600
"""Longer than any `free_slots_after_run_end_seconds` that makes sense; the shipped home has no pools."""
FAILED_WITHIN = timedelta(days=2)
_MOST_RUNS = 200


def check_history(case: Case, home: Path) -> Iterator[Finding]:
    """Find what is wrong in the history below `home`."""
    try:
        with dg.DagsterInstance.from_config(str(home)) as instance:
            findings = [
                *_zombies(case, instance),
                *_places(case, instance),
                *_failed(case, instance),
                *_daemon(case, instance),
            ]
    except Exception as error:  # noqa: BLE001 - any storage may be configured, and each fails in its own way
        findings = [
            bad(
                "dagster_history_damaged",
                f"the history in {home} cannot be read: {type(error).__name__}",
                str(home),
                rule="Dagster can read its history",
                remedy=f"stop daemon and webserver, mv {home}/history {home}/history.damaged, start them again: "
                "history is disposable, the warehouse knows what is done",
            )
        ]
    yield from findings


def _zombies(case: Case, instance: dg.DagsterInstance) -> Iterator[Finding]:
    """Find runs that Dagster takes for being under way, and that no process works on or that take too long."""
    records = instance.get_run_records(dg.RunsFilter(statuses=_UNDER_WAY), limit=_MOST_RUNS)
    rule = "a run that is under way has a process, and takes no longer than max_runtime_seconds"
    pools, n_zombies = _claimed(instance), 0
    for record in records:
        why = _why_zombie(case, instance, record)
        if why is not None:
            n_zombies += 1
            run = record.dagster_run
            blocks = f"; runs wait for its place in the pool {pools[run.run_id]}" if run.run_id in pools else ""
            yield bad(
                "dagster_zombie",
                f"{_named(run)} is {run.status.value} since {utc_time(_since(record))} UTC, but {why}{blocks}",
                run.run_id,
                rule=rule,
                remedy=f"{_delete(run.run_id)}; then `valleywatch run` does what it left, data is unaffected",
            )
    if not n_zombies:
        yield ok("dagster_zombie", f"{counted(len(records), 'run')} under way, none without its process", 0, rule=rule)


def _places(case: Case, instance: dg.DagsterInstance) -> Iterator[Finding]:
    """Find places in a pool that ended runs never gave back: other runs wait for them for ever."""
    for run_id, pool in _claimed(instance).items():
        records = instance.get_run_records(dg.RunsFilter(run_ids=[run_id]))
        ended = [record for record in records if record.dagster_run.is_finished]
        if records and not (ended and case.now.timestamp() - (ended[0].end_time or 0) > MAX_PLACE_S):
            continue
        yield bad(
            "dagster_place_kept",
            f"run {run_id} has ended and keeps a place in the pool {pool}: other runs wait for it",
            run_id,
            rule=f"an ended run gives back its places within {span(MAX_PLACE_S)}",
            remedy=f"{_delete(run_id)}, or free its slots in the UI (Deployment, Concurrency)",
        )


def _claimed(instance: dg.DagsterInstance) -> dict[str, str]:
    """Return by run the pool that it has a place in."""
    storage = instance.event_log_storage
    if not storage.supports_global_concurrency_limits:
        return {}
    return {
        slot.run_id: pool
        for pool in sorted(storage.get_concurrency_keys())
        for slot in storage.get_concurrency_info(pool).claimed_slots
    }


def _delete(run_id: str) -> str:
    """Say what ends a run for Dagster: of all that does, this alone gives back its places without a daemon."""
    return f"dagster run delete --force {run_id}"


def _why_zombie(case: Case, instance: dg.DagsterInstance, record: Any) -> str | None:
    """Say why a run cannot be at work; None where it can."""
    most_s = instance.run_monitoring_max_runtime_seconds or MAX_RUNTIME_S
    age_s = case.age_s(_since(record))
    if age_s > most_s:
        return f"that is {span(age_s)} ago, more than {span(most_s)}"
    told = _process_told(instance, record.dagster_run.run_id)
    if told is None:
        return "no process of it has begun" if age_s > START_TIMEOUT_S else None
    pid, since = told
    return None if owner(pid, since, case.proc) else f"its process {pid} is gone"


def _process_told(instance: dg.DagsterInstance, run_id: str) -> tuple[int, datetime] | None:
    """Return the number of the last process that the run's events name, and when it did."""
    for entry in reversed(instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)):
        data = entry.dagster_event.event_specific_data if entry.dagster_event else None
        value = getattr(data, "metadata", {}).get("pid")
        if value is not None:
            return int(str(value.value)), datetime.fromtimestamp(entry.timestamp, UTC)
    return None


def _failed(case: Case, instance: dg.DagsterInstance) -> Iterator[Finding]:
    """Find partitions whose newest run failed lately."""
    records = instance.get_run_records(
        dg.RunsFilter(
            statuses=[dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS],
            updated_after=case.now - FAILED_WITHIN,
        ),
        limit=_MOST_RUNS,
    )
    newest: dict[tuple[str, str | None], Any] = {}
    for record in records:  # the newest first
        newest.setdefault((record.dagster_run.job_name, _partition(record.dagster_run)), record)
    failed = [record for record in newest.values() if record.dagster_run.status == dg.DagsterRunStatus.FAILURE]
    rule = f"no run of the last {span(FAILED_WITHIN.total_seconds())} failed without a later one that succeeded"
    if failed:
        names = listed([_named(record.dagster_run) for record in failed])
        yield bad(
            "dagster_failed",
            f"{counted(len(failed), 'run')} failed: {names}",
            failed[0].dagster_run.run_id,
            rule=rule,
            remedy="the run's page in the UI says why; then `valleywatch run`",
        )
    else:
        yield ok("dagster_failed", "no run failed lately", 0, rule=rule)


def _daemon(case: Case, instance: dg.DagsterInstance) -> Iterator[Finding]:
    """Find whether a daemon that once ran still does, and what waits for it."""
    beats = [datetime.fromtimestamp(beat.timestamp, UTC) for beat in instance.get_daemon_heartbeats().values()]
    if not beats:
        yield ok(
            "dagster_daemon_never",
            "no daemon ever ran with this DAGSTER_HOME",
            remedy="where its schedule should run the job: dagster-daemon run",
        )
        return
    newest = max(beats)
    silent_s = case.age_s(newest)
    rule = f"the daemon writes a sign of life every {span(MAX_DAEMON_SILENCE_S)}"
    schedules = [state for state in instance.all_instigator_state() if state.instigator_type.value == "SCHEDULE"]
    running = [state.instigator_name for state in schedules if state.status.value != "STOPPED"]
    if silent_s > MAX_DAEMON_SILENCE_S:
        found = bad if running else warn
        yield found(
            "dagster_daemon",
            f"the daemon's last sign of life is of {utc_time(newest)} UTC, {span(silent_s)} ago",
            silent_s,
            rule=rule,
            remedy="start it again (dagster-daemon run, or its service); missed days are found and done",
        )
    else:
        yield ok("dagster_daemon", f"the daemon's last sign of life is {span(silent_s)} old", silent_s, rule=rule)
    if schedules and not running:
        yield warn(
            "dagster_schedule_off",
            f"{listed([state.instigator_name for state in schedules])} is switched off",
            rule="a schedule is on where a daemon runs",
            remedy="switch it on in the UI, or dagster schedule start NAME -m pipelines.definitions",
        )
    queued = [
        record
        for record in instance.get_run_records(dg.RunsFilter(statuses=[dg.DagsterRunStatus.QUEUED]), _MOST_RUNS)
        if case.age_s(record.create_timestamp) > MAX_QUEUED_S
    ]
    if queued:
        yield bad(
            "dagster_queued",
            f"{counted(len(queued), 'run')} queued for more than {span(MAX_QUEUED_S)}",
            len(queued),
            rule=f"a run starts within {span(MAX_QUEUED_S)}",
            remedy="see that the daemon runs, and that no zombie above holds its place",
        )


def _named(run: dg.DagsterRun) -> str:
    partition = _partition(run)
    return f"run {run.run_id} ({run.job_name}{f', {partition}' if partition else ''})"


def _partition(run: dg.DagsterRun) -> str | None:
    return run.tags.get("dagster/partition")


def _since(record: Any) -> datetime:
    """Return when a run began, or was made where it has not."""
    if record.start_time is not None:
        return datetime.fromtimestamp(record.start_time, UTC)
    made: datetime = record.create_timestamp
    return made if made.tzinfo else made.replace(tzinfo=UTC)
