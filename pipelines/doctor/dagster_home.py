"""DAGSTER_HOME: the folder of Dagster's own history, which nothing of ours depends on.

Belongs here: whether it can be used. Does not belong here: what the history holds (`dagster_runs`), any import of
Dagster, which takes seconds and those who use cron alone need not wait for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn

_RULE = "DAGSTER_HOME, where set, is the absolute path of a folder that the job's user can write"


def check_home(case: Case) -> Iterator[Finding]:
    """Find whether the environment names a usable folder for Dagster's history."""
    name = case.environment.get("DAGSTER_HOME")
    home = Path(name) if name else None
    if home is None:
        yield ok(
            "dagster_home_unset",
            "DAGSTER_HOME is not set: runs of `valleywatch run` keep no history",
            remedy="where Dagster's daemon runs the job, run doctor with the daemon's DAGSTER_HOME",
        )
    elif not home.is_absolute():
        yield bad(
            "dagster_home_relative",
            f"DAGSTER_HOME is {name}, a relative path",
            name,
            rule=_RULE,
            remedy=f'export DAGSTER_HOME="{Path.cwd() / home}"',
        )
    elif not home.is_dir():
        yield bad(
            "dagster_home_missing",
            f"DAGSTER_HOME is {name}, and there is no such folder",
            name,
            rule=_RULE,
            remedy=f"mkdir -p {name} and put dagster_home/dagster.yaml of this package into it",
        )
    elif not os.access(home, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
        yield bad(
            "dagster_home_closed",
            f"DAGSTER_HOME is {name}, closed to user {os.geteuid()}",
            name,
            rule=_RULE,
            remedy="run doctor as the user that runs the job, or give that user the folder",
        )
    elif not (home / "dagster.yaml").exists():
        yield warn(
            "dagster_home_bare",
            f"{name} holds no dagster.yaml: telemetry is on, runs that hang are not ended",
            name,
            rule="the settings shipped as dagster_home/dagster.yaml are in force",
            remedy=f"put dagster_home/dagster.yaml of this package into {name}",
        )
    else:
        yield ok("dagster_home", f"DAGSTER_HOME is {name}", name, rule=_RULE)


def usable_home(case: Case) -> Path | None:
    """Return the folder where there is history to read, else None: opening an empty one would begin to write it."""
    home = Path(case.environment.get("DAGSTER_HOME") or "")
    if not home.is_absolute() or not os.access(home, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
        return None
    settings = home / "dagster.yaml"
    is_elsewhere = settings.exists() and any(
        line.startswith(("storage:", "run_storage:")) for line in settings.read_text(errors="replace").splitlines()
    )
    return home if is_elsewhere or (home / "history").is_dir() else None
