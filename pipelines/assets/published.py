"""What readers see: the snapshot for SQL and the report for people."""

from collections.abc import Iterator

import dagster as dg

from pipelines.assets.graph import IN_ONE_RUN, asset_spec
from pipelines.assets.step import ExpectedFailure, blocked_days, left_out_text, step, told
from pipelines.errors import ValleywatchError
from pipelines.heartbeat import beat
from pipelines.metrics.textfile import publish_metrics
from pipelines.report import finish_publishing, publish_report
from pipelines.resources import Workplace
from pipelines.times import day_text, to_day_index

_SNAPSHOT = asset_spec(
    "snapshot",
    "A copy of all marts that any DuckDB client can open while the job writes.",
    group="published",
    grain="file",
    kinds={"duckdb"},
    deps=["valley_episodes", "profit_and_loss", "hit_rate_histogram"],
)
_REPORT = asset_spec(
    "report",
    "The pages people read: a folder that needs nothing else, the fleet's page and one a deployment.",
    group="published",
    grain="folder",
    kinds={"html"},
    deps=["snapshot"],
)


@dg.multi_asset(specs=[_SNAPSHOT], backfill_policy=IN_ONE_RUN)
def publish_snapshot(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Publish all marts as they are now."""
    with step(context, workplace) as at:
        path = at.writer.publish()
    yield dg.MaterializeResult(metadata={"path": dg.MetadataValue.path(str(path)), "bytes": path.stat().st_size})


@dg.multi_asset(specs=[_REPORT], backfill_policy=IN_ONE_RUN)
def write_report(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Write the report of the newest snapshot; the run's last step, which names the days that it left out."""
    now = workplace.now()
    with told(context, workplace):
        path = publish_report(workplace.warehouse(), now)
    with step(context, workplace) as at:
        finish_publishing(at.writer)
        left_out = blocked_days(at.writer, at.days)
        # Runs of single days, some of them long past, say nothing of the job while other days are due.
        span = {"first_day": to_day_index(at.settings.schedule.first_day), "before_day": to_day_index(now.date())}
        if not left_out and not at.writer.rows("ops/due_days", **span):
            beat(workplace.warehouse(), now, day_text(at.days[-1]))
    yield dg.MaterializeResult(
        metadata={"path": dg.MetadataValue.path(str(path)), "link": dg.MetadataValue.url(path.as_uri())}
    )
    with told(context, workplace):
        publish_metrics(workplace.settings(), workplace.warehouse(), context.log.info)
    if left_out:
        raise ExpectedFailure(ValleywatchError(left_out_text(left_out)))
