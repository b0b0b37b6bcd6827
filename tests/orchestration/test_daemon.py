"""The real daemon and web server: a tick of the schedule, what it makes, what the web shows of it, and their end."""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.services import Services, make_home, services
from tests.place import PRICE, SOURCE, Place, request

EVERY_MINUTE = '\n[schedule]\ncron = "* * * * *"\n'
TODAY = datetime.now(UTC).date()
YESTERDAY, LAST_WEEK = TODAY - timedelta(days=1), TODAY - timedelta(days=7)
HOSTILE = "<img src=x onerror=alert(1)>|`[x](javascript:alert(1))"
ASSET = """
{assetNodeOrError(assetKey: {path: ["%s"]}) {... on AssetNode {
  opVersion owners {... on TeamAssetOwner {team}} kinds description
  assetMaterializations(partitions: ["%s"], limit: 1) {
    runId
    metadataEntries {
      label
      ... on IntMetadataEntry {intValue}
      ... on FloatMetadataEntry {floatValue}
      ... on PathMetadataEntry {path}
      ... on UrlMetadataEntry {url}
      ... on MarkdownMetadataEntry {mdStr}
      ... on TableMetadataEntry {table {records}}
    }
  }
  assetChecksOrError {... on AssetChecks {checks {
    name executionForLatestMaterialization {status evaluation {success severity}}
  }}}
}}}
"""


def logs_of(place: Place, day: Any, name: str) -> None:
    rows = [
        request(
            f"{day}-{n}", timestamp=f"{day}T{n // 60:02}:{n % 60:02}:00Z", deployment=name, cached_tokens=n % 9 * 99
        )
        for n in range(240)
    ]
    path = place.write(f"{day}.jsonl", rows)
    os.utime(path, (time.time() - 3600,) * 2)


def asset(at: Services, name: str, day: Any) -> dict[str, Any]:
    found: dict[str, Any] = at.ask(ASSET % (name, day))["assetNodeOrError"]
    return found


def metadata(node: dict[str, Any]) -> dict[str, Any]:
    (made,) = node["assetMaterializations"]
    return {
        entry["label"]: next(value for key, value in entry.items() if key != "label")
        for entry in made["metadataEntries"]
    }


def done(at: Services, day: Any) -> dict[str, Any] | None:
    return next(
        (run for run in at.runs() if run["status"] == "SUCCESS" and run["tags"]["dagster/partition"] == f"{day}"), None
    )


@pytest.mark.dagster
@pytest.mark.timeout(900)
def test_a_tick_makes_its_day_the_sensor_makes_missed_ones_and_both_services_end_when_told(tmp_path: Path) -> None:
    place, home = Place(tmp_path / "place", SOURCE + PRICE + EVERY_MINUTE), make_home(tmp_path / "home")
    logs_of(place, YESTERDAY, HOSTILE)
    logs_of(place, LAST_WEEK, "pool")
    with services(place, home) as at:
        scheduled = at.wait("a scheduled run of yesterday", 300, lambda: done(at, YESTERDAY))
        assert scheduled["tags"]["dagster/schedule_name"] == "due_days"

        status = asset(at, "valley_status", YESTERDAY)
        assert status["owners"] == [{"team": "inference-economics"}]
        assert status["assetMaterializations"][0]["runId"]
        shown = metadata(status)
        assert (shown["hours"], shown["unknown"]) == (4, 1)
        assert HOSTILE in shown["by_deployment"]["records"][0]
        assert shown["index_by_hour"] == "No hour has a revenue index."
        assert HOSTILE not in shown["index_by_hour"]
        traffic = metadata(asset(at, "hourly_hit_rate", YESTERDAY))
        assert traffic["requests"] == 240
        assert traffic["hit_rate"] == pytest.approx(sum(n % 9 * 99 for n in range(240)) / 240_000)
        report = metadata(asset(at, "report", YESTERDAY))
        assert report["link"] == (place.warehouse.folder / "report" / "index.html").as_uri()
        checks = {
            check["name"]: check["executionForLatestMaterialization"]["status"]
            for name in ("requests", "hourly_hit_rate", "throughput_curve")
            for check in asset(at, name, YESTERDAY)["assetChecksOrError"]["checks"]
        }
        assert checks == {
            "requests_contract": "SUCCEEDED", "marts_contract": "SUCCEEDED", "curves_contract": "SUCCEEDED",
        }  # fmt: skip

        # No tick ever was for a day of last week: that it has data and no results is asked of the data.
        missed = at.wait("a run of last week's day", 300, lambda: done(at, LAST_WEEK))
        assert missed["tags"].get("dagster/sensor_name", missed["tags"].get("dagster/schedule_name"))
        assert place.rows("select count(distinct hour_utc::date) as n from valley_status") == [{"n": 2}]
        codes = at.stop()
    assert set(codes) == {"daemon", "webserver"}
    assert all(code in (0, -signal.SIGTERM) for code in codes.values()), codes
