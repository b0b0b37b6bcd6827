"""Bytes of a log file → bounded lines.

Belongs here: decompression with its checks, splitting, UTF-8, line numbers and byte offsets. Does not belong here: what
a line means. A fault of the whole file (a cut or corrupt gzip) raises RejectedFileError, so that nothing of the file is
loaded; a fault of one line becomes a LineFault and its neighbours go on. Memory is bounded by BLOCK_BYTES and
MAX_LINE_BYTES, whatever the input.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipelines.errors import RejectedFileError
from pipelines.inbox import open_regular

BLOCK_BYTES = 7 << 20
MAX_LINE_BYTES = 1 << 20
"""A request's record is a few hundred bytes; a longer line than this is a fault of the producer."""
MAX_RATIO = 200
"""Decompressed bytes per compressed byte above which a file is taken for a decompression bomb; logs reach 10 to 30."""
RATIO_FREE_BYTES = 64 << 20
"""Decompressed bytes before the ratio is judged: small files of repeated lines compress very well."""
EXCERPT_BYTES = 500
"""What quarantine keeps of a line: enough to recognise the producer, little enough not to copy its data."""

_GZIP = b"\x1f\x8b"
_FIRST_WINDOW = 512
"""Compressed bytes first given to a gzip member, doubled as long as it goes on."""
_ZSTD = b"\x28\xb5\x2f\xfd"
_UNSUPPORTED = {_ZSTD: "zstd", b"BZh": "bzip2", b"PK\x03\x04": "zip", b"\xfd7zXZ\x00": "xz"}
_BOM = b"\xef\xbb\xbf"
_NEWLINE = 0x0A
_WHITE = np.frombuffer(b" \t\n\r\x0b\x0c", np.uint8)
_SCHEMA = pa.schema([("line_number", pa.int64()), ("byte_offset", pa.int64()), ("line", pa.string())])


@dataclass(frozen=True, slots=True)
class LineFault:
    """One line that cannot even be read as text."""

    line_number: int
    byte_offset: int
    reason: str
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


def content_sha256(path: Path) -> str:
    """Return the SHA-256 of the decompressed content: a file's identity, whatever its name and compression."""
    digest = hashlib.sha256()
    for chunk in _decompressed(path):
        digest.update(chunk)
    return digest.hexdigest()


def stored_sha256(path: Path) -> str:
    """Return the SHA-256 of the bytes as stored: the identity of a file that cannot be decompressed."""
    with open_regular(path) as file:
        digest = hashlib.sha256()
        while chunk := file.read(BLOCK_BYTES):
            digest.update(chunk)
        return digest.hexdigest()


def read_blocks(path: Path, expected_sha256: str) -> Iterator[Block]:
    """Yield the file's lines in order; raise RejectedFileError when its content is no longer `expected_sha256`."""
    digest = hashlib.sha256()
    splitter = _Splitter()
    for chunk in _decompressed(path):
        digest.update(chunk)
        block = splitter.feed(chunk)
        if block.n_lines:
            yield block
    if digest.hexdigest() != expected_sha256:
        raise RejectedFileError("changed_while_reading", "it was written to during the read; run again when it settles")
    last = splitter.finish()
    if last.n_lines:
        yield last


def _decompressed(path: Path) -> Iterator[bytes]:
    with open_regular(path) as file:
        head = file.read(8)
        file.seek(0)
        for magic, name in _UNSUPPORTED.items():
            if head.startswith(magic):
                raise RejectedFileError("unsupported_compression", f"{name} is not read; use plain text or gzip")
        if not head.startswith(_GZIP):
            while chunk := file.read(BLOCK_BYTES):
                yield chunk
            return
        is_first = True
        for chunk in _gunzip(iter(lambda: file.read(1 << 20), b"")):
            if is_first and chunk.startswith((_GZIP, _ZSTD)):
                raise RejectedFileError("nested_compression", "it is compressed twice; unpack it once")
            is_first = False
            yield chunk


def _gunzip(stored: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress gzip members one after the other, each with its CRC and length checked.

    What many small members hold is gathered: a block of few lines costs the engine as much as a full one.
    """
    bytes_in = bytes_out = 0
    member = zlib.decompressobj(wbits=31)
    held: list[bytes] = []
    n_held = 0
    head = b""
    is_padded = False
    for piece in itertools.chain(stored, [b""]):
        bytes_in += len(piece)
        pending = memoryview(head + piece)
        at, window, head = 0, _FIRST_WINDOW, b""
        while True:
            if member.eof:
                if at < len(pending) and not pending[at]:
                    at, is_padded = len(pending) - len(bytes(pending[at:]).lstrip(b"\0")), True
                rest = pending[at : at + len(_GZIP)]
                if rest and (is_padded or not _GZIP.startswith(rest)):
                    raise RejectedFileError("gzip_trailing", "the bytes after the last gzip member are no gzip")
                if len(rest) < len(_GZIP):
                    head = bytes(rest)
                    break
                member = zlib.decompressobj(wbits=31)
            fed = pending[at : at + window]
            try:
                out = member.decompress(fed, BLOCK_BYTES - n_held)
            except zlib.error as error:
                raise RejectedFileError("gzip_corrupt", f"{error} after {bytes_out} decompressed bytes") from None
            # zlib copies what it did not use: a window that starts small at each member keeps that in proportion.
            at += len(fed) - len(member.unused_data if member.eof else member.unconsumed_tail)
            window = _FIRST_WINDOW if member.eof else 2 * window
            bytes_out += len(out)
            if bytes_out > RATIO_FREE_BYTES and bytes_out > MAX_RATIO * bytes_in:
                raise RejectedFileError(
                    "decompression_ratio", f"over {MAX_RATIO} bytes out per byte in after {bytes_out} bytes"
                )
            if out:
                held.append(out)
                n_held += len(out)
                if n_held == BLOCK_BYTES:
                    out, n_held = b"", 0
                    yield _drained(held)
            elif at == len(pending) and not member.eof:
                break
    if not member.eof:
        raise RejectedFileError("gzip_truncated", f"the stream ends early after {bytes_out} decompressed bytes")
    if head:
        raise RejectedFileError("gzip_trailing", "the bytes after the last gzip member are no gzip")
    if held:
        yield _drained(held)


def _drained(held: list[bytes]) -> bytes:
    """Join `held` and empty it, so that the parts do not outlive the whole."""
    whole = b"".join(held)
    held.clear()
    return whole


class _Splitter:
    """Cut a stream of chunks at newlines, holding at most one chunk and MAX_LINE_BYTES of an unfinished line."""

    def __init__(self) -> None:
        self._carry = b""
        self._carry_length = 0
        self._next_number = 1
        self._next_offset = 0

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
            faults.append(LineFault(self._next_number, self._next_offset, "line_too_long", _excerpt(self._carry)))
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
            excerpt = _excerpt(lines[index].as_py())
            faults.append(LineFault(int(numbers[index]), int(offsets[index]), "line_too_long", excerpt))
        blank = np.zeros(len(ends), bool)
        # A line is blank only if its first byte is white space; few are, and those are looked at one by one.
        suspects = np.isin(data[starts], _WHITE) & ~too_long
        suspects[0] |= bool(numbers[0] == 1)  # there a mark may stand before the white space
        for index in np.flatnonzero(suspects).tolist():
            blank[index] = not lines[index].as_py().strip()
        blank |= pc.equal(pc.binary_length(lines), 0).to_numpy(zero_copy_only=False) & ~too_long
        keep = ~(blank | too_long)
        if not keep.all():
            lines, numbers, offsets = lines.filter(pa.array(keep)), numbers[keep], offsets[keep]
        return _as_text(lines, numbers, offsets, faults, int(blank.sum()))


def _strip_line_ends(body: bytes, starts: NDArray[np.int64], *, is_first: bool) -> pa.BinaryArray:
    """Return the lines without newline, carriage return before it, and a mark at the very beginning of the file."""
    bounds = np.append(starts, len(body)).astype(np.int32)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(body)]
    lines = pc.binary_slice(pa.Array.from_buffers(pa.binary(), len(starts), buffers), 0, -1)
    if b"\r\n" in body:
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
                faults.append(LineFault(int(numbers[index]), int(offsets[index]), "not_utf8", _excerpt(line)))
        texts = lines.filter(pa.array(good)).cast(pa.string())
        numbers, offsets = numbers[good], offsets[good]
    return Block(
        pa.Table.from_arrays([pa.array(numbers), pa.array(offsets), texts], schema=_SCHEMA), tuple(faults), n_blank
    )


def _nothing(faults: tuple[LineFault, ...] = ()) -> Block:
    """Return a block without readable lines; made when needed, since Arrow's first array imports pandas."""
    return Block(_SCHEMA.empty_table(), faults, 0)


def _excerpt(line: bytes) -> str:
    return line[:EXCERPT_BYTES].decode("utf-8", errors="backslashreplace")


def first_record(path: Path) -> tuple[set[str], str]:
    """Return the first line that is not blank, with its keys where it is a JSON object."""
    for chunk in _decompressed(path):
        block = _Splitter().feed(chunk if chunk.endswith(b"\n") else chunk + b"\n")
        for line in block.lines["line"].to_pylist():
            try:
                found = json.loads(line)
            except ValueError:
                return set(), line
            return set(found) if isinstance(found, dict) else set(), line
        break
    return set(), ""
