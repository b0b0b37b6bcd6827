"""
PNG files made smaller without losing a pixel.

Belongs here: the file's chunks. Does not belong here: drawing. The renderer packs fast and loosely: packed again, a
figure takes a quarter to a half of its bytes, which chat, mail and the orchestrator's database then hold.

Source of the format: W3C, Portable Network Graphics (PNG) Specification, chunk layout (length, type, data, CRC-32).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LENGTH = struct.Struct(">I")


def packed(png: bytes) -> bytes:
    """Return the same picture in fewer bytes; ValueError for what is no PNG."""
    chunks = list(_chunks(png))
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    others = [(kind, data) for kind, data in chunks if kind != b"IDAT"]
    body = [*others[:-1], (b"IDAT", zlib.compress(pixels, 9)), others[-1]]  # the last one is IEND
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in body)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not png.startswith(SIGNATURE):
        raise ValueError(f"not a PNG: it begins with {png[:8]!r}, not with {SIGNATURE!r}")
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = _LENGTH.unpack_from(png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12


def _chunk(kind: bytes, data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + kind + data + _LENGTH.pack(zlib.crc32(kind + data))
