"""The orchestrator's job on a cluster: what it shows of the work there."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.orchestration.jobs import execute
from tests.place import Place, request
from tests.spark.conftest import spark_config

pytestmark = pytest.mark.spark
DAY = date(2026, 11, 28)


def test_the_asset_shows_application_runs_and_tasks_and_what_was_replaced(tmp_path: Path, no_work_left: None) -> None:
    place = Place(tmp_path, spark_config("local[2]"))
    place.write("a.jsonl", [request(number, timestamp=f"{DAY}T{number:02}:15:00Z") for number in range(3)])
    result = execute(place, DAY, DAY)
    assert result.success
    shown = {
        name: value.value
        for event in result.get_asset_materialization_events()
        if event.asset_key is not None and event.asset_key.path == ["hourly_hit_rate"]
        for name, value in event.materialization.metadata.items()
    }
    assert shown["engine"] == "spark"
    assert shown["spark_application"].startswith("local-")
    assert shown["spark_tasks"] >= shown["spark_stages"] > 0
    assert shown["spark_failed_tasks"] == 0
    assert shown["hours_replaced"] == 3
    assert place.rows("select count(*) as n from hourly_hit_rate") == [{"n": 3}]
