"""The Dagster job in this process: one day or a range of them, with the clock standing still."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import dagster as dg
import pytest

from pipelines import contracts
from pipelines.cadence import ScheduleSettings
from pipelines.definitions import build_defs
from pipelines.expectations import Expectation, Finding
from pipelines.resources import Workplace
from pipelines.times import day_text
from tests.place import NOW, Place


def execute(
    place: Place, first: date, last: date, *, now: datetime = NOW, n_retries: int = 0, **options: Any
) -> dg.ExecuteInProcessResult:
    """Execute the job for the days; a failure is a result."""
    workplace = Workplace(config_path=str(place.config), fixed_now=now.isoformat(), n_retries=n_retries)
    job = build_defs(workplace, ScheduleSettings()).resolve_job_def("daily")
    days = {"dagster/asset_partition_range_start": f"{first}", "dagster/asset_partition_range_end": f"{last}"}
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            instance=instance,
            tags=days,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            **options,
        )


def failures(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """Return what failed steps say, by step."""
    return {
        str(event.step_key): event.step_failure_data.user_failure_data.description or ""
        for event in result.all_events
        if event.is_step_failure and event.step_failure_data.user_failure_data is not None
    }


def marts_break_on(monkeypatch: pytest.MonkeyPatch, *days: date) -> None:
    """Have the marts of these days break their contract, and nothing else; Great Expectations is tested elsewhere."""
    wrong = {day.isoformat() for day in days}

    def judge(profile: Any, expected: tuple[Expectation, ...]) -> list[Finding]:
        is_marts = expected == contracts.expected_of_marts()
        found = {day_text(hour // 24) for hour in profile["hour_index"]} if is_marts and profile.height else set()
        return [Finding(one.says, one.severity, not found & wrong, "made to fail") for one in expected]

    monkeypatch.setattr(contracts, "judge", judge)
