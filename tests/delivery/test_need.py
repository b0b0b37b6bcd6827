"""Whether a round is needed is known from what is published, and a round that has done its work leaves no need."""

from __future__ import annotations

import os

import pytest

from pipelines.delivery.need import need
from pipelines.settings import load_settings
from tests.delivery.desk import HOUR, Desk, entry, exit_of
from tests.delivery.recorder import Recorder, passing
from tests.place import Place, request

ALERTMANAGER = '[[alerts]]\nkind = "alertmanager"\nurl_env = "VALLEYWATCH_TEST_URL"\n'


@pytest.fixture
def desk(place: Place) -> Desk:
    return Desk(place)


def asked(desk: Desk) -> str | None:
    return need(load_settings(desk.place.config), desk.now)


def publish(desk: Desk) -> None:
    with desk.place.warehouse.writer() as writer:
        writer.publish()


def test_nothing_is_needed_where_nothing_is_published_or_no_channel_is_configured(desk: Desk) -> None:
    assert asked(desk) is None
    desk.write(entry())
    assert asked(desk) is None
    publish(desk)
    assert asked(desk) == "1 alerts are due at webhook"
    assert asked(Desk(desk.place, "")) is None


def test_a_round_leaves_no_need_until_the_next_try_is_due(desk: Desk) -> None:
    channel = Recorder(refusals=[passing(retry_after_s=60)])
    desk.write(entry(), entry("old", HOUR - 500))
    publish(desk)
    desk.round(channel)
    assert asked(desk) is None
    desk.later(seconds=60)
    assert asked(desk) == "1 alerts are due at webhook"
    desk.round(channel)
    assert asked(desk) is None


def test_data_that_stops_to_come_needs_a_round(desk: Desk) -> None:
    desk.place.write("a.jsonl", [request(1, timestamp="2026-11-28T06:15:00Z")])
    desk.place.settle()
    desk.round(Recorder())
    assert asked(desk) is None
    desk.later(hours=1)
    assert asked(desk) == "1 conditions began or ended"
    desk.round(Recorder())
    assert asked(desk) is None


def test_who_forgets_is_told_again_in_time(place: Place) -> None:
    desk = Desk(place, ALERTMANAGER)
    desk.write(entry())
    publish(desk)
    channel = Recorder(label="alertmanager", keeps_alive=True, is_for_people=False)
    desk.round(channel)
    lock = place.warehouse.folder / "delivery.lock"
    os.utime(lock, (desk.now.timestamp(), desk.now.timestamp()))
    assert asked(desk) is None
    desk.later(hours=7)
    assert asked(desk) == "alertmanager must be told again of what is open"
    desk.write(exit_of())
    desk.round(channel)
    assert asked(desk) is None
