"""The Dagster code location.

Belongs here: putting the parts together. Does not belong here: the parts. `build_defs` makes a fresh set, so that a
command or a test names its own configuration by argument.
"""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

from pipelines.assets import core, curve, mart, published, told, valley
from pipelines.cadence import ScheduleSettings
from pipelines.partitions import utc_days
from pipelines.resources import Workplace
from pipelines.schedules import build_schedule, daily, tell
from pipelines.sensors import alerts_due, failed_days, late_days
from pipelines.settings import load_settings

CONFIG_VARIABLE = "VALLEYWATCH_CONFIG"


def build_defs(workplace: Workplace, schedule: ScheduleSettings) -> dg.Definitions:
    """Return all definitions, bound to one configuration file, which each step reads anew."""
    days = utc_days(schedule.first_day)
    return dg.Definitions(
        assets=[
            of.map_asset_specs(lambda spec: spec.replace_attributes(partitions_def=days))
            for of in (
                core.read_sources,
                mart.hourly_marts,
                curve.fit_curves,
                valley.verdicts,
                published.publish_snapshot,
                published.write_report,
                told.deliver_alerts,
            )
        ],
        jobs=[daily, tell],
        schedules=[build_schedule(schedule)],
        sensors=[late_days, alerts_due, failed_days],
        resources={"workplace": workplace},
        executor=dg.in_process_executor,
    )


def _of_this_place() -> dg.Definitions:
    """Return the definitions for the configuration that the environment names, or ./valleywatch.toml.

    The graph can be looked at before there is a configuration: without one the schedule is the default.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    path = Path(named or "valleywatch.toml").absolute()
    schedule = load_settings(path).schedule if named or path.exists() else ScheduleSettings()
    return build_defs(Workplace(config_path=str(path)), schedule)


defs = _of_this_place()
