"""What Spark's errors mean to a person, and which of them may pass.

Belongs here: errors → ours, in one sentence. Does not belong here: trying again (the orchestrator, cron).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from py4j.protocol import Py4JError
from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    PySparkException,
    UnsupportedOperationException,
)

from pipelines.display import shown
from pipelines.errors import ClusterError, UsageError, ValleywatchError

UNSEEN = ("PATH_NOT_FOUND", "FAILED_READ_FILE.FILE_NOT_EXIST", "FAILED_READ_FILE.NO_HINT")
_LASTING = (AnalysisException, ArithmeticException, IllegalArgumentException, UnsupportedOperationException)
"""Of the statement or the data: the same call ends the same way."""
_UNCHANGED = "the marts are as they were"
_TEXT_CHARS = 300
_GIVEN_UP = "stopped SparkContext"
"""In what a driver says of every call once it has given up, which is never why."""


@contextmanager
def explained(master: str, log: Path | None) -> Iterator[None]:
    """Turn an error of Spark into one of ours; `log`: where its driver writes, if it is here."""
    more = f"; the driver's own words are in {log}" if log is not None else ""
    try:
        yield
    except (PySparkException, Py4JError, grpc.RpcError, ConnectionError, EOFError) as error:
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        text = shown(_first_line(error), _TEXT_CHARS)
        if condition in UNSEEN:
            raise UsageError(
                f"Spark on {master} does not see the lake: {text}. All of its machines must have the warehouse's "
                f"folder under its own path, or under that of spark.folder, readable to whom they run as; {_UNCHANGED}"
            ) from error
        if isinstance(error, _LASTING):
            raise ValleywatchError(f"Spark on {master} refused a statement: {text}; {_UNCHANGED}{more}") from error
        raise ClusterError(
            f"Spark on {master} did not finish: {text}; {_UNCHANGED}. Run again; if it comes again, look at the "
            f"cluster{more}"
        ) from error


def _first_line(error: Exception) -> str:
    """Return what went wrong without the JVM's stack, which follows in lines of its own."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if any(_GIVEN_UP in line for line in lines):
        return "the master was not reached within a minute, or ended the application"
    told = [line.removeprefix(": ") for line in lines if line.startswith(": ")]
    return (told or lines)[0]
