"""Who was told: the round of delivery that follows what is published."""

from collections.abc import Iterator

import dagster as dg

from pipelines.assets.graph import IN_ONE_RUN, asset_spec
from pipelines.assets.step import told
from pipelines.delivery.patience import deliver_patiently
from pipelines.delivery.rounds import Round
from pipelines.resources import Workplace

_ALERTS = asset_spec(
    "alerts",
    "What the channels were told: entries and ends of episodes, data that stopped to come or broke its contract.",
    group="published",
    grain="alert",
    kinds={"python"},
    deps=["report"],
)


@dg.multi_asset(specs=[_ALERTS], backfill_policy=IN_ONE_RUN)
def deliver_alerts(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Tell every channel what is due, whichever days it is about; what is not taken is tried again by later rounds."""
    with told(context, workplace):
        settings = workplace.settings()
        done = deliver_patiently(settings, context.log.warning, clock=workplace.now) if settings.alerts else Round()
    yield dg.MaterializeResult(
        metadata={
            "channels": len(settings.alerts),
            "recorded": done.recorded,
            "delivered": done.sent,
            "waiting": done.waiting,
            "given_up": done.dead,
        }
    )
