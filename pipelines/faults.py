"""Named instants at which a test ends the process, as a power cut would.

Belongs here: the closed list of the instants. Does not belong here: anything a user meets: without its variable in the
environment `reach` does nothing, and outside a test the variable is refused.
"""

from __future__ import annotations

import os
import signal

from pipelines.errors import UsageError

VARIABLE = "VALLEYWATCH_FAULT"
POINTS = (
    "file_staged",
    "parquet_aside",
    "lake_written",
    "manifest_written",
    "rejection_written",
    "file_committed",
    "findings_cleared",
    "marts_judged",
    "marts_committed",
    "curves_cleared",
    "verdicts_written",
    "verdicts_committed",
    "snapshot_aside",
    "snapshot_named",
    "snapshot_linked",
    "report_aside",
    "report_written",
    "alert_sending",
    "alert_sent",
    "alert_kept",
)
"""In the order a run passes them."""


def reach(point: str) -> None:
    """End the process by SIGKILL here if the environment names this point and pytest is above the process."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return
    if "PYTEST_CURRENT_TEST" not in os.environ:
        raise UsageError(f"{VARIABLE} = {wanted!r} kills the process for tests and is refused outside them: unset it")
    if wanted not in POINTS or point not in POINTS:
        raise ValueError(f"{wanted!r} or {point!r} is no fault point: they are {', '.join(POINTS)}")
    if point == wanted:
        os.kill(os.getpid(), signal.SIGKILL)
