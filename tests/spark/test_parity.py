"""Both engines make the same marts of the same requests, to the last digit."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.place import Place
from tests.spark.cluster import Cluster
from tests.spark.conftest import spark_config
from tests.spark.lakes import HUGE, copy_unique, marts_of, requests, write_lake

pytestmark = pytest.mark.spark
N_REQUESTS = int(os.environ.get("VALLEYWATCH_SPARK_ROWS", "40000"))
"""Enough for several thousand deployment-hours; `make test-spark-large` takes millions."""
MADE_LATE = 40


def both(at: Callable[[str, str], Place], master: str) -> tuple[Place, Place]:
    return at("on-spark", spark_config(master)), at("on-duckdb", "")


def load(on_spark: Place, on_duckdb: Place, records: list[dict[str, object]], name: str) -> None:
    """Give Spark all records, and DuckDB what of all of them counts."""
    with on_spark.warehouse.writer() as here, on_duckdb.warehouse.writer() as there:
        write_lake(here, records, name)
        for row in there.rows("ops/lake_files"):
            there.run("ingest/forget_file", file=row["file"])
        copy_unique(here, there, name)


def check(at: Callable[[str, str], Place], refresh: Callable[[Place], list[str]], master: str) -> None:
    on_spark, on_duckdb = both(at, master)
    records = requests(N_REQUESTS)
    early = [record for record in records if record["source_line"] % MADE_LATE or record["arrived_us"] % 7]
    load(on_spark, on_duckdb, early, "early")
    told = refresh(on_spark)
    refresh(on_duckdb)
    marts = marts_of(on_duckdb)
    assert marts_of(on_spark) == marts
    hours = {(row["deployment"], row["hour_index"]) for row in marts["hourly_hit_rate"]}
    assert len(hours) > 3000, told
    assert max(row["output_tokens"] or 0 for row in marts["hourly_hit_rate"]) > HUGE
    assert max(row["sum_input_sq"] or 0 for row in marts["hourly_hit_rate"]) > 1 << 63
    assert len(marts["busy_periods"]) > len(hours)

    # Late ones, and better records of requests that were counted: their hours are made anew, never added to.
    load(on_spark, on_duckdb, records, "late")
    with on_spark.warehouse.writer() as writer:
        for row in writer.rows("ops/lake_files"):
            if "early" in row["file"]:
                writer.run("ingest/forget_file", file=row["file"])
    refresh(on_spark)
    refresh(on_duckdb)
    after = marts_of(on_duckdb)
    assert marts_of(on_spark) == after != marts


def test_executors_of_their_own_on_this_machine(
    at: Callable[[str, str], Place], refresh: Callable[[Place], list[str]], no_work_left: None
) -> None:
    check(at, refresh, "local-cluster[2,1,768]")


def test_a_cluster_of_a_master_and_two_workers(
    at: Callable[[str, str], Place], refresh: Callable[[Place], list[str]], cluster: Cluster
) -> None:
    check(at, refresh, cluster.master)
