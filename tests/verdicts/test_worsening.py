"""An episode that grows deeper is news each time it has doubled, once, and not after it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pipelines.alerts.outbox import write_alerts
from pipelines.warehouse import Writer
from tests.place import NOW, Place

DAY = 20_785
HOUR = DAY * 24


@pytest.fixture
def writer(place: Place) -> Iterator[Writer]:
    with place.warehouse.writer() as opened:
        yield opened


def episode(depth: float, *, deepest: int = 5, left: int | None = None) -> dict[str, Any]:
    """One of `pool`, entered in the day's first hour; hours count from there."""
    return {
        "dedup_key": "key", "deployment": "pool", "entered_hour_index": HOUR, "peak_depth": depth,
        "deepest_hour_index": HOUR + deepest, "left_hour_index": None if left is None else HOUR + left,
    }  # fmt: skip


def told(writer: Writer, *after_each_other: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Judge the episode as it is after each of several days; return kind, level and hour of what is recorded."""
    for one in after_each_other:
        write_alerts(writer, DAY, [one], NOW)
    rows = writer.rows("valley/written_alerts")
    return [(row["kind"], row["level"], row["hour_index"] - HOUR) for row in rows]


def test_each_doubling_of_the_depth_is_told_once(writer: Writer) -> None:
    depths = (0.05, 0.09, 0.10, 0.10, 0.19, 0.20)
    assert told(writer, *(episode(depth, deepest=at) for at, depth in enumerate(depths, 1))) == [
        ("entry", 0, 0), ("worsening", 1, 3), ("worsening", 2, 6),
    ]  # fmt: skip


def test_what_doubles_is_the_depth_last_told_not_the_first(writer: Writer) -> None:
    assert told(writer, episode(0.05), episode(0.15), episode(0.2), episode(0.29)) == [
        ("entry", 0, 0), ("worsening", 1, 5),
    ]  # fmt: skip


@pytest.mark.parametrize(("deeper", "n_alerts"), [(0.0139, 1), (0.0141, 2)])
def test_twice_next_to_nothing_is_no_news(writer: Writer, deeper: float, n_alerts: int) -> None:
    assert len(told(writer, episode(0.004), episode(deeper))) == n_alerts


def test_an_episode_that_has_ended_never_pages_again(writer: Writer) -> None:
    assert told(writer, episode(0.05, left=9), episode(0.4, left=9)) == [("entry", 0, 0), ("exit", 0, 9)]


def test_one_that_worsens_and_ends_within_a_day_says_both(writer: Writer) -> None:
    assert told(writer, episode(0.05), episode(0.4, left=9)) == [
        ("entry", 0, 0), ("worsening", 1, 5), ("exit", 0, 9),
    ]  # fmt: skip


def test_the_headline_says_how_deep_it_was_and_is(writer: Writer, place: Place) -> None:
    told(writer, episode(0.05), episode(0.12))
    writer.publish()
    (row,) = place.rows("select message from alert_outbox where kind = 'worsening'")
    assert "12.0% of its revenue per busy second, 5.0% when last told" in row["message"]
