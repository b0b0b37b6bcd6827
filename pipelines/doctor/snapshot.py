"""The published snapshot: whether it is there and whole, and how far behind it is.

Belongs here: what readers would meet. Does not belong here: what the rows say (the other checks).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pipelines.display import utc_time
from pipelines.doctor.case import Case, changed_at
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import counted, listed, size, span
from pipelines.times import day_text, to_day_index
from pipelines.warehouse import SCHEMA_VERSION, Reader

_RULE = "a whole snapshot is published, of a layout this version reads"


def check_file(case: Case) -> Iterator[Finding]:
    """Find whether there is a snapshot that this user may read; nothing is found where it can be opened."""
    link = case.warehouse.snapshot
    if not link.is_symlink() and not link.exists():
        remedy = "run `valleywatch run`, which publishes one"
        yield bad("snapshot_missing", f"nothing is published in {case.folder}", rule=_RULE, remedy=remedy)
    elif not link.exists():
        yield bad(
            "snapshot_missing",
            f"{link} points to {link.readlink()}, which is not there",
            str(link),
            rule=_RULE,
            remedy=f"rm {link}, then run `valleywatch run`, which publishes another",
        )
    elif not os.access(link, os.R_OK, effective_ids=True):
        yield bad(
            "snapshot_closed",
            f"{link.resolve()} may not be read by user {os.geteuid()}",
            os.geteuid(),
            rule=_RULE,
            remedy="run doctor as the user that runs the job",
        )


def unusable(error: Exception) -> Finding:
    """Return the finding of a snapshot that cannot be opened or read to its end; the error names file and remedy."""
    return bad(
        "snapshot_damaged",
        str(error).partition("\n")[0],
        rule=_RULE,
        remedy="do as it says; if `valleywatch run` then finds the database damaged as well: `valleywatch rebuild`",
    )


def check_content(case: Case, reader: Reader) -> Iterator[Finding]:
    """Read it through, and say how old it is; damage raises."""
    n_rows = reader.read_through()
    path = case.warehouse.snapshot.resolve()
    published = changed_at(path)
    yield ok(
        "snapshot",
        f"{path.name}, layout {SCHEMA_VERSION}, {size(path.stat().st_size)}, read through: "
        f"{counted(n_rows, 'row')}; published {utc_time(published)} UTC, {span(case.age_s(published))} ago",
        case.age_s(published),
        rule=_RULE,
    )


def check_behind(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find days whose verdicts did not follow from the logs when the snapshot was published."""
    with_data = {row["day_index"] for row in reader.rows("ops/lake_days")}
    dirty = {row["day_index"] for row in reader.rows("ops/dirty_days")}
    published = changed_at(case.warehouse.snapshot.resolve())
    # The running day is not over, and the one that has just ended is what the next run is for.
    behind = sorted(day for day in dirty & with_data if day < to_day_index(published.date()) - 1)
    rule = "every day that is over is judged on all of its lines"
    if behind:
        yield warn(
            "days_behind",
            f"{counted(len(behind), 'day')} not judged since their lines changed: "
            f"{listed([day_text(day) for day in behind])}",
            len(behind),
            rule=rule,
            remedy="run `valleywatch run`, which does all of them",
        )
    else:
        yield ok("days_behind", "no day waits to be judged", 0, rule=rule)


def check_lake(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find whether the files that the snapshot reads are there, at their sizes; contents are checked by the job."""
    rows = reader.rows("doctor/lake_files")
    wrong = [row["file"] for row in rows if not _has_size(case, row["file"], row["size_bytes"])]
    rule = "every file of the lake that is listed is there and of its size"
    if wrong:
        yield bad(
            "lake_damaged",
            f"{counted(len(wrong), 'file')} missing or of another size: {listed(wrong)}",
            len(wrong),
            rule=rule,
            remedy="put them back from a backup, or run `valleywatch rebuild --from-logs`",
        )
    else:
        total = sum(row["size_bytes"] for row in rows)
        yield ok("lake", f"{counted(len(rows), 'file')}, {size(total)}, all there", len(rows), rule=rule)


def _has_size(case: Case, file: str, n_bytes: int) -> bool:
    try:
        return (case.folder / file).stat().st_size == n_bytes
    except FileNotFoundError:
        return False
