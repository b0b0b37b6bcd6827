"""busy_periods against the recipe in plain Python, and against the union of the intervals that it must add up to."""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.chunks import CHUNK_TOKENS
from pipelines.times import to_us
from pipelines.warehouse import engine
from tests.place import Place, request

Row = dict[str, Any]
MINUTE = 60_000_000
MIDNIGHT = datetime(2026, 11, 28, tzinfo=UTC)


def at(second: float) -> str:
    return f"{MIDNIGHT + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S.%fZ}"


def one(arrival_s: float, ttft_s: float, **changes: Any) -> Row:
    return {"timestamp": at(arrival_s), "ttft_ms": ttft_s * 1000} | changes


def intervals(rows: list[Row]) -> dict[tuple[str, str], list[tuple[int, int, str, Row]]]:
    """First token, start, id and line of every request that kept an instance busy, in the order of the recipe."""
    found = defaultdict(list)
    for row in rows:
        if row["status"] == 200 and row.get("instance") is not None and row.get("ttft_ms") is not None:
            arrived = to_us(datetime.fromisoformat(row["timestamp"]))
            done = arrived + round(row["ttft_ms"] * 1000)
            prefill = row.get("prefill_ms")
            start = arrived if prefill is None else done - round(prefill * 1000)
            found[row["deployment"], row["instance"]].append((done, start, row["request_id"], row))
    return {key: sorted(own, key=lambda entry: entry[:3]) for key, own in found.items()}


def expected(rows: list[Row]) -> list[Row]:
    """The recipe of the design, request by request."""
    groups: dict[tuple[str, str, int, int], Row] = {}
    for (deployment, instance), own in intervals(rows).items():
        previous, period = None, None
        for position, (done, _, _, row) in enumerate(own):
            start = min(entry[1] for entry in own[position:])
            begins = previous is None or start > previous
            period = start if begins else period
            assert period is not None
            into = groups.setdefault((deployment, instance, period, done // MINUTE), defaultdict(int))
            total, cached = row["input_tokens"], row["cached_tokens"]
            into["begins_period"] += begins
            into["busy_us"] += done - (start if begins else previous)
            into["n_requests"] += 1
            into["n_unreported"] += cached is None
            into["input_tokens"] += total
            into["output_tokens"] += row["output_tokens"]
            if cached is not None:
                miss = total - cached
                into["cached_tokens"] += cached
                into["miss_tokens"] += miss
                into["attention2"] += 2 * miss * cached + miss * miss
                for tokens in CHUNK_TOKENS:
                    into[f"steps_{tokens}"] += max(1, math.ceil(miss / tokens))
            previous = done
    sums = ("begins_period", "busy_us", "n_requests", "n_unreported", "input_tokens", "cached_tokens", "miss_tokens",
            "output_tokens", "attention2", *(f"steps_{tokens}" for tokens in CHUNK_TOKENS))  # fmt: skip
    return [
        {"deployment": deployment, "instance": instance, "period_id": period, "minute_us": minute * MINUTE}
        | {name: into[name] for name in sums}
        for (deployment, instance, period, minute), into in sorted(groups.items())
    ]


def found(place: Place) -> list[Row]:
    rows = place.rows("select * from busy_periods order by deployment, instance, period_id, minute_utc")
    return [
        {
            key: int(value) if key == "attention2" else value for key, value in row.items()
            if key not in ("minute_utc", "ttft_basis", "cached_basis", "basis_rank")
        } | {"minute_us": to_us(row["minute_utc"].replace(tzinfo=UTC))}
        for row in rows
    ]  # fmt: skip


def union_us(spans: list[tuple[int, int]]) -> int:
    total, end = 0, None
    for start, stop in sorted(spans):
        total += max(0, stop - (start if end is None else max(start, end)))
        end = stop if end is None else max(end, stop)
    return total


def check(place: Place, rows: list[Row]) -> None:
    place.write("a.jsonl", rows)
    place.aggregate()
    assert found(place) == expected(rows)
    for (deployment, instance), own in intervals(rows).items():
        busy = sum(r["busy_us"] for r in found(place) if (r["deployment"], r["instance"]) == (deployment, instance))
        assert busy == union_us([(start, done) for done, start, _, _ in own])


CASES = {
    "nothing": [],
    "one request": [one(10, 2)],
    "a request that takes no time": [one(10, 0)],
    "two apart": [one(10, 2), one(20, 2)],
    "two touching": [one(10, 2), one(12, 2)],
    "two waiting for each other": [one(10, 2), one(11, 4)],
    "the later overtakes the earlier": [one(10, 20), one(11, 1)],
    "two at one instant": [one(10, 2), one(10, 2)],
    "a queue over minutes": [one(58, 1), one(58.5, 2), one(59, 70), one(100, 100)],
    "a first token at a full minute": [one(59, 1), one(60, 1), one(119.999999, 0.000001)],
    "prefill times are nearer than arrivals": [one(10, 5, prefill_ms=1000), one(10, 6, prefill_ms=1000)],
    "prefill times of some": [one(10, 5), one(12, 6, prefill_ms=500)],
    "two instances": [one(10, 5, instance="a"), one(11, 5, instance="b"), one(12, 5, instance="a")],
    "two deployments with instances of one name": [one(10, 5, deployment="a"), one(11, 5, deployment="b")],
    "a whole hit takes a step": [one(10, 2, cached_tokens=1000), one(11, 2, input_tokens=400)],
    "last chunks are not filled up": [one(10, 5, input_tokens=n, cached_tokens=0) for n in (1025, 33_000)],
    "exact multiples of a chunk": [one(10, 5, input_tokens=n, cached_tokens=0) for n in (1024, 2048, 32_768, 65_536)],
    "no cached tokens told": [one(10, 5, cached_tokens=None), one(11, 5)],
    "failures keep nothing busy": [one(10, 5, status=502), one(11, 5), one(12, 50, status=499)],
    "no instance": [one(10, 5, instance=None)],
    "no time to first token": [request(1) | {"ttft_ms": None}],
    "the last minute of a day": [one(86_399, 0.5)],
}


@pytest.mark.parametrize("fields", CASES.values(), ids=CASES)
def test_rows_follow_the_recipe_and_add_up_to_the_union(place: Place, fields: list[Row]) -> None:
    check(
        place,
        [request(number, **{k: v for k, v in row.items() if k != "request_id"}) for number, row in enumerate(fields)],
    )


requests = st.builds(
    lambda arrival, ttft, prefill, instance, told, status: (
        one(arrival / 10, ttft / 10, instance=instance, status=status)
        | ({"prefill_ms": min(prefill, ttft) * 100.0} if prefill is not None else {})
        | ({} if told else {"cached_tokens": None})
    ),
    st.integers(0, 1500),
    st.sampled_from([0, 1, 5, 10, 600]) | st.integers(0, 400),
    st.none() | st.integers(0, 100),
    st.sampled_from(["i-0", "i-0", "i-1"]),
    st.sampled_from([True, True, True, False]),
    st.sampled_from([200, 200, 200, 200, 502]),
)


@settings(max_examples=5, deadline=None)
@given(st.lists(requests, max_size=40))
def test_any_rows_follow_the_recipe_and_add_up_to_the_union(fields: list[Row]) -> None:
    check_alone(fields)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=100)
@given(st.lists(requests, max_size=40))
def test_a_hundred_days_follow_the_recipe_and_add_up_to_the_union(fields: list[Row]) -> None:
    check_alone(fields)


def check_alone(fields: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(Place(Path(folder)), [request(number, **row) for number, row in enumerate(fields)])


def over_midnight() -> list[Row]:
    """A queue that begins before midnight and is worked off after it, and traffic of the next day."""
    late = [request(number, **one(86_380 + number, 10 + 3 * number)) for number in range(20)]
    return [*late, request(100, **one(86_420, 30)), request(101, **one(90_000, 1))]


def test_a_busy_period_over_midnight_is_one_period(place: Place) -> None:
    check(place, over_midnight())
    periods = place.rows(
        "select sum(begins_period)::bigint as begins, count(distinct minute_utc::date) as days from busy_periods "
        "group by period_id order by period_id"
    )
    assert periods == [{"begins": 1, "days": 2}, {"begins": 1, "days": 1}]


@pytest.mark.parametrize("parts", [1, 2, 4], ids="in {} files".format)
def test_a_queue_over_midnight_does_not_depend_on_what_came_first(place: Place, parts: int) -> None:
    rows = over_midnight()
    for part in reversed(range(parts)):
        place.write(f"{part}.jsonl", rows[part::parts])
        place.aggregate()
    assert found(place) == expected(rows)


def test_late_lines_of_the_evening_before_change_the_morning_after(place: Place) -> None:
    rows = over_midnight()
    place.write("morning.jsonl", [row for row in rows if row["timestamp"].startswith("2026-11-29")])
    place.aggregate()
    place.write("evening.jsonl", [row for row in rows if row["timestamp"].startswith("2026-11-28")])
    place.aggregate()
    assert found(place) == expected(rows)


def test_the_same_rows_come_out_at_any_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [request(number, **one(number * 7 % 977, number % 13, input_tokens=500 + number)) for number in range(2000)]
    seen = []
    for threads in (1, 2, 8, 8):
        monkeypatch.setitem(engine.CONNECT, "threads", threads)
        place = Place(tmp_path / str(len(seen)))
        place.write("a.jsonl", rows)
        place.settle()
        seen.append(place.views(without=("path", "source_file")))
    assert all(views == seen[0] for views in seen)
