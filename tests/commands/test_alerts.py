"""`valleywatch alerts` and what a run sends: through the command line, to a real receiver."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pytest

from pipelines.alerts.outbox import alert_row, record
from pipelines.times import US_PER_HOUR, to_us
from pipelines.warehouse.disk import lock
from tests.delivery.loopback import LOOPBACK, Receiver, Reply, free_port, receiver
from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

WEBHOOK = """
[[alerts]]
kind = "webhook"
url_env = "VALLEYWATCH_TEST_URL"
allow = ["127.0.0.1"]
"""
KEY = "0123456789abcdef" * 4
NOW = datetime.now(UTC)
HOUR = to_us(NOW) // US_PER_HOUR


@pytest.fixture
def told(place: Place, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A place with one channel and one alert of three hours ago, and what the channel has taken."""
    place.configure(SOURCE + PRICE + WEBHOOK)
    with place.warehouse.writer() as writer:
        alert = alert_row("entry", KEY, "pool", HOUR - 3, "pool entered the valley", depth=0.1)
        record(writer, [], [alert], NOW)
        writer.publish()
    with receiver() as found:
        listen(found, monkeypatch)
        yield found


def listen(found: Receiver | int, monkeypatch: pytest.MonkeyPatch) -> None:
    port = found if isinstance(found, int) else found.port
    monkeypatch.setenv("VALLEYWATCH_TEST_URL", f"http://{LOOPBACK}:{port}/hook")


def told_by(found: Receiver) -> list[tuple[str, str | None]]:
    """Kind and deployment of every alert that was posted."""
    return [(one["kind"], one["deployment"]) for request in found.seen for one in json.loads(request.body)["alerts"]]


def test_send_delivers_what_is_due_once_and_says_so(
    place: Place, told: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.valleywatch("alerts", "send") == 0
    assert "0 alerts recorded, 1 delivered, 0 waiting for another try, 0 given up" in capsys.readouterr().err
    assert place.valleywatch("alerts", "send") == 0
    assert told_by(told) == [("entry", "pool")]


def test_the_list_shows_what_is_open_and_what_became_of_it(
    place: Place, told: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.valleywatch("alerts") == 0
    assert "not yet" in capsys.readouterr().out
    place.valleywatch("alerts", "send")
    assert place.valleywatch("alerts", "ack", KEY[:6], "--by", "Kim", "--note", "new price from Monday") == 0
    capsys.readouterr()
    assert place.valleywatch("alerts") == 0
    line = capsys.readouterr().out.splitlines()[2]
    assert line.startswith(
        f"{KEY[:12]}  {NOW - timedelta(hours=3):%Y-%m-%d %H}:00  entry (open)  pool entered the valley"
    )
    assert line.endswith("sent (1)   Kim")
    assert place.valleywatch("alerts", "--json") == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["deliveries"][0]["channel"] == "webhook"
    assert listed["deliveries"][0]["status"] == "sent"
    assert (listed["acknowledged_by"], listed["note"]) == ("Kim", "new price from Monday")
    shown = place.rows("select acknowledged_by, acknowledged_at is not null as is_dated from alert_outbox")
    assert shown == [{"acknowledged_by": "Kim", "is_dated": True}]


def test_old_alerts_that_ended_are_not_listed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with place.warehouse.writer() as writer:
        old = [alert_row(kind, "k", "pool", HOUR - 24 * 30, "long ago") for kind in ("entry", "exit")]
        record(writer, [], old, NOW)
        writer.publish()
    assert place.valleywatch("alerts") == 0
    assert "no alert in the last 7 days, and none is open" in capsys.readouterr().err
    assert place.valleywatch("alerts", "--days", "40") == 0
    assert capsys.readouterr().out.count("long ago") == 2


def test_what_was_given_up_is_said_listed_and_tried_again_when_asked(
    place: Place, told: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    told.replies[:] = [Reply(404, b"no such hook"), Reply(200)]
    assert place.valleywatch("alerts", "send") == 1
    said = capsys.readouterr().err
    assert "404" in said
    assert "given up: `valleywatch alerts retry` tries again" in said
    place.valleywatch("alerts")
    assert "dead (1)" in capsys.readouterr().out
    assert place.valleywatch("alerts", "send") == 0
    assert len(told.seen) == 1
    assert place.valleywatch("alerts", "retry", KEY[:4]) == 0
    assert len(told.seen) == 2
    assert place.rows("select status, attempts from alert_deliveries") == [{"status": "sent", "attempts": 1}]


def test_an_endpoint_that_is_down_asks_to_try_again(
    place: Place, told: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(free_port(), monkeypatch)
    assert place.valleywatch("alerts", "send") == 75
    assert place.rows("select status from alert_deliveries") == [{"status": "waiting"}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ack", "feed"), "no alert has a key that begins with 'feed'"),
        (("ack", ""), "no alert has a key that begins with ''"),
        (("ack", KEY, "--by", ""), "--by is empty"),
        (("retry", "feed"), "no alert has a key that begins with 'feed'"),
        (("test", "pager"), "no channel is called 'pager': [[alerts]] has webhook"),
        (("--days", "-1"), "--days -1 is negative"),
    ],
)
def test_mistakes_are_messages(
    place: Place, told: Receiver, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.valleywatch("alerts", *arguments) == 2
    assert said in capsys.readouterr().err


def test_a_variable_that_is_not_set_is_named_and_nothing_is_lost(
    place: Place, told: Receiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("VALLEYWATCH_TEST_URL")
    assert place.valleywatch("alerts", "send") == 2
    assert "the variable VALLEYWATCH_TEST_URL (url_env) is not set" in capsys.readouterr().err
    listen(told, monkeypatch)
    assert place.valleywatch("alerts", "send") == 0
    assert told_by(told) == [("entry", "pool")]


def test_a_run_leaves_alerts_to_a_round_that_is_under_way(
    place: Place, told: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("a.jsonl", [request(1)])
    with lock(place.warehouse.folder / "delivery.lock", 0.0):
        assert place.valleywatch("run") == 0
    assert "alerts are left to the next round" in capsys.readouterr().err
    assert told_by(told) == []


def test_a_test_message_says_that_it_is_one(place: Place, told: Receiver, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.valleywatch("alerts", "test") == 0
    assert "webhook: taken" in capsys.readouterr().err
    assert "this is a test of valleywatch: nothing is wrong" in told.seen[0].body.decode()
    told.replies[:] = [Reply(500)]
    assert place.valleywatch("alerts", "test", "webhook") == 1
    assert place.rows("select count(*) as n from alert_deliveries") == [{"n": 0}]


def yesterday(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    day = f"{NOW - timedelta(days=1):%Y-%m-%d}"
    return [request(row.pop("number"), **row | {"timestamp": day + row["timestamp"][10:]}) for row in rows]


def test_a_run_tells_of_the_valley_its_end_and_of_what_stopped_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    day = f"{NOW - timedelta(days=1):%Y-%m-%d}"
    place.configure(SOURCE + PRICE + WEBHOOK)
    place.write("a.jsonl", yesterday(busy_hours(n_hours=8, per_hour=60, law_of_a_valley=True)))
    with receiver() as found:
        listen(found, monkeypatch)
        assert place.valleywatch("run") == 0
        assert told_by(found) == [("entry", "pool")]
        (alert,) = json.loads(found.seen[0].body)["alerts"]
        assert alert["figures"]["index_low"] < alert["figures"]["revenue_index"] < alert["figures"]["index_high"] < 1
        assert place.valleywatch("run") == 0
        assert len(found.seen) == 1
        with duckdb.connect(str(place.warehouse.folder / "warehouse.duckdb")) as connection:
            connection.execute("update ops.ingest_files set duplicates = duplicates + 1")
        assert place.valleywatch("run", "--day", day) == 1
        assert told_by(found)[1:] == [("data_blocked", None)]
        with duckdb.connect(str(place.warehouse.folder / "warehouse.duckdb")) as connection:
            connection.execute("update ops.ingest_files set duplicates = duplicates - 1")
        place.configure(SOURCE + PRICE.replace("0.1", "0.9") + WEBHOOK)
        assert place.valleywatch("run", "--day", day, "--reprice") == 0
        assert sorted(told_by(found)[2:]) == [("retracted", "pool"), ("unblocked", None)]
    assert place.rows("select count(*) as n from alert_deliveries where status = 'sent'") == [{"n": 4}]
