"""What makes the job do a day again, and what readers see after a run that died."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

VALLEY = [request(**row) for row in busy_hours(n_hours=5, per_hour=150, law_of_a_valley=True)]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A day after one run; read only."""
    place = Place(tmp_path_factory.mktemp("reruns") / "place")
    place.write("a.jsonl", VALLEY)
    assert place.valleywatch("run") == 0
    return place


@pytest.fixture
def settled(once: Place, tmp_path: Path) -> Place:
    """A copy of it to change."""
    shutil.copytree(once.folder, tmp_path / "copy", symlinks=True)
    place = Place(tmp_path / "copy")
    with place.warehouse.writer() as writer:
        writer.publish()  # a snapshot's requests are those of the lake it was published beside
    return place


def test_a_changed_policy_judges_every_judged_day_again(settled: Place) -> None:
    assert "in_valley" in {row["state"] for row in settled.rows("select state from valley_status")}
    settled.configure(SOURCE + PRICE + "[policy]\nmin_requests = 100000\n")
    assert settled.valleywatch("run") == 0
    assert {row["state"] for row in settled.rows("select state from valley_status")} == {"unknown"}


def test_the_same_prices_judge_nothing_again(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert settled.valleywatch("run") == 0
    assert "nothing new" in capsys.readouterr().err


def test_what_a_dead_run_judged_is_published_by_the_next(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("a.jsonl", VALLEY)

    def die(_writer: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr("pipelines.warehouse.Writer.publish", die)
        assert place.valleywatch("run") == 130
    assert not place.warehouse.snapshot.exists()
    assert place.valleywatch("run") == 0
    assert place.rows("select count(*) as n from valley_status")[0]["n"] == 5
    assert (place.warehouse.folder / "report" / "index.html").exists()


def test_a_later_dead_run_is_published_by_the_next(settled: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    settled.write("b.jsonl", [request(9999, deployment="other", timestamp="2026-11-28T02:00:00Z")])

    def die(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr("pipelines.assets.published.publish_report", die)
        assert settled.valleywatch("run") == 130
    assert settled.valleywatch("run") == 0
    assert "other" in (settled.warehouse.folder / "report" / "index.html").read_text()


def test_an_episode_that_is_undone_is_retracted_once(settled: Place) -> None:
    entry = settled.rows("select dedup_key from alert_outbox where kind = 'entry'")
    assert len(entry) == 1
    settled.configure(SOURCE + PRICE.replace("cached_per_mtok = 0.1", "cached_per_mtok = 0.9"))
    for arguments in (("--reprice",), ()):
        assert settled.valleywatch("run", "--day", "2026-11-28", *arguments) == 0
    assert settled.rows("select * from valley_episodes") == []
    assert settled.rows("select dedup_key from alert_outbox where kind = 'retracted'") == entry


def test_days_of_a_range_that_have_no_traffic_leave_no_curve(settled: Place) -> None:
    assert settled.valleywatch("run", "--from", "2026-11-25", "--to", "2026-11-28") == 0
    days = settled.rows("select distinct day_utc::varchar as day from throughput_curve")
    assert days == [{"day": "2026-11-28"}]


def test_work_that_ends_after_midnight_is_counted_without_traffic_on_the_next_day(place: Place) -> None:
    place.write("a.jsonl", [request(1, timestamp="2026-11-27T23:59:58Z", ttft_ms=5000.0)])
    assert place.valleywatch("run") == 0
    busy = place.rows("select minute_utc::varchar as minute, busy_us from busy_periods")
    assert busy == [{"minute": "2026-11-28 00:00:00", "busy_us": 5_000_000}]
