"""What stands beside a day's curve: shapes, the step of an engine that does not pack, the curve at each length."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.families import line_good_until
from models.length_bands import length_bands
from models.service_time import ServiceTime, straight_line
from tests.conftest import FleetWarehouse
from tests.models.chunked_engine import serve_in_chunks
from tests.place import ABSENT, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

LAW = ServiceTime(f=0.06, c=3e-5, q=6e-10, k=2e-7)
CHUNK_TOKENS = 4096
MIDNIGHT = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, list[tuple[int, int]]]:
    """Half a day of an engine that pays 60 ms for each step of 4096 tokens and shares none; its (misses, hits)."""
    place = Place(tmp_path_factory.mktemp("unpacked"))
    served = serve_in_chunks(LAW, CHUNK_TOKENS, packed=False, load=0.5, n_requests=3_000, seed=4, typical_tokens=9.5)
    place.write(
        "a.jsonl",
        (
            request(
                number,
                timestamp=f"{MIDNIGHT + timedelta(seconds=one.start_s):%Y-%m-%dT%H:%M:%S.%fZ}",
                input_tokens=one.miss_tokens + one.cached_tokens,
                cached_tokens=one.cached_tokens,
                ttft_ms=round((one.first_token_s - one.start_s) * 1e3, 3),
            )
            for number, one in enumerate(served)
        ),
    )
    place.settle()
    return place, [(one.miss_tokens, one.cached_tokens) for one in served]


def status_of(place: Place, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert place.valleywatch("status", "--json") == 0
    return {row["deployment"]: row for row in json.loads(capsys.readouterr().out)}


def test_steps_that_are_not_shared_are_found_with_what_they_cost(
    unpacked: tuple[Place, list[tuple[int, int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    place, sizes = unpacked
    (curve,) = place.rows("select * from throughput_curve")
    assert curve["trustworthy"]
    assert curve["chunk_tokens"] == CHUNK_TOKENS
    assert curve["step_s"] == pytest.approx(LAW.f, rel=0.1)
    steps = sum(max(1, -(-miss // CHUNK_TOKENS)) for miss, _ in sizes)
    missed = sum(miss for miss, _ in sizes)
    lost_s = LAW.f * (steps - missed / CHUNK_TOKENS)
    assert curve["tail_chunk_s_per_day"] == pytest.approx(lost_s, rel=0.15)
    length = curve["reference_input_tokens"]
    whole = range(int(length // CHUNK_TOKENS), 0, -1)
    assert curve["tail_hit_rates"] == pytest.approx([1 - n * CHUNK_TOKENS / length for n in whole])
    # What those seconds would earn: as much as a busy second does, at the prices of tests/place.py.
    (busy,) = place.rows("select sum(busy_us) / 1e6 as busy_s from busy_periods")
    revenue = (missed * 1.0 + sum(cached for _, cached in sizes) * 0.1) / 1e6
    verdict = status_of(place, capsys)["pool"]
    assert verdict["chunk_tokens"] == CHUNK_TOKENS
    assert verdict["tail_chunk_s_per_day"] == curve["tail_chunk_s_per_day"]
    expected = curve["tail_chunk_s_per_day"] * revenue / busy["busy_s"]
    # The busy seconds of the log hold 40 ms of overhead each, which the law leaves out.
    assert verdict["tail_chunk_lost_per_day"] == pytest.approx(expected, rel=0.1)


def test_the_index_rests_on_the_law_by_request_and_is_right_on_an_engine_that_pays_by_step(
    unpacked: tuple[Place, list[tuple[int, int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    place, sizes = unpacked

    def busy_s(miss: int, cached: int) -> float:
        steps = max(1, -(-miss // CHUNK_TOKENS))
        return LAW.f * steps + LAW.c * miss + LAW.q * miss * (cached + miss / 2) + LAW.k * cached

    with_cache = sum(busy_s(miss, cached) for miss, cached in sizes)
    without = sum(busy_s(miss + cached, 0) for miss, cached in sizes)
    earned = sum(miss + 0.1 * cached for miss, cached in sizes) / sum(miss + cached for miss, cached in sizes)
    verdict = status_of(place, capsys)["pool"]
    assert verdict["revenue_index"] == pytest.approx(earned * without / with_cache, rel=0.015)


def test_fit_and_report_tell_of_the_steps(
    unpacked: tuple[Place, list[tuple[int, int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    place, _ = unpacked
    verdict = status_of(place, capsys)["pool"]
    assert place.valleywatch("fit", "pool") == 0
    said = capsys.readouterr().out
    cost = f"steps that are not full cost at most {verdict['tail_chunk_s_per_day']:.0f} busy seconds a day, worth "
    assert "\nchunk     4096 tokens, " in said
    assert cost in said
    assert place.valleywatch("report") == 0
    page = place.page("pool")
    assert "Steps: 4096 tokens, " in page
    assert cost in page


def test_fleets_whose_engines_pack_meet_silence(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ("chunk_tokens", "step_s", "tail_chunk_s_per_day", "tail_hit_rates")
    found = fleet_warehouse.place.rows(f"select {', '.join(columns)} from throughput_curve")
    assert {tuple(row.values()) for row in found} == {(None,) * len(columns)}
    assert {row["tail_chunk_lost_per_day"] for row in status_of(fleet_warehouse.place, capsys).values()} == {None}


def test_the_family_of_a_curve_is_the_one_that_is_kept_among_those_compared(fleet_warehouse: FleetWarehouse) -> None:
    place = fleet_warehouse.place
    curves = {row["deployment"]: row for row in place.rows("select * from throughput_curve")}
    families = place.rows("select * from curve_families")
    assert len(families) == 3 * len(curves)
    kept = {row["deployment"]: row for row in families if row["is_kept"]}
    assert {name: row["family"] for name, row in kept.items()} == {name: row["family"] for name, row in curves.items()}
    for name, row in kept.items():
        best = min(other["error"] for other in families if other["deployment"] == name)
        assert best <= row["error"] < 1.25 * best
    # Its cached tokens come from a slow tier: neither of the two shapes that know no loading describes it.
    assert kept["agent-offload"]["family"] == "service_time"
    worse = [row["error"] for row in families if row["deployment"] == "agent-offload" and not row["is_kept"]]
    assert min(worse) > 5 * kept["agent-offload"]["error"]


def test_how_far_the_line_is_good_follows_from_the_rows_own_law_and_line(fleet_warehouse: FleetWarehouse) -> None:
    for row in fleet_warehouse.place.rows("select * from throughput_curve"):
        law = ServiceTime(row["f"], row["c"], row["q"], row["k"])
        expected = line_good_until(law, row["tps0"], row["a"], row["reference_input_tokens"])
        assert row["line_good_until_hit_rate"] == expected


def test_the_curve_is_stated_and_checked_at_the_lengths_of_the_traffic(fleet_warehouse: FleetWarehouse) -> None:
    place = fleet_warehouse.place
    for curve in place.rows("select * from throughput_curve"):
        named = f"deployment = '{curve['deployment']}'"
        law = ServiceTime(curve["f"], curve["c"], curve["q"], curve["k"])
        bands = place.rows(f"select * from curve_by_length where {named} order by band")
        assert [row["band"] for row in bands] == [1, 2, 3, 4]
        lengths = place.rows(
            "select input_tokens, count(*) as n from requests "
            f"where {named} and outcome = 'ok' and cached_tokens is not null and input_tokens > 0 group by all"
        )
        exact = length_bands(*(np.array([row[name] for row in lengths]) for name in ("input_tokens", "n")))
        for row, band in zip(bands, exact, strict=True):
            assert row["high_input_tokens"] == pytest.approx(band.high, rel=0.02)
            assert row["median_input_tokens"] == pytest.approx(band.median, rel=0.02)
            line = straight_line(law, row["median_input_tokens"])
            assert (row["tps0"], row["a"]) == (pytest.approx(line.tps0), pytest.approx(line.a))
            assert row["a_low"] < row["a"] < row["a_high"]
            # A real server whose decoding shares the machine: its shortest prompts are .14 off the common law.
            assert row["agrees"] is not False or (curve["deployment"], row["band"]) == ("agent-chat", 1)
        assert bands[-1]["high_input_tokens"] == max(row["input_tokens"] for row in lengths)
        assert any(row["agrees"] for row in bands) or curve["deployment"] == "agent-chat"


def test_an_envelope_has_lengths_and_no_families(tmp_path: Path) -> None:
    place = Place(tmp_path)
    rows = busy_hours(n_hours=8, per_hour=150)
    place.write("a.jsonl", (request(**row, instance=ABSENT) for row in rows))
    place.settle()
    (curve,) = place.rows("select * from throughput_curve")
    assert (curve["estimator"], curve["family"], curve["chunk_tokens"]) == ("envelope", "service_time", None)
    assert curve["line_good_until_hit_rate"] is not None
    assert place.rows("select * from curve_families") == []
    bands = place.rows("select * from curve_by_length order by band")
    assert [row["a"] for row in bands] == sorted(row["a"] for row in bands)
    assert {(row["own_a"], row["agrees"], row["n_minutes"]) for row in bands} == {(None, None, 0)}


def test_a_day_of_few_requests_has_nothing_beside_its_curve(place: Place) -> None:
    place.write("a.jsonl", [request(number) for number in range(3)])
    place.settle()
    (curve,) = place.rows("select * from throughput_curve")
    assert [curve[name] for name in ("line_good_until_hit_rate", "chunk_tokens", "tail_hit_rates")] == [None] * 3
    assert place.rows("select * from curve_families") == []
    (band,) = place.rows("select * from curve_by_length")
    assert (band["median_input_tokens"], band["a"], band["agrees"]) == (1000, None, None)


def test_lengths_are_counted_on_a_grid_that_keeps_the_longest_of_a_bin(place: Place) -> None:
    lengths = [7, 7, 999, 1000, 1009, 1010, 20_000, 20_099, 123_456, 1_234_567]
    place.write("a.jsonl", (request(n, input_tokens=length, cached_tokens=0) for n, length in enumerate(lengths)))
    place.ingest()
    with place.warehouse.writer() as writer:
        writer.open_days(20_785, 20_785)
        day = {"from_us": 20_785 * 86_400_000_000, "to_us": 20_786 * 86_400_000_000}
        rows = writer.rows("curve/lengths", deployment="pool", **day)
    expected = [(7, 2), (999, 1), (1009, 2), (1010, 1), (20_099, 2), (123_456, 1), (1_234_567, 1)]
    assert [(row["input_tokens"], row["n_requests"]) for row in rows] == expected


def test_packing_is_a_lever_where_steps_were_found(
    unpacked: tuple[Place, list[tuple[int, int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    place, sizes = unpacked
    assert place.valleywatch("whatif", "pool", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    (lever,) = [lever for lever in said["levers"] if lever["name"] == "pack_tail_chunks"]
    steps = sum(max(1, -(-miss // CHUNK_TOKENS)) for miss, _ in sizes)
    assert lever["target"] / lever["now"] == pytest.approx(sum(miss for miss, _ in sizes) / CHUNK_TOKENS / steps)
