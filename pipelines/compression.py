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
            yield from _gunzip(_pieces_of(file), block_bytes)
        elif _begins_frame(head):
            yield from _unzstd(_pieces_of(file), block_bytes)
        else:
            while chunk := file.read(block_bytes):
                yield chunk


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
    pending = b""
    is_padded = False
    for piece in stored:
        bytes_in += len(piece)
        pending += piece
        while True:
            if member.eof:
                rest = pending.lstrip(b"\x00")
                is_padded = is_padded or len(rest) < len(pending)
                pending = rest
                if pending and (is_padded or not _GZIP.startswith(pending[:2])):
                    raise RejectedFileError("gzip_trailing", "the bytes after the last gzip member are no gzip")
                if len(pending) < len(_GZIP):
                    break
                member = zlib.decompressobj(wbits=31)
            try:
                out = member.decompress(pending, block_bytes)
            except zlib.error as error:
                raise RejectedFileError("gzip_corrupt", f"{error} after {bytes_out} decompressed bytes") from None
            pending = member.unused_data if member.eof else member.unconsumed_tail
            bytes_out += len(out)
            _require_ratio(bytes_in, bytes_out)
            if out:
                yield out
            elif not pending:
                break
    if pending or not member.eof:
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
