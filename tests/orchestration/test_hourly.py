"""An hourly cadence: curves of the running day wait, hours are judged on them, and the end is that of one daily run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from pipelines.alerts.record import judge_day
from pipelines.cadence import ScheduleSettings
from pipelines.curves import fit_day
from pipelines.due_days import due_days
from pipelines.ingest import ingest_sources
from pipelines.marts import refresh_busy_periods, refresh_hours
from pipelines.running_day import reopen_days
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

HOURLY = '\n[schedule]\ncadence = "hourly"\n'
MIDNIGHT = datetime(2026, 11, 28, tzinfo=UTC)
FOLDERS = ("path", "source_file")
ROWS = [request(**row) for row in busy_hours(n_hours=24, per_hour=60, law_of_a_valley=True)]


def written(place: Place, rows: list[dict[str, Any]]) -> list[int]:
    """Write a log for each hour; return the hours."""
    by_hour = [(int(hour), list(of)) for hour, of in groupby(rows, key=lambda row: row["timestamp"][11:13])]
    for hour, of in by_hour:
        place.write(f"{hour:02}.jsonl", of)
    return [hour for hour, _ in by_hour]


def tick(place: Place, now: datetime) -> int:
    """Do what a tick of the schedule asks for; return how many curves were fitted."""
    settings = load_settings(place.config)
    day = to_day_index(settings.schedule.day_of(now))
    with place.warehouse.writer() as writer:
        ingest_sources(writer, settings, now, lambda _line: None)
        reopen_days(writer, to_day_index(now.date()))
        for mart in ("hourly_hit_rate", "hit_rate_histogram"):
            refresh_hours(writer, mart, day)
        refresh_busy_periods(writer, day)
        n_fitted = fit_day(writer, day, settings.policy, hours_over=settings.schedule.hours_over(day, now))
        judge_day(writer, day, settings, now)
        writer.publish()
    return n_fitted


@pytest.mark.parametrize("n_hours", [9, pytest.param(24, marks=pytest.mark.slow)])
def test_ticks_of_a_day_and_its_end_are_one_daily_run(tmp_path: Path, n_hours: int) -> None:
    rows = ROWS[: 60 * n_hours]
    hourly, daily = Place(tmp_path / "hourly", SOURCE + PRICE + HOURLY), Place(tmp_path / "daily")
    fitted = []
    for hour in range(n_hours):
        # What an hour served is there ten minutes after it.
        hourly.write(f"{hour:02}.jsonl", rows[60 * hour : 60 * (hour + 1)])
        fitted.append(tick(hourly, MIDNIGHT + timedelta(hours=hour + 1, minutes=10)))
    # Fitted as the hours double until it can be trusted, then kept until the day is over.
    is_closed = n_hours == 24
    assert fitted[0] == 1
    assert 0 in fitted
    assert sum(fitted) <= 4 + is_closed
    assert fitted[-1] == is_closed
    if not is_closed:
        midnight = MIDNIGHT + timedelta(days=1)
        assert [due.day for due in due_days(hourly.warehouse, MIDNIGHT.date(), midnight.date())] == [MIDNIGHT.date()]
        assert hourly.rows("select count(*) as n from valley_status where revenue_index is not null") == [
            {"n": n_hours}
        ]
        assert tick(hourly, midnight + timedelta(minutes=10)) == 1
    assert due_days(hourly.warehouse, MIDNIGHT.date(), (MIDNIGHT + timedelta(days=1)).date()) == []
    written(daily, rows)
    tick(daily, MIDNIGHT + timedelta(days=1, hours=1, minutes=30))
    found, expected = hourly.views(without=FOLDERS), daily.views(without=FOLDERS)
    # An alert says what was known when it was written; that it was, and under which key, is the same.
    assert found | {"alert_outbox": []} == expected | {"alert_outbox": []}
    said = "select kind, dedup_key from alert_outbox order by all"
    assert hourly.rows(said) == daily.rows(said) != []
    assert len(found["valley_status"]) == n_hours


def test_late_lines_of_an_earlier_day_have_the_running_day_s_curves_fitted_again(tmp_path: Path) -> None:
    place = Place(tmp_path, SOURCE + PRICE + HOURLY)
    place.write("a.jsonl", ROWS[:360])
    assert tick(place, MIDNIGHT + timedelta(hours=6, minutes=10)) == 1
    place.write("b.jsonl", ROWS[360:420])
    assert tick(place, MIDNIGHT + timedelta(hours=7, minutes=10)) == 0
    place.write("late.jsonl", [request("late", timestamp="2026-11-27T20:00:00Z")])
    assert tick(place, MIDNIGHT + timedelta(hours=8, minutes=10)) == 1
    # Days that a daily cadence is asked for while they run are fitted each time.
    place.configure(SOURCE + PRICE)
    with place.warehouse.writer() as writer:
        settings, day = load_settings(place.config), to_day_index(MIDNIGHT.date())
        assert settings.schedule.hours_over(day, MIDNIGHT + timedelta(hours=9)) is None
        assert fit_day(writer, day, settings.policy) == 1


def test_a_deployment_that_appears_during_the_day_gets_a_curve_and_the_others_keep_theirs(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path, SOURCE + PRICE + HOURLY)
    place.write("a.jsonl", ROWS[:360])
    tick(place, MIDNIGHT + timedelta(hours=6, minutes=10))
    before = place.rows("select * from throughput_curve")
    place.write("b.jsonl", [row | {"deployment": "new"} for row in ROWS[:420]])
    assert tick(place, MIDNIGHT + timedelta(hours=7, minutes=10)) == 1
    after = place.rows("select * from throughput_curve order by deployment = 'new'")
    assert [row["deployment"] for row in after] == ["pool", "new"]
    assert after[0] == before[0]
    assert place.rows("select count(distinct deployment) as n from curve_candidates") == [{"n": 2}]


def test_a_curve_that_cannot_be_trusted_is_fitted_again_as_the_hours_double(tmp_path: Path) -> None:
    place = Place(tmp_path, SOURCE + PRICE + HOURLY)
    fitted = []
    for hour in range(10):
        place.write(f"{hour}.jsonl", [request(hour, timestamp=f"2026-11-28T{hour:02}:15:00Z")])
        fitted.append(tick(place, MIDNIGHT + timedelta(hours=hour + 1, minutes=10)))
    assert [hour + 1 for hour, n_fitted in enumerate(fitted) if n_fitted] == [1, 2, 4, 8]
    assert tick(place, MIDNIGHT + timedelta(days=1, minutes=10)) == 1


@pytest.mark.parametrize(
    ("cadence", "tick_at", "day"),
    [
        ("daily", "2026-11-29T01:30:00+00:00", "2026-11-28"),
        ("daily", "2026-11-29T23:30:00+00:00", "2026-11-28"),
        ("hourly", "2026-11-29T00:10:00+00:00", "2026-11-28"),
        ("hourly", "2026-11-29T01:10:00+00:00", "2026-11-29"),
        ("hourly", "2026-11-29T05:10:00+05:00", "2026-11-28"),
    ],
)
def test_a_tick_is_for_the_last_whole_day_or_hour(cadence: Any, tick_at: str, day: str) -> None:
    assert ScheduleSettings(cadence=cadence).day_of(datetime.fromisoformat(tick_at)).isoformat() == day
