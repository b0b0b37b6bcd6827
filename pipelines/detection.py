"""Which format a file has, told from how it begins.

A log may begin with banners, so every line of its head is asked which format it is of; the file has a format when all
lines that answer name the same. CSV is told from its header, Parquet from its columns, a JSON document from its keys.
Nothing is guessed: what no format fits, or more than one, stays unknown, and Recognition says what was found.

Belongs here: the head of a file. Does not belong here: what a format asks for (`formats`), how a file is read to its
end (`readers`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import lines
from pipelines.compression import decompressed
from pipelines.display import shown
from pipelines.errors import RejectedFileError
from pipelines.formats import Format, detect
from pipelines.json_spans import leading_keys
from pipelines.log_file import LogFile

HEAD_BYTES = lines.MAX_LINE_BYTES
"""As much as one line may have: a record with its prompt in it can be the first of a log."""
HEAD_LINES = 200

_PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class Recognition:
    """The one format that fits, or None; `found` says in words what the file begins with."""

    format: Format | None
    found: str


def recognise(log: LogFile) -> Recognition:
    """Return the format of `log`; raise RejectedFileError where it cannot even be opened."""
    head, is_whole = _head(log)
    if head.startswith(_PARQUET):
        columns = _parquet_columns(log)
        return Recognition(detect(columns, container="parquet"), f"Parquet with the columns {_listed(columns)}")
    texts = _lines_of(head, is_whole)
    if not texts:
        return Recognition(None, "nothing but blank lines")
    by_name = {fit.name: (number, fit) for number, fit in reversed(list(_fits(texts)))}
    if len(by_name) > 1:
        told = ", ".join(f"{name} in line {number}" for name, (number, _fit) in sorted(by_name.items()))
        return Recognition(None, f"lines of several formats ({told})")
    if by_name:
        ((number, fit),) = by_name.values()
        return Recognition(fit, f"line {number} is of {fit.name}")
    return _recognise_whole(head.decode("utf-8-sig", "replace"), texts)


def _recognise_whole(head: str, texts: list[tuple[int, str]]) -> Recognition:
    """Look at what is no record a line: a JSON document, or CSV under a header."""
    if head.lstrip()[:1] in ("{", "["):
        keys = leading_keys(head)
        fit = detect(keys, container="documents")
        inner = None if fit else detect(keys)
        if inner and head.lstrip()[0] == "[":
            return Recognition(None, f"one JSON array of records that look like {inner.name}; write one record a line")
        return Recognition(fit, f"JSON with the keys {_listed(keys)}" if keys else "JSON without keys")
    number, first = texts[0]
    columns = _columns(first)
    if fit := detect(columns, container="csv"):
        return Recognition(fit, f"CSV with the columns {_listed(columns)}")
    return Recognition(
        None, f"none of its first {len(texts):,} lines is of any format; line {number} is {shown(first)}"
    )


def _head(log: LogFile) -> tuple[bytes, bool]:
    """Return the first bytes of the decompressed content, and whether they are all of it."""
    head = bytearray()
    for chunk in decompressed(log, lines.BLOCK_BYTES):
        head += chunk[: HEAD_BYTES + 1 - len(head)]
        if len(head) > HEAD_BYTES:
            return bytes(head[:HEAD_BYTES]), False
    return bytes(head), True


def _lines_of(head: bytes, is_whole: bool) -> list[tuple[int, str]]:
    """Return the head's lines that are not blank, with their numbers; its last one only where it is whole or alone."""
    texts = head.decode("utf-8-sig", "replace").split("\n")
    if not is_whole and len(texts) > 1:
        texts.pop()
    return [(number, text.rstrip("\r")) for number, text in enumerate(texts[:HEAD_LINES], 1) if text.strip()]


def _fits(texts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Format]]:
    for number, text in texts:
        if fit := detect(_keys(text), text):
            yield number, fit


def _keys(text: str) -> set[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    return set(found) if isinstance(found, dict) else set()


def _columns(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True), [])]
    except csv.Error:
        return []


def _parquet_columns(log: LogFile) -> list[str]:
    with log.open() as file:
        try:
            return list(pq.read_schema(file).names)
        except (pa.ArrowException, OSError) as error:
            first = str(error).partition("\n")[0][:200]
            raise RejectedFileError("parquet_not_readable", f"{first}; is it Parquet, and complete?") from None


def _listed(names: Iterable[str]) -> str:
    listed = [shown(name, 40) for name in names]
    return ", ".join(listed[:12]) + (f" and {len(listed) - 12:,} more" if len(listed) > 12 else "")
