"""Bytes of a log file → bounded lines.

Belongs here: splitting, UTF-8, line numbers and byte offsets. Does not belong here: decompression (`compression`), or
what a line means. A fault of the whole file (a cut or corrupt gzip) raises RejectedFileError, so that nothing of the
file is loaded; a fault of one line becomes a LineFault and its neighbours go on. Memory is bounded by BLOCK_BYTES and
MAX_LINE_BYTES, whatever the input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipelines.compression import decompressed
from pipelines.errors import RejectedFileError
from pipelines.log_file import LogFile

BLOCK_BYTES = 7 << 20
MAX_LINE_BYTES = 1 << 20
"""A request's record is a few hundred bytes; a longer line than this is a fault of the producer."""
EXCERPT_BYTES = 500
"""What quarantine keeps of a line: enough to recognise the producer, little enough not to copy its data."""

_BOM = b"\xef\xbb\xbf"
_NEWLINE = 0x0A
_RETURN = 0x0D
_IS_WHITE = np.isin(np.arange(256), np.frombuffer(b" \t\n\r\x0b\x0c", np.uint8))
SCHEMA = pa.schema([("line_number", pa.int64()), ("byte_offset", pa.int64()), ("line", pa.string())])


@dataclass(frozen=True, slots=True)
class LineFault:
    """One line that cannot even be read as text."""

    line_number: int
    byte_offset: int
    reason: str
    line_bytes: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class Block:
    """A run of consecutive lines. `lines` has the columns line_number (from 1), byte_offset (decompressed), line."""

    lines: pa.Table
    faults: tuple[LineFault, ...]
    n_blank: int

    @property
    def n_lines(self) -> int:
        """All lines of the block: readable, faulty and blank."""
        return int(self.lines.num_rows) + len(self.faults) + self.n_blank


@dataclass(frozen=True, slots=True)
class Extent:
    """The part of a content that is read, and where its lines are counted from."""

    n_bytes: int | None = None
    """Where it ends, whatever has been added to the file since; None for the end of the file."""
    skip_bytes: int = 0
    """How many bytes are passed over; they end in a newline."""
    skip_lines: int = 0


WHOLE = Extent()


def content_sha256(log: LogFile) -> str:
    """Return the SHA-256 of the decompressed content: a file's identity, whatever its name and compression."""
    digest = hashlib.sha256()
    for chunk in decompressed(log, BLOCK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def stored_sha256(log: LogFile) -> str:
    """Return the SHA-256 of the bytes as stored: the identity of a file that cannot be decompressed."""
    with log.open() as file:
        digest = hashlib.sha256()
        while chunk := file.read(BLOCK_BYTES):
            digest.update(chunk)
        return digest.hexdigest()


def read_blocks(log: LogFile, expected_sha256: str, extent: Extent = WHOLE) -> Iterator[Block]:
    """Yield the lines of the extent in order; raise RejectedFileError when the content is no longer `expected_sha256`.

    The hash is that of the content from the file's beginning to the extent's end.
    """
    digest = hashlib.sha256()
    splitter = _Splitter(extent)
    n_skipped = 0
    for chunk in _until(extent.n_bytes, decompressed(log, BLOCK_BYTES)):
        digest.update(chunk)
        fresh = chunk[extent.skip_bytes - n_skipped :] if n_skipped < extent.skip_bytes else chunk
        n_skipped += len(chunk) - len(fresh)
        block = splitter.feed(fresh)
        if block.n_lines:
            yield block
    if digest.hexdigest() != expected_sha256:
        raise RejectedFileError("changed_while_reading", "it was written to during the read; run again when it settles")
    last = splitter.finish()
    if last.n_lines:
        yield last


def _until(n_bytes: int | None, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the first `n_bytes` of the chunks."""
    for chunk in chunks:
        yield chunk if n_bytes is None else chunk[:n_bytes]
        n_bytes = None if n_bytes is None else n_bytes - len(chunk)
        if n_bytes is not None and n_bytes <= 0:
            return


class _Splitter:
    """Cut a stream of chunks at newlines, holding at most one chunk and MAX_LINE_BYTES of an unfinished line."""

    def __init__(self, extent: Extent = WHOLE) -> None:
        self._carry = b""
        self._carry_length = 0
        self._next_number = extent.skip_lines + 1
        self._next_offset = extent.skip_bytes

    def feed(self, chunk: bytes) -> Block:
        """Return the lines that `chunk` completes."""
        end = chunk.rfind(b"\n") + 1
        block = self._cut(chunk[:end]) if end else _nothing()
        self._carry = (self._carry + chunk[end:])[: MAX_LINE_BYTES + 1]
        self._carry_length += len(chunk) - end
        return block

    def finish(self) -> Block:
        """Return the last line where the file does not end in a newline."""
        return self._cut(b"\n") if self._carry_length else _nothing()

    def _cut(self, body: bytes) -> Block:
        """Return the lines of `body`, which ends in a newline, the first one continued from what is held."""
        faults = []
        if self._carry_length > MAX_LINE_BYTES:
            first = body.index(b"\n") + 1
            length = self._carry_length + first - 1
            excerpt = _excerpt(self._carry)
            faults.append(LineFault(self._next_number, self._next_offset, "line_too_long", length, excerpt))
            self._next_number += 1
            self._next_offset += self._carry_length + first
            body = body[first:]
        else:
            body = self._carry + body
        self._carry, self._carry_length = b"", 0
        if not body:
            return _nothing(tuple(faults))
        return self._block(body, faults)

    def _block(self, body: bytes, faults: list[LineFault]) -> Block:
        data = np.frombuffer(body, np.uint8)
        ends = np.flatnonzero(data == _NEWLINE)
        starts = np.concatenate(([0], ends[:-1] + 1))
        numbers = self._next_number + np.arange(len(ends))
        offsets = self._next_offset + starts
        self._next_number += len(ends)
        self._next_offset += len(body)
        lines = _strip_line_ends(body, starts, is_first=bool(numbers[0] == 1))
        too_long = ends - starts > MAX_LINE_BYTES
        for index in np.flatnonzero(too_long).tolist():
            faults.append(fault_of(int(numbers[index]), int(offsets[index]), "line_too_long", lines[index].as_py()))
        blank = (ends == starts) & ~too_long
        # Another line is blank only if its first byte is white space; few are, and those are looked at one by one.
        suspects = _IS_WHITE[data[starts]] & ~too_long & ~blank
        suspects[0] |= bool(numbers[0] == 1)  # there a mark may stand before the white space
        for index in np.flatnonzero(suspects).tolist():
            blank[index] = not lines[index].as_py().strip()
        keep = ~(blank | too_long)
        if not keep.all():
            lines, numbers, offsets = lines.filter(_bools(keep)), numbers[keep], offsets[keep]
        return _as_text(lines, numbers, offsets, faults, int(blank.sum()))


def _strip_line_ends(body: bytes, starts: NDArray[np.int64], *, is_first: bool) -> pa.BinaryArray:
    """Return the lines without newline, carriage return before it, and a mark at the very beginning of the file."""
    bounds = np.append(starts, len(body)).astype(np.int32)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(body)]
    lines = pc.binary_slice(pa.Array.from_buffers(pa.binary(), len(starts), buffers), 0, -1)
    # Looking at what stands before each newline takes a hundredth of the time of searching the body for pairs.
    if (np.frombuffer(body, np.uint8)[starts[1:] - 2] == _RETURN).any() or body.endswith(b"\r\n"):
        lines = pc.if_else(pc.ends_with(lines, b"\r"), pc.binary_slice(lines, 0, -1), lines)
    if is_first and body.startswith(_BOM):
        lines = pa.concat_arrays([pc.binary_slice(lines[:1], len(_BOM)), lines[1:]])
    return lines


def _as_text(
    lines: pa.BinaryArray,
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    faults: list[LineFault],
    n_blank: int,
) -> Block:
    """Build the Arrow table; lines that are not UTF-8 become faults."""
    try:
        texts = lines.cast(pa.string())
    except pa.ArrowInvalid:
        good = np.ones(len(lines), bool)
        for index, line in enumerate(lines.to_pylist()):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                good[index] = False
                faults.append(fault_of(int(numbers[index]), int(offsets[index]), "not_utf8", line))
        texts = lines.filter(_bools(good)).cast(pa.string())
        numbers, offsets = numbers[good], offsets[good]
    table = pa.Table.from_arrays([_integers(numbers), _integers(offsets), texts], schema=SCHEMA)
    return Block(table, tuple(faults), n_blank)


def _integers(values: NDArray[np.int64]) -> pa.Array:
    """Wrap the values; `pa.array` would import pandas first, which takes longer than reading a usual log."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def _bools(values: NDArray[np.bool_]) -> pa.Array:
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))])


def _nothing(faults: tuple[LineFault, ...] = ()) -> Block:
    return Block(pa.Table.from_batches([], SCHEMA), faults, 0)


def fault_of(line_number: int, byte_offset: int, reason: str, line: bytes | str) -> LineFault:
    """Return the fault of a line that is held whole."""
    content = line.encode() if isinstance(line, str) else line
    return LineFault(line_number, byte_offset, reason, len(content), _excerpt(content))


def _excerpt(line: bytes) -> str:
    return line[:EXCERPT_BYTES].decode("utf-8", errors="backslashreplace")
