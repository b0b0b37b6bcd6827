"""`valleywatch run` on a cluster: the same answers as without one, also after its driver was killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPO
from tests.place import Place
from tests.spark.cluster import Cluster, children, wait_for
from tests.spark.conftest import spark_config

pytestmark = pytest.mark.spark
DEMO = (REPO / "fixtures" / "demo.toml").read_text()
MEASURED = DEMO.index('[[sources]]\nname = "llama"'), DEMO.index("[[prices]]")
FLEET = DEMO[: MEASURED[0]] + DEMO[MEASURED[1] :]
"""The demo without its measured log, which is of another day."""
FOLDERS = ("path", "source_file")
"""Columns that name the place."""
HOURS = 6
DRIVER = "org.apache.spark.deploy.SparkSubmit"


def demo(folder: Path, fleet_module: ModuleType, config: str) -> Place:
    """Lay out the synthetic part of what the demo runs on, a quarter of its day."""
    fleet_module.generate_fleet(folder / "fleet", hours=HOURS)
    return Place(folder, config)


@contextmanager
def start(place: Place) -> Iterator[subprocess.Popen[str]]:
    """Run the job in a process of its own, which has ended afterwards."""
    command = [sys.executable, "-P", "-m", "pipelines", "run", "--config", str(place.config)]
    path = os.pathsep.join([str(REPO), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "TZ": "America/New_York"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe) as running:
        try:
            yield running
        finally:
            running.kill()


def until_written(running: subprocess.Popen[str], folder: Path, pattern: str) -> None:
    """Wait until a run has written something; an end before that is its own message."""
    wait_for(lambda: running.poll() is not None or any(folder.glob(pattern)), pattern)
    assert running.poll() is None, running.communicate()[1]


def status(place: Place, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert place.valleywatch("status", "--json") == 0
    return capsys.readouterr().out


def test_the_status_is_that_of_duckdb_also_after_the_driver_was_killed_mid_write(
    tmp_path: Path, fleet_module: ModuleType, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    on_duckdb = demo(tmp_path / "on-duckdb", fleet_module, FLEET)
    on_spark = demo(tmp_path / "on-spark", fleet_module, spark_config(cluster.master, FLEET))
    written = on_spark.warehouse.folder / "spark"

    with start(on_spark) as first:
        until_written(first, written, "run=*/*/_temporary")
        (driver,) = children(first.pid, DRIVER)
        driver.kill()
        _, said = first.communicate()
    assert first.returncode == 75, said
    assert "Spark on spark://" in said
    assert "Run again" in said
    assert "Traceback" not in said
    assert list(on_spark.folder.glob("warehouse/snapshots/*")) == []

    with start(on_spark) as second:
        assert on_duckdb.valleywatch("run") == 0
        _, said = second.communicate()
    assert second.returncode == 0, said
    assert "Traceback" not in said
    assert not list(written.glob("run=*"))
    expected = status(on_duckdb, capsys)
    assert status(on_spark, capsys) == expected
    assert {row["state"] for row in json.loads(expected)} > {"in_valley"}
    assert on_spark.views(without=FOLDERS) == on_duckdb.views(without=FOLDERS)


@pytest.mark.slow
def test_what_a_killed_process_wrote_is_read_by_nobody_and_removed(
    tmp_path: Path, fleet_module: ModuleType, cluster: Cluster
) -> None:
    place = demo(tmp_path, fleet_module, spark_config(cluster.master, FLEET))
    written = place.warehouse.folder / "spark"
    with start(place) as first:
        until_written(first, written, "run=*/hourly_hit_rate/_SUCCESS")
        first.kill()
        first.communicate()
    (left,) = written.glob("run=*")
    assert not list(place.folder.glob("warehouse/snapshots/*"))
    with start(place) as second:
        second.communicate()
    assert second.returncode == 0
    assert not left.exists()
    assert place.rows("select count(*) as n from hourly_hit_rate")[0]["n"] > HOURS


@pytest.mark.slow
def test_a_spark_connect_server_is_asked_the_same(tmp_path: Path, fleet_module: ModuleType, cluster: Cluster) -> None:
    on_duckdb = demo(tmp_path / "on-duckdb", fleet_module, FLEET)
    with cluster.connect() as address:
        on_spark = demo(tmp_path / "on-spark", fleet_module, spark_config(address, FLEET))
        with start(on_spark) as running:
            assert on_duckdb.valleywatch("run") == 0
            _, said = running.communicate()
    assert running.returncode == 0, said
    assert "Traceback" not in said
    assert on_spark.views(without=FOLDERS) == on_duckdb.views(without=FOLDERS)


@pytest.mark.slow
def test_a_master_that_is_not_there_is_one_sentence(tmp_path: Path, fleet_module: ModuleType) -> None:
    place = demo(tmp_path, fleet_module, spark_config("spark://127.0.0.1:1", FLEET))
    with start(place) as running:
        _, said = running.communicate()
    assert running.returncode == 75, said
    assert "Spark on spark://127.0.0.1:1 did not finish: the master was not reached within a minute" in said
    assert "Traceback" not in said
