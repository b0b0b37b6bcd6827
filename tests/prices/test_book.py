"""Precedence, contradictions, and that every instant and length has one price or none."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import UsageError
from pipelines.prices.book import PriceBook
from pipelines.prices.globs import can_meet, matches
from pipelines.prices.rows import PriceSettings, to_minute
from tests.prices.look_up import part_at

START = datetime(2026, 3, 2, tzinfo=UTC)
"""A Monday."""
MINUTE = to_minute(START)


def book(*rows: dict[str, Any]) -> PriceBook:
    """Return the book of rows of these keys, others as in a plain row of `pool`; sources are prices.1 and so on."""
    plain = {"deployment": "pool", "effective_from": START, "input_per_mtok": 1.0, "cached_per_mtok": 0.1}
    return PriceBook(
        PriceSettings.model_validate(plain | keys).row(f"prices.{number}") for number, keys in enumerate(rows, 1)
    )


def source_at(found: PriceBook, deployment: str = "pool", minute: int = MINUTE, input_tokens: int = 1) -> str | None:
    priced_by = part_at(found, deployment, minute, input_tokens)
    return None if priced_by is None else priced_by.source


@pytest.mark.parametrize(
    ("deployment", "expected"),
    [("glm-5-h200", "prices.3"), ("glm-5-b200", "prices.2"), ("glm-4", "prices.1"), ("x", None)],
)
def test_an_exact_name_goes_before_globs_and_more_literals_before_fewer(deployment: str, expected: str | None) -> None:
    rows = [{"deployment": "glm-*"}, {"deployment": "glm-5-*"}, {"deployment": "glm-5-h200"}]
    assert source_at(book(*rows), deployment) == expected
    backwards = source_at(book(*reversed(rows)), deployment)
    assert backwards == (expected and f"prices.{4 - int(expected[-1])}")


def test_a_later_row_takes_over_where_it_prices_and_until_it_ends() -> None:
    week = {"effective_from": START + timedelta(days=7), "effective_to": START + timedelta(days=14)}
    found = book({}, week | {"hours_utc": "10:00-12:00"})
    at = {
        minute: source_at(found, minute=MINUTE + minute)
        for minute in (0, 7 * 1440 + 599, 7 * 1440 + 600, 7 * 1440 + 719, 7 * 1440 + 720, 14 * 1440 + 600)
    }
    assert list(at.values()) == ["prices.1", "prices.1", "prices.2", "prices.2", "prices.1", "prices.1"]


def test_where_a_name_has_no_row_in_force_its_glob_prices_it() -> None:
    found = book({"deployment": "*"}, {"hours_utc": "10:00-12:00"})
    assert source_at(found, minute=MINUTE + 600) == "prices.2"
    assert source_at(found, minute=MINUTE + 720) == "prices.1"


LATER = START + timedelta(days=30)
EARLIER = LATER - timedelta(minutes=1)
IN_EURO = {"currency": "EUR"}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        pytest.param({}, {}, "both price some requests of 'pool'", id="the same row twice"),
        pytest.param({}, {"input_tokens_from": 200_001}, "both price some requests", id="a tier in its base"),
        pytest.param({"hours_utc": "16:30-00:30"}, {"hours_utc": "00:29-16:30"}, "both price", id="bands by a minute"),
        pytest.param({"weekdays": "mon-fri"}, {"weekdays": "fri-sun"}, "both price", id="weekdays by a day"),
        pytest.param({"effective_to": LATER}, {"effective_from": EARLIER}, "both price", id="dates by a minute"),
        pytest.param(
            {"input_tokens_to": 10}, IN_EURO | {"input_tokens_from": 10}, "in USD and EUR", id="tiers of two currencies"
        ),
        pytest.param(
            {}, IN_EURO | {"effective_from": LATER, "weekdays": "wed"}, "in USD and EUR", id="days of two currencies"
        ),
        pytest.param({"deployment": "a-*"}, {"deployment": "*-b"}, "can match both 'a-*' and '*-b'", id="two globs"),
    ],
)  # fmt: skip
def test_rows_that_contradict_each_other_are_refused(first: dict[str, Any], second: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match="the price book cannot be used") as refused:
        book(first, second)
    assert "prices.1 and prices.2" in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"effective_from": LATER}),
        ({}, {"effective_from": LATER} | IN_EURO),
        ({"effective_to": LATER}, {"effective_from": LATER, "hours_utc": "10:00-12:00"} | IN_EURO),
        ({"hours_utc": "16:30-00:30"}, {"hours_utc": "00:30-16:30"}),
        ({"weekdays": "mon-fri"}, {"weekdays": "sat,sun"}),
        ({"input_tokens_to": 200_001}, {"input_tokens_from": 200_001}),
        ({"deployment": "eu-*"}, {"deployment": "us-*"}),
        ({"deployment": "a-*", "effective_to": LATER}, {"deployment": "*-b", "effective_from": LATER}),
    ],
)
def test_rows_that_leave_each_other_alone_are_taken(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert len(book(first, second).rows) == 2


CLOCK = st.integers(0, 47).map(lambda half: f"{half // 2:02d}:{half % 2 * 30:02d}")
KEYS = st.fixed_dictionaries(
    {
        "deployment": st.sampled_from(["pool", "p*", "*", "pool-2"]),
        "effective_from": st.sampled_from([START, START + timedelta(days=2), START + timedelta(hours=50, minutes=45)]),
        "input_per_mtok": st.sampled_from([1.0, 2.0]),
    },
    optional={
        "effective_to": st.sampled_from([START + timedelta(days=4), START + timedelta(hours=99, minutes=5)]),
        "weekdays": st.sampled_from(["mon-fri", "sat,sun", "fri-mon", "wed"]),
        "hours_utc": st.tuples(CLOCK, CLOCK).filter(lambda ends: ends[0] != ends[1]).map("-".join),
        "input_tokens_from": st.sampled_from([0, 100]),
        "input_tokens_to": st.sampled_from([101, 200]),
    },
)


DAYS = {"mon-fri": (0, 1, 2, 3, 4), "sat,sun": (5, 6), "fri-mon": (4, 5, 6, 0), "wed": (2,)}


def by_hand(rows: list[dict[str, Any]], deployment: str, instant: datetime, input_tokens: int) -> list[dict[str, Any]]:
    """Return the keys of the rows that price a request and that no other goes before, as the documentation says it."""

    def holds(keys: dict[str, Any]) -> bool:
        start, end = keys.get("hours_utc", "00:00-24:00").split("-")
        clock = f"{instant:%H:%M}"
        return (
            fnmatchcase(deployment, keys["deployment"])
            and keys["effective_from"] <= instant
            and ("effective_to" not in keys or instant < keys["effective_to"])
            and instant.weekday() in DAYS.get(keys.get("weekdays", ""), range(7))
            and (start <= clock < end if start < end else clock >= start or clock < end)
            and keys.get("input_tokens_from", 0) <= input_tokens < keys.get("input_tokens_to", 10**12)
        )

    def rank(keys: dict[str, Any]) -> tuple[bool, int, datetime]:
        literals = len(keys["deployment"].replace("*", ""))
        return keys["deployment"] == deployment, literals, keys["effective_from"]

    holding = [keys for keys in rows if holds(keys)]
    best = max(map(rank, holding), default=None)
    return [keys for keys in holding if rank(keys) == best]


@given(st.lists(KEYS, max_size=6), st.integers(0, 6 * 1440), st.sampled_from([0, 99, 100, 101, 199, 200]))
def test_every_instant_and_length_of_every_deployment_has_one_price_or_none(
    drawn: list[dict[str, Any]], ahead: int, input_tokens: int
) -> None:
    taken: list[dict[str, Any]] = []
    for keys in drawn:
        with suppress(ValueError):
            book(*taken, keys)
            taken.append(keys)
    found, instant = book(*taken), START + timedelta(minutes=ahead)
    minute = to_minute(instant)
    for deployment in ("pool", "pool-2", "plain", "other"):
        best = by_hand(taken, deployment, instant, input_tokens)
        assert len(best) <= 1
        expected = best[0]["input_per_mtok"] if best else None
        listed = part_at(found, deployment, minute, input_tokens)
        assert (listed and listed.prices.input_per_mtok) == expected


@given(
    st.text("ab*?", max_size=6),
    st.text("ab*?", max_size=6),
    st.lists(st.text("ab", max_size=6), min_size=1, max_size=30),
)
def test_globs_that_meet_in_some_name_are_known_to(one: str, other: str, names: list[str]) -> None:
    if any(matches(one, name) and matches(other, name) for name in names):
        assert can_meet(one, other)
    assert can_meet(one, other) == can_meet(other, one)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a*", "*b", True), ("a*c", "b*", False), ("a?", "ab", True), ("a?", "abc", False), ("[ab]x", "bx", True),
        ("[!b]x", "bx", False), ("*a*", "*b*", True), ("", "*", True), ("", "?", False), ("*" * 200, "a" * 200, True),
    ],
)  # fmt: skip
def test_whether_two_globs_can_meet(one: str, other: str, expected: bool) -> None:
    assert can_meet(one, other) is expected


def test_a_row_that_was_replaced_contradicts_nothing_that_comes_later() -> None:
    back = {"effective_from": LATER + timedelta(days=30), "weekdays": "wed"}
    assert len(book({}, IN_EURO | {"effective_from": LATER}, IN_EURO | back).rows) == 3
    with pytest.raises(UsageError, match=r"prices\.2 and prices\.3 are for 'pool' in EUR and USD"):
        book({}, IN_EURO | {"effective_from": LATER}, back)
