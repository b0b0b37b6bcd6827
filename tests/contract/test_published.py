"""What people build on: views, columns, types, comments and macros of the published snapshot.

`views.txt` is the contract: a line a column or macro. What it lists may not go or change; what is new is added to it by
`pytest --update-golden tests/contract/test_published.py`. When a line may go: docs/architecture.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import valley
from pipelines import queries
from tests.conftest import FleetWarehouse
from tests.place import VIEWS, Place, request

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
    "lake_files": "file",
}
CONTRACT = Path(__file__).with_name("views.txt")
GRID = np.round(np.linspace(0.01, 0.99, 29), 4)


@pytest.fixture(params=["empty", "full"])
def published(request: pytest.FixtureRequest, place: Place) -> Place:
    """A snapshot before the first line and one of a whole day: both keep the contract."""
    if request.param == "full":
        return request.getfixturevalue("fleet_warehouse").place
    place.ingest()
    return place


def in_snapshot(place: Place) -> dict[str, str]:
    """What is published: types by view and column, parameters by macro."""
    columns = place.rows(
        "select table_name || '.' || column_name as name, data_type from duckdb_columns() "
        "where database_name = 'valleywatch' and schema_name = 'main' and table_name != 'lake'"
    )
    macros = place.rows(
        "select function_name as name, '(' || array_to_string(parameters, ', ') || ')' as parameters "
        "from duckdb_functions() where database_name = 'valleywatch' and not internal"
    )
    return {row["name"]: row["data_type"] for row in columns} | {row["name"]: row["parameters"] for row in macros}


def contract() -> dict[str, str]:
    lines = CONTRACT.read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines)


def breaches(of: dict[str, str], found: dict[str, str]) -> list[str]:
    """What the contract has and `found` has not, or has otherwise."""
    return [
        f"{name} was {kind} and is {found.get(name, 'gone')}: see What may change in docs/architecture.md"
        for name, kind in of.items()
        if found.get(name) != kind
    ]


def test_nothing_that_people_build_on_is_gone_or_another(published: Place, request: pytest.FixtureRequest) -> None:
    found = in_snapshot(published)
    if request.config.getoption("--update-golden"):
        CONTRACT.write_text("".join(f"{name} {kind}\n" for name, kind in sorted(found.items())))
    assert breaches(contract(), found) == []


def test_a_removed_or_retyped_column_is_a_breach_and_an_added_one_is_not() -> None:
    found = contract()
    assert breaches(found, found | {"requests.colour": "VARCHAR", "requests.input_tokens": "BIGINT"}) == []
    del found["requests.input_tokens"]
    found["hourly_hit_rate.hit_rate"] = "FLOAT"
    found["bathtub"] = "(x, r, a)"
    assert [breach.split(":")[0] for breach in breaches(contract(), found)] == [
        "bathtub was (x, a, r) and is (x, r, a)",
        "hourly_hit_rate.hit_rate was DOUBLE and is FLOAT",
        "requests.input_tokens was BIGINT and is gone",
    ]


def test_every_view_is_in_the_contract() -> None:
    views = {name.partition(".")[0] for name in contract() if "." in name}
    assert {f"views/{view}" for view in views} == set(queries.names("views"))
    assert set(VIEWS) == views


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_comments_on_its_columns_and_on_no_other(published: Place, view: str) -> None:
    columns = [row["column_name"] for row in published.rows(f"describe {view}")]
    assert set(queries.load(f"views/{view}").comments) == set(columns)


@pytest.mark.parametrize("kind", ["views", "columns", "tables", "functions"])
def test_everything_published_has_its_comment_in_the_catalog(published: Place, kind: str) -> None:
    """Columns of internal tables have none: their views say what they are."""
    of_views = "and schema_name = 'main'" if kind == "columns" else ""
    ours = f"from duckdb_{kind}() where database_name = 'valleywatch' {of_views}"
    assert published.rows(f"select * {ours} and coalesce(comment, '') = ''") == []
    assert published.rows(f"select count(*) > 4 as several {ours}") == [{"several": True}]


def test_a_comment_says_grain_and_units(published: Place) -> None:
    views = {
        row["view_name"]: row["comment"] for row in published.rows("select view_name, comment from duckdb_views()")
    }
    assert views["hourly_hit_rate"].startswith("One row per deployment × hour. Units: tokens; ratios in [0, 1].")
    columns = published.rows(
        "select comment from duckdb_columns() where (table_name, column_name) = ('requests', 'ttft_us')"
    )
    assert columns == [{"comment": "arrival to first token [microseconds]; NULL = not reported"}]
    same = "from duckdb_columns() where table_name = 'curve_candidates' and column_name = 'tps0'"
    assert published.rows(f"select comment {same}")[0]["comment"].startswith("computed prompt tokens per busy second")


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
