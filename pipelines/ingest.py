"""Log files → the lake: each file once, each request once, each refused line kept with its reason.

Belongs here: the steps of loading one file and their order. Does not belong here: bytes (`lines`), rules about values
(`sql/ingest/judged.sql`), storage (`warehouse`). A file's requests, its quarantine rows and its manifest row become
visible in one commit; whole-file faults load nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines import lines
from pipelines.errors import RejectedFileError, UsageError
from pipelines.formats import FORMATS
from pipelines.inbox import find_files, path_text
from pipelines.settings import Settings, SourceSettings
from pipelines.times import HOURS_PER_DAY, day_text, to_us
from pipelines.warehouse import Writer

MAX_REJECT_SHARE = 0.05
"""Above this share of refused lines (and MIN_REJECTS of them) the producer changed its format: the file is refused."""
MIN_REJECTS = 100
CLOCK_SKEW_US = 600_000_000
"""Arrivals up to ten minutes ahead of this machine's clock are taken for clock skew, later ones are refused."""

MARTS_BY_HOUR = ("hourly_hit_rate", "hit_rate_histogram", "busy_periods")


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file. The counts are None where the file was not read to its end."""

    path: str
    status: str
    """`loaded`, `already_loaded` (same content, whatever its name), `rejected`."""
    detail: str | None = None
    n_lines: int | None = None
    n_loaded: int = 0
    n_duplicates: int | None = None
    n_quarantined: int | None = None
    n_blank: int | None = None


def ingest_sources(writer: Writer, settings: Settings, now: datetime, tell: Callable[[str], None]) -> list[FileOutcome]:
    """Load what is new in every configured source."""
    if not settings.sources:
        raise UsageError("the configuration names no [[sources]]: add one, or name files to `valleywatch ingest`")
    outcomes = []
    for source in settings.sources:
        files = find_files(settings.folder, source.path)
        if not files:
            tell(f"source {source.name!r}: no file matches {source.path!r}")
        outcomes += ingest_files(writer, source, files, settings.policy.window_days, now, tell)
    return outcomes


def ingest_files(
    writer: Writer,
    source: SourceSettings,
    files: Sequence[Path],
    window_days: int,
    now: datetime,
    tell: Callable[[str], None],
) -> list[FileOutcome]:
    """Load `files` as lines of `source`, one transaction a file; a bad file does not stop the others."""
    writer.run("ingest/staged")
    outcomes = []
    for path in files:
        outcome = _ingest_file(writer, source, path, window_days, now)
        if outcome.status != "already_loaded":
            tell(describe(outcome))
        outcomes.append(outcome)
    return outcomes


def describe(outcome: FileOutcome) -> str:
    """Say in one line what became of a file."""
    name = ascii(outcome.path)[1:-1]
    if outcome.n_lines is None:
        return f"{name}: {outcome.status.replace('_', ' ')}" + (f" ({outcome.detail})" if outcome.detail else "")
    return (
        f"{name}: {outcome.n_lines:,} lines = {outcome.n_loaded:,} loaded + {outcome.n_duplicates:,} duplicates "
        f"+ {outcome.n_quarantined:,} quarantined + {outcome.n_blank:,} blank"
    )


def _ingest_file(writer: Writer, source: SourceSettings, path: Path, window_days: int, now: datetime) -> FileOutcome:
    name = path_text(path)
    try:
        stat = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return FileOutcome(name, "rejected", "file_missing: gone since the folder was listed")
    seen = writer.rows("ops/known_file", path=name, size_bytes=stat.st_size, modified_ns=stat.st_mtime_ns)
    if seen and seen[0]["status"] == "loaded":
        return FileOutcome(name, "already_loaded")
    manifest = {
        "path": name,
        "source_name": source.name,
        "format": source.format,
        "size_bytes": stat.st_size,
        "modified_ns": stat.st_mtime_ns,
        "loaded_us": to_us(now),
    }
    try:
        sha256 = lines.content_sha256(path)
        known = writer.rows("ops/known_content", content_sha256=sha256)
        if known and known[0]["status"] == "loaded":
            return FileOutcome(name, "already_loaded", f"same content as {known[0]['path']}")
        with writer.transaction():
            return _load(writer, source, path, sha256, manifest, window_days, now)
    except RejectedFileError as fault:
        with writer.transaction():
            _reject(writer, path, fault, manifest)
        return FileOutcome(name, "rejected", str(fault))


def _load(
    writer: Writer,
    source: SourceSettings,
    path: Path,
    sha256: str,
    manifest: dict[str, Any],
    window_days: int,
    now: datetime,
) -> FileOutcome:
    n_lines, n_blank = _stage(writer, source, path, sha256, now)
    writer.run("ingest/fresh")
    writer.open_lake(row["file"] for row in writer.rows("ops/lake_files"))
    writer.run("ingest/clashes")
    writer.run("ingest/drop_duplicates")
    counts = writer.rows("ingest/counts")[0]
    n_quarantined = counts["n_quarantined"]
    if n_quarantined >= MIN_REJECTS and n_quarantined > MAX_REJECT_SHARE * n_lines:
        raise _too_many(writer, n_quarantined, n_lines, source)
    _write_lake(writer, sha256)
    hours = [row["hour_index"] for row in writer.rows("ingest/touched_hours")]
    _mark_dirty(writer, hours, window_days)
    _forget_rejection(writer, path)
    writer.insert("ops.quarantine", "ingest/quarantined", content_sha256=sha256, source_file=manifest["path"])
    n_loaded = counts["n_loaded"]
    n_duplicates = counts["n_lines"] - n_quarantined - n_loaded
    row = manifest | {
        "content_sha256": sha256, "status": "loaded", "lines": n_lines, "loaded": n_loaded,
        "duplicates": n_duplicates, "quarantined": n_quarantined, "blank": n_blank,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    writer.run("ops/move_to_duplicates")
    return FileOutcome(manifest["path"], "loaded", None, n_lines, n_loaded, n_duplicates, n_quarantined, n_blank)


def _stage(writer: Writer, source: SourceSettings, path: Path, sha256: str, now: datetime) -> tuple[int, int]:
    """Put the file's judged lines into the staging table; return the numbers of all lines and of blank ones."""
    log_format = FORMATS[source.format]
    writer.run("ingest/clear_staged")
    n_lines = n_blank = 0
    for block in lines.read_blocks(path, sha256):
        n_lines += block.n_lines
        n_blank += block.n_blank
        writer.insert_rows(
            "staged",
            [
                {"reason": x.reason, "source_line": x.line_number, "byte_offset": x.byte_offset, "excerpt": x.excerpt}
                for x in block.faults
            ],
        )
        with writer.registered("lines", block.lines):
            writer.create_view("mapped", f"ingest/{log_format.name}")
            writer.insert(
                "staged",
                "ingest/judged",
                deployment=source.deployment,
                epoch_unit=source.epoch_unit,
                naive_is_utc=source.timezone == "UTC",
                latest_us=to_us(now) + CLOCK_SKEW_US,
                ttft_basis=log_format.ttft_basis,
                cached_basis=log_format.cached_basis,
                source_name=source.name,
                source_file=path_text(path),
                source_sha256=sha256,
            )
    return n_lines, n_blank


def _too_many(writer: Writer, n_quarantined: int, n_lines: int, source: SourceSettings) -> RejectedFileError:
    worst = writer.rows("ingest/rejects")[0]
    return RejectedFileError(
        "too_many_rejects",
        f"{n_quarantined:,} of {n_lines:,} lines are refused, {worst['n_lines']:,} of them for {worst['reason']}: "
        f"this is not the format {source.format!r}, or its producer changed; see `valleywatch formats`",
    )


def _write_lake(writer: Writer, sha256: str) -> None:
    """Write the fresh requests by day; give lake files that lost a record a successor without it."""
    for lost in writer.rows("ingest/superseded_files"):
        name = hashlib.sha256(f"{lost['file']} {sha256}".encode()).hexdigest()[:16]
        relative = Path(lost["file"]).parent / f"{name}.parquet"
        size = writer.write_parquet("ingest/survivors_of_file", relative, file=lost["file"])
        writer.run("ingest/forget_file", file=lost["file"])
        _list_in_lake(writer, relative, lost["day_index"], lost["n_requests"] - lost["n_lost"], size)
    for day in writer.rows("ingest/fresh_days"):
        relative = Path("lake") / f"day={day_text(day['day_index'])}" / f"{sha256[:16]}.parquet"
        size = writer.write_parquet("ingest/fresh_of_day", relative, day_index=day["day_index"])
        _list_in_lake(writer, relative, day["day_index"], day["n_requests"], size)


def _list_in_lake(writer: Writer, relative: Path, day_index: int, n_requests: int, size_bytes: int) -> None:
    row = {"file": str(relative), "day_index": day_index, "n_requests": n_requests, "size_bytes": size_bytes}
    writer.insert_rows("ops.lake_files", [row])


def _mark_dirty(writer: Writer, hours: list[int], window_days: int) -> None:
    """Mark what no longer follows from the lake.

    A busy period can run over midnight, so the day after is marked for it too; a curve reads a trailing window, so
    every day up to its end is marked.
    """
    days = {hour // HOURS_PER_DAY for hour in hours}
    marks = [{"mart": mart, "hour_index": hour} for mart in MARTS_BY_HOUR for hour in hours]
    marks += [{"mart": "busy_periods", "hour_index": (day + 1) * HOURS_PER_DAY} for day in sorted(days)]
    writer.insert_rows("ops.dirty_hours", marks)
    later = sorted({day + ahead for day in days for ahead in range(max(window_days, 2))})
    writer.insert_rows("ops.dirty_days", [{"day_index": day} for day in later])


def _reject(writer: Writer, path: Path, fault: RejectedFileError, manifest: dict[str, Any]) -> None:
    """Record a file of which nothing is loaded: its counts are unknown, its reason is kept."""
    sha256 = _identity_of_rejected(path)
    if writer.rows("ops/known_content", content_sha256=sha256):
        return
    _forget_rejection(writer, path)
    row = manifest | {
        "content_sha256": sha256, "status": "rejected", "reason": fault.reason, "detail": fault.detail, "loaded": 0,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    fate = {"content_sha256": sha256, "source_file": manifest["path"], "reason": fault.reason, "excerpt": fault.detail}
    writer.insert_rows("ops.quarantine", [fate])


def _forget_rejection(writer: Writer, path: Path) -> None:
    writer.run("ops/forget_rejected_file", path=path_text(path))
    writer.run("ops/forget_rejected_row", path=path_text(path))


def _identity_of_rejected(path: Path) -> str:
    """Return an identity for a file that could not be read as a log: its stored bytes, else its name."""
    try:
        return f"stored:{lines.stored_sha256(path)}"
    except RejectedFileError:
        return f"name:{hashlib.sha256(os.fsencode(path)).hexdigest()}"
