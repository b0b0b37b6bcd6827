"""What the tests of the Spark engine share: a cluster of several processes, places that use it, and their engine.

The JVMs' own time zone is New York's throughout: where a result rested on it, no test here would pass.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from pipelines.engines.opening import engine_of
from pipelines.settings import load_settings
from tests.place import PRICE, SOURCE, Place, refresh_day
from tests.spark.cluster import QUICK, Cluster, spark_home

ZONE = "-Duser.timezone=America/New_York"


def spark_config(master: str, rest: str = SOURCE + PRICE) -> str:
    """Return a configuration whose marts are made on `master`, and the `rest` of which is another's."""
    return f"""
engine = "spark"

[spark]
master = "{master}"

[spark.conf]
"spark.sql.shuffle.partitions" = "6"
"spark.driver.memory" = "768m"
"spark.executor.memory" = "768m"
"spark.driver.extraJavaOptions" = "{QUICK} {ZONE}"
"spark.executor.extraJavaOptions" = "{QUICK} {ZONE}"

{rest}"""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers of one core each."""
    started = Cluster(tmp_path_factory.mktemp("spark") / "cluster")
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture
def no_work_left() -> Iterator[None]:
    """Remove what a cluster inside the driver's process leaves in the package's own folder."""
    yield
    shutil.rmtree(spark_home() / "work", ignore_errors=True)


def refresh(place: Place) -> dict[str, Any]:
    """Make the marts of all days of a place with the engine of its configuration; return what the engine shows."""
    settings = load_settings(place.config)
    with place.warehouse.writer() as writer, engine_of(settings, lambda _line: None) as engine:
        for row in writer.rows("ops/lake_days"):
            refresh_day(writer, row["day_index"], engine)
        return engine.shown()
