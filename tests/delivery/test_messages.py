"""Which alerts share a message: none is lost between digests and batches, none is told twice."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipelines.delivery.due import Alert
from pipelines.delivery.messages import SHOWN, Manner, beginnings, digest_key, followings

PEOPLE = Manner(digest_over=5, at_once=1, is_for_people=True, closes_by_key=False)
PAGER = replace(PEOPLE, closes_by_key=True)
MACHINE = Manner(digest_over=5, at_once=100, is_for_people=False, closes_by_key=False)


def entries(n: int) -> list[Alert]:
    return [Alert(f"key {i}", "entry", "trigger", 0, f"pool {i}", i, "entered", i) for i in range(n)]


def exits(n: int, opened_as: str | None = None) -> list[Alert]:
    return [
        replace(alert, kind="exit", action="resolve", opening_status="sent", opened_as=opened_as or alert.dedup_key)
        for alert in entries(n)
    ]


def test_a_few_are_told_one_by_one_and_many_in_one_digest() -> None:
    assert [len(message.alerts) for message in beginnings(entries(5), PEOPLE)] == [1] * 5
    (digest,) = beginnings(entries(10_000), PEOPLE)
    assert (len(digest.alerts), len(digest.shown), digest.digest_key is not None) == (10_000, SHOWN, True)


def test_machines_get_full_batches_of_all() -> None:
    messages = beginnings(entries(250), MACHINE)
    assert [len(message.shown) for message in messages] == [100, 100, 50]
    assert {message.digest_key for message in messages} == {None}


def test_what_began_in_a_digest_is_told_under_its_key() -> None:
    (message,) = followings(exits(7, "digest"), PAGER)
    assert (message.digest_key, len(message.alerts)) == ("digest", 7)


def test_ends_of_alerts_with_keys_of_their_own_are_told_apart_where_keys_count() -> None:
    assert len(followings(exits(30), PAGER)) == 30
    assert len(followings(exits(30), PEOPLE)) == 1
    assert len(followings(exits(30), MACHINE)) == 1


@given(st.integers(0, 300), st.integers(0, 30), st.sampled_from([PEOPLE, PAGER, MACHINE]))
def test_every_alert_is_in_exactly_one_message(n_own: int, n_digest: int, manner: Manner) -> None:
    follow = exits(n_own) + [replace(alert, dedup_key=f"d{alert.dedup_key}") for alert in exits(n_digest, "digest")]
    for alerts, messages in (
        (entries(n_own), beginnings(entries(n_own), manner)),
        (follow, followings(follow, manner)),
    ):
        told = [alert.dedup_key for message in messages for alert in message.alerts]
        assert sorted(told) == sorted(alert.dedup_key for alert in alerts)
        assert all(1 <= len(message.shown) <= max(SHOWN, manner.at_once) for message in messages)


@given(st.permutations(entries(6)))
def test_the_key_of_a_digest_does_not_depend_on_the_order(alerts: list[Alert]) -> None:
    assert digest_key(alerts) == digest_key(entries(6))
    assert digest_key(alerts[:-1]) != digest_key(alerts)
