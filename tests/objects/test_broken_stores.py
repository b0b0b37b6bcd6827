"""Stores that break, refuse or change under the reader: whole or not at all, said once, and in nobody's way."""

from __future__ import annotations

import dataclasses
import gzip
import threading
from collections.abc import Callable
from typing import Any

import pytest

from pipelines import object_store, objects
from tests.objects.conftest import KEY_ID, SECRET, Bucket
from tests.objects.relay import Answer, Relay, Request, error_answer
from tests.objects.test_objects import DATA, ROWS, n_requests, source
from tests.place import PRICE, Place, as_bytes, request

pytestmark = pytest.mark.jobs


def once(change: Callable[[Answer], Answer]) -> Callable[[Request, Answer], Answer]:
    """Break the first answer with content and no other."""
    left = [True]

    def changed(asked: Request, answer: Answer) -> Answer:
        if asked.is_body and left:
            left.clear()
            return change(answer)
        return answer

    return changed


def always(change: Callable[[Answer], Answer]) -> Callable[[Request, Answer], Answer]:
    """Break every answer with content."""
    return lambda asked, answer: change(answer) if asked.is_body else answer


def cut(answer: Answer) -> Answer:
    """Let the connection end in the middle of the body."""
    return dataclasses.replace(answer, sent_bytes=len(answer.body) // 2)


def shortened(answer: Answer) -> Answer:
    """Let the store have no byte after the thousandth, and say nothing of it."""
    first = int(dict(answer.headers)["content-range"].split()[1].split("-")[0])
    return dataclasses.replace(answer, body=answer.body[: max(1000 - first, 0)])


def refusing(status: int, code: str) -> Callable[[Request, Answer], Answer]:
    return lambda asked, _answer: error_answer(status, code)


def one_of(place: Place) -> Any:
    (outcome,) = place.ingest()
    return outcome


def watch(place: Place, bucket: Bucket) -> None:
    place.configure(source(f"{bucket.url}/logs/*") + PRICE)


def test_a_connection_that_breaks_once_is_taken_up_again(place: Place, s3: Bucket, relay: Relay) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    relay.change = once(cut)
    assert one_of(place).status == "loaded"
    assert n_requests(place) == 12
    assert len(relay.bodies()) > 1


BREAKS = {"is cut": cut, "is shortened": shortened, "fails": lambda _answer: error_answer(500, "InternalError")}


@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_a_body_that_always_breaks_is_left_to_the_next_run(
    place: Place, s3: Bucket, relay: Relay, change: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    relay.change = always(change)
    assert place.valleywatch("ingest") == 75
    said = capsys.readouterr().err
    assert "logs/a.jsonl: unreachable" in said
    assert "unreadable" in said
    assert "run again" in said
    assert "1 unreachable" in said
    relay.change = Relay.change
    assert one_of(place).status == "loaded"
    assert place.rows("select status, loaded from ingest_files") == [{"status": "loaded", "loaded": 12}]
    assert place.rows("select count(*) as n from quarantine") == [{"n": 0}]


def test_a_store_that_stalls_is_given_up(
    place: Place, s3: Bucket, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "STALLED_TIMEOUT_S", 1.0)
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    release = threading.Event()
    relay.change = always(lambda answer: dataclasses.replace(answer, sent_bytes=0, release=release))
    outcome = one_of(place)
    release.set()
    assert (outcome.status, outcome.n_loaded) == ("unreachable", 0)


@pytest.mark.parametrize("end", [b"", b"\0", b"\xff"], ids=["a length", "zeros", "ones"])
def test_what_an_object_ends_in_makes_it_no_less_whole(place: Place, s3: Bucket, relay: Relay, end: bytes) -> None:
    s3.put("logs/a.gz", gzip.compress(DATA) + end * 9)
    watch(place, s3)
    outcome = one_of(place)
    if end == b"\xff":
        assert outcome.detail.startswith("gzip_trailing")
    else:
        assert (outcome.status, n_requests(place)) == ("loaded", 12)
    assert len(relay.bodies()) == (2 if end == b"\xff" else 1)


def test_an_object_named_on_the_command_line_that_breaks_is_tried_again_later(
    place: Place, s3: Bucket, relay: Relay, capsys: pytest.CaptureFixture[str]
) -> None:
    name = s3.put("logs/a.jsonl", DATA)
    relay.change = always(cut)
    assert place.valleywatch("ingest", name) == 75
    assert f"{name}: unreadable for now" in capsys.readouterr().err


def test_an_object_for_which_the_disk_has_no_space_is_not_fetched(
    place: Place, s3: Bucket, relay: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    monkeypatch.setattr("pipelines.objects._free_bytes", lambda _folder: len(DATA) - 1)
    assert place.valleywatch("ingest") == 75
    assert "free some and run again" in capsys.readouterr().err
    assert relay.bodies() == []


def other(n: int) -> bytes:
    """Return other content of the same length."""
    return as_bytes(row | {"input_tokens": row["input_tokens"] + n} for row in ROWS)


def test_an_object_overwritten_after_the_listing_is_loaded_as_it_is_now(place: Place, s3: Bucket, relay: Relay) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    longer = as_bytes([*ROWS, request(99, timestamp="2026-11-28T20:00:00Z")])

    def overwrite(asked: Request) -> None:
        if "list-type" not in asked.path:
            relay.before = Relay.before
            s3.put("logs/a.jsonl", longer)

    relay.before = overwrite
    assert one_of(place).status == "loaded"
    assert n_requests(place) == 13
    place.ingest()
    assert n_requests(place) == 13


def test_an_object_overwritten_while_it_is_read_is_left_to_the_next_run(
    place: Place, s3: Bucket, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "CHUNK_BYTES", 1000)
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)

    def overwrite(asked: Request) -> None:
        if asked.is_body and len(relay.bodies()) == 2:
            s3.put("logs/a.jsonl", other(5))

    relay.before = overwrite
    outcome = one_of(place)
    assert outcome.status == "unreachable"
    assert outcome.detail.startswith("changed_while_reading")
    assert n_requests(place) == 0
    relay.before = Relay.before
    place.ingest()
    (row,) = place.rows("select sum(input_tokens)::bigint as n from requests")
    assert row["n"] == sum(line["input_tokens"] + 5 for line in ROWS)


def test_an_object_deleted_after_the_listing_is_said(place: Place, s3: Bucket, relay: Relay) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    relay.before = lambda asked: None if "list-type" in asked.path else s3.delete("logs/a.jsonl")
    outcome = one_of(place)
    assert (outcome.status, outcome.detail.partition(":")[0]) == ("deferred", "file_missing")


def test_an_object_that_is_no_log_is_rejected_and_recorded_as_a_file_is(place: Place, bucket: Bucket) -> None:
    name = bucket.put("logs/a.gz", b"\x1f\x8b" + b"no gzip" * 9)
    watch(place, bucket)
    for _ in range(2):
        assert one_of(place).status == "rejected"
    assert place.rows("select path, reason from ingest_files") == [{"path": name, "reason": "gzip_corrupt"}]


def test_an_object_too_large_to_keep_is_refused_unread(
    place: Place, s3: Bucket, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "MAX_OBJECT_BYTES", len(DATA) - 1)
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    assert "write smaller objects" in one_of(place).detail
    assert relay.bodies() == []


def test_a_store_that_gives_nothing_is_not_asked_for_everything(
    place: Place, s3: Bucket, relay: Relay, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(9):
        s3.put(f"logs/{number}.jsonl", as_bytes([ROWS[number]]))
    watch(place, s3)
    relay.change = always(lambda _answer: error_answer(503, "SlowDown"))
    assert place.valleywatch("ingest") == 75
    assert "its store does not answer; 6 more are not tried" in capsys.readouterr().err
    assert len({asked.path for asked in relay.bodies()}) == 3


REFUSALS = {
    "denied": (403, "AccessDenied", 1, "the store refused (ACCESS_DENIED): set AWS_ACCESS_KEY_ID"),
    "an unknown key": (403, "InvalidAccessKeyId", 1, "the store refused (INVALID_ACCESS_KEY_ID): set AWS_"),
    "a wrong secret": (403, "SignatureDoesNotMatch", 1, "the store refused (SIGNATURE_DOES_NOT_MATCH)"),
    "expired": (400, "ExpiredToken", 1, "the store refused (ExpiredToken)"),
    "a wrong clock": (403, "RequestTimeTooSkewed", 1, "see that this machine's clock is right"),
    "another region": (301, "PermanentRedirect", 1, "the bucket is in another region than the one asked"),
    "a malformed region": (400, "AuthorizationHeaderMalformed", 1, "set AWS_REGION to"),
    "no such bucket": (404, "NoSuchBucket", 1, "there is no bucket"),
    "throttled": (503, "SlowDown", 75, "several times in a row (SLOW_DOWN)"),
    "broken": (500, "InternalError", 75, "(INTERNAL_FAILURE); check the network and AWS_ENDPOINT_URL and run again"),
}


@pytest.mark.parametrize(("status", "code", "exit_code", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_listing_that_is_refused_says_why_and_stops_no_other_source(
    place: Place,
    s3: Bucket,
    relay: Relay,
    status: int,
    code: str,
    exit_code: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place.write("a.jsonl", DATA)
    place.configure(source(f"{s3.url}/logs/*", "far") + source("logs/*", "here") + PRICE)
    relay.change = refusing(status, code)
    assert place.valleywatch("ingest") == exit_code
    said = capsys.readouterr().err.splitlines()
    (line,) = [line for line in said if line.startswith("source 'far'")]
    assert words in line
    assert "a.jsonl: 12 lines = 12 loaded" in said[-2]


def test_the_region_that_the_store_names_is_said(
    place: Place, s3: Bucket, relay: Relay, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-west-1'"
    relay.change = lambda _asked, _answer: error_answer(400, "AuthorizationHeaderMalformed", words)
    assert place.valleywatch("ingest", f"{s3.url}/logs/*") == 2
    assert capsys.readouterr().err.endswith("in another region than the one asked; set AWS_REGION to 'eu-west-1'\n")


@pytest.mark.parametrize("status", [403, 401, 400])
def test_an_object_that_may_be_listed_and_not_read_is_rejected(
    place: Place, s3: Bucket, relay: Relay, status: int
) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    relay.change = lambda asked, answer: answer if "list-type" in asked.path else error_answer(status, "AccessDenied")
    outcome = one_of(place)
    assert outcome.status == "rejected"
    assert "the store refused" in outcome.detail


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_store_out_of_reach_is_tried_again_later(
    place: Place, no_store: None, scheme: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "GCS_RETRY_S", 0.2)
    assert place.valleywatch("ingest", f"{scheme}://bucket/logs/*") == 75
    (line,) = capsys.readouterr().err.splitlines()
    assert "unreadable for now" in line
    assert ("AWS_ENDPOINT_URL" if scheme == "s3" else "STORAGE_EMULATOR_HOST") in line
    place.configure(source(f"{scheme}://bucket/logs/*") + PRICE)
    assert place.valleywatch("run") == 75
    assert "a store could not be reached" in capsys.readouterr().err.splitlines()[-1]


def test_google_without_credentials_says_what_to_set(
    place: Place, gs: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(place.folder / "none.json"))
    monkeypatch.setattr(object_store, "GCS_RETRY_S", 0.2)
    assert place.valleywatch("ingest", f"{gs.url}/logs/*") == 2
    assert "no usable credentials; set GOOGLE_APPLICATION_CREDENTIALS" in capsys.readouterr().err


def test_s3_without_credentials_says_what_is_not_set(
    place: Place, s3: Bucket, relay: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    relay.change = refusing(403, "AccessDenied")
    assert place.valleywatch("ingest", f"{s3.url}/logs/*") == 2
    assert "refused (ACCESS_DENIED), and AWS_ACCESS_KEY_ID is not set: set AWS_ACCESS_KEY_ID" in capsys.readouterr().err


MISTAKES = {
    "{url}/logs/none.jsonl": "no such object: {url}/logs/none.jsonl",
    "{url}/logs": "is a folder of objects: add a pattern",
    "{url}/none/*": "no file matches '{url}/none/*'",
    "{scheme}://no-such-bucket/a": "there is no bucket 'no-such-bucket'; check its spelling",
    "{scheme}://no-such-bucket/*": "there is no bucket 'no-such-bucket'; check its spelling",
    "{url}": "names no object: end it in a pattern",
    "{url}/logs/": "names no object: end it in a pattern",
    "{url}/logs//a*": "cannot be empty, `.` or `..`",
    "{url}/logs/../a*": "cannot be empty, `.` or `..`",
    "{url}/logs/a**": "`**` spans folders and stands alone between slashes",
    "{scheme}://buck*/a": "wildcards are for the key alone",
    "{scheme}:///a": "is no name of a bucket",
    "{scheme}3a://bucket/a": "is not read: name s3://bucket/key, gs://bucket/key or a path",
    "https://bucket/a": "https:// is not read",
}


@pytest.mark.parametrize(("name", "words"), MISTAKES.items(), ids=MISTAKES)
def test_a_name_that_leads_nowhere_is_refused_with_the_rule(
    place: Place, bucket: Bucket, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket.put("logs/a.jsonl", DATA)
    parts = {"url": bucket.url, "scheme": bucket.url[:2]}
    assert place.valleywatch("ingest", name.format(**parts)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words.format(**parts) in line


@pytest.mark.parametrize(
    "name", ["s3://{key}:{secret}@bucket/logs/*", "gs://{secret}@bucket/*", "s3://{key}:{secret}/{secret}@bucket/a**"]
)
def test_a_name_with_credentials_is_refused_and_never_repeated(
    place: Place, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written = name.format(key=KEY_ID, secret=SECRET)
    assert place.valleywatch("ingest", written) == 2
    place.configure(source(written) + PRICE)
    assert place.valleywatch("ingest") == 2
    place.configure(source(written + "x" * 5000) + PRICE)
    assert place.valleywatch("ingest") == 2
    said = "".join(capsys.readouterr())
    assert SECRET not in said
    assert KEY_ID not in said
    assert said.count("holds credentials: take them out") == 2


def test_credentials_are_kept_and_said_nowhere(
    place: Place, s3: Bucket, relay: Relay, capsys: pytest.CaptureFixture[str]
) -> None:
    s3.put("logs/a.jsonl", DATA)
    s3.put("logs/b.gz", b"\x1f\x8b broken")
    watch(place, s3)
    assert place.valleywatch("ingest") == 1
    relay.change = refusing(403, "SignatureDoesNotMatch")
    assert place.valleywatch("ingest") == 1
    relay.change = refusing(500, "InternalError")
    assert place.valleywatch("ingest") == 75
    kept = b"".join(path.read_bytes() for path in place.folder.rglob("*") if path.is_file())
    assert b"gzip" in kept
    for secret in (KEY_ID, SECRET):
        assert secret.encode() not in kept
        assert secret not in "".join(capsys.readouterr())


def test_nothing_of_an_object_stays_behind(place: Place, s3: Bucket) -> None:
    s3.put("logs/a.jsonl", DATA)
    watch(place, s3)
    place.ingest()
    assert list((place.warehouse.folder / "tmp").iterdir()) == []
