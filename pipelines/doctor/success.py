"""When the job last did all there was to do, and what stopped it since.

Belongs here: the age of the last success, the last failure, days that a contract stopped. Does not belong here: runs as
Dagster's history has them (`dagster_runs`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.display import utc_time
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import HOUR_S, listed, span
from pipelines.errors import BusyError
from pipelines.heartbeat import Failure, Heartbeat, last_beat, last_failure
from pipelines.times import day_text
from pipelines.warehouse import Reader

MAX_AGE_S = {"daily": 26 * HOUR_S, "hourly": 3 * HOUR_S}
"""By cadence: one period and what a run may take."""
_RUN = "run `valleywatch run`, which does whatever is missing and says what stops it; then look why nothing started it"


def max_success_age_s(case: Case) -> float:
    """Return how old the last success may be, in seconds."""
    return MAX_AGE_S[case.settings.schedule.cadence]


def check_success(case: Case) -> Iterator[Finding]:
    """Find whether the job succeeded lately, and what it failed of if not."""
    beat, failure = last_beat(case.warehouse), last_failure(case.warehouse)
    if failure is not None and beat is not None and failure.begun <= beat.finished:
        failure = None
    most = max_success_age_s(case)
    rule = f"the job succeeds at least every {span(most)}"
    why = f"; the run of {utc_time(failure.begun)} UTC failed: {failure.error}" if failure else ""
    if beat is None:
        yield bad("success_never", f"no success is on record{why}", rule=rule, remedy=_RUN)
    elif case.age_s(beat.finished) > most:
        yield bad("success_old", f"{_said(case, beat)}{why}", case.age_s(beat.finished), rule=rule, remedy=_RUN)
    else:
        yield ok("success", _said(case, beat), case.age_s(beat.finished), rule=rule)
        if failure is not None:
            yield _failed_since(case, failure)


def check_blocked_days(_case: Case, reader: Reader) -> Iterator[Finding]:
    """Find days that a broken contract stopped and that no later run has mended."""
    days = reader.rows("alerts/blocked_days")[::-1]
    if not days:
        yield ok("blocked_days", "no contract is broken", 0)
        return
    named = [day_text(day["day_index"]) for day in days]
    yield bad(
        "blocked_days",
        f"{listed(named)} stopped; the newest by the {days[0]['first_breach']}",
        len(days),
        rule="every day's requests and marts keep their contracts (view check_findings)",
        remedy=f"put right what the detail names, then `valleywatch run --day {named[0]}`",
    )


def _said(case: Case, beat: Heartbeat) -> str:
    day = f", for {beat.day}" if beat.day else ", with nothing new"
    return f"the last success ended {utc_time(beat.finished)} UTC, {span(case.age_s(beat.finished))} ago{day}"


def _failed_since(case: Case, failure: Failure) -> Finding:
    what = f"the run of {utc_time(failure.begun)} UTC failed since: {failure.error}"
    rule, age = "the newest run succeeded", case.age_s(failure.begun)
    if failure.exit_code == BusyError.exit_code:
        return warn("run_failed", what, age, rule=rule, remedy="nothing if the next run succeeds: it may work then")
    return bad("run_failed", what, age, rule=rule, remedy="put right what it names, then run `valleywatch run`")
