"""Log files → the lake: each file once, each request once, each refused line kept with its reason.

Belongs here: the steps of loading one file and their order. Does not belong here: bytes (`lines`), rules about values
(`sql/ingest/judged.sql`), storage (`warehouse`). A file's requests, its quarantine rows and its manifest row become
visible in one commit; whole-file faults load nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pipelines import lines
from pipelines.compression import TRUNCATED
from pipelines.errors import RejectedFileError, UnfinishedFileError, UnreachableError, UsageError
from pipelines.faults import reach
from pipelines.formats import formats
from pipelines.growth import Part, part_to_load
from pipelines.inbox import find_files
from pipelines.lake import merge_small_files, write_lake
from pipelines.lines import Extent
from pipelines.log_file import LogFile
from pipelines.privacy.pseudonyms import Privacy
from pipelines.privacy.upkeep import apply_privacy
from pipelines.reading import Reading, digest
from pipelines.settings import Settings, SourceSettings
from pipelines.staging import examine, require_few_deployments, require_few_rejects, settle, stage, worst_reasons
from pipelines.times import to_us
from pipelines.warehouse import Writer

MAX_UNREACHABLE = 3
"""After so many objects in a row that their store did not give, each tried several times, the others are left."""


UNFINISHED = TRUNCATED | {"parquet_not_readable", "document_not_json"}
"""Faults that a file which is still being written has as well."""
MOVED = frozenset({"changed_while_reading", "file_missing"})
"""Faults that say that a file is being written, replaced or rotated at this moment."""


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


def ingest_sources(writer: Writer, settings: Settings, now: datetime, tell: Callable[[str], None]) -> list[FileOutcome]:
    """Load what is new in every configured source; a source that cannot be listed does not stop the others."""
    if not settings.sources:
        raise UsageError("the configuration names no [[sources]]: add one, or name files to `valleywatch ingest`")
    privacy = apply_privacy(writer, settings.privacy, now, tell)
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
        outcomes += ingest_files(writer, source, found.files, settings.policy.window_days, now, tell, privacy)
    return outcomes


def ingest_files(
    writer: Writer,
    source: SourceSettings,
    files: Sequence[LogFile],
    window_days: int,
    now: datetime,
    tell: Callable[[str], None],
    privacy: Privacy,
) -> list[FileOutcome]:
    """Load `files` as lines of `source`, one transaction a file; a bad file does not stop the others."""
    writer.run("ingest/staged")
    outcomes: list[FileOutcome] = []
    for position, log in enumerate(files):
        if len(outcomes) >= MAX_UNREACHABLE and all(x.status == "unreachable" for x in outcomes[-MAX_UNREACHABLE:]):
            tell(f"source {source.name!r}: its store does not answer; {len(files) - position:,} more are not tried")
            break
        try:
            with log.at_hand(writer.scratch) as content:
                outcome = _ingest_file(writer, source, content, window_days, now, privacy)
        except UnreachableError as error:
            outcome = FileOutcome(log.name, "unreachable", str(error))
        reach("file_committed")
        merge_small_files(writer)
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


def _ingest_file(
    writer: Writer, source: SourceSettings, log: LogFile, window_days: int, now: datetime, privacy: Privacy
) -> FileOutcome:
    try:
        reading = Reading(source, log, log.stamp(), now, privacy)
    except RejectedFileError as fault:
        status = "deferred" if fault.reason in MOVED else "rejected"
        return FileOutcome(log.name, status, str(fault))
    look = {"path": reading.name, "size_bytes": reading.stamp.size_bytes, "modified_ns": reading.stamp.modified_ns}
    known = writer.rows("ops/known_file", **look)
    if reading.is_done(known):
        if len(known) > 1:
            _forget_rejection(writer, reading.name)
        return FileOutcome(reading.name, "already_loaded")
    try:
        part = part_to_load(writer, log, formats()[source.format], reading.fingerprint, is_young=reading.is_young)
        known = writer.rows("ops/known_content", content_sha256=part.sha256)
        if known and known[0]["content_sha256"] != part.sha256:
            with writer.transaction():
                _forget_rejection(writer, reading.name)
                _remember_copy(writer, look, known[0])
            return FileOutcome(reading.name, "already_loaded", f"{known[0]['path']} begins with its content")
        if reading.is_done(known):
            with writer.transaction():
                _forget_rejection(writer, reading.name)
                _forget_unfinished_copy(writer, reading, part)
                _remember_copy(writer, look, known[0])
            return FileOutcome(reading.name, "already_loaded", f"same content as {known[0]['path']}")
        if known and known[0]["status"] == "loaded":
            # The whole file is read again, whatever beginning of it was loaded from elsewhere.
            part = Part(part.sha256, part.n_bytes, known[0]["origin_sha256"], extent=Extent(part.n_bytes))
        writer.warehouse.require_space(reading.stamp.size_bytes)
        # Staging is temporary and stays outside the commit: inside, every block would be kept until the end.
        n_lines, n_blank = stage(writer, reading, part)
        remarks = examine(writer, reading, part)
        reach("file_staged")
        with writer.transaction():
            if known and known[0]["status"] == "loaded":
                return _reread(writer, reading, part, window_days, n_lines, n_blank)
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


def _remember_copy(writer: Writer, look: dict[str, Any], known: dict[str, Any]) -> None:
    """Note that this file's content is known, so that it need not be read again while it is untouched."""
    writer.run("ops/forget_copy", path=look["path"])
    writer.insert_rows("ops.known_copies", [look | {"origin_sha256": known["origin_sha256"]}])


def _forget_unfinished_copy(writer: Writer, reading: Reading, part: Part) -> None:
    """Forget what was seen of a copy while it was being made, now that it is whole and its content is known.

    A log that is rotated by copying it is met half copied; that half added nothing, but its refused lines were kept.
    """
    half = part.known
    if half and half["path"] == reading.name and half["loaded"] == 0:
        writer.run("ops/clear_quarantine_of", content_sha256=half["content_sha256"])
        writer.run("ops/forget_content", content_sha256=half["content_sha256"])


def _deferred(reading: Reading, why: str) -> FileOutcome:
    """Leave a file to the next run; nothing is recorded of it."""
    detail = f"{why}; written to {reading.age_s:,.0f} s ago, it is read again by the next run"
    if reading.is_young:
        detail += f" and taken as it is once untouched for {reading.source.settle_s:,} s"
    return FileOutcome(reading.name, "deferred", detail)


def _load(writer: Writer, reading: Reading, part: Part, window_days: int, n_lines: int, n_blank: int) -> FileOutcome:
    n_loaded, n_duplicates, n_quarantined = settle(writer)
    require_few_rejects(writer, n_quarantined, n_lines, reading.source)
    require_few_deployments(writer)
    write_lake(writer, part.sha256, window_days)
    reach("lake_written")
    _forget_rejection(writer, reading.name)
    _keep_refused(writer, reading, part.sha256)
    counts = {
        "lines": n_lines, "loaded": n_loaded, "duplicates": n_duplicates,
        "quarantined": n_quarantined, "blank": n_blank,
    }  # fmt: skip
    _list_in_manifest(writer, reading, part, counts)
    why = "; ".join(filter(None, (worst_reasons(writer), _waiting(part)))) or None
    return FileOutcome(reading.name, "loaded", why, n_lines, n_loaded, n_duplicates, n_quarantined, n_blank)


def _go_on(writer: Writer, reading: Reading, part: Part, window_days: int, n_lines: int, n_blank: int) -> FileOutcome:
    """Load what follows a beginning that was loaded before; the file keeps one manifest row, which counts all of it."""
    known = part.known or {}
    old = {"content_sha256": known["content_sha256"]}
    writer.run("ingest/keep_grown", **old, first_line=part.first_line, is_judged_again=part.is_judged_again)
    n_new, n_duplicates, n_refused = settle(writer, withdrawn=part if part.is_continued else None)
    n_loaded = known["loaded"] - writer.rows("ingest/withdrawn")[0]["n_withdrawn"] + n_new
    first_cleared = 1 if part.is_judged_again else part.first_line
    n_still = writer.rows("ops/quarantined_before", **old, first_line=first_cleared)[0]["n_quarantined"]
    if part.extent.skip_lines:
        n_lines, n_blank = known["lines"] + n_lines, known["blank"] + n_blank
    n_quarantined = n_still + n_refused
    require_few_rejects(writer, n_quarantined, n_lines, reading.source)
    require_few_deployments(writer)
    # A name of its own: a copy of this content may be loaded under another row, with other settings.
    write_lake(writer, digest(f"{part.sha256} from {known['content_bytes']} {reading.fingerprint}"), window_days)
    reach("lake_written")
    _forget_rejection(writer, reading.name)
    writer.run("ops/clear_quarantine_from", **old, first_line=first_cleared)
    writer.run("ops/move_quarantine", **old, grown_sha256=part.sha256, source_file=reading.name)
    _keep_refused(writer, reading, part.sha256)
    writer.run("ops/forget_content", **old)
    counts = {
        "lines": n_lines, "loaded": n_loaded, "duplicates": n_lines - n_loaded - n_quarantined - n_blank,
        "quarantined": n_quarantined, "blank": n_blank,
    }  # fmt: skip
    _list_in_manifest(writer, reading, part, counts)
    if known["loaded"] and known["reading"] != reading.fingerprint:
        told = "what was loaded of it before was read with other settings: `valleywatch rebuild --from-logs` for all"
    else:
        told = None
    grown = (
        f"grown from {known['lines']:,} to {n_lines:,} lines: {n_new:,} more requests loaded, "
        f"{n_duplicates:,} duplicates, {n_refused:,} lines refused"
    )
    why = "; ".join(filter(None, (grown, worst_reasons(writer), _waiting(part), told)))
    return FileOutcome(reading.name, "loaded", why, n_loaded=n_new, n_duplicates=n_duplicates, n_quarantined=n_refused)


def _keep_refused(writer: Writer, reading: Reading, sha256: str) -> None:
    about = {"content_sha256": sha256, "source_file": reading.name, "refused_us": to_us(reading.now)}
    writer.insert("ops.quarantine", "ingest/quarantined", **about)


def _list_in_manifest(writer: Writer, reading: Reading, part: Part, counts: dict[str, int]) -> None:
    row = reading.manifest() | counts | {
        "content_sha256": part.sha256, "status": "loaded", "origin_sha256": part.origin_sha256,
        "content_bytes": part.n_bytes, "head_sha256": part.head_sha256, "waiting_bytes": part.waiting_bytes,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    writer.run("ops/move_to_duplicates")
    reach("manifest_written")


def _waiting(part: Part) -> str | None:
    return f"its last line, of {part.waiting_bytes:,} bytes so far, waits for its end" if part.waiting_bytes else None


def _reread(writer: Writer, reading: Reading, part: Part, window_days: int, n_lines: int, n_blank: int) -> FileOutcome:
    """Judge the lines that an earlier reading refused by today's settings; what it loaded stays as it is."""
    sha256 = part.sha256
    writer.run("ingest/keep_quarantined", content_sha256=sha256)
    n_loaded, _, n_quarantined = settle(writer)
    write_lake(writer, digest(f"{reading.fingerprint}{sha256}"), window_days)
    _forget_rejection(writer, reading.name)
    writer.run("ops/clear_quarantine_of", content_sha256=sha256)
    _keep_refused(writer, reading, sha256)
    writer.run(
        "ops/reread_file",
        content_sha256=sha256,
        reading=reading.fingerprint,
        format=reading.source.format,
        n_lines=n_lines,
        n_blank=n_blank,
        n_loaded=n_loaded,
        n_quarantined=n_quarantined,
    )
    writer.run("ops/move_to_duplicates")
    rescued = (
        f"read again with other settings: {n_loaded:,} more requests loaded, {n_quarantined:,} lines still refused"
    )
    return FileOutcome(reading.name, "loaded", rescued, n_loaded=n_loaded)


def _reject(writer: Writer, reading: Reading, fault: RejectedFileError) -> None:
    """Record a file of which nothing is loaded: its counts are unknown, its reason is kept."""
    sha256 = _identity_of_rejected(reading.log)
    _forget_rejection(writer, reading.name)
    if writer.rows("ops/known_content", content_sha256=sha256):
        return
    row = reading.manifest() | {
        "content_sha256": sha256, "status": "rejected", "reason": fault.reason, "detail": fault.detail, "loaded": 0,
    }  # fmt: skip
    writer.insert_rows("ops.ingest_files", [row])
    fate = {
        "content_sha256": sha256, "source_file": reading.name, "reason": fault.reason, "excerpt": fault.detail,
        "refused_us": to_us(reading.now),
    }  # fmt: skip
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
        return f"name:{digest(log.name)}"
