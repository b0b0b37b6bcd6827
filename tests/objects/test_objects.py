"""Logs in object stores: found by the same patterns as files, and counted once."""

from __future__ import annotations

import dataclasses
import gzip
import io
import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.inbox import find_files
from tests.conftest import REPO
from tests.objects.conftest import Bucket
from tests.objects.relay import Change, Relay, error_answer
from tests.place import PRICE, Place, as_bytes, request

pytestmark = pytest.mark.jobs

ROWS = [request(number, timestamp=f"2026-11-28T{number:02}:15:00Z", input_tokens=1000 + number) for number in range(12)]
DATA = as_bytes(ROWS)


def source(path: str, name: str = "store", log_format: str = "canonical") -> str:
    return f'[[sources]]\nname = "{name}"\nformat = "{log_format}"\npath = "{path}"\n'


def n_requests(place: Place) -> int:
    return int(place.rows("select count(*) as n from requests")[0]["n"])


def written_at(moment: datetime) -> Change:
    """Let all objects of a listing have been written at one moment."""
    text = moment.strftime("<LastModified>%Y-%m-%dT%H:%M:%S.000Z<").encode()
    return lambda _asked, answer: dataclasses.replace(answer, body=re.sub(rb"<LastModified>[^<]*<", text, answer.body))


def test_the_objects_that_a_pattern_matches_are_loaded(place: Place, bucket: Bucket) -> None:
    bucket.put("logs/a.jsonl", as_bytes(ROWS[:3]))
    bucket.put("logs/day=1/b.jsonl.gz", gzip.compress(as_bytes(ROWS[3:7])))
    bucket.put("logs/day=2/deep/er/c.jsonl", as_bytes(ROWS[7:]))
    bucket.put("logs/day=2/readme.txt", b"no log")
    bucket.put("other/d.jsonl", b"no log")
    place.configure(source(f"{bucket.url}/logs/**/*.jsonl*") + PRICE)
    outcomes = place.ingest()
    assert [outcome.status for outcome in outcomes] == ["loaded"] * 3, [outcome.detail for outcome in outcomes]
    assert n_requests(place) == 12
    assert {row["source_file"] for row in place.rows("select distinct source_file from requests")} == {
        f"{bucket.url}/logs/{key}" for key in ("a.jsonl", "day=1/b.jsonl.gz", "day=2/deep/er/c.jsonl")
    }


def test_readers_that_seek_read_objects(place: Place, bucket: Bucket) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink, row_group_size=3)
    bucket.put("logs/a.parquet", sink.getvalue())
    place.configure(source(f"{bucket.url}/logs/*.parquet", log_format="canonical_parquet") + PRICE)
    assert [outcome.status for outcome in place.ingest()] == ["loaded"]
    assert n_requests(place) == 12


def test_an_object_named_on_the_command_line_is_loaded(
    place: Place, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bucket.put("logs/a.jsonl.gz", gzip.compress(DATA))
    assert place.valleywatch("ingest", name) == 0
    assert f"{name}: 12 lines = 12 loaded" in capsys.readouterr().err
    assert place.valleywatch("ingest", f"{bucket.url}/logs/*.gz") == 0
    assert "1 files known already" in capsys.readouterr().err


KEYS = ("a.log", "b.log", "d/a.log", "d/x", "d/e/a.log", "d/e/f/a.log", "d2/a.log", "d2/e/b.log", ".hidden/a.log")
PATTERNS = (
    *(
        "*",
        "*.log",
        "**/*",
        "**/a.log",
        "d/*",
        "d/**/*.log",
        "d*/*",
        "*/e/*",
        "**/e/**/*.log",
        "**",
        "[ab].log",
        "d/**",
    ),
    *("**/**/a.log", "d?/*.log", "none/*", "d/x"),
)


def test_a_pattern_means_the_same_in_a_folder_and_in_a_store(tmp_path: Path, bucket: Bucket) -> None:
    for key in KEYS:
        bucket.put(f"root/{key}", key.encode())
        (tmp_path / "root" / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / key).write_text(key)
    (tmp_path / "root" / "none").mkdir()
    for pattern in PATTERNS:
        if pattern == "d/e":
            continue
        here = [file.name.removeprefix(f"{tmp_path}/") for file in find_files(tmp_path, f"root/{pattern}").files]
        there = [
            file.name.removeprefix(f"{bucket.url}/")
            for file in find_files(tmp_path, f"{bucket.url}/root/{pattern}").files
        ]
        assert sorted(there) == sorted(here), pattern


def test_a_listing_is_followed_over_its_pages(place: Place, s3: Bucket, relay: Relay) -> None:
    for number in range(12):
        s3.put(f"logs/{number}.jsonl", as_bytes([ROWS[number]]))
    relay.rewrite = lambda path: re.sub(r"max-keys=\d+", "max-keys=5", path)
    place.configure(source(f"{s3.url}/logs/*") + PRICE)
    place.ingest()
    assert n_requests(place) == 12
    assert sum("list-type" in seen.path for seen in relay.seen) == 3


def test_an_object_counts_once_whatever_carries_it(place: Place, bucket: Bucket) -> None:
    bucket.put("logs/a.jsonl", DATA)
    bucket.put("logs/copy.jsonl", DATA)
    bucket.put("logs/a.1.gz", gzip.compress(DATA, 1))
    bucket.put("logs/a.9.gz", gzip.compress(DATA, 9))
    place.write("a.jsonl", DATA)
    place.configure(source("logs/*", "here") + source(f"{bucket.url}/logs/*") + PRICE)
    assert sorted(outcome.status for outcome in place.ingest()) == ["already_loaded"] * 4 + ["loaded"]
    assert n_requests(place) == 12


def test_known_objects_are_not_asked_for_again(place: Place, s3: Bucket, relay: Relay) -> None:
    relay.change = written_at(datetime(2026, 1, 1, tzinfo=UTC))
    s3.put("logs/a.jsonl", DATA)
    s3.put("logs/copy.jsonl.gz", gzip.compress(DATA))
    place.configure(source(f"{s3.url}/logs/*") + PRICE)
    place.ingest()
    assert len({seen.path for seen in relay.bodies()}) == 2
    relay.seen.clear()
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"] * 2
    assert ["list-type" in seen.path for seen in relay.seen] == [True]


def test_an_object_overwritten_within_the_second_of_its_stamp_is_read_again(
    place: Place, s3: Bucket, relay: Relay
) -> None:
    relay.change = written_at(datetime.now(UTC) + timedelta(hours=1))  # young for as long as the test may take
    s3.put("logs/a.jsonl", as_bytes([request(1, timestamp="2026-11-28T10:00:01Z")]))
    place.configure(source(f"{s3.url}/logs/*") + PRICE)
    place.ingest()
    s3.put("logs/a.jsonl", as_bytes([request(2, timestamp="2026-11-28T10:00:02Z")]))
    assert [outcome.status for outcome in place.ingest()] == ["loaded"]
    assert n_requests(place) == 2


ODD = (
    *("sp ace.jsonl", "ünï-日本.jsonl", "pl+us%20.jsonl", "ha#sh.jsonl", "que?ry=1&x.jsonl", "st*r[1].jsonl"),
    *("a'b\"c.jsonl", "...jsonl", "back\\slash.jsonl"),
)


def test_odd_keys_are_read(place: Place, s3: Bucket) -> None:
    for number, key in enumerate(ODD):
        s3.put(f"logs/{key}", as_bytes([ROWS[number]]))
    place.configure(source(f"{s3.url}/logs/*") + PRICE)
    assert [outcome.status for outcome in place.ingest()] == ["loaded"] * len(ODD)
    assert n_requests(place) == len(ODD)


def test_a_key_with_a_newline_is_read_and_shown_on_one_line(
    place: Place, gs: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    gs.put("logs/new\nline\x1b[2J.jsonl", DATA)
    assert place.valleywatch("ingest", f"{gs.url}/logs/*") == 0
    assert f"{gs.url}/logs/new\\nline\\x1b[2J.jsonl: 12 lines" in capsys.readouterr().err


def test_the_region_of_the_environment_is_asked(
    place: Place, s3: Bucket, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert place.valleywatch("ingest", s3.put("logs/a.jsonl", DATA)) == 0
    assert all("/eu-central-1/s3/" in seen.authorization for seen in relay.seen)


@pytest.mark.parametrize("key", ["logs//b.jsonl", "logs/../b.jsonl", "logs/./b.jsonl", "/logs/b.jsonl"])
def test_a_key_that_cannot_be_asked_for_is_refused_by_name_and_hides_no_other(
    place: Place, s3: Bucket, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    s3.put(key, as_bytes(ROWS[:1]))
    s3.put("logs/good.jsonl", DATA)
    place.configure(source(f"{s3.url}/**/*.jsonl") + PRICE)
    assert place.valleywatch("ingest") == 1
    said = capsys.readouterr().err
    assert f"{s3.url}/{key} has a key with an empty or dotted part between slashes" in said
    assert "copy it to another key" in said
    assert f"{s3.url}/logs/good.jsonl: 12 lines = 12 loaded" in said


def test_placeholders_of_folders_are_no_objects(place: Place, s3: Bucket) -> None:
    s3.put("logs/", b"")
    s3.put("logs/day=1/", b"")
    s3.put("logs/day=1/a.jsonl", DATA)
    place.configure(source(f"{s3.url}/logs/**/*") + PRICE)
    assert [outcome.status for outcome in place.ingest()] == ["loaded"]


@pytest.mark.parametrize("breaks", [False, True], ids=["whole", "broken"])
def test_the_program_ends_when_it_is_done(place: Place, s3: Bucket, relay: Relay, breaks: bool) -> None:
    """With a store's library loaded, which waits at the end for every connection that is still held."""
    s3.put("logs/a.jsonl", DATA)
    place.configure(source(f"{s3.url}/logs/*") + PRICE)
    if breaks:
        relay.change = lambda asked, answer: error_answer(500, "InternalError") if asked.is_body else answer
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pipelines", "ingest", "--config", str(place.config)],
        env=os.environ | {"PYTHONPATH": str(REPO)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == (75 if breaks else 0)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2


def test_files_of_this_machine_do_not_pay_for_stores(place: Place) -> None:
    place.write("a.jsonl", DATA)
    program = (
        "import sys; from pipelines.cli import main; main(['ingest', '--config', sys.argv[1]]); "
        "print([m for m in sys.modules if m in ('pipelines.objects', 'boto3', 'pyarrow.fs')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(place.config)],
        env=os.environ | {"PYTHONPATH": str(REPO)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "pipelines.objects" not in done.stdout, done.stderr


def test_what_the_readme_says_of_stores_is_typed_here(
    place: Place, s3: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = (REPO / "README.md").read_text().partition("### Logs in an object store")[2]
    exports, command = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0].splitlines()
    given = dict(pair.split("=") for pair in exports.removeprefix("export ").split())
    assert set(given) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}
    monkeypatch.setenv("AWS_REGION", given["AWS_REGION"])
    words = shlex.split(command)
    bucket = dataclasses.replace(s3, url="/".join(words[2].split("/")[:3]))
    s3.client.create_bucket(Bucket=bucket.name)
    bucket.put("gateway/2026/11/28.jsonl.gz", gzip.compress(DATA))
    assert words[0] == "valleywatch"
    assert place.valleywatch(*words[1:]) == 0
    assert "12 lines = 12 loaded" in capsys.readouterr().err
