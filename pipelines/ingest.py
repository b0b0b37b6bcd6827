"""Log files → the lake: each file once, each request once, each refused line kept with its reason.

Belongs here: the steps of loading one file and their order. Does not belong here: bytes (`lines`), rules about values
(`sql/ingest/judged.sql`), storage (`warehouse`). A file's requests, its quarantine rows and its manifest row become
visible in one commit; whole-file faults load nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines import lines
from pipelines.compression import TRUNCATED
from pipelines.contradictions import refuse_contradictions, remarks_on
from pipelines.declarations import Declarations
from pipelines.errors import RejectedFileError, UnfinishedFileError, UnreachableError, UsageError
from pipelines.faults import reach
from pipelines.formats import formats
from pipelines.growth import Part, part_to_load
from pipelines.inbox import find_files
from pipelines.log_file import LogFile, Stamp
from pipelines.readers import read_records
from pipelines.settings import Settings, SourceSettings
from pipelines.streams import Stream
from pipelines.times import HOURS_PER_DAY, day_text, to_us
from pipelines.warehouse import Writer

MAX_REJECT_SHARE = 0.05
"""Above this share of refused lines (and MIN_REJECTS of them) the producer changed its format: the file is refused."""
MIN_REJECTS = 100
MAX_UNREACHABLE = 3
"""After so many objects in a row that their store did not give, each tried several times, the others are left."""
CLOCK_SKEW_US = 600_000_000
"""Arrivals up to ten minutes ahead of this machine's clock are taken for clock skew, later ones are refused."""

RULES_VERSION = 2
"""Raised when a change of the rules lets in lines that were refused before: those are then judged again."""

UNFINISHED = TRUNCATED | {"parquet_not_readable", "document_not_json"}
"""Faults that a file which is still being written has as well."""
MOVED = frozenset({"changed_while_reading", "file_missing"})
"""Faults that say that a file is being written, replaced or rotated at this moment."""

MAX_DEPLOYMENTS = 10_000
"""Deployments in one file above which something that varies by request was taken for their name."""
MERGED_FILES = 8
"""Small files of one day in the lake from which on they become one: each new log is compared with all of them."""
SMALL_BYTES = 512 << 10

MARTS_BY_HOUR = ("hourly_hit_rate", "hit_rate_histogram", "busy_periods")


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file. The counts are None where the file was not read to its end.

    Of a file that has grown they are those of its new lines, and n_lines is None.
    """

    path: str
    status: str
    """`loaded`, `already_loaded` (the content, whatever its name), `deferred` (still being written), `rejected`,
    `unreachable` (the next run tries)."""
    detail: str | None = None
    n_lines: int | None = None
    n_loaded: int = 0
    n_duplicates: int | None = None
    n_quarantined: int | None = None
    n_blank: int | None = None
    remarks: tuple[str, ...] = ()
    """What a person should know about a file that was loaded."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One file, as one source reads it at one time."""

    source: SourceSettings
    log: LogFile
    stamp: Stamp
    now: datetime

    @property
    def name(self) -> str:
        """The name as it is kept and shown."""
        return self.log.name

    @property
    def fingerprint(self) -> str:
        """What decides how a line is judged: a refused line deserves another look when this changes."""
        source = self.source
        settings = [
            RULES_VERSION, source.format, source.deployment, source.timezone, source.epoch_unit, source.latency_unit,
            source.input_tokens, source.absent_cached_is_zero, source.ttft_basis, source.cached_basis,
            sorted(source.columns.items()),
        ]  # fmt: skip
        return _digest(repr(settings))[:16]

    @property
    def age_s(self) -> float:
        """Seconds since it was last written to, by this machine's clock."""
        return self.now.timestamp() - self.stamp.written_ns / 1e9

    @property
    def is_young(self) -> bool:
        """Say whether somebody may still be writing to it; a time far in the future says nothing of that."""
        return abs(self.age_s) < self.source.settle_s

    def manifest(self) -> dict[str, Any]:
        """Return the part of the manifest row that is known before reading."""
        return {
            "path": self.name,
            "source_name": self.source.name,
            "format": self.source.format,
            "reading": self.fingerprint,
            "size_bytes": self.stamp.size_bytes,
            "modified_ns": self.stamp.modified_ns,
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
        except (UsageError, UnreachableError) as error:
            tell(f"source {source.name!r}: {error}")
            status = "unreachable" if isinstance(error, UnreachableError) else "rejected"
            outcomes.append(FileOutcome(source.path, status, str(error)))
            continue
        for hidden in found.unreadable:
            tell(f"source {source.name!r}: {ascii(hidden.name)[1:-1]} {hidden.why}")
            outcomes.append(FileOutcome(hidden.name, "rejected", f"unreadable: {hidden.why}"))
        if not found.files:
            tell(f"source {source.name!r}: no file matches {source.path!r}")
        outcomes += ingest_files(writer, source, found.files, settings.policy.window_days, now, tell)
    return outcomes


def ingest_files(
    writer: Writer,
    source: SourceSettings,
    files: Sequence[LogFile],
    window_days: int,
    now: datetime,
    tell: Callable[[str], None],
) -> list[FileOutcome]:
    """Load `files` as lines of `source`, one transaction a file; a bad file does not stop the others."""
    writer.run("ingest/staged")
    outcomes: list[FileOutcome] = []
    before = {row["file"] for row in writer.rows("ops/lake_files")}
    for position, log in enumerate(files):
        if len(outcomes) >= MAX_UNREACHABLE and all(x.status == "unreachable" for x in outcomes[-MAX_UNREACHABLE:]):
            tell(f"source {source.name!r}: its store does not answer; {len(files) - position:,} more are not tried")
            break
        try:
            with log.at_hand(writer.scratch) as content:
                outcome = _ingest_file(writer, source, content, window_days, now)
        except UnreachableError as error:
            outcome = FileOutcome(log.name, "unreachable", str(error))
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
        + "".join(f"; {remark}" for remark in outcome.remarks)
    )


def _ingest_file(writer: Writer, source: SourceSettings, log: LogFile, window_days: int, now: datetime) -> FileOutcome:
    try:
        reading = _Reading(source, log, log.stamp(), now)
    except RejectedFileError as fault:
        status = "deferred" if fault.reason in MOVED else "rejected"
        return FileOutcome(log.name, status, str(fault))
    look = {"path": reading.name, "size_bytes": reading.stamp.size_bytes, "modified_ns": reading.stamp.modified_ns}
    if reading.is_done(writer.rows("ops/known_file", **look)):
        return FileOutcome(reading.name, "already_loaded")
    try:
        part = part_to_load(writer, log, formats()[source.format], reading.fingerprint, is_young=reading.is_young)
        known = writer.rows("ops/known_content", content_sha256=part.sha256)
        if known and known[0]["content_sha256"] != part.sha256:
            return FileOutcome(reading.name, "already_loaded", f"{known[0]['path']} begins with its content")
        if reading.is_done(known):
            with writer.transaction():
                _forget_unfinished_copy(writer, reading, part)
                writer.run("ops/forget_copy", path=reading.name)
                writer.insert_rows("ops.known_copies", [look | {"content_sha256": part.sha256}])
            return FileOutcome(reading.name, "already_loaded", f"same content as {known[0]['path']}")
        if known and known[0]["status"] == "loaded":
            part = replace(part, origin_sha256=known[0]["origin_sha256"])
        writer.warehouse.require_space(reading.stamp.size_bytes)
        # Staging is temporary and stays outside the commit: inside, every block would be kept until the end.
        n_lines, n_blank = _stage(writer, reading, part)
        remarks = _examine(writer, reading)
        reach("file_staged")
        with writer.transaction():
            if known and known[0]["status"] == "loaded":
                return _reread(writer, reading, part, window_days)
            load = _go_on if part.known else _load
            return replace(load(writer, reading, part, window_days, n_lines, n_blank), remarks=remarks)
    except UnfinishedFileError as unfinished:
        return _deferred(reading, str(unfinished))
    except RejectedFileError as fault:
        if fault.reason in MOVED or (reading.is_young and fault.reason in UNFINISHED):
            return _deferred(reading, str(fault))
        with writer.transaction():
            _reject(writer, reading, fault)
        return FileOutcome(reading.name, "rejected", str(fault))


def _forget_unfinished_copy(writer: Writer, reading: _Reading, part: Part) -> None:
    """Forget what was seen of a copy while it was being made, now that it is whole and its content is known.

    A log that is rotated by copying it is met half copied; that half added nothing, but its refused lines were kept.
    """
    half = part.known
    if half and half["path"] == reading.name and half["loaded"] == 0:
        writer.run("ops/clear_quarantine_of", content_sha256=half["content_sha256"])
        writer.run("ops/forget_content", content_sha256=half["content_sha256"])


def _deferred(reading: _Reading, why: str) -> FileOutcome:
    """Leave a file to the next run; nothing is recorded of it."""
    detail = f"{why}; written to {reading.age_s:,.0f} s ago, it is read again by the next run"
    if reading.is_young:
        detail += f" and taken as it is once untouched for {reading.source.settle_s:,} s"
    return FileOutcome(reading.name, "deferred", detail)


def _load(writer: Writer, reading: _Reading, part: Part, window_days: int, n_lines: int, n_blank: int) -> FileOutcome:
    n_loaded, n_duplicates, n_quarantined = _settle(writer)
    _require_few_rejects(writer, n_quarantined, n_lines, reading.source)
    _require_few_deployments(writer)
    _write_lake(writer, part.sha256, window_days)
    reach("lake_written")
    _forget_rejection(writer, reading.name)
    writer.insert("ops.quarantine", "ingest/quarantined", content_sha256=part.sha256, source_file=reading.name)
    counts = {
        "lines": n_lines, "loaded": n_loaded, "duplicates": n_duplicates,
        "quarantined": n_quarantined, "blank": n_blank,
    }  # fmt: skip
    _list_in_manifest(writer, reading, part, counts)
    why = "; ".join(filter(None, (_worst(writer), _waiting(part)))) or None
    return FileOutcome(reading.name, "loaded", why, n_lines, n_loaded, n_duplicates, n_quarantined, n_blank)


def _go_on(writer: Writer, reading: _Reading, part: Part, window_days: int, n_lines: int, n_blank: int) -> FileOutcome:
    """Load what follows a beginning that was loaded before; the file keeps one manifest row, which counts all of it."""
    known = part.known or {}
    old = {"content_sha256": known["content_sha256"]}
    writer.run("ingest/keep_grown", **old, first_line=part.first_line, is_judged_again=part.is_judged_again)
    n_new, n_duplicates, n_refused = _settle(writer, withdrawn=part if part.is_continued else None)
    n_loaded = known["loaded"] - writer.rows("ingest/withdrawn")[0]["n_withdrawn"] + n_new
    first_cleared = 1 if part.is_judged_again else part.first_line
    n_still = writer.rows("ops/quarantined_before", **old, first_line=first_cleared)[0]["n_quarantined"]
    if part.extent.skip_lines:
        n_lines, n_blank = known["lines"] + n_lines, known["blank"] + n_blank
    n_quarantined = n_still + n_refused
    _require_few_rejects(writer, n_quarantined, n_lines, reading.source)
    _require_few_deployments(writer)
    # A name of its own: a copy of this content may be loaded under another row, with other settings.
    _write_lake(writer, _digest(f"{part.sha256} from {known['content_bytes']} {reading.fingerprint}"), window_days)
    reach("lake_written")
    _forget_rejection(writer, reading.name)
    writer.run("ops/clear_quarantine_from", **old, first_line=first_cleared)
    writer.run("ops/move_quarantine", **old, grown_sha256=part.sha256, source_file=reading.name)
    writer.insert("ops.quarantine", "ingest/quarantined", content_sha256=part.sha256, source_file=reading.name)
    writer.run("ops/forget_content", **old)
    counts = {
        "lines": n_lines, "loaded": n_loaded, "duplicates": n_lines - n_loaded - n_quarantined - n_blank,
        "quarantined": n_quarantined, "blank": n_blank,
    }  # fmt: skip
    _list_in_manifest(writer, reading, part, counts)
    grown = (
        f"grown from {known['lines']:,} to {n_lines:,} lines: {n_new:,} more requests loaded, "
        f"{n_duplicates:,} duplicates, {n_refused:,} lines refused"
    )
    why = "; ".join(filter(None, (grown, _worst(writer), _waiting(part))))
    return FileOutcome(reading.name, "loaded", why, n_loaded=n_new, n_duplicates=n_duplicates, n_quarantined=n_refused)


def _list_in_manifest(writer: Writer, reading: _Reading, part: Part, counts: dict[str, int]) -> None:
    row = reading.manifest() | counts | {
        "content_sha256": part.sha256, "status": "loaded", "origin_sha256": part.origin_sha256,
        "content_bytes": part.n_bytes, "head_sha256": part.head_sha256, "waiting_bytes": part.waiting_bytes,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    writer.run("ops/move_to_duplicates")
    reach("manifest_written")


def _waiting(part: Part) -> str | None:
    return f"its last line, of {part.waiting_bytes:,} bytes so far, waits for its end" if part.waiting_bytes else None


def _reread(writer: Writer, reading: _Reading, part: Part, window_days: int) -> FileOutcome:
    """Judge the lines that an earlier reading refused by today's settings; what it loaded stays as it is."""
    sha256 = part.sha256
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


def _settle(writer: Writer, withdrawn: Part | None = None) -> tuple[int, int, int]:
    """Decide which staged lines are new; return the numbers of loaded, duplicate and quarantined lines.

    Where the first line of `withdrawn` was loaded before it had an end, its record is taken back.
    """
    counts = writer.rows("ingest/counts")[0]
    writer.run("ingest/repeated_ids")
    n_duplicates = writer.change("ingest/drop_repeated") if writer.rows("ingest/any_repeated_id") else 0
    writer.open_lake(row["file"] for row in writer.rows("ops/lake_files"))
    writer.run("ingest/clashes")
    if withdrawn:
        writer.run("ingest/withdraw", origin_sha256=withdrawn.origin_sha256, line_number=withdrawn.first_line)
    n_duplicates += writer.change("ingest/drop_known")
    n_quarantined = counts["n_quarantined"]
    return counts["n_lines"] - n_quarantined - n_duplicates, n_duplicates, n_quarantined


def _worst(writer: Writer) -> str | None:
    """Name the reasons of the staged file's refused lines, most frequent first."""
    reasons = writer.rows("ingest/rejects")
    return ", ".join(f"{row['n_lines']:,} {row['reason']}" for row in reasons[:3]) or None


def _stage(writer: Writer, reading: _Reading, part: Part) -> tuple[int, int]:
    """Put the part's judged lines into the staging table; return the numbers of lines and of blank ones.

    Blank are empty lines and, in logs that requests share with other messages, those messages. One statement judges the
    whole file while it is being read, so that its planning is paid once and every core has work.
    """
    source, log_format = reading.source, formats()[reading.source.format]
    writer.run("ingest/clear_staged")
    declared = Declarations(writer, source, log_format)
    declared.require_columns(read_records(log_format.reader, reading.log, part.sha256, part.extent, source.columns))
    stream = Stream(read_records(log_format.reader, reading.log, part.sha256, part.extent, source.columns))
    with writer.registered("lines", stream.first):
        writer.run("ingest/plain_key_lists")
    while not stream.is_done:
        with writer.streamed("lines", stream.first.schema, stream.part()):
            declared.map_lines()
            writer.insert(
                "staged",
                "ingest/judged",
                deployment=source.deployment,
                epoch_unit=source.epoch_unit or log_format.epoch_unit,
                naive_is_utc=source.timezone is not None,
                absent_cached_is_zero=source.absent_cached_is_zero,
                latest_us=to_us(reading.now) + CLOCK_SKEW_US,
                ttft_basis=source.ttft_basis or log_format.ttft_basis,
                cached_basis=source.cached_basis or log_format.cached_basis,
                source_name=source.name,
                source_file=reading.name,
                source_sha256=part.origin_sha256,
            )
        faults = stream.take_faults()
        writer.insert_rows(
            "staged",
            [
                {"reason": x.reason, "source_line": x.line_number, "byte_offset": x.byte_offset, "excerpt": x.excerpt}
                for x in faults
            ],
        )
    return stream.n_lines, stream.n_blank + writer.change("ingest/drop_other_lines")


def _examine(writer: Writer, reading: _Reading) -> tuple[str, ...]:
    """Refuse a staged file that is not what its source says; mend what is known to be meant; return what to tell."""
    source, log_format = reading.source, formats()[reading.source.format]
    refuse_contradictions(writer, source, log_format, to_us(reading.now) + CLOCK_SKEW_US)
    n_whole = writer.change("ingest/drop_whole_ttft")
    remarks = [f"time to first token unknown where it was the end of a whole response: {n_whole:,}"] if n_whole else []
    return (*remarks, *remarks_on(writer, source, log_format))


def _require_few_rejects(writer: Writer, n_quarantined: int, n_lines: int, source: SourceSettings) -> None:
    worst = writer.rows("ingest/rejects")
    if n_quarantined < MIN_REJECTS or n_quarantined <= MAX_REJECT_SHARE * n_lines or not worst:
        return
    raise RejectedFileError(
        "too_many_rejects",
        f"{n_quarantined:,} of {n_lines:,} lines are refused, {worst[0]['n_lines']:,} of them "
        f"for {worst[0]['reason']}: this is not the format {source.format!r}, or its producer changed; "
        "see `valleywatch formats`",
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
        name = _digest(f"{lost['file']} {identity}")[:16]
        relative = Path(lost["file"]).parent / f"{name}.parquet"
        written = writer.write_parquet("ingest/survivors_of_file", relative, file=lost["file"])
        writer.run("ingest/forget_file", file=lost["file"])
        _list_in_lake(writer, relative, lost, written)
    for day in writer.rows("ingest/fresh_days"):
        relative = Path("lake") / f"day={day_text(day['day_index'])}" / f"{identity[:16]}.parquet"
        written = writer.write_parquet("ingest/fresh_of_day", relative, day_index=day["day_index"])
        _list_in_lake(writer, relative, day, written)
    _mark_dirty(writer, [row["hour_index"] for row in writer.rows("ingest/touched_hours")], window_days)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
    sha256 = _identity_of_rejected(reading.log)
    if writer.rows("ops/known_content", content_sha256=sha256):
        return
    _forget_rejection(writer, reading.name)
    row = reading.manifest() | {
        "content_sha256": sha256, "status": "rejected", "reason": fault.reason, "detail": fault.detail, "loaded": 0,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    fate = {"content_sha256": sha256, "source_file": reading.name, "reason": fault.reason, "excerpt": fault.detail}
    writer.insert_rows("ops.quarantine", [fate])
    reach("rejection_written")


def _forget_rejection(writer: Writer, name: str) -> None:
    writer.run("ops/forget_rejected_file", path=name)
    writer.run("ops/forget_rejected_row", path=name)


def _identity_of_rejected(log: LogFile) -> str:
    """Return an identity for a file that could not be read as a log: its stored bytes, else its name."""
    try:
        return f"stored:{lines.stored_sha256(log)}"
    except RejectedFileError:
        return f"name:{hashlib.sha256(log.name.encode()).hexdigest()}"
