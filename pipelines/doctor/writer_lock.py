"""The writer's lock: free, or held by whom and since when; and whether the file system keeps it at all.

Belongs here: that. Does not belong here: taking the lock for longer than a look, or breaking it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipelines.display import utc_time
from pipelines.doctor.case import Case, changed_at
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import HOUR_S, span
from pipelines.doctor.processes import owner
from pipelines.warehouse.disk import is_locked

MAX_HELD_S = 4 * HOUR_S
"""As long as Dagster lets a run take (`max_runtime_seconds` in dagster_home/dagster.yaml)."""
_REMOTE = re.compile(r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|fuse\.(?!fuse-overlayfs).+")
"""File systems of which other machines may write the same files, or whose locks are somebody else's to keep."""


def check_lock(case: Case) -> Iterator[Finding]:
    """Find who holds the lock; a file left by a dead process is free, since the kernel frees what it held."""
    path = case.folder / "writer.lock"
    if not is_locked(path):
        yield ok("writer_lock", "no process is writing", rule=f"a run holds the lock for at most {span(MAX_HELD_S)}")
        return
    since = changed_at(path)
    held_s = case.age_s(since)
    text = path.read_text(errors="replace").strip()
    found = owner(int(text), since, case.proc) if text.isdecimal() else None
    of = f"process {text or 'unknown'}"
    who = f"{of} ({found.command})" if found else f"{of}, which is not to be seen from here,"
    what = f"{who} holds the lock since {utc_time(since)} UTC, {span(held_s)}"
    rule = f"a run holds the lock for at most {span(MAX_HELD_S)}"
    unseen = "look for it on the machine or in the container where the job runs, or for its children: fuser -v"
    if held_s > MAX_HELD_S:
        remedy = f"see whether it still works (top -p {text}); if it hangs: kill {text}. What it committed stays"
        yield bad("writer_lock_long", what, text, rule=rule, remedy=remedy if found else f"{unseen} {path}")
    elif found is None:
        yield warn(
            "writer_lock_unseen", what, text, rule="the holder is a process of this machine", remedy=f"{unseen} {path}"
        )
    else:
        yield ok("writer_lock", what, text, rule=rule)


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
