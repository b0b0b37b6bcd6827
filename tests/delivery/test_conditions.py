"""Alerts of conditions: each begins once, names what holds, and ends when it holds no more."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.alerts.conditions import write_conditions
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.delivery.desk import ONE_CHANNEL, Desk
from tests.delivery.recorder import Recorder
from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

NARROW_WINDOW = "\n[policy]\nwindow_days = 1\n"


@pytest.fixture
def desk(place: Place) -> Desk:
    return Desk(place)


def told(channel: Recorder) -> list[str]:
    return [notice.headline for sent in channel.taken for notice in sent.notices]


def test_a_deployment_without_data_is_told_once_and_once_more_when_it_is_back(desk: Desk) -> None:
    channel = Recorder()
    desk.place.write("a.jsonl", [request(1, timestamp="2026-11-28T06:15:00Z")])
    desk.place.settle()
    desk.round(channel)
    assert channel.told == []
    desk.later(hours=1)  # 13:00: 31 hours after the newest
    desk.round(channel)
    desk.later(hours=3)
    desk.round(channel)
    assert channel.told == [("stale", "pool")]
    assert "pool has sent no data since 2026-11-28T06:00Z" in told(channel)[0]
    desk.place.write("b.jsonl", [request(2, timestamp="2026-11-29T15:15:00Z")])
    desk.place.settle(desk.now)
    desk.round(channel)
    assert channel.told == [("stale", "pool"), ("resumed", "pool")]
    assert len({notice.dedup_key for sent in channel.taken for notice in sent.notices}) == 1
    desk.later(days=2)
    desk.round(channel)
    assert channel.told[2:] == [("stale", "pool")]


def test_a_deployment_that_went_quiet_long_ago_is_told_to_nobody(desk: Desk) -> None:
    channel = Recorder()
    desk.place.write("a.jsonl", [request(1, timestamp="2026-10-01T06:15:00Z")])
    desk.place.settle()
    desk.round(channel)
    assert channel.told == []
    assert desk.deliveries() == [("stale", "webhook", "too_old")]


def test_a_log_of_the_future_is_not_stale(desk: Desk) -> None:
    desk.place.write("a.jsonl", [request(1, timestamp="2026-11-29T11:59:00Z")])
    desk.place.settle()
    desk.later(hours=-30)
    channel = Recorder()
    desk.round(channel)
    assert channel.told == []


def tamper(place: Place, statement: str) -> None:
    with duckdb.connect(str(place.warehouse.folder / "warehouse.duckdb")) as connection:
        connection.execute(statement)


BREACH = (
    "insert into ops.findings values ({day}, 'requests', 'a request counts once', 'block', false, 'n_repeated = 7')"
)


def test_a_day_that_is_stopped_is_told_with_its_breach_and_so_is_its_release(desk: Desk) -> None:
    place, channel = desk.place, Recorder()
    place.write("a.jsonl", [request(1)])
    place.ingest()
    tamper(place, BREACH.format(day=to_day_index(date(2026, 11, 28))))
    desk.round(channel)
    desk.round(channel)
    assert channel.told == [("data_blocked", None)]
    assert told(channel)[0].startswith("the data of 2026-11-28 broke its contract, and what was published before stays")
    assert "a request counts once (n_repeated = 7); see the view check_findings" in told(channel)[0]
    tamper(place, "delete from ops.findings")
    desk.round(channel)
    assert channel.told == [("data_blocked", None), ("unblocked", None)]


def in_valley(place: Place, day: str, **how: Any) -> None:
    rows = busy_hours(n_hours=10, per_hour=60, law_of_a_valley=True, **how)
    lines = [request(f"{day}-{row.pop('number')}", **row | {"timestamp": day + row["timestamp"][10:]}) for row in rows]
    place.write(f"{day}.jsonl", lines)


@pytest.fixture(scope="module")
def flagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place whose one deployment entered the valley on 28 November."""
    place = Place(tmp_path_factory.mktemp("flagged"), SOURCE + PRICE + ONE_CHANNEL + NARROW_WINDOW)
    in_valley(place, "2026-11-28")
    place.settle()
    assert place.rows("select distinct state from valley_status where state = 'in_valley'")
    return place.folder


@pytest.fixture
def flagged_desk(flagged: Path, tmp_path: Path) -> Desk:
    shutil.copytree(flagged, tmp_path / "copy", symlinks=True)
    return Desk(Place(tmp_path / "copy"), ONE_CHANNEL + NARROW_WINDOW)


def test_a_flagged_deployment_that_loses_its_curve_is_told_until_it_has_one_again(flagged_desk: Desk) -> None:
    place, channel = flagged_desk.place, Recorder()
    flagged_desk.round(channel)
    assert channel.told == [("entry", "pool")]
    in_valley(place, "2026-11-29", hit_rates=(0.6, 0.61), seed=8)
    place.settle()
    flagged_desk.round(channel)
    assert channel.told[1:] == [("untrustworthy", "pool")]
    assert "the hit rate varied too little" in told(channel)[1]
    in_valley(place, "2026-11-30", seed=9)
    flagged_desk.later(days=1)
    place.settle(flagged_desk.now)
    flagged_desk.round(channel)
    assert channel.told[2:] == [("trustworthy", "pool")]


def test_an_entry_says_what_it_costs_how_sure_that_is_and_what_would_help(flagged_desk: Desk) -> None:
    channel = Recorder()
    flagged_desk.round(channel)
    ((notice,),) = [sent.notices for sent in channel.taken]
    assert notice.figures is not None
    assert notice.figures.index_low is not None
    assert notice.figures.index_high is not None
    assert 0 < notice.figures.index_low < notice.figures.index_high < 1
    assert notice.figures.p_in_valley == pytest.approx(1, abs=0.05)
    assert (notice.figures.lost_per_day or 0) > 0
    said = " ".join(notice.sentences)
    assert "interval" in said
    assert "That cost about" in said
    assert (notice.figures.lever or "").startswith("sell cached tokens at ")
    assert "report/index.html" in said
    ((at,),) = [tuple(row.values()) for row in flagged_desk.place.rows("select notified_at from valley_episodes")]
    assert at == flagged_desk.now.replace(tzinfo=None)


def test_conditions_are_the_same_however_often_they_are_looked_for(flagged_desk: Desk) -> None:
    alerting = load_settings(flagged_desk.place.config).alerting
    flagged_desk.later(days=2)
    with flagged_desk.place.warehouse.writer() as writer:
        assert write_conditions(writer, alerting, flagged_desk.now) == 1
        assert write_conditions(writer, alerting, flagged_desk.now) == 0
