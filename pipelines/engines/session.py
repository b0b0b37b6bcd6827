"""A session of Spark: started, set, checked, stopped.

Belongs here: what differs between a driver in this process (classic) and a Spark Connect server. Does not belong here:
what the session is asked (`spark`).
"""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.engines.settings import OURS, SparkSettings
from pipelines.errors import UsageError
from pipelines.stopping import ended_by

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
LOG = "driver.log"


@contextmanager
def session_of(settings: SparkSettings, log: Path) -> Iterator[SparkSession]:
    """Start a session of our own and stop it in the end; a driver here writes its log to `log`."""
    session = _connect(settings) if settings.is_connect else _drive(settings, log)
    try:
        _set(session)
        with ended_by(lambda: _interrupt(session)):
            yield session
    finally:
        # A session whose cluster is gone cannot be stopped in order; its own error must reach the user.
        with suppress(Exception):
            session.stop()


def _connect(settings: SparkSettings) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(str(settings.master))
    for name, value in settings.conf.items():
        builder = builder.config(name, value)
    return builder.create()


def _drive(settings: SparkSettings, log: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    require_java()
    conf = SparkConf().setMaster(str(settings.master)).setAppName("valleywatch")
    conf.setAll([("spark.ui.showConsoleProgress", "false"), *OURS.items()])
    if settings.is_on_this_machine:
        # Else the driver would offer itself to the network, and wait for answers through it.
        conf.setAll([("spark.driver.host", LOOPBACK), ("spark.driver.bindAddress", LOOPBACK)])
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    conf.setAll(list(settings.conf.items()))
    if SparkContext._gateway is None:
        # The JVM writes to the terminal from its first moment on; only its launcher can say where to instead.
        with log.open("wb") as file:
            gateway = launch_gateway(conf, popen_kwargs={"stdout": file, "stderr": file})
        SparkContext._ensure_initialized(gateway=gateway)
    SparkContext(conf=conf)
    return SparkSession.builder.create()


def identity_of(session: Any) -> str:
    """Return the name that a Spark Connect server knows a session by."""
    return str(session.session_id)


def require_java() -> None:
    """Raise UsageError where there is nothing to run a driver with."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise UsageError(
            'engine = "spark": a driver in this process needs Java 17, and neither JAVA_HOME nor PATH has one: install '
            "it (Debian: openjdk-17-jre-headless), or name a Spark Connect server in spark.master"
        )


def load_spark() -> None:
    """Import pyspark without its remarks; raise UsageError where it is not installed."""
    try:
        with warnings.catch_warnings():
            # It warns of pandas 3, which nothing here goes through.
            warnings.simplefilter("ignore", FutureWarning)
            import pyspark.sql
            import pyspark.sql.connect.session  # noqa: F401
    except ImportError as error:
        name = (error.name or str(error)).partition(".")[0]
        raise UsageError(
            f'engine = "spark": {name} is not installed: install valleywatch[spark], or remove the key'
        ) from None
    # Its errors come as JSON on the terminal besides being raised.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True


def _set(session: SparkSession) -> None:
    """Set what results rest on; raise UsageError where the cluster does not take it."""
    for name, value in OURS.items():
        session.conf.set(name, value)
        found = session.conf.get(name)
        if str(found).lower() != value.lower():
            raise UsageError(f"{name} is {found!r} on this cluster and stays so: marts are only made with {value!r}")


def _interrupt(session: SparkSession) -> None:
    with suppress(Exception):
        session.interruptAll()
