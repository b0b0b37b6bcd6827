"""Room on the disk: what is free, what is needed, and how long it lasts.

Belongs here: bytes and inodes of the warehouse's disk. Does not belong here: memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import GIB, counted, size
from pipelines.times import to_day_index
from pipelines.warehouse import Reader
from pipelines.warehouse.disk import is_locked
from pipelines.warehouse.folder import RESERVE_BYTES

GROWTH_DAYS = 14
"""Days whose logs tell the present rate."""
WARN_DAYS, BAD_DAYS, FAR_DAYS = 30, 3, 730
MIN_INODES = 1000
MAX_LEFT_BYTES = GIB
MAX_BLOAT, MIN_BLOATED_BYTES = 4, 256 << 20
"""Replaced rows leave free blocks in the database and none in its copy; small databases are all free blocks."""
_MAKE_ROOM = "free some, or move the warehouse to a larger disk; nothing in lake/ may be deleted by hand"


def check_room(case: Case) -> Iterator[Finding]:
    """Find whether a run could begin and publish."""
    free = shutil.disk_usage(case.folder).free
    snapshot = case.warehouse.snapshot
    needed = RESERVE_BYTES + (snapshot.stat().st_size if snapshot.exists() else 0)
    what = f"{size(free)} free, a run needs {size(needed)} to begin and publish"
    rule = f"free space holds a reserve of {size(RESERVE_BYTES)} and another snapshot"
    if free < needed:
        yield bad("disk_full", what, free, rule=rule, remedy=_MAKE_ROOM)
    else:
        yield ok("disk", what, free, rule=rule)
    inodes = os.statvfs(case.folder)
    # File systems without a fixed number of inodes tell of none at all.
    if inodes.f_files and inodes.f_favail < MIN_INODES:
        rule = f"at least {MIN_INODES:,} more files can be made"
        yield bad(
            "inodes",
            f"{inodes.f_favail:,} more files can be made",
            inodes.f_favail,
            rule=rule,
            remedy="remove what made so many small files on this disk",
        )


def check_growth(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find how long the free space lasts at the rate of the newest days."""
    rows = reader.rows("doctor/lake_files")
    today = to_day_index(case.now.date())
    recent = [row for row in rows if today - GROWTH_DAYS <= row["day_index"] < today]
    rule = f"the lake has room for {WARN_DAYS} more days"
    if not recent:
        yield ok("disk_growth", f"no traffic in the last {GROWTH_DAYS} days to tell growth from", rule=rule)
        return
    n_days = today - min(row["day_index"] for row in recent)
    per_day = sum(row["size_bytes"] for row in recent) / n_days
    left = shutil.disk_usage(case.folder).free / per_day
    room = f"room for {left:,.0f} days" if left < FAR_DAYS else "room for years"
    what = f"the lake grows by {size(per_day)} a day: {room}"
    if left < WARN_DAYS:
        found = bad if left < BAD_DAYS else warn
        yield found("disk_growth", what, left, rule=rule, remedy=_MAKE_ROOM)
    else:
        yield ok("disk_growth", what, left, rule=rule)


def check_left_over(case: Case) -> Iterator[Finding]:
    """Find what killed runs left in the scratch folder, and a database that is mostly free blocks."""
    if not is_locked(case.folder / "writer.lock"):
        sizes = [path.stat().st_size for path in (case.folder / "tmp").glob("*")]
        if sum(sizes) > MAX_LEFT_BYTES:
            yield warn(
                "scratch_left",
                f"{counted(len(sizes), 'file')} of {size(sum(sizes))} left in tmp/ by a killed run",
                sum(sizes),
                rule=f"at most {size(MAX_LEFT_BYTES)} is left over",
                remedy="run `valleywatch run`: it removes them before anything else",
            )
    aside = sorted(case.folder.glob("damaged-*"))
    if aside:
        names = ", ".join(path.name for path in aside)
        yield ok(
            "damaged_aside",
            f"a rebuild put {names} aside",
            len(aside),
            remedy="delete it when nobody needs it any more",
        )
    live, copy = case.folder / "warehouse.duckdb", case.warehouse.snapshot
    if live.exists() and copy.exists():
        yield _bloat(live, copy)


def _bloat(live: Path, copy: Path) -> Finding:
    n_live, n_copy = live.stat().st_size, copy.stat().st_size
    what = f"the database has {size(n_live)}, its copy {size(n_copy)}"
    rule = f"a database over {size(MIN_BLOATED_BYTES)} is at most {MAX_BLOAT} times as large as its copy"
    if n_live > MIN_BLOATED_BYTES and n_live > MAX_BLOAT * n_copy:
        remedy = "when no run is at work: `valleywatch rebuild`, then `valleywatch run`"
        return warn("database_bloat", what, n_live / n_copy, rule=rule, remedy=remedy)
    return ok("database_bloat", what, n_live / n_copy, rule=rule)
