"""hourly_hit_rate and hit_rate_histogram against plain Python integers."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.ingest import ingest_sources
from pipelines.marts import refresh_hours
from pipelines.settings import load_settings
from tests.place import NOW, Place, do_day, request

Row = dict[str, Any]


def when(row: Row) -> datetime:
    return datetime.fromisoformat(row["timestamp"]).astimezone(UTC).replace(tzinfo=None)


def grouped(rows: list[Row]) -> dict[tuple[str, datetime], list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["deployment"], when(row).replace(minute=0, second=0, microsecond=0)].append(row)
    return groups


def rank(sorted_ppb: list[int], percent: int) -> float | None:
    """The nearest-rank quantile: the smallest value with at least `percent` of the values at or below it."""
    if not sorted_ppb:
        return None
    n = len(sorted_ppb)
    return next(v for i, v in enumerate(sorted_ppb, 1) if 100 * i >= percent * n) / 1e9


def expected_hours(rows: list[Row]) -> list[Row]:
    found = []
    for (deployment, hour), group in sorted(grouped(rows).items()):
        served = [row for row in group if row["status"] == 200]
        told = [(row["input_tokens"], row["cached_tokens"]) for row in served if row["cached_tokens"] is not None]
        ppb = sorted(10**9 * cached // total for total, cached in told if total)
        n = len(ppb)
        total, hit = (sum(t for t, _ in told), sum(c for _, c in told)) if told else (None, None)
        moments = {"sum_miss_cached": 0, "sum_miss_sq": 0, "sum_cached_sq": 0, "sum_input_sq": 0}
        for t, c in told:
            moments["sum_miss_cached"] += (t - c) * c
            moments["sum_miss_sq"] += (t - c) ** 2
            moments["sum_cached_sq"] += c * c
            moments["sum_input_sq"] += t * t
        found.append({
            "deployment": deployment, "hour_utc": hour, "n_requests": len(served), "n_failed": len(group) - len(served),
            "n_left_out": 0,
            "n_reported": len(told), "input_tokens": sum(row["input_tokens"] for row in served),
            "reported_input_tokens": total, "cached_tokens": hit, "miss_tokens": total - hit if told else None,
            "output_tokens": sum(row["output_tokens"] for row in served) if served else None,
            "hit_rate": hit / total if total else None,
            "mean_request_hit_rate": sum(ppb) / n / 1e9 if n else None,
            "p10": rank(ppb, 10), "p50": rank(ppb, 50), "p90": rank(ppb, 90),
            "share_zero": sum(t > 0 and c == 0 for t, c in told) / n if n else None,
            "share_over_99": sum(100 * c > 99 * t for t, c in told) / n if n else None,
            "coverage": len(told) / len(served) if served else None,
            **{name: Decimal(value) if told else None for name, value in moments.items()},
        })  # fmt: skip
    return found


def bin_of(total: int, cached: int) -> tuple[float, float]:
    if cached == 0:
        return 0.0, 0.0
    if cached == total:
        return 1.0, 1.0
    permille = 1000 * cached // total
    low = permille if permille >= 990 else permille // 10 * 10
    return low / 1000, (low + (1 if low >= 990 else 10)) / 1000


def expected_bins(rows: list[Row]) -> list[Row]:
    found = []
    for (deployment, hour), group in sorted(grouped(rows).items()):
        bins = defaultdict(list)
        for row in group:
            if row["status"] == 200 and row["cached_tokens"] is not None and row["input_tokens"] > 0:
                bins[bin_of(row["input_tokens"], row["cached_tokens"])].append(row)
        found += [
            {
                "deployment": deployment, "hour_utc": hour, "bin_low": low, "bin_high": high, "n_requests": len(held),
                "input_tokens": sum(row["input_tokens"] for row in held),
                "cached_tokens": sum(row["cached_tokens"] for row in held),
            }
            for (low, high), held in sorted(bins.items())
        ]  # fmt: skip
    return found


def check(place: Place, rows: list[Row]) -> None:
    place.write("a.jsonl", rows)
    place.aggregate()
    assert place.rows("select * from hourly_hit_rate order by deployment, hour_utc") == expected_hours(rows)
    bins = "select * from hit_rate_histogram order by deployment, hour_utc, bin_low, bin_high"
    assert place.rows(bins) == expected_bins(rows)


def one(cached: int | None, total: int = 1000, at: str = "2026-11-28T10:15:00Z", **changes: Any) -> Row:
    return {"input_tokens": total, "cached_tokens": cached, "timestamp": at} | changes


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param([], id="nothing"),
        pytest.param([one(400)], id="one request"),
        pytest.param([one(0), one(1000), one(400), one(999)], id="a miss, a full hit, the rest"),
        pytest.param([one(None), one(None)], id="cached tokens are never reported"),
        pytest.param([one(None), one(0)], id="not reported is no miss"),
        pytest.param([one(0, 0), one(10, 1000)], id="an empty prompt has no hit rate"),
        pytest.param([one(0, 0)], id="nothing but an empty prompt"),
        pytest.param([one(None, status=502), one(100, status=499)], id="nothing but failures"),
        pytest.param([one(100), one(900, status=500)], id="failures do not count as traffic"),
        pytest.param(
            [one(100, at="2026-11-28T10:59:59.999999Z"), one(200, at="2026-11-28T11:00:00Z")],
            id="either side of an hour",
        ),
        pytest.param(
            [one(100, at="2026-11-27T23:59:59.999999Z"), one(200, at="2026-11-28T00:00:00Z")], id="either side of a day"
        ),
        pytest.param([one(100, at="2026-11-28T15:44:59+05:30")], id="an offset of half an hour"),
        pytest.param([one(989), one(990), one(991), one(999), one(9899, 10_000)], id="bins around .99"),
        pytest.param([one(1, 100), one(29, 100), one(57, 100), one(58, 100)], id="edges that floats get wrong"),
        pytest.param([one(1, 10_000_000), one(9_999_999, 10_000_000)], id="as close to 0 and 1 as can be"),
        pytest.param([one(10_000_000, 10_000_000)] * 3, id="the largest requests"),
        pytest.param([one(k) for k in range(10)], id="ten ranks"),
        pytest.param([one(k) for k in range(11)], id="eleven ranks"),
        pytest.param(
            [one(100, deployment="a"), one(100, deployment="b"), one(0, deployment="b")], id="two deployments"
        ),
    ],
)
def test_an_hour_is_what_plain_integers_say(place: Place, fields: list[Row]) -> None:
    check(place, [request(number, **row) for number, row in enumerate(fields)])


requests = st.builds(
    lambda total, share, gone, status, deployment, second: {
        "input_tokens": total,
        "cached_tokens": None if gone else total * share // 1000,
        "status": status,
        "deployment": deployment,
        "timestamp": f"{datetime(2026, 11, 28, 9) + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}",  # noqa: DTZ001
    },
    st.integers(0, 3000) | st.integers(0, 10_000_000),
    st.sampled_from([0, 1, 10, 500, 989, 990, 991, 998, 999, 1000]) | st.integers(0, 1000),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([200, 200, 200, 499, 502]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([0, 1, 3599, 3600, 3601, 7199]) | st.integers(0, 3 * 3600 - 1),
)


@settings(max_examples=5, deadline=None)
@given(st.lists(requests, max_size=60))
def test_any_hours_are_what_plain_integers_say(fields: list[Row]) -> None:
    check_alone(fields)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=100)
@given(st.lists(requests, max_size=60))
def test_a_hundred_days_are_what_plain_integers_say(fields: list[Row]) -> None:
    check_alone(fields)


def check_alone(fields: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(Place(Path(folder)), [request(number, **row) for number, row in enumerate(fields)])


def test_late_lines_change_exactly_their_hours(place: Place) -> None:
    early = [request(hour, timestamp=f"2026-11-28T{hour:02}:30:00Z") for hour in range(24)]
    place.write("a.jsonl", early)
    place.settle()
    before = place.rows("select * from hourly_hit_rate order by hour_utc")
    late = [request(100 + hour, timestamp=f"2026-11-28T{hour:02}:59:00Z") for hour in (3, 4, 17)]
    place.write("b.jsonl", late)
    with place.warehouse.writer() as writer:
        ingest_sources(writer, load_settings(place.config), NOW, lambda _line: None)
        replaced = [refresh_hours(writer, "hourly_hit_rate", 20785) for _ in range(2)]
        do_day(writer, 20785, place)
        writer.publish()
    assert replaced == [3, 0]
    after = place.rows("select * from hourly_hit_rate order by hour_utc")
    changed = [row["hour_utc"].hour for row, old in zip(after, before, strict=True) if row != old]
    assert changed == [3, 4, 17]
    assert after == expected_hours([*early, *late])
