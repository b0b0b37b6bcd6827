"""How assets look in the graph: groups, owners, kinds, tags.

Belongs here: what all assets have in common as Dagster shows them. Does not belong here: what any of them does.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from pipelines.partitions import DAILY_UTC

OWNER = "team:inference-economics"
"""Whoever answers for the numbers; shown with each asset."""
IN_ONE_RUN = dg.BackfillPolicy.single_run()
"""A range of days is one run: its sources are read once and its results published once."""


def asset_spec(
    name: str, description: str, *, group: str, grain: str, kinds: set[str], deps: Sequence[str] = ()
) -> dg.AssetSpec:
    """Describe an asset of one UTC day; grain: what a row of it is."""
    return dg.AssetSpec(
        name,
        description=description,
        deps=deps,
        group_name=group,
        kinds=kinds,
        owners=[OWNER],
        tags={"grain": grain},
        partitions_def=DAILY_UTC,
    )
