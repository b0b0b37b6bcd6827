"""The configuration → an engine.

Belongs here: which engine, for how long. Does not belong here: either of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from pipelines.engines.duck import DUCKDB
from pipelines.engines.interface import Engine
from pipelines.engines.spark import Spark
from pipelines.settings import Settings


@contextmanager
def engine_of(settings: Settings, tell: Callable[[str], None]) -> Iterator[Engine]:
    """Give the engine that the configuration names; what it started has ended afterwards."""
    if settings.engine == "duckdb":
        yield DUCKDB
        return
    with closing(Spark(settings.spark, tell)) as engine:
        yield engine
