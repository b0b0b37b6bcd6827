"""Files whose records are not one JSON line each → the same blocks of JSON lines.

A format names its reader in its header, with arguments after the name: `reader: csv request_id model`. Every reader
yields `lines.Block`; line_number is the physical line of a text and the number of the record elsewhere, byte_offset is
0 where a record has no place of its own. Memory is bounded: CSV by the blocks of `lines`, Parquet by batches, a
document by MAX_DOCUMENT_BYTES, a simulated cache by MAX_CACHED_BLOCKS. A file that changes during the read, or that is
not what its format says, raises RejectedFileError, so that nothing of it is loaded.

Belongs here: turning a file into records. Does not belong here: what a field means (`sql/formats/`).
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines import lines
from pipelines.compression import decompressed
from pipelines.errors import RejectedFileError
from pipelines.json_spans import find_spans
from pipelines.lines import Block, Extent, LineFault, fault_of
from pipelines.llama_tasks import LlamaTasks
from pipelines.log_file import LogFile

BATCH_ROWS = 1024
MAX_DOCUMENT_BYTES = 256 << 20
"""A document can only be understood as a whole; one larger than this is a dump, not a benchmark's report."""
MAX_CACHED_BLOCKS = 8_000_000
"""Distinct blocks a simulated cache may hold: some 0.7 GB, forty times what the largest public trace has."""
TRACE_BLOCK_TOKENS = 512

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")

Record = tuple[int, int, str]
"""Line number, byte offset and JSON text."""


def read_records(
    reader: str,
    log: LogFile,
    expected_sha256: str,
    extent: Extent = lines.WHOLE,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Block]:
    """Yield the file's records as `reader`, the header's text, says; raise RejectedFileError as `lines` does.

    Only the reader `lines` can begin at another place than the file's beginning. `columns` are the names that this file
    has for those of the header.
    """
    name, *arguments = reader.split()
    return READERS[name](log, expected_sha256, [columns.get(argument, argument) for argument in arguments], extent)


def _read_lines(log: LogFile, expected_sha256: str, _arguments: Sequence[str], extent: Extent) -> Iterator[Block]:
    return lines.read_blocks(log, expected_sha256, extent)


def _read_csv(log: LogFile, expected_sha256: str, text_columns: Sequence[str], extent: Extent) -> Iterator[Block]:
    """Read comma-separated values under a header; cells of `text_columns` stay text even where they look like numbers.

    A record is one line: a cell cannot span lines, so that a stray quote costs its own line and no other.
    """
    keys: list[str] | None = None
    is_text: list[bool] = []
    for block in lines.read_blocks(log, expected_sha256, extent):
        records: list[Record] = []
        faults = list(block.faults)
        for number, offset, line in _lines_of(block):
            cells = _cells(line)
            if keys is None:
                names = _header(cells)
                keys, is_text = [json.dumps(name) for name in names], [name in text_columns for name in names]
            elif cells is None:
                faults.append(fault_of(number, offset, "csv_line_not_understood", line))
            elif len(cells) > len(keys):
                faults.append(fault_of(number, offset, "csv_row_too_long", line))
            else:
                values = map(_cell, cells, is_text)
                pairs = itertools.zip_longest(keys, values, fillvalue="null")
                records.append((number, offset, "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"))
        yield _block(records, faults, block.n_blank)


def _cells(line: str) -> list[str] | None:
    """Split a line at its commas; None when its quotes do not add up."""
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error:
        return None


def _header(cells: list[str] | None) -> list[str]:
    """Return the names of the columns. What is wrong with them is told by number: without a header they are data."""
    names = [cell.strip() for cell in cells or [""]]
    if "" in names:
        raise RejectedFileError(
            "csv_header_not_understood",
            f"its first line names no column {names.index('') + 1} of {len(names)}: write a header",
        )
    return _each_once(names)


def _each_once(names: list[str]) -> list[str]:
    first: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if first.setdefault(name, number) != number:
            raise RejectedFileError(
                "duplicate_column", f"columns {first[name]} and {number} have one name: rename one of them"
            )
    return names


def _cell(cell: str, is_text: bool) -> str:
    if not cell:
        return "null"
    return cell if not is_text and _JSON_NUMBER.fullmatch(cell) else encode_basestring(cell)


def _read_parquet(log: LogFile, expected_sha256: str, _arguments: Sequence[str], _extent: Extent) -> Iterator[Block]:
    """Read Parquet in batches; time stamps become ISO 8601 text, with Z where the column has a zone."""
    with log.open() as file:
        try:
            schema = pq.read_schema(file)
            _each_once(schema.names)
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            # Repeated texts stay references to one copy: a small file can repeat a large text a million times.
            with pq.ParquetFile(file, read_dictionary=texts) as table:
                numbers = itertools.count(1)
                for batch in table.iter_batches(batch_size=_batch_rows(table.metadata)):
                    yield from _blocks(_batch_records(batch, numbers))
        except (pa.ArrowException, OSError) as error:
            first = str(error).partition("\n")[0][:200]
            raise RejectedFileError("parquet_not_readable", f"{first}; is it Parquet, and complete?") from None
    if lines.content_sha256(log) != expected_sha256:
        raise RejectedFileError("changed_while_reading", "it was written to during the read; run again when it settles")


def _batch_rows(metadata: Any) -> int:
    """Return how many rows a block of memory holds, by the largest rows the file announces."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    row_bytes = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=1)
    return min(max(lines.BLOCK_BYTES // max(row_bytes, 1), 1), BATCH_ROWS)


def _batch_records(batch: pa.RecordBatch, numbers: Iterator[int]) -> Iterator[Record]:
    """Yield a batch's rows as JSON, only as many of them spelt out at a time as a block of memory holds."""
    names = batch.schema.names
    n_rows = max(lines.BLOCK_BYTES // sum(map(_longest_text, batch.columns), start=1), 1)
    for start in range(0, batch.num_rows, n_rows):
        columns = [_plain(column).to_pylist() for column in batch.slice(start, n_rows).columns]
        for values in zip(*columns, strict=True):
            row = dict(zip(names, values, strict=True))
            yield next(numbers), 0, json.dumps(row, ensure_ascii=False, default=str)


def _longest_text(column: pa.Array) -> int:
    if not pa.types.is_dictionary(column.type) or not pa.types.is_string(column.type.value_type):
        return 0
    return pc.max(pc.binary_length(column.dictionary)).as_py() or 0


def _plain(column: pa.Array) -> pa.Array:
    """Return the column as something JSON knows, nothing rounded."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode())
    if pa.types.is_timestamp(kind):
        return (column if kind.tz is None else column.cast(pa.timestamp(kind.unit, "UTC"))).cast(pa.string())
    if pa.types.is_decimal(kind):
        is_integer = kind.scale == 0 and kind.precision <= 18
        return column.cast(pa.int64()) if is_integer else pc.cast(column, pa.float64(), safe=False)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column.cast(pa.large_string())
    return column


def _read_documents(log: LogFile, expected_sha256: str, arguments: Sequence[str], _extent: Extent) -> Iterator[Block]:
    """Read JSON that spans lines: one document, several in a row, or arrays of records.

    The argument says where in a document the records are: keys with dots between them, `*` for every member. Without
    it a record is a document, or an element of one that is an array.
    """
    text = _whole_text(log, expected_sha256)
    where = tuple(arguments[0].split(".")) if arguments else ()
    try:
        spans = find_spans(text, where)
        yield from _blocks((number, 0, text[start:end]) for number, (start, end) in enumerate(spans, 1))
    except RecursionError:
        raise RejectedFileError("document_too_deep", "its brackets are nested too deeply for a log") from None
    except ValueError as error:
        raise RejectedFileError("document_not_json", f"{error}; is it complete?") from None


def _whole_text(log: LogFile, expected_sha256: str) -> str:
    content = bytearray()
    for chunk in decompressed(log, lines.BLOCK_BYTES):
        content += chunk
        if len(content) > MAX_DOCUMENT_BYTES:
            raise RejectedFileError(
                "document_too_large",
                f"over {MAX_DOCUMENT_BYTES:,} bytes in one document; write an object a line, which is read in parts",
            )
    if hashlib.sha256(content).hexdigest() != expected_sha256:
        raise RejectedFileError("changed_while_reading", "it was written to during the read; run again when it settles")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RejectedFileError("not_utf8", f"byte {error.start} is no UTF-8; save it as UTF-8") from None


def _read_hash_trace(log: LogFile, expected_sha256: str, _arguments: Sequence[str], extent: Extent) -> Iterator[Block]:
    """Read a trace of block hashes through a prefix cache that never forgets, and add what it would have served.

    A request's cached tokens are its leading blocks that an earlier request had, at most its whole input. The number
    of the record is added too: two requests of a trace may be equal in everything else and are two.
    """
    known: set[int | str] = set()
    for block in lines.read_blocks(log, expected_sha256, extent):
        records: list[Record] = []
        for number, offset, line in _lines_of(block):
            request = _trace_request(line)
            if request is not None:
                length, ids = request
                n_known = sum(1 for _ in itertools.takewhile(known.__contains__, ids))
                known.update(ids)
                cached = min(n_known * TRACE_BLOCK_TOKENS, length)
                added = f', "record": {number}, "simulated_cached_tokens": {cached}}}'
                records.append((number, offset, line.rstrip().removesuffix("}") + added))
            else:
                records.append((number, offset, line))
        if len(known) > MAX_CACHED_BLOCKS:
            raise RejectedFileError(
                "trace_too_large", f"over {MAX_CACHED_BLOCKS:,} different blocks; cut the trace into parts"
            )
        yield _block(records, block.faults, block.n_blank)


def _trace_request(line: str) -> tuple[int, list[int | str]] | None:
    """Return the input length and the block hashes; None for a line that does not have them: it is refused later."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    length, ids = found.get("input_length"), found.get("hash_ids")
    if type(length) is not int or not isinstance(ids, list) or any(type(x) not in (int, str) for x in ids):
        return None
    return length, ids


def _read_llama_tasks(log: LogFile, expected_sha256: str, _arguments: Sequence[str], extent: Extent) -> Iterator[Block]:
    """Read llama.cpp's text log: a record for each task, at the last of its lines; all other lines count as blank."""
    tasks = LlamaTasks()
    for block in lines.read_blocks(log, expected_sha256, extent):
        n_held = len(tasks)
        records = [record for row in _lines_of(block) for record in tasks.read(*row)]
        n_other = block.lines.num_rows + n_held - len(tasks) - len(records)
        yield _block(records, block.faults, block.n_blank + n_other)
    yield _block(tasks.finish(), (), 0)


def _lines_of(block: Block) -> Iterator[Record]:
    return zip(*(column.to_pylist() for column in block.lines.columns), strict=True)


def _blocks(records: Iterable[Record]) -> Iterator[Block]:
    """Gather records into blocks of bounded size; one that is longer than a line may be is a fault."""
    kept: list[Record] = []
    faults: list[LineFault] = []
    n_bytes = 0
    for number, offset, line in records:
        if len(line) > lines.MAX_LINE_BYTES:
            faults.append(fault_of(number, offset, "line_too_long", line))
        else:
            kept.append((number, offset, line))
            n_bytes += len(line)
        if n_bytes > lines.BLOCK_BYTES or len(faults) > BATCH_ROWS:
            yield _block(kept, faults, 0)
            kept, faults, n_bytes = [], [], 0
    if kept or faults:
        yield _block(kept, faults, 0)


def _block(records: list[Record], faults: Iterable[LineFault], n_blank: int) -> Block:
    columns = zip(*records, strict=True) if records else ((), (), ())
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, lines.SCHEMA, strict=True)]
    return Block(pa.Table.from_arrays(arrays, schema=lines.SCHEMA), tuple(faults), n_blank)


Reader = Callable[[LogFile, str, Sequence[str], Extent], Iterator[Block]]
READERS: dict[str, Reader] = {
    "lines": _read_lines,
    "csv": _read_csv,
    "parquet": _read_parquet,
    "documents": _read_documents,
    "hash_trace": _read_hash_trace,
    "llama_tasks": _read_llama_tasks,
}
