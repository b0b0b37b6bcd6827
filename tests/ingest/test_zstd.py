"""zstd logs: whole or refused, whatever they are called, and bounded whatever they ask for."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest
from backports import zstd

from pipelines import compression, lines
from pipelines.compression import decompressed
from pipelines.errors import RejectedFileError
from pipelines.inbox import LocalFile
from tests.place import Place, as_bytes, request

pytestmark = pytest.mark.jobs

DATA = as_bytes(request(number) for number in range(50))


def pack(data: bytes, level: int = 3, *, has_checksum: bool = True) -> bytes:
    """Compress as the `zstd` command does."""
    options = {
        zstd.CompressionParameter.compression_level: level,
        zstd.CompressionParameter.checksum_flag: has_checksum,
    }
    return zstd.compress(data, options=options)


def skippable(content: bytes, kind: int = 0) -> bytes:
    return bytes([0x50 + kind]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


def frame_asking_for(window_log: int) -> bytes:
    """A frame of a hundred equal bytes that asks for a window of 2 ** window_log bytes."""
    run_of_one_byte = (1 | 1 << 1 | 100 << 3).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd" + bytes([0, (window_log - 10) << 3]) + run_of_one_byte + b"\n"


WHOLE = pack(DATA)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(WHOLE, id="one frame"),
        pytest.param(pack(DATA, has_checksum=False), id="without a checksum"),
        pytest.param(pack(DATA[:999]) + pack(DATA[999:]), id="two frames cut inside a line"),
        pytest.param(pack(b"") * 300 + WHOLE + pack(b""), id="empty frames"),
        pytest.param(skippable(b"index", 0) + WHOLE + skippable(b"", 15), id="skippable frames around it"),
        pytest.param(frame_asking_for(27) + WHOLE, id="the largest window"),
    ],
)
@pytest.mark.parametrize("name", ["log.zst", "log.gz", "log.jsonl"])
def test_a_zstd_file_is_read_whatever_its_name(place: Place, name: str, content: bytes) -> None:
    place.write(name, content)
    (outcome,) = place.ingest()
    assert (outcome.status, outcome.n_loaded, outcome.n_quarantined) == ("loaded", 50, 0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(WHOLE[:-1], "zstd_truncated", id="cut in its checksum"),
        pytest.param(WHOLE + WHOLE[:-5], "zstd_truncated", id="its second frame cut"),
        pytest.param(WHOLE + WHOLE[:3], "zstd_truncated", id="a second magic number cut"),
        pytest.param(WHOLE + skippable(b"index")[:-1], "zstd_truncated", id="a skippable frame cut"),
        pytest.param(WHOLE[:-2] + bytes([WHOLE[-2] ^ 1]) + WHOLE[-1:], "zstd_corrupt", id="wrong checksum"),
        pytest.param(b"\x28\xb5\x2f\xfd" + DATA, "zstd_corrupt", id="a magic number before plain text"),
        pytest.param(WHOLE + b"garbage", "zstd_trailing", id="garbage after it"),
        pytest.param(WHOLE + b"\0", "zstd_trailing", id="padding after it"),
        pytest.param(WHOLE + b"\x1f\x8b", "zstd_trailing", id="another compression after it"),
        pytest.param(frame_asking_for(28) + WHOLE, "zstd_window", id="a window too large"),
        pytest.param(WHOLE + frame_asking_for(41), "zstd_window", id="a window of 2 TiB in a later frame"),
    ],
)
@pytest.mark.parametrize("name", ["log.zst", "log.jsonl"])
def test_a_zstd_file_with_a_fault_loads_nothing(place: Place, name: str, content: bytes, reason: str) -> None:
    place.write(name, content)
    (outcome,) = place.ingest()
    assert outcome.status == "rejected"
    assert place.rows("select count(*) as n from requests") == [{"n": 0}]
    assert place.rows("select reason from quarantine") == [{"reason": reason}]
    assert place.rows("select reason, lines from ingest_files") == [{"reason": reason, "lines": None}]


def test_a_zstd_file_cut_anywhere_is_refused_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for cut in sorted({*range(4, 20), *range(20, len(WHOLE) - 9, 11), *range(len(WHOLE) - 9, len(WHOLE))}):
        path.write_bytes(WHOLE[:cut])
        with pytest.raises(RejectedFileError, match="zstd_truncated"):
            lines.content_sha256(LocalFile(path))


def test_any_flipped_bit_of_a_zstd_file_is_refused_or_harmless(tmp_path: Path) -> None:
    path, dice = tmp_path / "log", random.Random(7)
    for _ in range(200):
        position, bit = dice.randrange(4, len(WHOLE)), 1 << dice.randrange(8)
        path.write_bytes(WHOLE[:position] + bytes([WHOLE[position] ^ bit]) + WHOLE[position + 1 :])
        try:
            data = b"".join(decompressed(LocalFile(path), lines.BLOCK_BYTES))
        except RejectedFileError:
            continue
        assert data == DATA, position


def test_the_frame_that_asks_for_too_much_is_told_how_to_ask_for_less(place: Place) -> None:
    place.write("log.zst", frame_asking_for(31))
    (outcome,) = place.ingest()
    assert outcome.detail == "zstd_window: a frame asks for a window above 128 MiB; compress with --long=27 at most"


@pytest.mark.parametrize(
    "bomb",
    [pytest.param(pack(b"\0" * (64 << 20), 19), id="one frame"), pytest.param(pack(b"\0" * (1 << 20)) * 64, id="many")],
)
def test_a_bomb_is_refused_long_before_it_is_unpacked(
    place: Place, bomb: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "RATIO_FREE_BYTES", 1 << 20)
    place.write("log.zst", bomb)
    tracemalloc.start()
    (outcome,) = place.ingest()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert outcome.detail is not None
    assert outcome.detail.startswith("decompression_ratio")
    assert peak < 24 << 20


def test_a_copy_in_another_compression_is_the_same_file(place: Place) -> None:
    place.write("a.jsonl", DATA)
    place.ingest()
    place.write("a.zst", WHOLE)
    place.write("b.zst", pack(DATA, 19))
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"] * 3
    assert place.rows("select count(*) as n from ingest_files") == [{"n": 1}]
