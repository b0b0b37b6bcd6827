"""What people build on: views, columns, types and macros of the published snapshot, typed in here by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import valley
from tests.conftest import FleetWarehouse
from tests.place import Place, request
from tests.report.test_browser import CHROMIUM, _browse

COLUMNS = {
    "requests": (
        "request_id arrived_us arrived_at hour_utc deployment instance model session_id input_tokens cached_tokens "
        "cached_device_tokens cached_host_tokens cached_storage_tokens cache_write_tokens output_tokens queue_us "
        "prefill_us ttft_us e2e_us queue_s prefill_s ttft_s e2e_s ttft_basis cached_basis status source_name "
        "source_file source_line"
    ),
    "quarantine": "source_file source_line byte_offset reason excerpt",
    "ingest_files": "content_sha256 path format lines loaded duplicates quarantined blank loaded_at status",
    "hourly_hit_rate": (
        "deployment hour_utc n_requests n_reported input_tokens cached_tokens miss_tokens output_tokens hit_rate "
        "mean_request_hit_rate p10 p50 p90 share_zero share_over_99 coverage sum_miss_cached sum_miss_sq sum_cached_sq "
        "sum_input_sq"
    ),
    "hit_rate_histogram": "deployment hour_utc bin_low bin_high n_requests input_tokens cached_tokens",
    "busy_periods": (
        "deployment instance period_id minute_utc begins_period busy_us n_requests input_tokens cached_tokens "
        "miss_tokens output_tokens attention2 steps_1024 steps_2048 steps_4096 steps_8192 steps_16384 steps_32768"
    ),
    "throughput_curve": (
        "deployment day_utc estimator target family reference_input_tokens tps0 tps0_low tps0_high a a_low a_high f c "
        "q k overhead_s line_good_until_hit_rate chunk_tokens step_s tail_chunk_s_per_day tail_hit_rates n_minutes "
        "n_requests x_low x_high residual_scale window_from_hour changed_at_hour "
        "change_size change_p_value changed model model_since_hour mixed_models trustworthy reasons"
    ),
    "curve_candidates": (
        "deployment day_utc estimator target family reference_input_tokens tps0 tps0_low tps0_high a a_low a_high f c "
        "q k overhead_s line_good_until_hit_rate chunk_tokens step_s tail_chunk_s_per_day tail_hit_rates n_minutes "
        "n_requests x_low x_high residual_scale window_from_hour changed_at_hour "
        "change_size change_p_value changed model model_since_hour mixed_models is_chosen trustworthy reasons"
    ),
    "curve_families": "deployment day_utc family error tps0 a is_kept",
    "curve_by_length": (
        "deployment day_utc band low_input_tokens high_input_tokens median_input_tokens tps0 tps0_low tps0_high a "
        "a_low a_high own_tps0 own_a own_deviation n_minutes agrees"
    ),
    "valley_status": (
        "deployment hour_utc hit_rate mean_request_hit_rate busy_hit_rate price_ratio revenue_index index_low "
        "index_high p_in_valley floor_hit_rate exit_hit_rate floor_depth side regime busy_share state "
        "lost_per_hour currency reasons n_prices price_hash miss_revenue cached_revenue cached_at_miss_price "
        "miss_at_cached_price revenue_scope output_revenue cache_write_revenue decode_s"
    ),
    "profit_and_loss": (
        "deployment hour_utc n_requests n_unknown miss_revenue cached_revenue output_revenue cache_write_revenue "
        "gross_revenue unknown_revenue_at_most n_in_time n_late n_unknown_time in_time_revenue late_revenue "
        "unknown_time_revenue discount_given instance_hours cost margin is_loss busy_s revenue_per_busy_hour "
        "in_time_revenue_per_busy_hour saved_busy_s cache_value cache_value_low cache_value_high currency reasons"
    ),
    "profit_breakdown": (
        "deployment hour_utc model input_tokens_from input_tokens_to n_requests n_unknown reported_input_tokens "
        "miss_tokens cached_tokens output_tokens hit_rate miss_revenue cached_revenue output_revenue "
        "cache_write_revenue gross_revenue currency"
    ),
    "valley_episodes": "deployment entered_at left_at peak_depth lost_total dedup_key notified_at",
    "price_book": (
        "deployment effective_from effective_to hours_utc weekdays input_per_mtok cached_per_mtok cache_write_per_mtok "
        "output_per_mtok currency input_tokens_from input_tokens_to source"
    ),
    "price_history": (
        "price_hash from_minute to_minute input_tokens_from input_tokens_to input_per_mtok cached_per_mtok "
        "cache_write_per_mtok output_per_mtok currency source first_seen_at"
    ),
}
TYPES = {
    "requests": {"arrived_us": "BIGINT", "input_tokens": "BIGINT", "ttft_us": "BIGINT", "hour_utc": "TIMESTAMP"},
    "hourly_hit_rate": {
        "hour_utc": "TIMESTAMP", "n_requests": "BIGINT", "cached_tokens": "BIGINT", "hit_rate": "DOUBLE",
        "sum_miss_cached": "DECIMAL(38,0)", "sum_miss_sq": "DECIMAL(38,0)", "sum_cached_sq": "DECIMAL(38,0)",
        "sum_input_sq": "DECIMAL(38,0)",
    },
    "price_book": {"effective_from": "TIMESTAMP", "effective_to": "TIMESTAMP", "input_tokens_to": "BIGINT"},
    "busy_periods": {
        "busy_us": "BIGINT", "attention2": "DECIMAL(38,0)", "minute_utc": "TIMESTAMP", "steps_1024": "BIGINT",
    },
    "throughput_curve": {
        "window_from_hour": "TIMESTAMP", "changed_at_hour": "TIMESTAMP",
        "day_utc": "DATE", "trustworthy": "BOOLEAN", "chunk_tokens": "BIGINT", "tail_hit_rates": "DOUBLE[]",
    },
    "curve_families": {"error": "DOUBLE", "is_kept": "BOOLEAN"},
    "curve_by_length": {"high_input_tokens": "BIGINT", "a": "DOUBLE", "agrees": "BOOLEAN"},
    "profit_and_loss": {"hour_utc": "TIMESTAMP", "margin": "DOUBLE", "is_loss": "BOOLEAN", "n_late": "BIGINT"},
    "profit_breakdown": {"hour_utc": "TIMESTAMP", "input_tokens_to": "BIGINT", "hit_rate": "DOUBLE"},
    "valley_status": {"hour_utc": "TIMESTAMP", "revenue_index": "DOUBLE", "state": "VARCHAR"},
}  # fmt: skip
KEYS = {
    "hourly_hit_rate": "deployment, hour_utc",
    "hit_rate_histogram": "deployment, hour_utc, bin_low, bin_high",
    "busy_periods": "deployment, instance, ttft_basis, cached_basis, period_id, minute_utc",
    "throughput_curve": "deployment, day_utc",
    "curve_candidates": "deployment, day_utc, estimator, target",
    "curve_families": "deployment, day_utc, family",
    "curve_by_length": "deployment, day_utc, band",
    "valley_status": "deployment, hour_utc",
    "profit_and_loss": "deployment, hour_utc",
    "profit_breakdown": "deployment, hour_utc, model, input_tokens_from",
    "valley_episodes": "dedup_key",
    "alert_outbox": "dedup_key, kind",
    "ingest_files": "content_sha256",
    "price_history": "price_hash, from_minute, input_tokens_from",
    "requests": "deployment, request_id",
}
GRID = np.round(np.linspace(0.01, 0.99, 29), 4)


@pytest.fixture(params=["empty", "full"])
def published(request: pytest.FixtureRequest, place: Place) -> Place:
    """A snapshot before the first line and one of a whole day: both keep the contract."""
    if request.param == "full":
        return request.getfixturevalue("fleet_warehouse").place
    place.ingest()
    return place


@pytest.mark.parametrize("view", COLUMNS)
def test_a_view_has_at_least_the_columns_of_the_contract(published: Place, view: str) -> None:
    described = {row["column_name"]: row["column_type"] for row in published.rows(f"describe {view}")}
    assert set(COLUMNS[view].split()) <= set(described)
    assert {name: described[name] for name in TYPES.get(view, {})} == TYPES.get(view, {})


@pytest.mark.parametrize("view", KEYS)
def test_a_view_has_one_row_per_grain(fleet_warehouse: FleetWarehouse, view: str) -> None:
    repeated = fleet_warehouse.place.rows(f"select {KEYS[view]} from {view} group by all having count(*) > 1")
    assert repeated == []


def test_no_column_is_named_outside_the_vocabulary(fleet_warehouse: FleetWarehouse) -> None:
    columns = fleet_warehouse.place.rows("select table_name, column_name from duckdb_columns() where not internal")
    words = ("latency", "percent", "pct", "hits", "hitrate", "uncached", "prompt", "completion", "local")
    assert [row for row in columns if any(word in row["column_name"].split("_") for word in words)] == []


def test_ratios_are_within_their_bounds(fleet_warehouse: FleetWarehouse) -> None:
    for view, names in {
        "hourly_hit_rate": "hit_rate mean_request_hit_rate p10 p50 p90 share_zero share_over_99 coverage",
        "profit_breakdown": "hit_rate",
        "valley_status": (
            "hit_rate mean_request_hit_rate busy_hit_rate p_in_valley floor_hit_rate exit_hit_rate floor_depth "
            "busy_share"
        ),
    }.items():
        for name in names.split():
            # An instance is busy in the hour a first token falls into, so an overloaded hour can be over 1.
            most = 1.2 if name == "busy_share" else 1
            outside = fleet_warehouse.place.rows(f"select {name} from {view} where not ({name} between 0 and {most})")
            assert outside == [], name


@pytest.mark.parametrize("macro", ["valley_floor", "valley_exit"])
def test_the_macros_of_the_valley_agree_with_the_model(place: Place, macro: str) -> None:
    place.ingest()
    pairs = ", ".join(f"({a}, {r})" for a in GRID for r in GRID)
    rows = place.rows(f"select a, r, {macro}(a::double, r::double) as value from (values {pairs}) as grid(a, r)")
    assert len(rows) == GRID.size**2
    for row in rows:
        a, r = float(row["a"]), float(row["r"])
        found = valley.locate_valley(a, r)
        expected = None if found is None else getattr(found, f"{macro.removeprefix('valley_')}_hit_rate")
        assert row["value"] == (None if expected is None else pytest.approx(expected, rel=1e-12)), (a, r)


def test_the_macros_of_the_curve_are_the_formulas_of_the_design(place: Place) -> None:
    place.ingest()
    pairs = ", ".join(f"({x}, {a})" for x in GRID for a in GRID)
    rows = place.rows(
        "select x, a, bathtub(x::double, a::double, .1) as b, tps_miss(x::double, 100, a::double) as t, "
        f"break_even_ratio(x::double, a::double) as e from (values {pairs}) as grid(x, a)"
    )
    for row in rows:
        x, a = float(row["x"]), float(row["a"])
        assert row["b"] == pytest.approx((1 - a * x) * (1 - 0.9 * x) / (1 - x), rel=1e-12)
        assert row["t"] == pytest.approx(100 * (1 - a * x), rel=1e-12)
        assert row["e"] == pytest.approx(a * (1 - x) / (1 - a * x), rel=1e-12)


@pytest.mark.parametrize(
    ("a", "r", "floor", "value", "leaves"),
    [
        (10 / 19, 0.25, 0.452, 0.919, 0.700), (10 / 19, 0.10, 0.684, 0.779, 0.900), (0.47, 0.05, 0.756, 0.745, 0.941),
        (0.35, 0.20, 0.319, 0.972, 0.536), (0.25, 0.02, 0.753, 0.861, 0.939), (0.16, 0.10, 0.236, 0.992, 0.417),
        (0.25, 0.25, None, None, None), (0.16, 0.20, None, None, None),
    ],
)  # fmt: skip
def test_the_macros_give_the_vectors_of_the_design(
    place: Place, a: float, r: float, floor: float | None, value: float | None, leaves: float | None
) -> None:
    place.ingest()
    (row,) = place.rows(
        "select round(valley_floor(a, r), 3) as floor, round(valley_exit(a, r), 3) as leaves, "
        "round(bathtub(valley_floor(a, r), a, r), 3) as value "
        f"from (select {a}::double as a, {r}::double as r)"
    )
    assert row == {"floor": floor, "leaves": leaves, "value": value}


def test_any_reader_can_open_the_published_file_without_us(place: Place) -> None:
    """The snapshot is a file of its own: its marts need neither our process nor the lake."""
    place.write("a.jsonl", [request(1)])
    place.settle()
    assert place.warehouse.snapshot.is_symlink()
    assert not place.warehouse.snapshot.readlink().is_absolute()
    assert place.warehouse.snapshot.resolve().stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_chromium_opens_the_days_report_without_a_console_message(
    fleet_warehouse: FleetWarehouse, tmp_path: Path
) -> None:
    page, picture = fleet_warehouse.place.warehouse.folder / "report.html", tmp_path / "report.png"
    seen = _browse(page, tmp_path / "profile", f"--screenshot={picture}", "--window-size=1200,4000")
    assert picture.stat().st_size > 50_000
    assert "CONSOLE" not in seen
    text = page.read_text()
    assert all(name in text for name in (*fleet_warehouse.truth["deployments"], "agent-chat"))
