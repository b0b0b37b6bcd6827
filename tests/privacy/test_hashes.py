"""Ids that are stored as keyed hashes: the same everywhere under one salt, and as good as plain ones for everything."""

from __future__ import annotations

import hmac
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.privacy.pseudonyms import MIN_SALT_BYTES, Privacy, read_privacy
from pipelines.privacy.settings import PrivacySettings
from pipelines.warehouse import Warehouse, Writer
from tests.conftest import REPO
from tests.place import PRICE, SOURCE, Place, as_bytes, request

SALT = "c2FsdC1vZi10aGUtdGVzdHMtb25seQ"
OTHER_SALT = "another-salt-of-the-tests"
HASHED = """
[privacy]
hash = ["request_id", "session_id", "instance"]
salt_env = "TEST_SALT"
"""
FIELDS = ("request_id", "session_id", "instance")
PLAIN = ("r-1", "r-2", "pool-0", "conversation-7")


@pytest.fixture(autouse=True)
def salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SALT", SALT)


@pytest.fixture
def hashed(place: Place) -> Place:
    place.configure(SOURCE + PRICE + HASHED)
    return place


def pseudonym(field: str, value: str, salt: str = SALT) -> str:
    """The definition of docs/privacy.md, by the standard library."""
    return hmac.new(salt.encode(), f"{field}:{value}".encode(), "sha256").hexdigest()[:32]


def two_lines() -> list[dict[str, Any]]:
    return [request(1, session_id="conversation-7"), request(2, session_id=None, instance=None)]


def test_an_id_is_the_documented_hash_and_null_stays_null(hashed: Place) -> None:
    hashed.write("a.jsonl", two_lines())
    hashed.ingest()
    rows = hashed.rows(f"select {', '.join(FIELDS)} from requests order by source_line")
    assert rows == [
        {
            "request_id": pseudonym("request_id", "r-1"),
            "session_id": pseudonym("session_id", "conversation-7"),
            "instance": pseudonym("instance", "pool-0"),
        },
        {"request_id": pseudonym("request_id", "r-2"), "session_id": None, "instance": None},
    ]


def test_no_plain_id_and_no_salt_is_in_the_warehouse(hashed: Place, capsys: pytest.CaptureFixture[str]) -> None:
    hashed.write("a.jsonl", [*two_lines(), request(3, session_id="conversation-7", input_tokens=-1)])
    hashed.settle()
    tables = hashed.rows("select schema_name || '.' || table_name as name from duckdb_tables()")
    found = repr([hashed.rows(f"from {row['name']}") for row in tables] + [hashed.rows("from lake")])
    found += "".join(map(str, capsys.readouterr()))
    bytes_of = b"".join(path.read_bytes() for path in hashed.warehouse.folder.rglob("*") if path.is_file())
    for plain in (*PLAIN, SALT):
        assert plain not in found.replace("r-1.jsonl", "")
        assert plain.encode() not in bytes_of or plain in ("r-1", "r-2"), plain


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    with Warehouse(tmp_path_factory.mktemp("hmac")).writer() as writer:
        writer.define_macros("ingest/macros")
        yield writer


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@settings(max_examples=60)
@given(value=TEXT, key=TEXT.map(str.strip).filter(lambda key: len(key.encode()) >= MIN_SALT_BYTES))
def test_the_engine_computes_hmac_for_any_text_and_any_salt(session: Writer, value: str, key: str) -> None:
    read_privacy(PrivacySettings(hash=("session_id",), salt_env="S"), {"S": key}).declare(session)
    query = "select pseudonym('session_id', $v::varchar), pseudonym('instance', $v), pseudonym('session_id', null)"
    found = session._connection.execute(query, {"v": value}).fetchall()
    assert found == [(pseudonym("session_id", value, key), value, None)]


def test_what_does_not_show_ids_is_the_same_as_without_hashing(place: Place, tmp_path: Path) -> None:
    """Deduplication, busy periods and curves rest on which ids are equal, not on what they are."""
    rows = [
        request(
            n % 40,
            timestamp=f"2026-11-28T10:{n:02}:00Z",
            session_id=f"s{n % 7}",
            instance=f"i{n % 2}",
            ttft_ms=100.0 + n,
        )
        for n in range(60)
    ]
    other = Place(tmp_path / "hashed", SOURCE + PRICE + HASHED)
    for at in (place, other):
        at.write("a.jsonl", rows[:35])
        at.write("b.jsonl", rows[20:])
        at.aggregate()
    left_out = (*FIELDS, "source_file", "content_sha256", "source_sha256", "path", "period_id")
    plain, hashed_views = place.views(without=left_out), other.views(without=left_out)
    for view in plain:
        assert plain[view] == hashed_views[view], view
    assert len(plain["requests"]) == 40
    assert len(plain["busy_periods"]) > 2


def test_the_same_lines_count_once_under_the_same_salt(hashed: Place) -> None:
    path = hashed.write("a.jsonl", two_lines())
    hashed.ingest()
    hashed.write("copy.jsonl.gz", two_lines())
    hashed.write("again.jsonl", [*two_lines(), request(3)])
    path.write_bytes(path.read_bytes() + as_bytes([request(4), request(1, session_id="conversation-7")]))
    outcomes = hashed.ingest()
    assert sum(outcome.n_loaded for outcome in outcomes) == 2
    assert hashed.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [{"n": 4, "ids": 4}]


def test_lines_without_an_id_count_once_too(hashed: Place) -> None:
    lines = [{key: value for key, value in request(1).items() if key != "request_id"}]
    hashed.write("a.jsonl", lines)
    hashed.ingest()
    hashed.write("b.jsonl", [*lines, request(2)])
    hashed.ingest()
    ids = [row["request_id"] for row in hashed.rows("select request_id from requests")]
    assert len(ids) == 2
    assert all(len(id_) == 32 for id_ in ids)


def test_a_rebuild_from_the_logs_gives_equal_tables(hashed: Place) -> None:
    hashed.write("a.jsonl", [*two_lines(), request(3, input_tokens=-1)])
    hashed.aggregate()
    before = hashed.views()
    assert hashed.valleywatch("rebuild", "--from-logs") == 0
    hashed.aggregate()
    assert hashed.views() == before


def test_another_process_makes_the_same_ids(hashed: Place) -> None:
    hashed.write("a.jsonl", two_lines())
    program = "import sys; from pipelines.cli import main; raise SystemExit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", program, "ingest", "--config", str(hashed.config)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(REPO), "TZ": "Asia/Tokyo"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    with hashed.warehouse.writer() as writer:
        writer.publish()
    assert hashed.rows("select request_id from requests where source_line = 1") == [
        {"request_id": pseudonym("request_id", "r-1")}
    ]
    assert SALT not in done.stdout + done.stderr


@pytest.mark.parametrize("command", [["run"], ["ingest"], ["ingest", "PATH"]])
@pytest.mark.parametrize(
    ("value", "said"), [(None, "is not set"), ("pepper", "has 6 bytes"), (f"{SALT}\n", "white space")]
)
def test_a_salt_that_cannot_be_used_is_refused_before_anything_is_read(
    hashed: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    value: str | None,
    said: str,
) -> None:
    path = hashed.write("a.jsonl", two_lines())
    monkeypatch.delenv("TEST_SALT")
    if value is not None:
        monkeypatch.setenv("TEST_SALT", value)
    assert hashed.valleywatch(*(str(path) if part == "PATH" else part for part in command)) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "TEST_SALT" in told
    assert value is None or value.strip() not in told
    with hashed.warehouse.writer() as writer:
        writer.publish()
    assert hashed.rows("select count(*) as n from requests") == [{"n": 0}]


def told_by(place: Place, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert place.valleywatch("ingest") == 0
    return " ".join(line for line in capsys.readouterr().err.splitlines() if "[privacy]" in line)


def test_another_salt_is_noticed_once_and_said(
    hashed: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hashed.write("a.jsonl", two_lines())
    assert told_by(hashed, capsys) == ""
    assert told_by(hashed, capsys) == ""
    monkeypatch.setenv("TEST_SALT", OTHER_SALT)
    said = told_by(hashed, capsys)
    assert "the salt is another one" in said
    assert "rebuild --from-logs" in said
    assert OTHER_SALT not in said
    assert told_by(hashed, capsys) == ""
    hashed.write("b.jsonl", [*two_lines(), request(5)])
    hashed.ingest()
    assert hashed.rows("select count(*) as n from requests") == [{"n": 5}], "as said: logged again, counted twice"


def test_hashing_that_begins_or_ends_later_is_said(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", two_lines())
    assert told_by(place, capsys) == ""
    place.configure(SOURCE + PRICE + HASHED)
    assert "hash was nothing and is instance,request_id,session_id now" in told_by(place, capsys)
    place.configure(SOURCE + PRICE)
    assert "hash was instance,request_id,session_id and is nothing now" in told_by(place, capsys)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('hash = ["session_id"]', "hash needs salt_env"),
        ('salt_env = "S"', "salt_env without hash"),
        ('hash = ["session_id", "session_id"]\nsalt_env = "S"', "names a field twice"),
        ('hash = ["deployment"]\nsalt_env = "S"', "'request_id', 'session_id' or 'instance'"),
        ('hash = ["session_id"]\nsalt_env = "S"\nquarantine_excerpts = true', "set one of them"),
        ("quarantine_days = 0", "quarantine_days"),
        ("excerpts = true", "unknown key"),
    ],
)
def test_a_section_that_contradicts_itself_is_refused(
    place: Place, section: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(f"{SOURCE}\n[privacy]\n{section}\n")
    assert place.valleywatch("ingest") == 2
    assert said in capsys.readouterr().err


def test_neither_the_key_nor_what_holds_it_can_be_printed() -> None:
    privacy = read_privacy(PrivacySettings(hash=("session_id",), salt_env="S"), {"S": SALT})
    assert SALT not in f"{privacy!r} {privacy} {privacy.salt}"
    assert privacy.check_value not in (None, Privacy().check_value)
