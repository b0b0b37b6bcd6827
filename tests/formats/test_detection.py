"""Which format a file has: told from its head where one format alone fits, and never guessed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.detection import HEAD_BYTES, HEAD_LINES, Recognition, recognise
from pipelines.errors import RejectedFileError
from pipelines.inbox import LocalFile
from tests.place import Place, as_bytes, request

CANONICAL = as_bytes([request(1)])
TIME_STATS = (
    b"[2026-08-02 03:11:14] Req Time Stats(rid=q-1, input len=9, output len=1, type=unified): queue_duration=1.0ms, "
    b"forward_duration=2.0ms, entry_time=1785640270.0\n"
)
FINISH = b"[2026-08-02 03:11:14] Finish: obj=GenerateReqInput(rid='q-1'), out={'meta_info': {'id': 'q-1'}}\n"
BANNER = b"INFO:     Started server process [7]\n\n"


def told(tmp_path: Path, content: bytes) -> Recognition:
    path = tmp_path / "log"
    path.write_bytes(content)
    return recognise(LocalFile(path))


def name_of(found: Recognition) -> str | None:
    return found.format.name if found.format else None


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (CANONICAL, "canonical"),
        (b"\xef\xbb\xbf\r\n  \r\n" + CANONICAL, "canonical"),
        (BANNER + TIME_STATS, "sglang_time_stats"),
        (BANNER * (HEAD_LINES // 2 - 1) + TIME_STATS, "sglang_time_stats"),
        (b'{"level": "info", "msg": "starting"}\n' + CANONICAL, "canonical"),
        (gzip.compress(BANNER + CANONICAL), "canonical"),
        (CANONICAL.rstrip() + b"\r\n" + CANONICAL.rstrip(), "canonical"),
        (CANONICAL + CANONICAL[:20], "canonical"),
        (as_bytes([request(1, note="x" * (HEAD_BYTES // 2))] * 3), "canonical"),
        (b"timestamp,input_tokens\n", "canonical_csv"),
        (b'\xef\xbb\xbf\r\n"input_tokens", timestamp,more\r\n1,2,3\r\n', "canonical_csv"),
        (b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n", "azure_trace"),
        (json.dumps({"args": {}, "benchmarks": [{"requests": {}}]}).encode(), "guidellm"),
        (json.dumps({"args": {}, "benchmarks": [{"requests": {}}]}, indent=1).encode(), "guidellm"),
        (json.dumps({"benchmarks": [{"text": "x" * 2 * HEAD_BYTES}]}).encode(), "guidellm"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_one_format_alone_fits_is_told(tmp_path: Path, content: bytes, name: str) -> None:
    found = told(tmp_path, content)
    assert name_of(found) == name, found.found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "nothing but blank lines"),
        (b"\n \r\n\t\n", "nothing but blank lines"),
        (BANNER, "none of its first 1 lines is of any format; line 1 is INFO:     Started server process [7]"),
        (BANNER * (HEAD_LINES // 2) + TIME_STATS, "none of its first 100 lines is of any format"),
        (TIME_STATS + FINISH, "lines of several formats (sglang_finish_text in line 2, sglang_time_stats in line 1)"),
        (b"\x1b]0;a\x07\n", "line 1 is \\x1b]0;a\\x07"),
        (b"timestamp,tokens\n1,2\n", "none of its first 2 lines"),
        (b'timestamp,input_tokens,"open\n', "none of its first 1 lines"),
        (b"3\n[1]\n", "none of its first 2 lines"),
        (b"[" * 100_000, "JSON without keys"),
        (b'{"a": 1, "b": [2', "JSON with the keys a, b"),
        (
            b"[" + CANONICAL.strip() + b"]\n",
            "one JSON array of records that look like canonical; write one record a line",
        ),
        (b"\x00\xff\xfe" * 100, "none of its first 1 lines"),
    ],
    ids=range(13),
)
def test_what_no_format_or_more_than_one_fits_stays_unknown_and_is_described(
    tmp_path: Path, content: bytes, said: str
) -> None:
    found = told(tmp_path, content)
    assert found.format is None
    assert said in found.found


def parquet(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_is_told_by_its_columns(tmp_path: Path) -> None:
    found = recognise(LocalFile(parquet(tmp_path / "a", {"timestamp": ["x"], "input_tokens": [1], "more": [2]})))
    assert name_of(found) == "canonical_parquet"
    found = recognise(LocalFile(parquet(tmp_path / "b", {"timestamp": ["x"], "tokens": [1]})))
    assert found == Recognition(None, "Parquet with the columns timestamp, tokens")


def test_half_a_parquet_file_is_refused_not_described(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a", {"timestamp": ["x"], "input_tokens": [1]})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RejectedFileError, match="parquet_not_readable"):
        recognise(LocalFile(path))


def test_files_of_any_kind_are_read_without_naming_their_format(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    row = request(1, timestamp="2026-11-28T10:15:00Z")
    table = place.write("a.csv", f"{','.join(row)}\n{','.join(map(str, row.values()))}\n".encode())
    columns = parquet(place.logs / "b.parquet", {key: [value] for key, value in (row | {"request_id": "r-2"}).items()})
    assert place.valleywatch("ingest", str(table), str(columns)) == 0
    with place.warehouse.writer() as writer:
        writer.publish()
    assert place.rows("select format, loaded from ingest_files order by format") == [
        {"format": "canonical_csv", "loaded": 1},
        {"format": "canonical_parquet", "loaded": 1},
    ]


def test_a_file_of_no_format_is_named_with_what_it_begins_with_and_all_formats(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place.write("a.log", TIME_STATS + FINISH)
    assert place.valleywatch("ingest", str(path)) == 2
    said = capsys.readouterr().err
    assert "lines of several formats (sglang_finish_text in line 2, sglang_time_stats in line 1)" in said
    assert "name one with --format (aiperf, azure_trace, " in said
