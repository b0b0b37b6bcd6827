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
from pipelines.faults import reach
from pipelines.formats import formats
from pipelines.inbox import find_files, path_text
from pipelines.readers import read_records
from pipelines.settings import Settings, SourceSettings
from pipelines.times import HOURS_PER_DAY, day_text, to_us
from pipelines.warehouse import Writer

MAX_REJECT_SHARE = 0.05
"""Above this share of refused lines (and MIN_REJECTS of them) the producer changed its format: the file is refused."""
MIN_REJECTS = 100
CLOCK_SKEW_US = 600_000_000
"""Arrivals up to ten minutes ahead of this machine's clock are taken for clock skew, later ones are refused."""

RULES_VERSION = 1
"""Raised when a change of the rules lets in lines that were refused before: those are then judged again."""

MAX_DEPLOYMENTS = 10_000
"""Deployments in one file above which something that varies by request was taken for their name."""
MERGED_FILES = 8
"""Small files of one day in the lake from which on they become one: each new log is compared with all of them."""
SMALL_BYTES = 512 << 10

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


@dataclass(frozen=True, slots=True)
class _Reading:
    """One file, as one source reads it at one time."""

    source: SourceSettings
    path: Path
    size_bytes: int
    modified_ns: int
    now: datetime

    @property
    def name(self) -> str:
        """The path as it is kept and shown."""
        return path_text(self.path)

    @property
    def fingerprint(self) -> str:
        """What decides how a line is judged: a refused line deserves another look when this changes."""
        source = self.source
        settings = [RULES_VERSION, source.format, source.deployment, source.timezone, source.epoch_unit]
        return hashlib.sha256(repr(settings).encode()).hexdigest()[:16]

    def manifest(self) -> dict[str, Any]:
        """Return the part of the manifest row that is known before reading."""
        return {
            "path": self.name,
            "source_name": self.source.name,
            "format": self.source.format,
            "reading": self.fingerprint,
            "size_bytes": self.size_bytes,
            "modified_ns": self.modified_ns,
            "loaded_us": to_us(self.now),
        }

    def is_done(self, known: list[dict[str, Any]]) -> bool:
        """Say whether a manifest row (or none) makes reading the file again pointless."""
        if not known or known[0]["status"] != "loaded":
            return False
        return bool(known[0]["quarantined"] == 0 or known[0]["reading"] == self.fingerprint)


def ingest_sources(writer: Writer, settings: Settings, now: datetime, tell: Callable[[str], None]) -> list[FileOutcome]:
    """Load what is new in every configured source; a source that cannot be listed does not stop the others."""
    if not settings.sources:
        raise UsageError("the configuration names no [[sources]]: add one, or name files to `valleywatch ingest`")
    outcomes = []
    for source in settings.sources:
        try:
            found = find_files(settings.folder, source.path)
        except UsageError as error:
            tell(f"source {source.name!r}: {error}")
            outcomes.append(FileOutcome(source.path, "rejected", str(error)))
            continue
        for folder in found.unreadable:
            tell(f"source {source.name!r}: {path_text(folder)} cannot be listed; check its owner and mode")
            outcomes.append(FileOutcome(path_text(folder), "rejected", "unreadable: the folder cannot be listed"))
        if not found.files:
            tell(f"source {source.name!r}: no file matches {source.path!r}")
        outcomes += ingest_files(writer, source, found.files, settings.policy.window_days, now, tell)
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
    before = {row["file"] for row in writer.rows("ops/lake_files")}
    for path in files:
        outcome = _ingest_file(writer, source, path, window_days, now)
        reach("file_committed")
        _merge_small_files(writer, before)
        if outcome.status != "already_loaded":
            tell(describe(outcome))
        outcomes.append(outcome)
    return outcomes


def describe(outcome: FileOutcome) -> str:
    """Say in one line what became of a file."""
    name = ascii(outcome.path)[1:-1]
    detail = f" ({outcome.detail})" if outcome.detail else ""
    if outcome.n_lines is None:
        return f"{name}: {outcome.status.replace('_', ' ')}{detail}"
    return (
        f"{name}: {outcome.n_lines:,} lines = {outcome.n_loaded:,} loaded + {outcome.n_duplicates:,} duplicates "
        f"+ {outcome.n_quarantined:,} quarantined{detail} + {outcome.n_blank:,} blank"
    )


def _ingest_file(writer: Writer, source: SourceSettings, path: Path, window_days: int, now: datetime) -> FileOutcome:
    try:
        stat = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return FileOutcome(path_text(path), "rejected", "file_missing: gone since the folder was listed")
    except OSError as error:
        return FileOutcome(path_text(path), "rejected", f"unreadable: {error.strerror}")
    reading = _Reading(source, path, stat.st_size, max(stat.st_mtime_ns, stat.st_ctime_ns), now)
    look = {"path": reading.name, "size_bytes": reading.size_bytes, "modified_ns": reading.modified_ns}
    if reading.is_done(writer.rows("ops/known_file", **look)):
        return FileOutcome(reading.name, "already_loaded")
    try:
        sha256 = lines.content_sha256(path)
        known = writer.rows("ops/known_content", content_sha256=sha256)
        if reading.is_done(known):
            return FileOutcome(reading.name, "already_loaded", f"same content as {known[0]['path']}")
        writer.warehouse.require_space(reading.size_bytes)
        # Staging is temporary and stays outside the commit: inside, every block would be kept until the end.
        n_lines, n_blank = _stage(writer, reading, sha256)
        reach("file_staged")
        with writer.transaction():
            if known and known[0]["status"] == "loaded":
                return _reread(writer, reading, sha256, window_days)
            return _load(writer, reading, sha256, window_days, n_lines, n_blank)
    except RejectedFileError as fault:
        with writer.transaction():
            _reject(writer, reading, fault)
        return FileOutcome(reading.name, "rejected", str(fault))


def _load(writer: Writer, reading: _Reading, sha256: str, window_days: int, n_lines: int, n_blank: int) -> FileOutcome:
    n_loaded, n_duplicates, n_quarantined = _settle(writer)
    if n_quarantined >= MIN_REJECTS and n_quarantined > MAX_REJECT_SHARE * n_lines:
        raise _too_many(writer, n_quarantined, n_lines, reading.source)
    _require_few_deployments(writer)
    _write_lake(writer, sha256, window_days)
    reach("lake_written")
    _forget_rejection(writer, reading.path)
    writer.insert("ops.quarantine", "ingest/quarantined", content_sha256=sha256, source_file=reading.name)
    row = reading.manifest() | {
        "content_sha256": sha256, "status": "loaded", "lines": n_lines, "loaded": n_loaded,
        "duplicates": n_duplicates, "quarantined": n_quarantined, "blank": n_blank,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    writer.run("ops/move_to_duplicates")
    reach("manifest_written")
    why = _worst(writer)
    return FileOutcome(reading.name, "loaded", why, n_lines, n_loaded, n_duplicates, n_quarantined, n_blank)


def _reread(writer: Writer, reading: _Reading, sha256: str, window_days: int) -> FileOutcome:
    """Judge the lines that an earlier reading refused by today's settings; what it loaded stays as it is."""
    writer.run("ingest/keep_quarantined", content_sha256=sha256)
    n_loaded, n_duplicates, n_quarantined = _settle(writer)
    _write_lake(writer, f"{reading.fingerprint}{sha256}", window_days)
    writer.run("ops/clear_quarantine_of", content_sha256=sha256)
    writer.insert("ops.quarantine", "ingest/quarantined", content_sha256=sha256, source_file=reading.name)
    writer.run(
        "ops/reread_file",
        content_sha256=sha256,
        reading=reading.fingerprint,
        n_loaded=n_loaded,
        n_duplicates=n_duplicates,
        n_quarantined=n_quarantined,
    )
    writer.run("ops/move_to_duplicates")
    rescued = (
        f"read again with other settings: {n_loaded:,} more requests loaded, {n_quarantined:,} lines still refused"
    )
    return FileOutcome(reading.name, "loaded", rescued, n_loaded=n_loaded)


def _settle(writer: Writer) -> tuple[int, int, int]:
    """Decide which staged lines are new; return the numbers of loaded, duplicate and quarantined lines."""
    counts = writer.rows("ingest/counts")[0]
    writer.run("ingest/repeated_ids")
    n_duplicates = writer.change("ingest/drop_repeated") if writer.rows("ingest/any_repeated_id") else 0
    writer.open_lake(row["file"] for row in writer.rows("ops/lake_files"))
    writer.run("ingest/clashes")
    n_duplicates += writer.change("ingest/drop_known")
    n_quarantined = counts["n_quarantined"]
    return counts["n_lines"] - n_quarantined - n_duplicates, n_duplicates, n_quarantined


def _worst(writer: Writer) -> str | None:
    """Name the reasons of the staged file's refused lines, most frequent first."""
    reasons = writer.rows("ingest/rejects")
    return ", ".join(f"{row['n_lines']:,} {row['reason']}" for row in reasons[:3]) or None


def _stage(writer: Writer, reading: _Reading, sha256: str) -> tuple[int, int]:
    """Put the file's judged lines into the staging table; return the numbers of lines and of blank ones.

    Blank are empty lines and, in logs that requests share with other messages, those messages.
    """
    source, log_format = reading.source, formats()[reading.source.format]
    writer.run("ingest/clear_staged")
    n_lines = n_blank = 0
    for block in read_records(log_format.reader, reading.path, sha256):
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
            writer.run(_line_rule(writer))
            writer.create_view("mapped", log_format.query)
            writer.insert(
                "staged",
                "ingest/judged",
                deployment=source.deployment,
                epoch_unit=source.epoch_unit or log_format.epoch_unit,
                naive_is_utc=source.timezone == "UTC",
                latest_us=to_us(reading.now) + CLOCK_SKEW_US,
                ttft_basis=log_format.ttft_basis,
                cached_basis=log_format.cached_basis,
                source_name=source.name,
                source_file=reading.name,
                source_sha256=sha256,
            )
    return n_lines, n_blank + writer.change("ingest/drop_other_lines")


def _line_rule(writer: Writer) -> str:
    """Return the rule for the lines of a block: looking for repeated keys line by line costs more than all the rest."""
    key_lists = [row["keys"].split("\x1f") for row in writer.rows("ingest/key_lists")]
    has_repeats = any(len(set(keys)) < len(keys) for keys in key_lists)
    return "ingest/macros/1_json_line_fault" if has_repeats else "ingest/json_line_fault_of_plain_block"


def _too_many(writer: Writer, n_quarantined: int, n_lines: int, source: SourceSettings) -> RejectedFileError:
    worst = writer.rows("ingest/rejects")[0]
    return RejectedFileError(
        "too_many_rejects",
        f"{n_quarantined:,} of {n_lines:,} lines are refused, {worst['n_lines']:,} of them for {worst['reason']}: "
        f"this is not the format {source.format!r}, or its producer changed; see `valleywatch formats`",
    )


def _require_few_deployments(writer: Writer) -> None:
    names = [row["deployment"] for row in writer.rows("ingest/deployments", n_most=MAX_DEPLOYMENTS + 1)]
    if len(names) > MAX_DEPLOYMENTS:
        raise RejectedFileError(
            "too_many_deployments",
            f"it names over {MAX_DEPLOYMENTS:,} deployments, such as {', '.join(map(repr, names[:3]))}: is one named "
            "after each request? Set `deployment` of the source, or mend the producer",
        )


def _write_lake(writer: Writer, identity: str, window_days: int) -> None:
    """Write the fresh requests by day; give lake files that lost a record a successor without it; mark the hours."""
    for lost in writer.rows("ingest/superseded_files"):
        name = hashlib.sha256(f"{lost['file']} {identity}".encode()).hexdigest()[:16]
        relative = Path(lost["file"]).parent / f"{name}.parquet"
        written = writer.write_parquet("ingest/survivors_of_file", relative, file=lost["file"])
        writer.run("ingest/forget_file", file=lost["file"])
        _list_in_lake(writer, relative, lost, written)
    for day in writer.rows("ingest/fresh_days"):
        relative = Path("lake") / f"day={day_text(day['day_index'])}" / f"{identity[:16]}.parquet"
        written = writer.write_parquet("ingest/fresh_of_day", relative, day_index=day["day_index"])
        _list_in_lake(writer, relative, day, written)
    _mark_dirty(writer, [row["hour_index"] for row in writer.rows("ingest/touched_hours")], window_days)


def _list_in_lake(writer: Writer, relative: Path, counted: dict[str, Any], written: dict[str, Any]) -> None:
    columns = ("day_index", "last_day_index", "n_requests")
    row = {"file": str(relative)} | written | {name: counted[name] for name in columns}
    writer.insert_rows("ops.lake_files", [row])


def _merge_small_files(writer: Writer, before: set[str]) -> None:
    """Make one file of a day's small ones, in a commit of its own; those that no snapshot can know of are removed."""
    for day in writer.rows("ops/crowded_days", small_bytes=SMALL_BYTES, n_files=MERGED_FILES):
        small = [row["file"] for row in writer.rows("ops/small_files", small_bytes=SMALL_BYTES, **day)]
        name = hashlib.sha256("\n".join(small).encode()).hexdigest()[:16]
        relative = Path(small[0]).parent / f"{name}.parquet"
        with writer.transaction():
            counted = writer.rows("ops/sums_of_small_files", small_bytes=SMALL_BYTES, **day)[0]
            writer.open_lake(small)
            written = writer.write_parquet("ingest/whole_lake", relative)
            for file in small:
                writer.run("ingest/forget_file", file=file)
            _list_in_lake(writer, relative, counted, written)
        for file in set(small) - before:
            (writer.folder / file).unlink()


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


def _reject(writer: Writer, reading: _Reading, fault: RejectedFileError) -> None:
    """Record a file of which nothing is loaded: its counts are unknown, its reason is kept."""
    sha256 = _identity_of_rejected(reading.path)
    if writer.rows("ops/known_content", content_sha256=sha256):
        return
    _forget_rejection(writer, reading.path)
    row = reading.manifest() | {
        "content_sha256": sha256, "status": "rejected", "reason": fault.reason, "detail": fault.detail, "loaded": 0,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    fate = {"content_sha256": sha256, "source_file": reading.name, "reason": fault.reason, "excerpt": fault.detail}
    writer.insert_rows("ops.quarantine", [fate])
    reach("rejection_written")


def _forget_rejection(writer: Writer, path: Path) -> None:
    writer.run("ops/forget_rejected_file", path=path_text(path))
    writer.run("ops/forget_rejected_row", path=path_text(path))


def _identity_of_rejected(path: Path) -> str:
    """Return an identity for a file that could not be read as a log: its stored bytes, else its name."""
    try:
        return f"stored:{lines.stored_sha256(path)}"
    except RejectedFileError:
        return f"name:{hashlib.sha256(os.fsencode(path)).hexdigest()}"
