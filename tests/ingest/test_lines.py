"""Bytes to lines: every line is accounted for, wherever blocks are cut, and no file can hang or flood a run."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import tempfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import compression, ingest, lines
from pipelines.compression import decompressed
from pipelines.errors import RejectedFileError
from pipelines.inbox import LocalFile
from tests.place import EXCERPTS, SOURCE, Place, as_bytes, request

DATA = as_bytes(request(number) for number in range(50))
WHOLE = gzip.compress(DATA, mtime=0)


def read(path: Path) -> list[tuple[int, int, bytes | None]]:
    """Line numbers, offsets and texts (None for a line that cannot be read) of all lines but blank ones."""
    found: list[tuple[int, int, bytes | None]] = []
    for block in lines.read_blocks(LocalFile(path), lines.content_sha256(LocalFile(path))):
        rows = block.lines.to_pylist()
        found += [(row["line_number"], row["byte_offset"], row["line"].encode()) for row in rows]
        found += [(fault.line_number, fault.byte_offset, None) for fault in block.faults]
    return sorted(found)


def expected(data: bytes, longest: int) -> list[tuple[int, int, bytes | None]]:
    found, offset = [], 0
    pieces = data.split(b"\n")
    for number, piece in enumerate(pieces if pieces[-1] else pieces[:-1], 1):
        text = piece.removeprefix(b"\xef\xbb\xbf") if number == 1 else piece
        if text.strip() or len(piece) > longest:
            try:
                text.decode()
                is_readable = len(piece) <= longest
            except UnicodeDecodeError:
                is_readable = False
            found.append((number, offset, text.removesuffix(b"\r") if is_readable else None))
        offset += len(piece) + 1
    return found


pieces = st.sampled_from(
    [b"", b"\r", b"  \t", b"a", b"{}", "é\u2028".encode(), b"\xff\xfe", b"\xc3", b"\0", b"\r\r", b"x" * 30, b"y" * 80]
)


@settings(max_examples=150, deadline=None)
@given(
    body=st.lists(pieces, max_size=12).map(b"\n".join),
    has_mark=st.booleans(),
    block_bytes=st.integers(1, 40),
    longest=st.integers(20, 100),
    is_packed=st.booleans(),
)
def test_lines_are_the_same_wherever_blocks_are_cut(
    body: bytes, has_mark: bool, block_bytes: int, longest: int, is_packed: bool
) -> None:
    data = (b"\xef\xbb\xbf" if has_mark else b"") + body
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block_bytes)
        patch.setattr(lines, "MAX_LINE_BYTES", longest)
        path = Path(folder) / "log"
        path.write_bytes(gzip.compress(data) if is_packed else data)
        assert read(path) == expected(data, longest)


@settings(max_examples=12, deadline=None)
@given(
    mixture=st.lists(
        st.sampled_from([b"", b" \r", b"not a line", b"\xff", b'{"timestamp": 1}', b"long " * 300])
        | st.integers(1, 6).map(lambda number: as_bytes([request(number)]).rstrip()),
        max_size=30,
    ),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    is_ended=st.booleans(),
)
def test_lines_are_loaded_duplicates_quarantined_or_blank(mixture: list[bytes], ending: bytes, is_ended: bool) -> None:
    data = ending.join(mixture) + (ending if is_ended else b"")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", 300)
        patch.setattr(lines, "MAX_LINE_BYTES", 1000)
        place = Place(Path(folder))
        place.write("a.jsonl", data)
        (outcome,) = place.ingest()
        (row,) = place.rows("select lines, loaded, duplicates, quarantined, blank from ingest_files")
        good = [piece for piece in mixture if piece.startswith(b'{"timestamp": "')]
        split = data.split(b"\n")
        split = split if split[-1] else split[:-1]
        blank = sum(not piece.strip() for piece in split)
        assert row == {
            "lines": len(split),
            "loaded": len(set(good)),
            "duplicates": len(good) - len(set(good)),
            "quarantined": len(split) - blank - len(good),
            "blank": blank,
        }
        assert outcome.n_lines == len(split)
        refused = place.rows("select source_line, byte_offset from quarantine order by source_line")
        starts = [0]
        for piece in split:
            starts.append(starts[-1] + len(piece) + 1)
        assert all(entry["byte_offset"] == starts[entry["source_line"] - 1] for entry in refused)


def rejected(place: Place, name: str, content: bytes) -> str:
    """Ingest a file that must be rejected as a whole; return the reason."""
    place.write(name, content)
    (outcome,) = place.ingest()
    assert outcome.status == "rejected"
    assert place.rows("select count(*) as n from requests") == [{"n": 0}]
    (row,) = place.rows("select reason from quarantine")
    (file,) = place.rows("select reason, loaded, lines from ingest_files")
    assert file == {"reason": row["reason"], "loaded": 0, "lines": None}
    return str(row["reason"])


def test_a_gzip_cut_anywhere_is_refused_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for cut in sorted({2, 3, 5, 9, 10, 11, *range(20, len(WHOLE) - 9, 37), *range(len(WHOLE) - 9, len(WHOLE))}):
        path.write_bytes(WHOLE[:cut])
        with pytest.raises(RejectedFileError, match="gzip_truncated"):
            lines.content_sha256(LocalFile(path))


def test_any_flipped_bit_of_a_gzip_is_refused_or_harmless(tmp_path: Path) -> None:
    path, dice = tmp_path / "log", random.Random(5)
    harmless = 0
    for _ in range(200):
        position, bit = dice.randrange(len(WHOLE)), 1 << dice.randrange(8)
        path.write_bytes(WHOLE[:position] + bytes([WHOLE[position] ^ bit]) + WHOLE[position + 1 :])
        try:
            data = b"".join(decompressed(LocalFile(path), lines.BLOCK_BYTES))
        except RejectedFileError:
            continue
        harmless += 1
        assert data == DATA or not data.startswith(b"{"), position
    assert harmless < 20


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(WHOLE[:-1], "gzip_truncated", id="cut in its trailer"),
        pytest.param(WHOLE[:-8] + b"\0\0\0\0" + WHOLE[-4:], "gzip_corrupt", id="wrong CRC"),
        pytest.param(WHOLE[:-4] + b"\0\0\0\1", "gzip_corrupt", id="wrong length"),
        pytest.param(WHOLE + b"garbage", "gzip_trailing", id="garbage after it"),
        pytest.param(WHOLE + b"\0\0garbage", "gzip_trailing", id="garbage after padding"),
        pytest.param(WHOLE + b"\0\0" + WHOLE, "gzip_trailing", id="a member after padding"),
        pytest.param(WHOLE + b"\x1f", "gzip_truncated", id="one byte of another member"),
        pytest.param(WHOLE + WHOLE[:-1], "gzip_truncated", id="its second member cut"),
        pytest.param(bz2.compress(DATA), "unsupported_compression", id="bzip2"),
        pytest.param(lzma.compress(DATA), "unsupported_compression", id="xz"),
    ],
)
@pytest.mark.parametrize("name", ["log.gz", "log.jsonl"])
def test_a_packed_file_with_a_fault_loads_nothing(place: Place, name: str, content: bytes, reason: str) -> None:
    assert rejected(place, name, content) == reason


def test_zip_is_named_as_what_it_is(place: Place) -> None:
    with zipfile.ZipFile(place.logs / "log.zip", "w") as archive:
        archive.writestr("a.jsonl", DATA)
    (outcome,) = place.ingest()
    assert outcome.detail == "unsupported_compression: zip is not read; unpack it, or use plain text, gzip or zstd"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(DATA, id="plain text"),
        pytest.param(WHOLE, id="gzip"),
        pytest.param(gzip.compress(DATA[:999]) + gzip.compress(DATA[999:]), id="two members cut inside a line"),
        pytest.param(gzip.compress(b"") * 3 + WHOLE + gzip.compress(b""), id="empty members"),
        pytest.param(WHOLE + b"\0" * 1000, id="padding"),
    ],
)
@pytest.mark.parametrize("name", ["log.gz", "log.jsonl", "log"])
def test_what_a_file_is_does_not_depend_on_its_name(place: Place, name: str, content: bytes) -> None:
    place.write(name, content)
    (outcome,) = place.ingest()
    assert (outcome.n_lines, outcome.n_loaded) == (50, 50)


def test_a_bomb_is_refused_long_before_it_is_unpacked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "RATIO_FREE_BYTES", 1 << 20)
    bomb = gzip.compress(b"\0" * (64 << 20), 9)
    tracemalloc.start()
    assert rejected(place, "log.gz", bomb) == "decompression_ratio"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 << 20


def test_small_files_may_repeat_themselves_as_much_as_they_like(place: Place) -> None:
    packed = gzip.compress(b"\n" * (4 << 20), 9)
    assert len(packed) * compression.MAX_RATIO < 4 << 20
    place.write("log.gz", packed)
    (outcome,) = place.ingest()
    assert outcome.n_blank == 4 << 20


def test_members_without_content_are_worked_off_quickly(place: Place) -> None:
    place.write("log.gz", gzip.compress(b"", mtime=0) * 20_000 + WHOLE)
    (outcome,) = place.ingest()
    assert outcome.n_loaded == 50


def test_a_line_of_any_length_costs_bounded_memory_and_spares_its_neighbours(place: Place) -> None:
    first, last = as_bytes([request(1)]), as_bytes([request(2)])
    place.configure(SOURCE + EXCERPTS)
    packer = zlib.compressobj(9, wbits=31)
    with (place.logs / "log.gz").open("wb") as file:
        file.write(packer.compress(first))
        for _ in range(48):
            file.write(packer.compress(b"x" * (1 << 20)))
        file.write(packer.compress(b"\n" + last) + packer.flush())
    tracemalloc.start()
    (outcome,) = place.ingest()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20
    assert (outcome.n_lines, outcome.n_loaded, outcome.n_quarantined) == (3, 2, 1)
    (row,) = place.rows("select * from quarantine")
    assert (row["reason"], row["source_line"], row["byte_offset"]) == ("line_too_long", 2, len(first))
    assert (row["excerpt"], row["line_bytes"]) == ("x" * 500, 48 << 20)
    assert place.rows("select source_line from requests order by 1") == [{"source_line": 1}, {"source_line": 3}]


@pytest.mark.parametrize(("extra", "reason"), [(0, "not_json"), (1, "line_too_long")], ids=["longest", "one over"])
def test_the_longest_line_is_still_a_line(place: Place, extra: int, reason: str) -> None:
    place.write("a.jsonl", b"x" * (lines.MAX_LINE_BYTES + extra))
    place.ingest()
    assert place.rows("select reason from quarantine") == [{"reason": reason}]


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        pytest.param(b"", (0, 0, 0, 0), id="empty"),
        pytest.param(b"\n", (1, 0, 0, 1), id="one newline"),
        pytest.param(b"\xef\xbb\xbf", (1, 0, 0, 1), id="a mark alone"),
        pytest.param(b"{", (1, 0, 1, 0), id="one byte"),
        pytest.param(b"\x1f", (1, 0, 1, 0), id="half a magic number"),
        pytest.param(DATA[:-1], (50, 50, 0, 0), id="no final newline"),
        pytest.param(DATA[:-9], (50, 49, 1, 0), id="its last line cut"),
        pytest.param(DATA.replace(b"\n", b"\r"), (1, 0, 1, 0), id="bare CR"),
        pytest.param(DATA.decode().encode("utf-16"), (51, 0, 51, 0), id="UTF-16"),
        pytest.param(DATA + b"\0" * 4096, (51, 50, 1, 0), id="a hole at its end"),
        pytest.param(b"\n\xef\xbb\xbf" + DATA, (51, 49, 1, 1), id="a mark in its middle"),
    ],
)
def test_odd_files_are_counted_line_by_line(place: Place, content: bytes, counts: tuple[int, ...]) -> None:
    place.write("a.jsonl", content)
    (outcome,) = place.ingest()
    assert outcome.status == "loaded"
    assert (outcome.n_lines, outcome.n_loaded, outcome.n_quarantined, outcome.n_blank) == counts


def make_link(path: Path) -> None:
    target = path.parent.parent / "elsewhere"
    target.write_bytes(DATA)
    path.symlink_to(target)


def make_socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(os.mkfifo, "not_a_regular_file", id="pipe"),
        pytest.param(make_link, "symbolic_link", id="link"),
        pytest.param(lambda path: path.symlink_to("/etc/passwd"), "symbolic_link", id="link to elsewhere"),
        pytest.param(lambda path: path.symlink_to(path), "symbolic_link", id="link to itself"),
        pytest.param(lambda path: path.symlink_to("/dev/zero"), "symbolic_link", id="link to a device"),
        pytest.param(make_socket, "unreadable", id="socket"),
    ],
)
def test_what_is_no_regular_file_is_refused_and_hangs_nothing(
    place: Place, make: Callable[[Path], None], reason: str
) -> None:
    place.write("good.jsonl", DATA)
    make(place.logs / "odd.jsonl")
    outcomes = {Path(outcome.path).name: outcome for outcome in place.ingest()}
    assert outcomes["good.jsonl"].n_loaded == 50
    assert outcomes["odd.jsonl"].detail is not None
    assert outcomes["odd.jsonl"].detail.split(":")[0] == reason


def test_folders_are_passed_over(place: Place) -> None:
    (place.logs / "folder.jsonl").mkdir()
    place.write("a.jsonl", DATA)
    assert [outcome.n_loaded for outcome in place.ingest()] == [50]


@pytest.mark.parametrize(
    "name", ["a*.jsonl", "[1].jsonl", "a'; drop table x;--.jsonl", "a\nb\x1b[2J.jsonl", "ä" * 100, " ", "$1", "-rf"]
)
def test_names_of_files_are_never_patterns_or_sql(place: Place, name: str) -> None:
    place.write("abc.jsonl", [request(1)])
    place.write(name, [request(2)])
    assert [outcome.n_loaded for outcome in place.ingest()] == [1, 1]
    found = place.rows("select source_file from requests where request_id = 'r-2'")
    assert found == [{"source_file": str(place.logs / name)}]


def test_what_is_said_of_a_file_is_one_line_of_plain_characters() -> None:
    outcome = ingest.FileOutcome("logs/a\nb\x1b[2J\u202e.jsonl", "loaded", None, 3, 2, 0, 1, 0)
    said = ingest.describe(outcome)
    assert said.isascii()
    assert said.isprintable()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from([*request(1), "model", "session_id", "queue_ms", "prefill_ms", "e2e_ms", "cache_write_tokens"])


@settings(max_examples=15, deadline=None)
@given(
    mutated=st.lists(st.dictionaries(fields, json_values, min_size=1, max_size=4), min_size=1, max_size=25),
    raw=st.lists(st.binary(max_size=60), max_size=10),
    option=st.sampled_from(["", 'timezone = "UTC"', *(f'epoch_unit = "{unit}"' for unit in ("s", "ms", "us", "ns"))]),
)
def test_whatever_a_line_holds_it_is_loaded_or_refused_with_a_reason(
    mutated: list[dict[str, object]], raw: list[bytes], option: str
) -> None:
    data = as_bytes(request(number) | changes for number, changes in enumerate(mutated)) + b"\n".join(raw)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.configure(place.config.read_text().replace('path = "logs/*"', f'path = "logs/*"\n{option}'))
        place.write("a.jsonl", data)
        (outcome,) = place.settle()
        assert outcome.status == "loaded"
        counted = (outcome.n_loaded, outcome.n_duplicates, outcome.n_quarantined, outcome.n_blank)
        assert outcome.n_lines == sum(count for count in counted if count is not None)
        assert place.rows("select count(*) as n from quarantine where reason is null") == [{"n": 0}]
