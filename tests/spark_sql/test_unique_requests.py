"""Of the copies of a request the statement that Spark runs keeps exactly the record that the ingest keeps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from pipelines.queries import load, names

RANKED = {
    "outcome": ("ok", "ok", "failed", "aborted", "warm-up", None),
    "output_tokens": (None, 0, 7, 8),
    "arrived_us": (0, 1),
    "input_tokens": (None, 0, 5),
    "cached_tokens": (None, 0, 5),
    "cache_write_tokens": (None, 0),
    "queue_us": (None, 0, 1),
    "prefill_us": (None, 0, 1),
    "ttft_us": (None, 0, 1),
    "e2e_us": (None, 0, 1),
    "instance": (None, "", "a", "B", "é"),
    "model": (None, "", "m"),
    "session_id": (None, "s", "'; drop table lake; --"),
    "status": (None, "200", "200\n"),
}
"""What the order of precedence looks at, with values that meet often."""


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name in names("ingest/macros"):
            connection.execute(load(name).text)
        connection.execute(load("ingest/staged").text)
        yield connection


def stage(engine: duckdb.DuckDBPyConnection, records: list[dict[str, Any]]) -> None:
    place = {"deployment": "d", "source_file": "f", "source_sha256": "0"}
    rows = pa.Table.from_pylist([place | {"source_line": n} | record for n, record in enumerate(records, start=1)])
    engine.register("rows", rows)
    engine.execute("insert into staged by name from rows")


def kept(engine: duckdb.DuckDBPyConnection, statement: str) -> list[Any]:
    return engine.execute(f"select request_id, source_line from ({statement}) order by all").fetchall()


def unique(engine: duckdb.DuckDBPyConnection) -> list[Any]:
    engine.execute("create or replace temp view lake as from staged")
    return kept(engine, load("mart/unique_requests").text)


def deduplicated_by_the_ingest(engine: duckdb.DuckDBPyConnection) -> list[Any]:
    for name in ("ingest/repeated_ids", "ingest/drop_repeated"):
        engine.execute(load(name).text)
    return kept(engine, "from staged")


@pytest.mark.parametrize("seed", range(4))
def test_copies_that_differ_in_everything(engine: duckdb.DuckDBPyConnection, seed: int) -> None:
    draw = random.Random(seed)
    stage(
        engine,
        [
            {"request_id": str(n % 60), **{column: draw.choice(values) for column, values in RANKED.items()}}
            for n in range(400)
        ],
    )
    found = unique(engine)
    assert len(found) == 60
    assert found == deduplicated_by_the_ingest(engine)


@pytest.mark.parametrize("column", RANKED)
def test_copies_that_differ_in_one_field(engine: duckdb.DuckDBPyConnection, column: str) -> None:
    same: dict[str, Any] = {name: values[-1] for name, values in RANKED.items()} | {"outcome": "ok"}
    pairs = [(a, b) for a in RANKED[column] for b in RANKED[column]]
    stage(engine, [same | {"request_id": f"{n:03}", column: value} for n, pair in enumerate(pairs) for value in pair])
    found = unique(engine)
    assert len(found) == len(pairs)
    assert found == deduplicated_by_the_ingest(engine)


@pytest.mark.parametrize("seed", range(6))
def test_copies_that_are_the_same_are_told_apart_by_where_they_stand(
    engine: duckdb.DuckDBPyConnection, seed: int
) -> None:
    copies = [
        {"source_line": line, "source_sha256": sha256, "source_file": file}
        for line in (2, 1)
        for sha256 in ("b", "a")
        for file in ("y", "x")
    ]
    random.Random(seed).shuffle(copies)
    stage(engine, [{"request_id": "r", "arrived_us": 0, "outcome": "ok", **copy} for copy in copies])
    engine.execute("create or replace temp view lake as from staged")
    found = engine.execute(
        f"select source_line, source_sha256, source_file from ({load('mart/unique_requests').text})"
    ).fetchall()
    assert found == [(1, "a", "x")]


def test_the_same_id_of_two_deployments_is_two_requests(engine: duckdb.DuckDBPyConnection) -> None:
    stage(engine, [{"request_id": "r", "deployment": name, "arrived_us": 0, "outcome": "ok"} for name in ("a", "b")])
    assert unique(engine) == [("r", 1), ("r", 2)]


def test_what_is_kept_has_the_columns_that_the_lake_has(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute("create schema core")
    engine.execute(load("schema/10_no_requests").text)
    engine.execute("create or replace temp view lake as from staged")
    engine.execute(f"create temp view kept as {load('mart/unique_requests').text}")
    columns = "select column_name, column_type from (describe {}) order by all"
    assert (
        engine.execute(columns.format("kept")).fetchall()
        == engine.execute(columns.format("core.no_requests")).fetchall()
    )
