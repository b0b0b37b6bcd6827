"""Bug reports C 22 to 25: an hour is an hour of UTC, whatever zone the machine is in and whatever its clocks do."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.partitions import DAILY_UTC
from pipelines.report import publish_if_behind
from tests.place import NOW, PRICE, SOURCE, Place, request

ANGELES, SHANGHAI, KOLKATA = "America/Los_Angeles", "Asia/Shanghai", "Asia/Kolkata"
CHANGES = (date(2023, 11, 5), date(2024, 3, 10))
"""Days of 25 and of 23 hours in Los Angeles."""


@pytest.fixture
def live_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move this process to another time zone."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def test_timescaledb_4884_two_one_oclock_hours_of_an_autumn_night_are_two_hours(
    place: Place, live_in: Callable[[str], None]
) -> None:
    live_in(ANGELES)
    for number, at in enumerate(("2023-11-05T08:30:00Z", "2023-11-05T02:30:00-07:00", "2023-11-05T01:30:00-08:00")):
        place.write(f"{number}.jsonl", [request(number, timestamp=at)])
    place.settle()
    assert place.rows("select hour_utc::varchar as hour, n_requests as n from hourly_hit_rate order by 1") == [
        {"hour": "2023-11-05 08:00:00", "n": 1},
        {"hour": "2023-11-05 09:00:00", "n": 2},
    ]
    outside = "select * from requests where not (hour_utc <= arrived_at and arrived_at < hour_utc + interval 1 hour)"
    assert place.rows(outside) == []


def test_dagster_18022_every_hour_of_a_day_that_changes_the_clocks_is_in_exactly_one_partition(
    place: Place, live_in: Callable[[str], None]
) -> None:
    live_in(ANGELES)
    first = datetime(2023, 11, 4, tzinfo=UTC)
    for day in CHANGES:
        window = DAILY_UTC.time_window_for_partition_key(day.isoformat())
        assert (window.end - window.start) == timedelta(hours=24)
    keys = DAILY_UTC.get_partition_keys(current_time=NOW)
    assert len(keys) == len(set(keys)) == (NOW.date() - date(2020, 1, 1)).days + 1
    instants = [first + timedelta(hours=hour, minutes=30) for hour in range(24 * 129)]
    of_change = [at for at in instants if at.date() in CHANGES]
    place.write("a.jsonl", [request(n, timestamp=at.isoformat()) for n, at in enumerate(of_change)])
    place.settle()
    assert place.rows("select hour_utc::date::varchar as day, count(*) as n_hours, sum(n_requests)::bigint as n "
                      "from hourly_hit_rate group by 1 order by 1") == [
        {"day": day.isoformat(), "n_hours": 24, "n": 24} for day in CHANGES
    ]  # fmt: skip
    assert {path.name for path in (place.warehouse.folder / "lake").iterdir()} == {f"day={day}" for day in CHANGES}


def test_ccusage_349_the_day_is_that_of_utc_and_the_output_says_so(
    place: Place, live_in: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    live_in(SHANGHAI)
    place.write("a.jsonl", [request(1, timestamp="2026-08-07T16:30:00Z")])
    assert place.valleywatch("run") == 0
    assert [path.name for path in (place.warehouse.folder / "lake").iterdir()] == ["day=2026-08-07"]
    assert place.rows("select hour_utc::varchar as hour_utc from hourly_hit_rate") == [
        {"hour_utc": "2026-08-07 16:00:00"}
    ]
    capsys.readouterr()
    assert place.valleywatch("status") == 0
    shown = capsys.readouterr().out
    assert "newest hour UTC" in shown
    assert "2026-08-07 16:00" in shown
    assert "2026-08-08" not in shown
    page = (place.warehouse.folder / "report" / "index.html").read_text()
    assert "Newest hour (UTC)" in page
    assert "2026-08-07 16:00" in page
    assert "2026-08-08" not in page


LINES = [
    request(1, timestamp="2026-01-01 00:10:00"),
    request(2, timestamp="2026-01-01T00:10:00+00:00"),
    request(3, timestamp="2026-01-01T05:40:00+05:30"),
    request(4, timestamp="2025-12-31T23:50:00Z"),
]


@pytest.mark.parametrize("declared", ["", 'timezone = "UTC"\n'], ids=["naive is refused", "naive is UTC"])
def test_duckdb_561_the_same_bytes_come_out_in_every_zone(
    tmp_path: Path, live_in: Callable[[str], None], capsys: pytest.CaptureFixture[str], declared: str
) -> None:
    found = {}
    for zone in ("UTC", KOLKATA, ANGELES):
        live_in(zone)
        shutil.rmtree(tmp_path / "place", ignore_errors=True)
        place = Place(tmp_path / "place", SOURCE + declared + PRICE)
        path = place.write("a.jsonl", LINES)
        path.chmod(0o600)
        place.settle()
        publish_if_behind(place.warehouse, NOW)
        capsys.readouterr()
        for view in ("requests", "hourly_hit_rate", "valley_status"):
            assert place.valleywatch("sql", "--csv", f"select * from {view} order by all") == 0
        pages = (place.warehouse.folder / "report").glob("*.html")
        files = [*sorted((place.warehouse.folder / "lake").rglob("*.parquet")), *sorted(pages)]
        found[zone] = (capsys.readouterr().out, place.views(), [(file.name, file.read_bytes()) for file in files])
    assert found["UTC"] == found[KOLKATA] == found[ANGELES]
    assert place.rows("select hour_utc::varchar as hour, n_requests as n from hourly_hit_rate order by 1") == [
        {"hour": "2025-12-31 23:00:00", "n": 1},
        {"hour": "2026-01-01 00:00:00", "n": 3 if declared else 2},
    ]
    refused = place.rows("select reason from quarantine")
    assert refused == ([] if declared else [{"reason": "timestamp_without_offset"}])
