"""Locks, the writer's and that of a round of delivery: free, or held by whom and since when; and what keeps them.

Belongs here: that. Does not belong here: taking a lock for longer than a look, or breaking it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipelines.delivery.rounds import LOCK as DELIVERY_LOCK
from pipelines.display import utc_time
from pipelines.doctor.case import Case, changed_at
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import HOUR_S, span
from pipelines.doctor.processes import owner
from pipelines.warehouse.disk import is_locked

WRITER_MAX_S = 4 * HOUR_S
"""As long as Dagster lets a run take (`max_runtime_seconds` in dagster_home/dagster.yaml)."""
DELIVERY_MAX_S = HOUR_S
"""Every message has a deadline of seconds, and a round waits at most minutes for the writer."""
_REMOTE = re.compile(r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|fuse\.(?!fuse-overlayfs).+")
"""File systems of which other machines may write the same files, or whose locks are somebody else's to keep."""


def check_writer(case: Case) -> Iterator[Finding]:
    """Find who writes to the warehouse."""
    yield _lock(case, "writer.lock", "writer_lock", "writing", WRITER_MAX_S)


def check_delivery(case: Case) -> Iterator[Finding]:
    """Find who sends alerts."""
    yield _lock(case, DELIVERY_LOCK, "delivery_lock", "sending alerts", DELIVERY_MAX_S)


def _lock(case: Case, name: str, code: str, doing: str, most_s: float) -> Finding:
    """Find who holds a lock; a file left by a dead process is free, since the kernel frees what it held."""
    path, rule = case.folder / name, f"whoever is {doing} holds {name} for at most {span(most_s)}"
    if not is_locked(path):
        return ok(code, f"no process is {doing}", rule=rule)
    since = changed_at(path)
    held_s = case.age_s(since)
    pid = path.read_text(errors="replace").strip()
    found = owner(int(pid), since, case.proc) if pid.isdecimal() else None
    who = f"process {pid} ({found.command})" if found else f"process {pid or 'unknown'}, not to be seen from here,"
    what = f"{who} holds {name} since {utc_time(since)} UTC, {span(held_s)}"
    unseen = f"look for it on the machine or in the container where the job runs, or for its children: fuser -v {path}"
    if held_s > most_s:
        hangs = f"see whether it still works (top -p {pid}); if it hangs: kill {pid}. What it committed stays"
        return bad(f"{code}_long", what, pid, rule=rule, remedy=hangs if found else unseen)
    if found is None:
        return warn(f"{code}_unseen", what, pid, rule="the holder is a process of this machine", remedy=unseen)
    return ok(code, what, pid, rule=rule)


def check_file_system(case: Case) -> Iterator[Finding]:
    """Find whether the warehouse lies on a file system of this machine."""
    kind = file_system(case.folder, (case.proc / "self" / "mounts").read_text(errors="replace"))
    rule = "the warehouse lies on a disk of this machine: flock keeps one writer there, on a network share it may not"
    if _REMOTE.fullmatch(kind):
        remedy = "stop the job, move the folder to a local disk and set `path` under [warehouse]; share the report"
        yield bad("warehouse_remote", f"{case.folder} lies on {kind}", kind, rule=rule, remedy=remedy)
    else:
        yield ok("warehouse_local", f"{case.folder} lies on {kind}", kind, rule=rule)


def file_system(folder: Path, mounts: str) -> str:
    """Return the type of the file system that `folder` lies on, of the kernel's table of mounts."""
    found, depth = "an unknown file system", -1
    for line in mounts.splitlines():
        _, at, kind = line.split(" ")[:3]
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), at))
        if folder.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kind, len(point.parts)
    return found
