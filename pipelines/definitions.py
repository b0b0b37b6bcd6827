"""The Dagster code location.

Belongs here: putting the parts together. Does not belong here: the parts. `build_defs` makes a fresh set, so that a
command or a test names its own configuration by argument.
"""

from __future__ import annotations

import os

import dagster as dg

from pipelines.assets import core, curve, mart, published, valley
from pipelines.resources import Workplace
from pipelines.schedules import daily, daily_schedule

CONFIG_VARIABLE = "VALLEYWATCH_CONFIG"


def build_defs(*, config_path: str, fixed_now: str | None = None) -> dg.Definitions:
    """Return all definitions, bound to one configuration file (read when a step runs, not here)."""
    return dg.Definitions(
        assets=dg.load_assets_from_modules([core, mart, curve, valley, published]),
        jobs=[daily],
        schedules=[daily_schedule],
        resources={"workplace": Workplace(config_path=config_path, fixed_now=fixed_now)},
        executor=dg.in_process_executor,
    )


defs = build_defs(config_path=os.environ.get(CONFIG_VARIABLE, "valleywatch.toml"))
