"""Stored bytes of a file → its content, in chunks of bounded size.

Belongs here: telling compression by its magic number, decompressing, and every check that what comes out is what went
in. Does not belong here: lines (`lines`). A file that is cut, corrupt, followed by something else or a decompression
bomb raises RejectedFileError.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from backports import zstd

from pipelines.errors import RejectedFileError
from pipelines.log_file import LogFile

MAX_RATIO = 200
"""Decompressed bytes per compressed byte above which a file is taken for a decompression bomb; logs reach 10 to 30."""
RATIO_FREE_BYTES = 64 << 20
"""Decompressed bytes before the ratio is judged: small files of repeated lines compress very well."""
MAX_WINDOW_LOG = 27
"""A zstd frame may ask for a window of 128 MiB, what `zstd -d` grants unasked and `zstd --ultra -22` needs."""
TRUNCATED = frozenset({"gzip_truncated", "zstd_truncated"})
"""Reasons that a file which is still being written gives as well."""

_PIECE_BYTES = 1 << 20
_FIRST_WINDOW = 512
"""Compressed bytes first given to a gzip member, doubled as long as it goes on."""
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""The end of a skippable zstd frame's magic number; the byte before it is 0x50 to 0x5f."""
_UNSUPPORTED = {b"BZh": "bzip2", b"PK\x03\x04": "zip", b"\xfd7zXZ\x00": "xz"}


def decompressed(log: LogFile, block_bytes: int) -> Iterator[bytes]:
    """Yield the content of `log` in chunks of at most `block_bytes`; what it is, its first bytes say, not its name."""
    with log.open() as file:
        head = file.read(8)
        file.seek(0)
        for magic, name in _UNSUPPORTED.items():
            if head.startswith(magic):
                raise RejectedFileError(
                    "unsupported_compression", f"{name} is not read; unpack it, or use plain text, gzip or zstd"
                )
        if head.startswith(_GZIP):
            chunks = _gunzip(_pieces_of(file), block_bytes)
        elif _begins_frame(head):
            chunks = _unzstd(_pieces_of(file), block_bytes)
        else:
            yield from iter(lambda: file.read(block_bytes), b"")
            return
        is_first = True
        for chunk in _gathered(chunks, block_bytes):
            if is_first and (chunk.startswith(_GZIP) or _begins_frame(chunk)):
                raise RejectedFileError("nested_compression", "it is compressed twice; unpack it once")
            is_first = False
            yield chunk


def _gathered(chunks: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """Join what many small members hold: a block of few lines costs the engine as much as a full one."""
    held: list[bytes] = []
    n_held = 0
    for chunk in chunks:
        if held and n_held + len(chunk) > block_bytes:
            yield _drained(held)
            n_held = 0
        held.append(chunk)
        n_held += len(chunk)
    if held:
        yield _drained(held)


def _drained(held: list[bytes]) -> bytes:
    """Join `held` and empty it, so that the parts do not outlive the whole."""
    whole = b"".join(held)
    held.clear()
    return whole


def _pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the stored bytes, and nothing as their end, at which a decompressor gives what it still holds."""
    return itertools.chain(iter(lambda: file.read(_PIECE_BYTES), b""), [b""])


def _require_ratio(bytes_in: int, bytes_out: int) -> None:
    if bytes_out > RATIO_FREE_BYTES and bytes_out > MAX_RATIO * bytes_in:
        raise RejectedFileError(
            "decompression_ratio", f"over {MAX_RATIO} bytes out per byte in after {bytes_out} bytes"
        )


def _gunzip(stored: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """Decompress gzip members one after the other, each with its CRC and length checked."""
    bytes_in = bytes_out = 0
    member = zlib.decompressobj(wbits=31)
    head = b""
    is_padded = False
    for piece in stored:
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
                out = member.decompress(fed, block_bytes)
            except zlib.error as error:
                raise RejectedFileError("gzip_corrupt", f"{error} after {bytes_out} decompressed bytes") from None
            # zlib copies what it did not use: a window that starts small at each member keeps that in proportion.
            at += len(fed) - len(member.unused_data if member.eof else member.unconsumed_tail)
            window = _FIRST_WINDOW if member.eof else 2 * window
            bytes_out += len(out)
            _require_ratio(bytes_in, bytes_out)
            if out:
                yield out
            elif at == len(pending) and not member.eof:
                break
    if head or not member.eof:
        raise RejectedFileError("gzip_truncated", f"the stream ends early after {bytes_out} decompressed bytes")


def _begins_frame(head: bytes) -> bool:
    return head.startswith(_ZSTD) or (head[1:4] == _SKIPPABLE and 0x50 <= head[0] <= 0x5F)


def _unzstd(stored: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """Decompress zstd frames one after the other, each with its checksum verified where it has one."""
    bytes_in = bytes_out = 0
    frame = _new_frame()
    pending = b""
    for piece in stored:
        bytes_in += len(piece)
        pending += piece
        while True:
            if frame.eof:
                if len(pending) < len(_ZSTD):
                    break
                if not _begins_frame(pending):
                    raise RejectedFileError("zstd_trailing", "the bytes after the last zstd frame are no zstd")
                frame = _new_frame()
            try:
                out = frame.decompress(pending, block_bytes)
            except zstd.ZstdError as error:
                raise _zstd_fault(error, bytes_out) from None
            # What is not yet decompressed stays with the frame; what follows its end comes back.
            pending = frame.unused_data if frame.eof else b""
            bytes_out += len(out)
            _require_ratio(bytes_in, bytes_out)
            if out:
                yield out
            elif not frame.eof:
                break
    if not frame.eof or _may_begin_frame(pending):
        raise RejectedFileError("zstd_truncated", f"the stream ends early after {bytes_out} decompressed bytes")
    if pending:
        raise RejectedFileError("zstd_trailing", "the bytes after the last zstd frame are no zstd")


def _new_frame() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MAX_WINDOW_LOG})


def _may_begin_frame(rest: bytes) -> bool:
    """Say whether fewer bytes than a magic number are the beginning of one."""
    return bool(rest) and (_ZSTD.startswith(rest) or (0x50 <= rest[0] <= 0x5F and _SKIPPABLE.startswith(rest[1:])))


def _zstd_fault(error: zstd.ZstdError, bytes_out: int) -> RejectedFileError:
    if "too much memory" in str(error):
        return RejectedFileError(
            "zstd_window",
            f"a frame asks for a window above {1 << MAX_WINDOW_LOG >> 20} MiB; "
            f"compress with --long={MAX_WINDOW_LOG} at most",
        )
    return RejectedFileError("zstd_corrupt", f"{error} after {bytes_out} decompressed bytes")
