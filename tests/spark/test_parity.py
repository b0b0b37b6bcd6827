"""Both engines make the same marts of the same requests, to the last digit, whatever dies meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.place import Place
from tests.spark.cluster import Cluster, wait_for
from tests.spark.conftest import refresh, spark_config
from tests.spark.lakes import HUGE, copy_unique, hours_of, mark, marts_of, requests, write_lake

pytestmark = pytest.mark.spark
N_REQUESTS = int(os.environ.get("VALLEYWATCH_SPARK_ROWS", "30000"))
"""Enough for several thousand deployment-hours; `make test-spark-large` takes more."""
ONE_IN = 200
"""Of the records, those that come late."""


def placed(folder: Path, master: str, records: list[dict[str, Any]]) -> tuple[Place, Place]:
    """Give Spark all records and DuckDB, which does not look for them, those that count."""
    on_spark, on_duckdb = Place(folder / "on-spark", spark_config(master)), Place(folder / "on-duckdb")
    with on_spark.warehouse.writer() as here, on_duckdb.warehouse.writer() as there:
        write_lake(here, records, "early")
        mark(here, hours_of(records))
        copy_unique(here, there, "early")
    return on_spark, on_duckdb


def add_late(on_spark: Place, on_duckdb: Place, late: list[dict[str, Any]], touched: set[int]) -> None:
    """Bring the late ones, to DuckDB as a lake that is made anew."""
    with on_spark.warehouse.writer() as here, on_duckdb.warehouse.writer() as there:
        write_lake(here, late, "late")
        mark(here, touched)
        for row in there.rows("ops/lake_files"):
            there.run("ingest/forget_file", file=row["file"])
        copy_unique(here, there, "all")


def test_executors_of_their_own_on_this_machine(tmp_path: Path, no_work_left: None) -> None:
    on_spark, on_duckdb = placed(tmp_path, "local-cluster[2,1,768]", requests(N_REQUESTS))
    shown = refresh(on_spark)
    refresh(on_duckdb)
    marts = marts_of(on_duckdb)
    assert marts_of(on_spark) == marts
    assert shown["spark_application"].startswith("app-")
    assert shown["spark_stages"] > 0
    assert shown["spark_failed_tasks"] == 0
    hours = {(row["deployment"], row["hour_index"]) for row in marts["hourly_hit_rate"]}
    assert len(hours) > 3000
    assert max(row["output_tokens"] or 0 for row in marts["hourly_hit_rate"]) > HUGE
    assert max(row["sum_input_sq"] or 0 for row in marts["hourly_hit_rate"]) > 1 << 63
    assert {0, 980, 990, 1000} <= {row["bin_low_permille"] for row in marts["hit_rate_histogram"]}
    assert not list((on_spark.warehouse.folder / "spark").glob("run=*"))


def test_late_records_and_an_executor_killed_mid_shuffle(tmp_path: Path, cluster: Cluster) -> None:
    records = requests(N_REQUESTS, seed=2)
    late, early = records[::ONE_IN], [record for place, record in enumerate(records) if place % ONE_IN]
    on_spark, on_duckdb = placed(tmp_path, cluster.master, early)
    killed = Killing(cluster)
    refresh(on_spark)
    executor = killed.of_executor()
    assert executor not in {process.pid for process in cluster.executors()}
    assert cluster.n_executors_started(killed.application) > 2
    refresh(on_duckdb)
    before = marts_of(on_duckdb)
    assert marts_of(on_spark) == before

    # Their hours, and those of other records of the same requests, which they may take the place of: no others.
    ids = {(record["deployment"], record["request_id"]) for record in late}
    touched = hours_of([record for record in records if (record["deployment"], record["request_id"]) in ids])
    add_late(on_spark, on_duckdb, late, touched)
    refresh(on_spark)
    refresh(on_duckdb)
    after = marts_of(on_duckdb)
    assert marts_of(on_spark) == after != before


@pytest.mark.slow
def test_a_worker_that_is_lost_changes_nothing(tmp_path: Path, cluster: Cluster) -> None:
    on_spark, on_duckdb = placed(tmp_path, cluster.master, requests(N_REQUESTS, seed=3))
    cluster.add_worker()
    killed = Killing(cluster, workers=True)
    refresh(on_spark)
    killed.of_worker()
    refresh(on_duckdb)
    assert marts_of(on_spark) == marts_of(on_duckdb)


class Killing:
    """Kills one of the cluster's own as soon as an application has shuffled something."""

    def __init__(self, cluster: Cluster, *, workers: bool = False) -> None:
        self._cluster = cluster
        self._before = set(cluster.shuffled())
        self._applications = set(cluster.applications())
        self._killed: list[int] = []
        self._thread = threading.Thread(target=self._kill_worker if workers else self._kill_executor)
        self._thread.start()

    @property
    def application(self) -> str:
        """The one that was met."""
        (name,) = set(self._cluster.applications()) - self._applications
        return name

    def of_executor(self) -> int:
        """Return the process that was killed."""
        return self._done()

    def of_worker(self) -> None:
        """Say that it was killed."""
        self._done()

    def _done(self) -> int:
        self._thread.join()
        (pid,) = self._killed
        return pid

    def _wait(self) -> None:
        wait_for(lambda: set(self._cluster.shuffled()) - self._before, "a shuffle")

    def _kill_executor(self) -> None:
        self._wait()
        executor: psutil.Process = self._cluster.executors()[0]
        executor.kill()
        self._killed.append(executor.pid)

    def _kill_worker(self) -> None:
        self._wait()
        self._killed.append(self._cluster.kill_worker())
