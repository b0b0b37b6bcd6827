"""Rounds of delivery: what is due goes out once, what is not taken goes out later, what became of it is published."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest

from pipelines.delivery.attempts import BUDGET, LEAST_ATTEMPTS
from pipelines.errors import BusyError
from pipelines.warehouse.disk import lock
from tests.delivery.desk import HOUR, ONE_CHANNEL, Desk, entries, entry, exit_of, worsening
from tests.delivery.recorder import Recorder, final, passing
from tests.place import Place

pytestmark = pytest.mark.jobs


@pytest.fixture
def desk(place: Place) -> Desk:
    return Desk(place)


def test_an_alert_goes_out_once(desk: Desk) -> None:
    channel = Recorder()
    desk.write(entry())
    assert desk.round(channel).sent == 1
    assert desk.round(channel).sent == 0
    assert channel.told == [("entry", "pool")]
    assert desk.deliveries() == [("entry", "webhook", "sent")]


def test_an_episode_is_told_from_beginning_to_end_in_that_order(desk: Desk) -> None:
    channel = Recorder()
    desk.write(exit_of(), worsening(), entry())
    assert desk.round(channel).sent == 3
    assert [kind for kind, _ in channel.told] == ["entry", "worsening", "exit"]
    assert {notice.dedup_key for sent in channel.taken for notice in sent.notices} == {"key of pool"}


def test_a_channel_that_takes_nothing_now_is_tried_again_later_and_others_are_not_held_up(desk: Desk) -> None:
    place = desk.place
    desk = Desk(place, ONE_CHANNEL + ONE_CHANNEL + 'name = "second"\n')
    down, up = Recorder(refusals=[passing()] * 2), Recorder(label="second")
    desk.write(entry("a"), entry("b"))
    first = desk.round(down, up)
    assert (first.sent, first.waiting) == (2, 1)
    assert up.told == [("entry", "a"), ("entry", "b")]
    assert ("entry", "webhook", "waiting") in desk.deliveries()
    desk.later(minutes=1)
    desk.round(down, up)
    desk.later(minutes=1)
    last = desk.round(down, up)
    assert (last.waiting, down.told) == (0, [("entry", "a"), ("entry", "b")])
    assert len(up.told) == 2
    assert "503 from hooks; 1 alerts were not delivered, it is tried again" in desk.said[0]


def test_nothing_is_tried_before_the_other_side_wants_it(desk: Desk) -> None:
    channel = Recorder(refusals=[passing(retry_after_s=120)])
    desk.write(entry())
    at = desk.round(channel).next_attempt
    assert at is not None
    assert at - desk.now == timedelta(seconds=120)
    desk.later(seconds=119)
    assert desk.round(channel).next_attempt == at
    assert channel.taken == []
    desk.later(seconds=1)
    assert desk.round(channel).sent == 1


def test_what_is_refused_for_good_is_given_up_at_once_with_the_reason(desk: Desk) -> None:
    channel = Recorder(refusals=[final()])
    desk.write(entry("a"), entry("b"))
    assert desk.round(channel).dead == 1
    assert channel.told == [("entry", "b")]
    assert desk.deliveries("status, attempts, error") == [("dead", 1, "status: 404 from hooks"), ("sent", 1, None)]
    desk.later(hours=2)
    desk.write(exit_of("a"))
    desk.round(channel)
    assert ("exit", "webhook", "unopened") in desk.deliveries()


def test_one_alert_that_is_refused_takes_no_others_of_its_batch_with_it(desk: Desk) -> None:
    channel = Recorder(is_for_people=False, notices_at_once=100, refusals=[final(), final()])
    desk.write(*entries(3))
    done = desk.round(channel)
    assert (done.sent, done.dead) == (2, 1)
    assert channel.told == [("entry", "pool 00001"), ("entry", "pool 00002")]
    assert sorted(status for _, _, status in desk.deliveries()) == ["dead", "sent", "sent"]


def test_a_fault_of_one_channel_silences_no_other_and_tells_no_secret(desk: Desk) -> None:
    desk = Desk(desk.place, ONE_CHANNEL + ONE_CHANNEL + 'name = "second"\n')
    broken, sound = Recorder(refusals=[ValueError("canary-5ecret")]), Recorder(label="second")
    desk.write(entry())
    assert desk.round(broken, sound).sent == 1
    assert ("waiting", "fault: ValueError in valleywatch's own code: please report it") in desk.deliveries(
        "status, error"
    )
    assert "canary" not in " ".join(desk.said)
    desk.later(minutes=1)
    assert desk.round(broken, sound).sent == 1


def test_what_nobody_takes_for_hours_is_given_up(desk: Desk) -> None:
    channel = Recorder(refusals=[passing()] * 1000)
    desk.write(entry())
    for n_before in range(LEAST_ATTEMPTS - 1):
        assert desk.round(channel).waiting == 1
        assert desk.deliveries("status, attempts") == [("waiting", n_before + 1)]
        desk.later(seconds=BUDGET.total_seconds() / (LEAST_ATTEMPTS - 1))
    assert desk.round(channel).dead == 1
    assert desk.deliveries("status, attempts") == [("dead", LEAST_ATTEMPTS)]


def test_an_end_waits_for_its_beginning_to_get_through(desk: Desk) -> None:
    channel = Recorder(refusals=[passing()])
    desk.write(entry(), exit_of())
    desk.round(channel)
    assert channel.taken == []
    desk.later(minutes=1)
    desk.round(channel)
    assert [kind for kind, _ in channel.told] == ["entry", "exit"]


def test_a_backfill_pages_nobody(desk: Desk) -> None:
    channel = Recorder()
    desk.write(*(entry(f"pool {day}", HOUR - 24 * day) for day in range(3, 93)))
    desk.write(*(exit_of(f"pool {day}", HOUR - 24 * day + 5) for day in range(3, 93)))
    assert desk.round(channel).sent == 0
    assert channel.taken == []
    assert {status for _, _, status in desk.deliveries()} == {"too_old", "unopened"}


def test_ten_thousand_at_once_are_one_digest(desk: Desk) -> None:
    channel = Recorder()
    desk.write(*entries(10_000))
    assert desk.round(channel).sent == 10_000
    (digest,) = channel.taken
    assert (len(digest.notices), digest.n_more, digest.digest_key is None) == (20, 9_980, False)
    assert desk.round(channel).sent == 0


def test_where_keys_count_the_end_of_a_digest_waits_for_all_of_its_alerts(desk: Desk) -> None:
    channel = Recorder(closes_by_key=True)
    desk.write(*entries(7))
    desk.round(channel)
    desk.write(*(exit_of(f"pool {number:05}") for number in range(6)))
    assert desk.round(channel).sent == 0
    desk.write(exit_of("pool 00006"))
    assert desk.round(channel).sent == 7
    assert len({sent.digest_key for sent in channel.taken}) == 1
    assert [len(sent.notices) for sent in channel.taken] == [7, 7]


def test_a_channel_that_forgets_is_told_again_of_what_is_open(desk: Desk) -> None:
    channel = Recorder(keeps_alive=True, is_for_people=False, notices_at_once=2)
    desk.write(*entries(3))
    desk.round(channel)
    desk.round(channel)
    assert [len(sent.notices) for sent in channel.taken] == [2, 1, 2, 1, 2, 1]
    desk.write(*(exit_of(f"pool {number:05}") for number in range(3)))
    desk.round(channel)
    n_before = len(channel.taken)
    desk.round(channel)
    assert len(channel.taken) == n_before


def test_maintenance_holds_alerts_back_and_what_passed_in_it_is_never_told(desk: Desk) -> None:
    quiet = '[[silences]]\ndeployment = "po*"\nreason = "new racks"\nstarts_at = 2026-11-29T06:00:00Z\n'
    desk = Desk(desk.place, ONE_CHANNEL + quiet + "ends_at = 2026-11-29T13:00:00Z\n")
    channel = Recorder()
    desk.write(entry("pool a"), entry("pool b"), exit_of("pool b"), entry("glm"))
    desk.round(channel)
    assert channel.told == [("entry", "glm")]
    desk.later(hours=2)
    desk.round(channel)
    assert channel.told == [("entry", "glm"), ("entry", "pool a")]
    assert ("entry", "webhook", "silenced") in desk.deliveries()


def test_the_episode_and_the_alert_say_when_they_were_told(desk: Desk) -> None:
    desk.write(entry())
    desk.round(Recorder())
    ((delivered_at, sent_as),) = [
        tuple(row.values())
        for row in desk.place.rows(
            "select delivered_at, sent_as from alert_outbox join alert_deliveries using (dedup_key, kind, level)"
        )
    ]
    assert delivered_at == desk.now.replace(tzinfo=None)
    assert sent_as == "key of pool"


def test_two_rounds_at_one_time_do_not_both_send(desk: Desk) -> None:
    channel = Recorder()
    desk.write(entry())
    with lock(desk.place.warehouse.folder / "delivery.lock", 0.0), pytest.raises(BusyError):
        desk.round(channel)
    assert channel.taken == []


def test_a_round_waits_for_a_job_that_writes_and_does_not_hold_its_lock_while_sending(desk: Desk) -> None:
    place = desk.place

    class Looking(Recorder):
        def send(self, *args: object, **kwargs: object) -> None:
            with place.warehouse.writer():  # raises BusyError where the round still holds it
                pass
            super().send(*args, **kwargs)  # type: ignore[arg-type]

    desk.write(entry())
    channel = Looking()
    assert desk.round(channel).sent == 1
    assert channel.told == [("entry", "pool")]


def test_nothing_changes_where_nothing_is_due(desk: Desk) -> None:
    desk.write(entry())
    desk.round(Recorder())
    before = desk.place.warehouse.snapshot.resolve()
    desk.round(Recorder())
    assert desk.place.warehouse.snapshot.resolve() == before


def test_delivery_opens_no_engine_of_orchestration() -> None:
    # A round is run every few minutes by cron: it must not pay for what it does not use.
    code = "import sys; import pipelines.delivery.patience; print('dagster' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
