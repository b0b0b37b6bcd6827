"""The requests themselves."""

from collections import Counter
from collections.abc import Iterator

import dagster as dg

from pipelines.alerts.record import mark_changed_judgement
from pipelines.assets.graph import IN_ONE_RUN, asset_spec
from pipelines.assets.step import step
from pipelines.changes import tell_changes
from pipelines.checks import REQUESTS_CONTRACT, check_result
from pipelines.contracts import judge_requests
from pipelines.ingest import ingest_sources
from pipelines.resources import Workplace
from pipelines.running_day import reopen_days
from pipelines.times import to_day_index

_REQUESTS = asset_spec(
    "requests",
    "Every accepted request once: reads whatever is new in the sources, whichever days it belongs to.",
    group="ingest",
    grain="request",
    kinds={"duckdb", "parquet"},
)


@dg.multi_asset(specs=[_REQUESTS], check_specs=[REQUESTS_CONTRACT], backfill_policy=IN_ONE_RUN)
def read_sources(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Load what is new, whichever days it is of; judge the requests of the days asked for."""
    with step(context, workplace) as at:
        now = workplace.now()
        outcomes = ingest_sources(at.writer, at.settings, now, context.log.info)
        tell_changes(mark_changed_judgement(at.writer, at.settings), context.log.info)
        reopen_days(at.writer, to_day_index(now.date()))
        findings = {day: judge_requests(at.writer, day, at.settings.policy) for day in at.days}
        for day in at.days:
            at.show(day, {"requests": at.writer.rows("shown/requests_of_day", day_index=day)[0]["n_requests"]})
    n_of = Counter(outcome.status for outcome in outcomes)
    yield dg.MaterializeResult(
        metadata={
            "files": len(outcomes),
            "files_loaded": n_of["loaded"],
            "files_deferred": n_of["deferred"],
            "files_rejected": n_of["rejected"],
            "files_unreachable": n_of["unreachable"],
            "rows_loaded": sum(outcome.n_loaded for outcome in outcomes),
            "rows_quarantined": sum(outcome.n_quarantined or 0 for outcome in outcomes),
        },
        check_results=[check_result(REQUESTS_CONTRACT, findings)],
    )
