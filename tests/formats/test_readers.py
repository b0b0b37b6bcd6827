"""Readers of files that are not one JSON line a record: what they accept, refuse, and hold in memory."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines import readers
from pipelines.errors import RejectedFileError
from pipelines.formats import formats
from pipelines.inbox import LocalFile
from pipelines.ingest import FileOutcome
from pipelines.lines import BLOCK_BYTES, Block, content_sha256
from pipelines.readers import READERS, read_records
from tests.place import Place

HEADER = "timestamp,request_id,input_tokens,cached_tokens,ttft_ms"
ROW = "2026-11-28T10:15:00Z,r-1,1000,400,250"
CSV = "csv request_id"


def blocks(path: Path, reader: str) -> Iterator[Block]:
    return read_records(reader, LocalFile(path), content_sha256(LocalFile(path)))


def records(path: Path, reader: str) -> list[Any]:
    return [json.loads(line) for block in blocks(path, reader) for line in block.lines["line"].to_pylist()]


def faults(path: Path, reader: str) -> list[tuple[int, int, str]]:
    return [(x.line_number, x.byte_offset, x.reason) for block in blocks(path, reader) for x in block.faults]


def refused(path: Path, reader: str) -> str:
    with pytest.raises(RejectedFileError) as caught:
        list(blocks(path, reader))
    return caught.value.reason


def written(folder: Path, content: bytes | str) -> Path:
    path = folder / "log"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()


def ingested(place: Place, log_format: str, *logs: tuple[str, bytes]) -> list[FileOutcome]:
    place.configure(f'[[sources]]\nname = "s"\nformat = "{log_format}"\npath = "logs/*"\ndeployment = "pool"\n')
    for name, content in logs:
        place.write(name, content)
    return place.ingest()


def test_every_format_names_a_reader_there_is() -> None:
    assert {entry.reader.split()[0] for entry in formats().values()} <= set(READERS)


@pytest.mark.parametrize("reader", ["lines", CSV, "documents", "hash_trace"])
@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n"], ids=["nothing", "a newline", "blank lines"])
def test_an_empty_file_has_no_records(tmp_path: Path, reader: str, content: str) -> None:
    assert records(written(tmp_path, content), reader) == []


@pytest.mark.parametrize("reader", ["lines", CSV, "documents", "hash_trace"])
def test_a_cut_gzip_is_refused_whole(tmp_path: Path, reader: str) -> None:
    whole = gzip.compress(("[" + ",".join(['{"a": 1}'] * 5000) + "]").encode())
    path = written(tmp_path, whole[:-20])
    with pytest.raises(RejectedFileError, match="gzip_truncated"):
        list(read_records(reader, LocalFile(path), "unknown"))


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (CSV, f"{HEADER}\n{ROW}\n".encode()),
        ("documents", b'[{"a": 1}]'),
        ("hash_trace", b'{"input_length": 1, "hash_ids": [1]}\n'),
        ("parquet", parquet({"a": [1]})),
    ],
    ids=["csv", "documents", "hash_trace", "parquet"],
)
def test_a_file_that_is_no_longer_what_was_hashed_is_refused(tmp_path: Path, reader: str, content: bytes) -> None:
    path = written(tmp_path, content)
    with pytest.raises(RejectedFileError, match="changed_while_reading"):
        list(read_records(reader, LocalFile(path), "another"))


def test_nothing_is_loaded_of_a_file_whose_end_is_faulty(place: Place) -> None:
    benchmark = {"requests": {"successful": [{"request_id": "g", "info": {"timings": {"request_start": 1785640270}}}]}}
    whole = json.dumps({"benchmarks": [benchmark]}).encode()
    (outcome,) = ingested(place, "guidellm", ("a.json", whole + b"{"))
    assert (outcome.status, outcome.n_loaded) == ("rejected", 0)
    assert place.rows("select * from requests") == []
    (again,) = ingested(
        place, "guidellm", ("a.json", whole.replace(b'"request_id"', b'"prompt_tokens": 1, "request_id"'))
    )
    assert (again.status, again.n_loaded) == ("loaded", 1)


# CSV


def test_a_cell_is_a_number_where_json_would_call_it_one_else_text_and_nothing_where_it_is_empty(
    tmp_path: Path,
) -> None:
    cells = ["1", "-0", "1.50", "1e3", "01", "+1", ".5", "1.", "0x1", "1,5", "NaN", "true", "null", " 1", "", "é"]
    text = "\n".join(["cell,n", *(f'"{cell}",{number}' for number, cell in enumerate(cells))])
    found = [row["cell"] for row in records(written(tmp_path, text), CSV)]
    assert found == [
        1, 0, 1.5, 1000.0, "01", "+1", ".5", "1.", "0x1", "1,5", "NaN", "true", "null", " 1", None, "é"
    ]  # fmt: skip


def test_a_name_that_looks_like_a_number_stays_what_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, "request_id,input_tokens\n12e4,12\n")
    assert records(path, CSV) == [{"request_id": "12e4", "input_tokens": 12}]


def test_a_row_with_too_many_cells_is_a_fault_at_its_place_and_its_neighbours_go_on(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,2\n1,2,3\n4\n")
    assert records(path, CSV) == [{"a": 1, "b": 2}, {"a": 4, "b": None}]
    assert faults(path, CSV) == [(3, 8, "csv_row_too_long")]


@pytest.mark.parametrize("line", ['"open,2', '"a"b,2', '1,"a" '])
def test_a_stray_quote_costs_its_own_line_alone(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, f"a,b\n{line}\n3,4\n")
    assert records(path, CSV) == [{"a": 3, "b": 4}]
    assert faults(path, CSV) == [(2, 4, "csv_line_not_understood")]


def test_quoted_cells_keep_commas_and_quotes(tmp_path: Path) -> None:
    assert records(written(tmp_path, 'a,"b,c"\n"x ""y"", z",1\n'), CSV) == [{"a": 'x "y", z', "b,c": 1}]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_bug_report_33_a_last_row_counts_with_or_without_a_newline(tmp_path: Path, end: str) -> None:
    assert len(records(written(tmp_path, f"{HEADER}\r\n{ROW}\r\n{ROW}{end}"), CSV)) == 2


def test_bug_report_33_an_unfinished_row_becomes_a_row_once(place: Place) -> None:
    second = "2026-11-28T10:16:00Z,r-2,1000,400,250\n"
    (first,) = ingested(place, "canonical_csv", ("a.csv", f"{HEADER}\n{ROW}\n{second[:12]}".encode()))
    assert (first.n_lines, first.n_loaded, first.n_quarantined) == (2, 1, 1)
    (again,) = ingested(place, "canonical_csv", ("a.csv", f"{HEADER}\n{ROW}\n{second}".encode()))
    assert (again.n_loaded, again.n_duplicates, again.n_quarantined) == (1, 0, 0)
    assert place.rows("select count(*) as n from requests") == [{"n": 2}]
    assert place.rows("select count(*) as n from quarantine") == [{"n": 0}]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bug_report_35_a_byte_order_mark_and_blank_lines_lose_no_row(tmp_path: Path, end: str) -> None:
    path = written(tmp_path, b"\xef\xbb\xbf" + end.join([HEADER, ROW, "", ROW, ""]).encode())
    assert [row["timestamp"] for row in records(path, CSV)] == ["2026-11-28T10:15:00Z"] * 2
    assert sum(block.n_blank for block in blocks(path, CSV)) == 1


def test_bug_report_35_a_document_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert records(written(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}'), "documents") == [{"a": 1}, {"a": 2}]


def test_bug_report_37_a_value_that_first_occurs_in_the_last_of_many_rows_is_seen(place: Place) -> None:
    times = [datetime.fromtimestamp(1_795_860_900 + n, UTC).isoformat() for n in range(30_001)]
    rows = [f"{time},r-{n},1000,{3 if n == 30_000 else ''}" for n, time in enumerate(times)]
    content = "\n".join(["timestamp,request_id,input_tokens,cached_tokens", *rows]).encode()
    (outcome,) = ingested(place, "canonical_csv", ("a.csv", content))
    assert outcome.n_loaded == 30_001
    assert place.rows("select sum(cached_tokens) as cached from requests") == [{"cached": 3}]


def test_bug_report_39_a_header_alone_and_missing_columns_change_nothing_in_other_files(place: Place) -> None:
    outcomes = ingested(
        place,
        "canonical_csv",
        ("a.csv", b"timestamp,ttft_ms,input_tokens,session_id\n"),
        ("b.csv", b"timestamp,ttft_ms,input_tokens,session_id\n2026-11-28T10:15:00Z,0.11,76,7603\n"),
        ("c.csv", b"timestamp,ttft_ms,input_tokens\n2026-11-28T10:15:01Z,0.2,689\n"),
        ("d.csv", b""),
    )
    assert [outcome.n_lines for outcome in outcomes] == [0, 1, 1, 0]
    found = place.rows("select input_tokens, session_id from requests order by input_tokens")
    assert found == [{"input_tokens": 76, "session_id": "7603"}, {"input_tokens": 689, "session_id": None}]


def test_bug_report_40_sums_pass_what_32_bits_hold(place: Place) -> None:
    tokens = 10_000_000
    rows = [f"2026-11-28T10:15:00Z,r-{n},{tokens},{tokens},1" for n in range(300)]
    ingested(place, "canonical_csv", ("a.csv", "\n".join([HEADER, *rows]).encode()))
    assert place.rows("select sum(cached_tokens) as n from requests") == [{"n": 3_000_000_000}]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("a,b,a", "duplicate_column"),
        ("a, a", "duplicate_column"),
        ("a,,b", "csv_header_not_understood"),
        ('"a', "csv_header_not_understood"),
    ],
)
def test_a_header_that_does_not_name_each_column_once_refuses_the_file(
    tmp_path: Path, header: str, reason: str
) -> None:
    assert refused(written(tmp_path, f"{header}\n1,2,3\n"), CSV) == reason


def test_a_line_that_is_too_long_or_no_text_is_a_fault_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path, b"a\n" + b"x" * (1 << 20) + b"x\n\xff\n1\n")
    assert records(path, CSV) == [{"a": 1}]
    assert [(line, reason) for line, _, reason in faults(path, CSV)] == [(2, "line_too_long"), (3, "not_utf8")]


# Parquet


def test_parquet_time_stamps_keep_their_instant_and_their_digits(tmp_path: Path) -> None:
    at = 1_795_860_900
    columns = {
        "utc": pa.array([at * 10**9 + 123_456_789], pa.timestamp("ns", "UTC")),
        "berlin": pa.array([at * 1000], pa.timestamp("ms", "Europe/Berlin")),
        "naive": pa.array([at * 1000], pa.timestamp("ms")),
    }
    assert records(written(tmp_path, parquet(columns)), "parquet") == [
        {
            "utc": "2026-11-28 10:15:00.123456789Z",
            "berlin": "2026-11-28 10:15:00.000Z",
            "naive": "2026-11-28 10:15:00.000",
        }
    ]


def test_parquet_values_become_what_json_knows_of_them(tmp_path: Path) -> None:
    columns = {
        "count": pa.array([7, None], pa.int32()),
        "large": pa.array([2**63, 1], pa.uint64()),
        "decimal": pa.array([Decimal(400), None], pa.decimal128(10, 0)),
        "fraction": pa.array([Decimal("0.25"), None], pa.decimal128(10, 2)),
        "name": pa.array(["é", None]).dictionary_encode(),
        "bytes": pa.array([b"abc", None]),
        "deep": pa.array([{"a": [1]}, None]),
    }
    assert records(written(tmp_path, parquet(columns)), "parquet") == [
        {"count": 7, "large": 2**63, "decimal": 400, "fraction": 0.25, "name": "é", "bytes": "abc", "deep": {"a": [1]}},
        dict.fromkeys(columns) | {"large": 1},
    ]  # fmt: skip


def test_parquet_requests_are_the_same_as_json_lines(place: Place) -> None:
    columns = {
        "timestamp": pa.array([datetime(2026, 11, 28, 10, 15, tzinfo=UTC)] * 3, pa.timestamp("us", "UTC")),
        "request_id": ["r-1", "r-2", "r-3"],
        "input_tokens": [1000, 1000, 1000],
        "cached_tokens": [400, None, 1001],
        "ttft_ms": [250.5, None, 1.0],
    }
    (outcome,) = ingested(place, "canonical_parquet", ("a.parquet", parquet(columns)))
    assert (outcome.n_lines, outcome.n_loaded, outcome.n_quarantined) == (3, 2, 1)
    assert place.rows("select request_id, cached_tokens, ttft_us, source_line from requests order by request_id") == [
        {"request_id": "r-1", "cached_tokens": 400, "ttft_us": 250_500, "source_line": 1},
        {"request_id": "r-2", "cached_tokens": None, "ttft_us": None, "source_line": 2},
    ]
    assert place.rows("select source_line, reason from quarantine") == [
        {"source_line": 3, "reason": "cached_exceeds_input"}
    ]


def test_parquet_counts_in_floating_point_are_refused_not_rounded(place: Place) -> None:
    at = pa.array([datetime(2026, 11, 28, 10, 15, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC"))
    ingested(place, "canonical_parquet", ("a.parquet", parquet({"timestamp": at, "input_tokens": [1.0, float("nan")]})))
    assert place.rows("select reason from quarantine") == [{"reason": "decimal_token_count"}] * 2


def test_parquet_without_rows_has_no_records(tmp_path: Path) -> None:
    assert records(written(tmp_path, parquet({"a": pa.array([], pa.int64())})), "parquet") == []


@pytest.mark.parametrize(
    "content",
    [b"", b"a,b\n1,2\n", parquet({"a": [1, 2, 3]})[:-9], gzip.compress(parquet({"a": [1]}))],
    ids=["nothing", "csv", "cut", "gzip"],
)
def test_what_is_no_whole_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    assert refused(written(tmp_path, content), "parquet") == "parquet_not_readable"


def test_parquet_with_a_corrupt_page_is_refused(tmp_path: Path) -> None:
    content = bytearray(parquet({"a": [f"{n}-{n * 7919}" for n in range(20_000)]}, compression="zstd"))
    content[200:4000] = b"\xff" * 3800
    assert refused(written(tmp_path, bytes(content)), "parquet") == "parquet_not_readable"


def test_parquet_is_read_by_batches(tmp_path: Path) -> None:
    n_rows = 20_000
    content = parquet({"a": [f"{n:05}" * 200 for n in range(n_rows)]}, row_group_size=n_rows)
    path = written(tmp_path, content)
    expected = content_sha256(LocalFile(path))
    tracemalloc.start()
    sizes = [block.lines.num_rows for block in read_records("parquet", LocalFile(path), expected)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(sizes) == n_rows
    assert max(sizes) <= 4096
    assert peak < 8 * BLOCK_BYTES


def test_a_large_text_that_parquet_keeps_once_is_not_spelt_out_for_every_row_at_once(tmp_path: Path) -> None:
    text, n_rows = "x" * 900_000, 200
    column = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), pa.array([text]))
    path = written(tmp_path, parquet({"a": column}))
    assert path.stat().st_size < 1_000_000
    expected = content_sha256(LocalFile(path))
    tracemalloc.start()
    n_read = sum(block.lines.num_rows for block in read_records("parquet", LocalFile(path), expected))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_read == n_rows
    assert peak < 8 * BLOCK_BYTES


def test_two_columns_of_one_name_refuse_a_parquet_file(tmp_path: Path) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), sink)
    assert refused(written(tmp_path, sink.getvalue()), "parquet") == "duplicate_column"


# Documents


@pytest.mark.parametrize(
    "content",
    [
        '[{"a": 1}, {"a": 2}]',
        '[\n  {\n    "a": 1\n  },\n  {\n    "a": 2\n  }\n]\n',
        '{"a": 1}\n{\n"a": 2}',
        '{"a":1}[{"a":2}]',
    ],
    ids=["array", "pretty", "in a row", "mixed"],
)
def test_a_record_is_a_document_or_an_element_of_one(tmp_path: Path, content: str) -> None:
    assert records(written(tmp_path, content), "documents") == [{"a": 1}, {"a": 2}]


def test_records_are_found_where_the_format_says_and_nowhere_else(tmp_path: Path) -> None:
    runs = [
        {"requests": {"good": [1, 2], "bad": [3]}, "requests2": [9]},
        {"requests": {"good": []}},
        {"requests": None},
    ]
    path = written(tmp_path, json.dumps({"extra": {"runs": [{"requests": {"x": [8]}}]}, "runs": runs}))
    assert records(path, "documents runs.*.requests.*.*") == [1, 2, 3]


def test_a_record_keeps_its_own_text(tmp_path: Path) -> None:
    record = '{"a": 1.50, "a": 1e400, "b": ' + "9" * 5000 + "}"
    (block,) = blocks(written(tmp_path, f"[{record}]"), "documents")
    assert block.lines["line"].to_pylist() == [record]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"a": 1}, {"a": ', "document_not_json"),
        ('[{"a": 1} {"a": 2}]', "document_not_json"),
        ('{"runs": [1, 2}', "document_not_json"),
        ('[{"a": 1},]', "document_not_json"),
        ('{"runs": [1],}', "document_not_json"),
        ("{1: [1]}", "document_not_json"),
        ("words", "document_not_json"),
        ("[" * 200_000, "document_too_deep"),
        (b'["\xff"]', "not_utf8"),
    ],
    ids=[
        "cut",
        "no comma",
        "wrong bracket",
        "comma too many",
        "comma too many in an object",
        "key is no text",
        "words",
        "deep",
        "not utf-8",
    ],
)
def test_a_document_that_is_no_json_is_refused_whole(tmp_path: Path, content: bytes | str, reason: str) -> None:
    reader = "documents runs.*" if content[:1] == "{" else "documents"
    assert refused(written(tmp_path, content), reader) == reason


def test_a_document_larger_than_memory_should_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 1000)
    assert records(written(tmp_path, b" " * 992 + b'{"a": 1}'), "documents") == [{"a": 1}]
    assert refused(written(tmp_path, b" " * 993 + b'{"a": 1}'), "documents") == "document_too_large"


def test_a_bomb_of_a_document_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 8 << 20)
    path = written(tmp_path, gzip.compress(b" " * (48 << 20)))
    tracemalloc.start()
    with pytest.raises(RejectedFileError, match="document_too_large"):
        list(read_records("documents", LocalFile(path), "unknown"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 << 20


def test_a_record_longer_than_a_line_may_be_is_a_fault_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps([{"a": "x" * (1 << 20)}, {"a": 1}]))
    assert records(path, "documents") == [{"a": 1}]
    assert faults(path, "documents") == [(1, 0, "line_too_long")]


# Hash traces


def trace(*requests: tuple[int, list[int | str]]) -> str:
    return "".join(json.dumps({"input_length": length, "hash_ids": ids}) + "\n" for length, ids in requests)


def cached(path: Path) -> list[int | None]:
    return [row.get("simulated_cached_tokens") for row in records(path, "hash_trace")]


def test_only_leading_blocks_of_earlier_requests_are_served(tmp_path: Path) -> None:
    path = written(tmp_path, trace((1024, [1, 2]), (1536, [1, 2, 3]), (1536, [1, 9, 3]), (1024, [3, 1]), (512, [8, 1])))
    assert cached(path) == [0, 1024, 512, 1024, 0]


def test_a_last_block_that_is_not_full_serves_no_more_than_there_is(tmp_path: Path) -> None:
    assert cached(written(tmp_path, trace((600, [1, 2]), (600, [1, 2])))) == [0, 600]


def test_a_request_does_not_serve_itself(tmp_path: Path) -> None:
    assert cached(written(tmp_path, trace((1024, [1, 1])))) == [0]


def test_hashes_may_be_text_and_are_then_not_numbers(tmp_path: Path) -> None:
    assert cached(written(tmp_path, trace((512, ["1"]), (512, [1]), (512, ["1"])))) == [0, 0, 512]


def test_a_line_that_is_not_understood_leaves_the_cache_alone(tmp_path: Path) -> None:
    text = '{"input_length": 512, "hash_ids": [1, true]}\n{"hash_ids": [1]}\n[]\n{\n' + trace((512, [1]))
    path = written(tmp_path, text)
    found = [line for block in blocks(path, "hash_trace") for line in block.lines["line"].to_pylist()]
    assert found[:4] == text.splitlines()[:4]
    assert json.loads(found[4])["simulated_cached_tokens"] == 0


def test_a_trace_of_more_blocks_than_memory_should_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "MAX_CACHED_BLOCKS", 3)
    assert cached(written(tmp_path, trace((512, [1, 2, 3])))) == [0]
    assert refused(written(tmp_path, trace((512, [1, 2, 3, 4]))), "hash_trace") == "trace_too_large"
