"""Which part of a file is new: a log that is still written to is known by its beginning, and goes on from there.

One pass over a file finds the SHA-256 of its content and of each of its beginnings that has the length of a content in
the manifest. The longest beginning that was loaded is not judged again; the rest is. So it does not matter what the
file is called, whether it was rotated or compressed meanwhile, or which inode it has: a file that was truncated or
replaced begins differently and is new.

The last line of a file that was written to a moment ago, if no newline ends it, waits for its end: what is loaded of
the file is its content up to there.

Belongs here: comparing contents with the manifest. Does not belong here: loading (`ingest`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines import lines
from pipelines.compression import decompressed
from pipelines.errors import RejectedFileError, UnfinishedFileError
from pipelines.formats import Format
from pipelines.inbox import LocalFile
from pipelines.lines import Extent
from pipelines.log_file import LogFile
from pipelines.warehouse import Writer

HEAD_BYTES = 1024
"""The first bytes by which beginnings are looked up; logs that share them are few, and so are lengths below."""
HEADER_LINES = {"lines": 0, "csv": 1, "hash_trace": 0, "llama_tasks": 0}
"""The readers of files that grow by lines, and how many lines at the beginning they do not count."""
MIN_SKIPPED_LINES = 1000
"""Lines of a beginning from which on it is not read again: it has been asked what a file is asked as a whole."""
SPANNING_LINES = frozenset({"llama_tasks"})
"""Readers whose records span lines: a record that was refused as unfinished may have got its end."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a file that is judged now: all of it, or what follows a beginning that was loaded before."""

    sha256: str
    """Of the content up to the part's end: the identity of the file from now on."""
    n_bytes: int
    origin_sha256: str
    """The identity under which the file was first loaded: the lake's records name it as their source."""
    head_sha256: str | None = None
    extent: Extent = lines.WHOLE
    waiting_bytes: int = 0
    """Bytes after the part's end: a last line that waits for its own end."""
    known: dict[str, Any] | None = None
    """The manifest row of the beginning."""
    first_line: int = 1
    """The first line that is judged; where the reader starts before it, its lines up to there are passed over."""
    is_continued: bool = False
    """Whether the first line is the beginning's last one, which has gone on since it was judged."""
    is_judged_again: bool = False
    """Whether the lines that the beginning was refused for deserve another look: the settings have changed."""


@dataclass(slots=True)
class _Beginning:
    """The first n_bytes of a content, and what surrounds their end."""

    sha256: str
    is_ended: bool
    following: bytes = b""


@dataclass(slots=True)
class _Content:
    digest: Any = field(default_factory=hashlib.sha256)
    n_bytes: int = 0
    head_sha256: str | None = None
    ended_sha256: str = hashlib.sha256().hexdigest()
    ended_bytes: int = 0
    beginnings: dict[int, _Beginning] = field(default_factory=dict)
    """By length."""

    def add(self, chunk: bytes, lengths: Iterable[int]) -> None:
        for beginning in self.beginnings.values():
            beginning.following += chunk[: 2 - len(beginning.following)]
        view, done = memoryview(chunk), 0
        newline_end = chunk.rfind(b"\n") + 1
        inside = {length - self.n_bytes for length in lengths if 0 < length - self.n_bytes <= len(chunk)}
        for end in sorted(inside | {newline_end} - {0}):
            self.digest.update(view[done:end])
            done = end
            if end in inside:
                ending = chunk[end - 1 : end] == b"\n"
                self.beginnings[self.n_bytes + end] = _Beginning(self.digest.hexdigest(), ending, chunk[end : end + 2])
            if end == newline_end:
                self.ended_sha256, self.ended_bytes = self.digest.hexdigest(), self.n_bytes + end
        self.digest.update(view[done:])
        self.n_bytes += len(chunk)


def part_to_load(writer: Writer, log: LogFile, log_format: Format, reading: str, *, is_young: bool) -> Part:
    """Look through the file once; return what of it is to be judged.

    `reading` is the fingerprint of the settings. Raises UnfinishedFileError when a young file has no new line that is
    complete.
    """
    reader = log_format.reader.split()[0]
    grows = reader in HEADER_LINES
    content = _look_through(log, lambda head: _lengths(writer, head, log_format.name) if grows else [])
    sha256, n_bytes = content.digest.hexdigest(), content.n_bytes
    rows = _beginnings(writer, content, log_format.name)
    waiting_bytes = n_bytes - content.ended_bytes if grows and is_young else 0
    if waiting_bytes and not any(row["content_bytes"] == n_bytes for row in rows):
        judged_bytes = max((row["content_bytes"] for row in rows), default=0)
        if judged_bytes >= content.ended_bytes:
            raise UnfinishedFileError(f"its last line, of {waiting_bytes:,} bytes so far, has no end yet")
        sha256, n_bytes = content.ended_sha256, content.ended_bytes
    else:
        waiting_bytes = 0
    known = next((row for row in rows if row["content_bytes"] < n_bytes and not _stands_elsewhere(row, log)), None)
    whole = Part(
        sha256,
        n_bytes,
        origin_sha256=known["origin_sha256"] if known else sha256,
        head_sha256=content.head_sha256 if n_bytes >= HEAD_BYTES else None,
        extent=Extent(n_bytes),
        waiting_bytes=waiting_bytes,
    )
    return _after(whole, known, content.beginnings[known["content_bytes"]], reader, reading) if known else whole


def _look_through(log: LogFile, lengths_for: Callable[[bytes], Iterable[int]]) -> _Content:
    content = _Content()
    lengths: Iterable[int] | None = None
    for chunk in _headed(decompressed(log, lines.BLOCK_BYTES)):
        if lengths is None:
            head = chunk[:HEAD_BYTES]
            content.head_sha256 = hashlib.sha256(head).hexdigest()
            lengths = sorted(lengths_for(head))
        content.add(chunk, lengths)
    return content


def _headed(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks, the first ones joined until they hold the head."""
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= HEAD_BYTES:
            break
    if first:
        yield first
    yield from chunks


def _lengths(writer: Writer, head: bytes, format_name: str) -> list[int]:
    head_sha256 = hashlib.sha256(head).hexdigest()
    found = writer.rows("ops/known_lengths", head_sha256=head_sha256, head_bytes=HEAD_BYTES, format=format_name)
    return [row["content_bytes"] for row in found]


def _beginnings(writer: Writer, content: _Content, format_name: str) -> list[dict[str, Any]]:
    """Return the manifest rows whose content is a beginning of this one, or all of it, the longest first."""
    if not content.beginnings:
        return []
    sha256s = [beginning.sha256 for beginning in content.beginnings.values()]
    return writer.rows("ops/known_beginnings", content_sha256s=sha256s, format=format_name)


def _stands_elsewhere(row: dict[str, Any], log: LogFile) -> bool:
    """Say whether the row's own file is still there as it was: then this one is a copy with more in it, not that file.

    So it does not matter which of two such files is read first.
    """
    if row["path"] == log.name:
        return False
    try:
        stamp = LocalFile(Path(row["path"])).stamp()
    except (RejectedFileError, ValueError):
        return False
    return (stamp.size_bytes, stamp.modified_ns) == (row["size_bytes"], row["modified_ns"])


def _after(whole: Part, known: dict[str, Any], beginning: _Beginning, reader: str, reading: str) -> Part:
    """Return what follows a beginning; it is skipped where a reader needs nothing of it."""
    next_line = known["lines"] + HEADER_LINES[reader] + 1
    ending = next((mark for mark in (b"\n", b"\r\n") if beginning.following.startswith(mark)), b"")
    is_continued = not beginning.is_ended and not ending
    is_judged_again = known["quarantined"] > 0 and (known["reading"] != reading or reader in SPANNING_LINES)
    part = replace(
        whole,
        known=known,
        first_line=next_line - is_continued,
        is_continued=is_continued,
        is_judged_again=is_judged_again,
    )
    # A short beginning is looked at again, so that what is asked of a file as a whole is asked of all of it.
    if reader != "lines" or is_continued or is_judged_again or known["lines"] < MIN_SKIPPED_LINES:
        return part
    skipped = known["content_bytes"] + (0 if beginning.is_ended else len(ending))
    return replace(part, extent=Extent(whole.n_bytes, skipped, known["lines"]))
