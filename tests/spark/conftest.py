"""What the tests of the Spark engine share: a cluster of several processes, places that use it, and their engine.

The JVMs' own time zone is New York's throughout: where a result rested on it, no test here would pass.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipelines.engines.opening import engine_of
from pipelines.settings import load_settings
from tests.place import PRICE, SOURCE, Place, refresh_day
from tests.spark.cluster import QUICK, Cluster, spark_home

ZONE = "-Duser.timezone=America/New_York"


def spark_config(master: str, more: str = "") -> str:
    """Return a configuration whose marts are made on `master`."""
    return f"""
engine = "spark"

[spark]
master = "{master}"

[spark.conf]
"spark.sql.shuffle.partitions" = "6"
"spark.driver.memory" = "768m"
"spark.executor.memory" = "768m"
"spark.ui.enabled" = "true"
"spark.driver.extraJavaOptions" = "{QUICK} {ZONE}"
"spark.executor.extraJavaOptions" = "{QUICK} {ZONE}"
{more}
{SOURCE}{PRICE}"""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers of one core each."""
    started = Cluster(tmp_path_factory.mktemp("spark") / "cluster")
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def no_work_left() -> Iterator[None]:
    """Remove what a cluster inside the driver's process leaves in the package's own folder."""
    yield
    shutil.rmtree(spark_home() / "work", ignore_errors=True)


@pytest.fixture
def refresh() -> Callable[[Place], list[str]]:
    """Make the marts of all days of a place with the engine of its configuration; return what it told."""

    def refreshed(place: Place) -> list[str]:
        settings, told = load_settings(place.config), []
        with place.warehouse.writer() as writer, engine_of(settings, told.append) as engine:
            for row in writer.rows("ops/lake_days"):
                refresh_day(writer, row["day_index"], engine)
            told.append(repr(engine.shown()))
        return told

    return refreshed


@pytest.fixture
def at(tmp_path: Path) -> Callable[[str, str], Place]:
    """Make a place of a name with a configuration."""
    return lambda name, config: Place(tmp_path / name, config)
