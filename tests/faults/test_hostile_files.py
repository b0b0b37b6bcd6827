"""Files made to exhaust or mislead: refused with a reason, in bounded time and memory, their neighbours loaded."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import inbox, ingest, lake, staging
from pipelines.errors import RejectedFileError
from pipelines.lines import content_sha256
from pipelines.readers import READERS, read_records
from pipelines.settings import load_settings
from tests.conftest import REPO
from tests.place import ABSENT, EXCERPTS, NOW, PRICE, SOURCE, Place, as_bytes, request

pytestmark = pytest.mark.jobs

MIB = 1 << 20
READING_MIB = 64
"""What reading hostile files may cost above the same command on a good file."""

COMMAND = """
import re, sys
from pathlib import Path
from pipelines.cli import main
code = main(["ingest", "--config", sys.argv[1]])
# Of this program alone: the kernel's figure for a child begins with what its parent had.
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
sys.exit(code)
"""


def ingested(place: Place) -> tuple[int, float, int, str]:
    """Ingest in a process of its own; return exit code, seconds, peak resident MiB and what it said."""
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND, str(place.config)],
        env=os.environ | {"PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        timeout=110,
    )
    return done.returncode, time.monotonic() - before, int(done.stdout) // 1024, done.stderr


@pytest.fixture(scope="module")
def base_mib(tmp_path_factory: pytest.TempPathFactory) -> int:
    """What the interpreter, the engine and the imports take by themselves."""
    place = Place(tmp_path_factory.mktemp("base"))
    place.write("good.jsonl", [request(1), request(2)])
    code, _, peak, said = ingested(place)
    assert code == 0, said
    return peak


def write_huge_line(path: Path, first: dict[str, object], last: dict[str, object], n_bytes: int) -> None:
    """Write a line of NUL characters between two good ones; the hole takes no space on the disk."""
    with path.open("wb") as file:
        file.write(as_bytes([first]))
        file.truncate(file.tell() + n_bytes)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + as_bytes([last]))


def bomb(n_bytes: int) -> bytes:
    """Return a gzip of so many newlines, a thousandth of their size."""
    packer = zlib.compressobj(9, wbits=31)
    piece = b"\n" * MIB
    return b"".join(packer.compress(piece) for _ in range(n_bytes // MIB)) + packer.flush()


@pytest.mark.parametrize(
    "n_bytes", [pytest.param(256 * MIB, id="256 MiB"), pytest.param(1 << 30, id="1 GiB", marks=pytest.mark.slow)]
)
def test_a_huge_line_a_bomb_and_a_cut_gzip_beside_good_files(place: Place, base_mib: int, n_bytes: int) -> None:
    place.configure(SOURCE + EXCERPTS)
    place.write("a good.jsonl", [request(1), request(2)])
    write_huge_line(place.logs / "b huge line.jsonl", request(3), request(4), n_bytes)
    place.write("c bomb.gz", bomb(n_bytes))
    os.utime(place.write("d cut.gz", gzip.compress(as_bytes([request(5)]))[:-5]), (0, 0))  # nobody is at it any more
    place.write("e nested.gz", gzip.compress(bomb(256 * MIB)))
    place.write("f good.jsonl.gz", [request(6)])
    code, seconds, peak, said = ingested(place)
    assert code == 1, said
    assert peak - base_mib < READING_MIB, f"{peak} MiB, of which {base_mib} are there without reading"
    assert seconds < 60
    with place.warehouse.writer() as writer:
        writer.publish()
    assert [row["request_id"] for row in place.rows("select request_id from requests order by 1")] == [
        "r-1", "r-2", "r-3", "r-4", "r-6"
    ]  # fmt: skip
    refused = place.rows("select source_file, reason, length(excerpt) as kept from quarantine order by 1")
    assert [(Path(row["source_file"]).name, row["reason"]) for row in refused] == [
        ("b huge line.jsonl", "line_too_long"),
        ("c bomb.gz", "decompression_ratio"),
        ("d cut.gz", "gzip_truncated"),
        ("e nested.gz", "nested_compression"),
    ]
    assert refused[0]["kept"] <= 2000


def test_a_million_empty_gzip_members_are_worked_off_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"", mtime=0) * 1_000_000 + gzip.compress(b"x\n"))
    before = time.process_time()
    content_sha256(inbox.LocalFile(path))
    assert time.process_time() - before < 6


def test_a_gzip_member_for_each_line_costs_no_more_than_one_for_all(place: Place) -> None:
    rows = [request(number) for number in range(3000)]
    place.write("log.gz", b"".join(gzip.compress(as_bytes([row]), 1) for row in rows))
    before = time.process_time()
    (outcome,) = place.ingest()
    assert outcome.n_loaded == 3000
    assert time.process_time() - before < 6


GOOD = json.dumps(request(3))
STRANGE = {
    "an array 200,000 deep": ("[" * 200_000 + "]" * 200_000, "not_an_object"),
    "an object 100,000 deep": ('{"a":' * 100_000 + "1" + "}" * 100_000, "missing_timestamp"),
    "200,000 deep in a field": (
        GOOD.replace('"2026-11-28T10:15:00Z"', "[" * 200_000 + "]" * 200_000),
        "timestamp_not_understood",
    ),
    "200,000 deep, cut": ("[" * 200_000, "not_json"),
    "200,000 deep beside what is needed": (GOOD[:-1] + ', "x": ' + "[" * 200_000 + "]" * 200_000 + "}", None),
    "60,000 keys": ("{" + ",".join(f'"k{n}":{n}' for n in range(60_000)) + "}", "missing_timestamp"),
    "60,000 keys beside what is needed": (GOOD[:-1] + "," + ",".join(f'"k{n}":1' for n in range(60_000)) + "}", None),
    "one key 100,000 times": ("{" + ",".join(['"k":1'] * 100_000) + "}", "duplicate_key"),
    "a million keys": ("{" + ",".join(f'"k{n}":{n}' for n in range(1_000_000)) + "}", "line_too_long"),
    "a string of 100 MB": ('{"x": "' + "y" * 100_000_000 + '"}', "line_too_long"),
    "two objects on a line": (GOOD + " " + GOOD, "not_json"),
    "an array of objects": (f"[{GOOD}]", "not_an_object"),
    "a scalar": ("17", "not_an_object"),
    "a lone surrogate": (GOOD.replace("r-3", "\\ud800"), "not_json"),
    "an overlong slash": (b'{"a": "\xc0\xaf"}', "not_utf8"),
    "an encoded surrogate": (b'{"a": "\xed\xa0\x80"}', "not_utf8"),
    "4 KiB of NUL": ("\0" * 4096, "not_json"),
    "-0 tokens": (GOOD.replace("1000", "-0").replace("400", "0"), None),
}  # fmt: skip


def test_strange_lines_are_refused_with_their_reason_and_their_neighbours_load(place: Place) -> None:
    for number, (line, _) in enumerate(STRANGE.values()):
        content = line if isinstance(line, bytes) else line.encode()
        mine = content.replace(b"r-3", f"r-strange-{number:02}".encode())
        around = [as_bytes([request(f"{number}-{side}")]) for side in ("before", "after")]  # type: ignore[arg-type]
        place.write(f"{number:02}.jsonl", around[0] + mine + b"\n" + around[1])
    outcomes = place.ingest()
    reasons = {row["source_file"][-8:-6]: row["reason"] for row in place.rows("select * from quarantine")}
    for number, (what, (_, reason)) in enumerate(STRANGE.items()):
        assert reasons.get(f"{number:02}") == reason, what
        assert outcomes[number].n_loaded == (3 if reason is None else 2), what


def test_parts_and_wholes_of_the_same_lines_add_nothing(place: Place) -> None:
    rows = [request(number) for number in range(20)]
    parts = [as_bytes(rows[:10]), as_bytes(rows[10:])]
    place.write("a.jsonl", parts[0])
    place.write("b.jsonl", parts[1])
    place.settle()
    before = place.views()["hourly_hit_rate"]
    place.write("both.jsonl", parts[0] + parts[1])
    place.write("both.jsonl.gz", gzip.compress(parts[1]) + gzip.compress(parts[0], 1))
    place.write("cut inside a line.1.jsonl", (parts[0] + parts[1])[:777])
    place.write("cut inside a line.2.jsonl", (parts[0] + parts[1])[777:])
    place.settle()
    assert place.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [{"n": 20, "ids": 20}]
    assert place.views()["hourly_hit_rate"] == before
    assert [row["reason"] for row in place.rows("select reason from quarantine")] == ["not_json", "not_json"]


def test_links_to_folders_are_not_walked(place: Place) -> None:
    place.configure(SOURCE.replace("logs/*", "logs/**/*") + PRICE)
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.jsonl").write_bytes(as_bytes([request(9)]))
    (place.logs / "linked").symlink_to(elsewhere)
    (place.logs / "up").symlink_to("..")
    place.write("a.jsonl", [request(1)])
    assert {Path(outcome.path).name: outcome.status for outcome in place.ingest()} == {
        "a.jsonl": "loaded",
        "linked": "rejected",
        "up": "rejected",
    }
    assert place.rows("select request_id from requests") == [{"request_id": "r-1"}]


def test_a_folder_of_the_owners_own_may_be_a_link(place: Place) -> None:
    place.write("a.jsonl", [request(1)])
    (place.folder / "current").symlink_to(place.logs)
    place.configure(SOURCE.replace("logs/*", "current/*") + PRICE)
    assert [outcome.n_loaded for outcome in place.ingest()] == [1]


def test_a_hard_link_is_the_file_it_is(place: Place) -> None:
    outside = place.folder / "outside.jsonl"
    outside.write_bytes(as_bytes([request(1)]))
    (place.logs / "a.jsonl").hardlink_to(outside)
    (place.logs / "b.jsonl").hardlink_to(outside)
    assert [outcome.status for outcome in place.ingest()] == ["loaded", "already_loaded"]


@pytest.mark.parametrize("what", ["the file", "its folder"])
def test_a_link_swapped_in_after_listing_is_never_followed(place: Place, what: str) -> None:
    # A loop of swaps beside a loop of openings: whichever comes first, what is behind the link is never read.
    folder, aside = place.logs / "day", place.folder / "aside"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b"ours")
    secret = place.folder / "secret"
    secret.mkdir()
    (secret / "a.jsonl").write_bytes(b"secret")
    target, instead = (folder, secret) if what == "its folder" else (folder / "a.jsonl", secret / "a.jsonl")
    swap = (
        "import os, sys\nt, i, a = sys.argv[1:]\n"
        "while True: os.rename(t, a); os.symlink(i, t); os.stat(t); os.unlink(t); os.rename(a, t)"
    )
    (listed,) = inbox.find_files(place.folder, "logs/day/*").files
    swapper = subprocess.Popen([sys.executable, "-c", swap, str(target), str(instead), str(aside)])
    met = {"ours": 0, "gone": 0, "a link": 0}
    try:
        deadline = time.monotonic() + 20
        while min(met.values()) < 50 or sum(met.values()) < 1000:
            assert time.monotonic() < deadline, met
            assert swapper.poll() is None, "the swapping ended by itself"
            try:
                with listed.open() as file:
                    content = file.read()
            except RejectedFileError as fault:
                met["gone" if fault.reason == "file_missing" else "a link"] += 1
            else:
                assert content == b"ours"
                met["ours"] += 1
    finally:
        swapper.kill()
        swapper.wait(timeout=10)


@pytest.mark.parametrize(
    "name", ["n" * 255, "-", "..jsonl", "~", "CON", "a\x1b[2J\n\"'*?[1]", "\u202egpj.lnosj", "%s{0}{{7*7}}"]
)
def test_any_name_a_folder_can_hold_is_read_and_shown_escaped(
    place: Place, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write(name, as_bytes([request(1)]))
    assert place.valleywatch("ingest") == 0
    said = capsys.readouterr().err
    assert said.isascii()
    assert "\x1b" not in said
    with place.warehouse.writer() as writer:
        writer.publish()
    assert [Path(row["source_file"]).name for row in place.rows("select source_file from requests")] == [name]


def test_a_path_may_lead_out_of_the_configurations_folder_only_where_its_owner_wrote_so(place: Place) -> None:
    outside = place.folder.parent / "outside"
    outside.mkdir()
    (outside / "a.jsonl").write_bytes(as_bytes([request(1)]))
    place.configure(SOURCE.replace("logs/*", "../outside/*.jsonl") + PRICE)
    assert [outcome.n_loaded for outcome in place.ingest()] == [1]


def small_files(place: Place, first: int, last: int) -> None:
    for number in range(first, last):
        place.write(f"{number:05}.jsonl", [request(10 * number + k) for k in range(10)])


@pytest.mark.parametrize("n_files", [lake.MERGED_FILES, 40], ids=["merged at the last one", "merged on the way"])
def test_many_small_files_leave_few_in_the_lake_for_the_next_to_be_compared_with(place: Place, n_files: int) -> None:
    small_files(place, 0, n_files)
    place.ingest()
    n = 10 * n_files
    assert place.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [{"n": n, "ids": n}]
    on_disk = list((place.warehouse.folder / "lake").glob("*/*"))
    assert len(on_disk) < lake.MERGED_FILES
    place.write("again.jsonl", [request(7), request(75), request(10_000)])
    *_, last = place.ingest()
    assert (last.n_loaded, last.n_duplicates) == (1, 2)


def test_what_a_kept_snapshot_lists_stays_until_the_snapshot_goes(place: Place) -> None:
    small_files(place, 0, 1)
    place.ingest()
    (first,) = (place.warehouse.folder / "lake").glob("*/*")
    with place.warehouse.reader() as reader:
        small_files(place, 1, 20)
        place.ingest()
        assert reader.ask("select count(*) from requests")[1] == [(10,)]
    place.configure("[warehouse]\nkeep_h = 0\n" + SOURCE + PRICE)
    for _ in range(3):
        place.ingest()
    assert not first.exists()
    assert place.rows("select count(*) as n from requests") == [{"n": 200}]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_thousand_small_files_take_time_in_proportion(place: Place) -> None:
    took = []
    for part in range(4):
        small_files(place, 250 * part, 250 * (part + 1))
        before = time.process_time()
        place.ingest()
        took.append(time.process_time() - before)
    assert took[-1] < 2 * took[0]
    assert place.rows("select count(*) as n from requests") == [{"n": 10_000}]


@pytest.mark.parametrize(("extra", "status"), [(0, "loaded"), (1, "rejected")], ids=["the most", "one over"])
def test_a_file_that_names_a_deployment_for_each_request_is_refused(place: Place, extra: int, status: str) -> None:
    n = staging.MAX_DEPLOYMENTS + extra
    place.write("a.jsonl", [request(number, deployment=f"pool-{number:05}") for number in range(n)])
    place.write("b.jsonl", [request(1)])
    many, good = place.ingest()
    assert (many.status, good.n_loaded) == (status, 1)
    if extra:
        assert "names over 10,000 deployments, such as 'pool-00000', 'pool-00001'" in str(many.detail)
        assert "Set `deployment` of the source" in str(many.detail)


def drifting(change: dict[str, object], *, after: int = 0, n: int = 1000) -> bytes:
    return as_bytes(request(k, **(change if k >= after else {})) for k in range(n))


DRIFTS = {
    "a new field": ({"brand_new": {"a": [1]}}, 0, "loaded", 1000, 1000),
    "cached_tokens renamed": ({"cached_tokens": ABSENT, "cache_tokens": 400}, 0, "loaded", 1000, 0),
    "cached_tokens in capitals": ({"cached_tokens": ABSENT, "Cached_Tokens": 400}, 0, "loaded", 1000, 0),
    "input_tokens renamed": ({"input_tokens": ABSENT, "prompt_tokens": 1000}, 0, "rejected", 0, 0),
    "input_tokens in capitals": ({"input_tokens": ABSENT, "INPUT_TOKENS": 1000}, 0, "rejected", 0, 0),
    "a type that changes late": ({"cached_tokens": "400"}, 800, "rejected", 0, 0),
    "a type that changes in the last lines": ({"cached_tokens": "400"}, 960, "loaded", 960, 960),
}


@pytest.mark.parametrize(("change", "after", "status", "n_loaded", "n_reported"), DRIFTS.values(), ids=DRIFTS)
def test_a_schema_that_drifts_is_refused_or_shows_in_the_coverage_and_never_as_a_hit_rate_of_zero(
    place: Place, change: dict[str, object], after: int, status: str, n_loaded: int, n_reported: int
) -> None:
    place.write("a.jsonl", drifting(change, after=after))
    (outcome,) = place.settle()
    assert (outcome.status, outcome.n_loaded) == (status, n_loaded)
    for row in place.rows("select n_requests, n_reported, hit_rate, coverage from hourly_hit_rate"):
        assert (row["n_requests"], row["n_reported"]) == (n_loaded, n_reported)
        assert row["hit_rate"] == (0.4 if n_reported else None)
        assert row["coverage"] == n_reported / n_loaded


def test_the_order_of_fields_means_nothing(place: Place) -> None:
    place.write("a.jsonl", [request(1)])
    place.write("b.jsonl", [dict(reversed(request(2).items()))])
    place.ingest()
    first, second = place.rows(
        "select * exclude (request_id, source_file, source_sha256) from requests order by request_id"
    )
    assert first == second


MAGIC = st.sampled_from(
    [b"", b"\x1f\x8b\x08\0", b"PK\x03\x04", b"BZh9", b"PAR1", b"\xef\xbb\xbf", b"[", b'{"', b"a,b\n"]
)


@settings(max_examples=150)
@given(
    head=MAGIC, body=st.binary(max_size=400), tail=st.sampled_from([b"", b"PAR1", b"\n", b"]"]), is_packed=st.booleans()
)
def test_any_bytes_are_records_or_a_refusal_to_every_reader(
    head: bytes, body: bytes, tail: bytes, is_packed: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        content = head + body + tail
        path.write_bytes(gzip.compress(content) if is_packed else content)
        try:
            sha256 = content_sha256(inbox.LocalFile(path))
        except RejectedFileError:
            return
        for reader in READERS:
            try:
                blocks = list(read_records(reader, inbox.LocalFile(path), sha256))
            except RejectedFileError:
                continue
            if reader == "lines":
                text = content.split(b"\n")
                assert sum(block.n_lines for block in blocks) == len(text) - (not text[-1])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
MUTATIONS = st.lists(st.tuples(st.integers(0, 10_000), st.binary(max_size=3)), min_size=1, max_size=4)


def mutated(changes: list[tuple[int, bytes]]) -> bytes:
    """Return ten good lines with some bytes replaced, inserted or left out."""
    content = as_bytes(request(number) for number in range(10))
    for place, put in changes:
        at = place % len(content)
        content = content[:at] + put + content[at + 1 :]
    return content


any_file = st.one_of(
    st.binary(max_size=300),
    st.lists(json_values, max_size=8).map(lambda values: "\n".join(json.dumps(value) for value in values).encode()),
    MUTATIONS.map(mutated),
    MUTATIONS.map(mutated).map(gzip.compress),
)


def check_files(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        for number, content in enumerate(contents):
            place.write(f"{number:03}", content)
        with place.warehouse.writer() as writer:
            outcomes = ingest.ingest_sources(writer, load_settings(place.config), NOW, lambda _line: None)

            writer.publish()
        assert len(outcomes) == len(contents)
        for row in place.rows("select * from ingest_files where status = 'loaded'"):
            assert row["lines"] == row["loaded"] + row["duplicates"] + row["quarantined"] + row["blank"]
        (told,) = place.rows("select coalesce(sum(loaded), 0)::int as n from ingest_files")
        assert place.rows("select count(*) as n from requests") == [told]
        assert place.rows("select count(*) as n from quarantine where reason is null") == [{"n": 0}]


@settings(max_examples=2)
@given(contents=st.lists(any_file, min_size=20, max_size=20))
def test_any_file_is_loaded_to_the_line_or_refused(contents: list[bytes]) -> None:
    check_files(contents)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=40)
@given(contents=st.lists(any_file, min_size=50, max_size=50))
def test_any_two_thousand_files_are_loaded_to_the_line_or_refused(contents: list[bytes]) -> None:
    check_files(contents)
