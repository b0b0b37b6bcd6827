"""What one line becomes: one table for every rule and every reason, the same for all formats."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines import staging
from pipelines.queries import resource_folder
from pipelines.times import to_us
from tests.place import EXCERPTS, NOW, SOURCE, Place

KEYS = {
    "canonical": {},
    "gateway": {
        "timestamp": "ts",
        "input_tokens": "prompt_tokens",
        "output_tokens": "completion_tokens",
        "prefill_ms": "prompt_ms",
        "session_id": "session",
    },
}
"""What each format calls the canonical fields, where it has another name."""

GOOD = {
    "timestamp": '"2026-11-28T10:15:00Z"',
    "deployment": '"pool"',
    "instance": '"pool-0"',
    "input_tokens": "1000",
    "cached_tokens": "400",
    "output_tokens": "20",
    "ttft_ms": "250.0",
    "status": "200",
}
AT = to_us(datetime(2026, 11, 28, 10, 15, tzinfo=UTC))
MIDNIGHT = to_us(datetime(2026, 11, 29, tzinfo=UTC))
GONE = "«gone»"


@dataclass(frozen=True)
class Case:
    """One line: GOOD with `fields` (JSON text by canonical name), or `raw`; its reason, or columns of its request."""

    what: str
    expected: str | dict[str, Any]
    fields: dict[str, str] = field(default_factory=dict)
    raw: str | None = None
    option: str = ""
    """A key of the source's configuration."""

    def line(self, number: int, log_format: str) -> str:
        if self.raw is not None:
            return self.raw
        values = {"request_id": f'"r-{number}"'} | GOOD | self.fields
        pairs = [
            f"{json.dumps(KEYS[log_format].get(name, name))}: {text}" for name, text in values.items() if text != GONE
        ]
        return "{" + ", ".join(pairs) + "}"


def brief(text: str) -> str:
    return text if len(text) < 40 else f"{text[:8]}… ({len(text)} characters)"


def tokens(text: str, expected: str | int, *, name: str = "input_tokens") -> Case:
    others = {"cached_tokens": "0"} if name == "input_tokens" else {}
    found = expected if isinstance(expected, str) else {name: expected}
    return Case(f"{name} {brief(text)}", found, {**others, name: text})


def latency(text: str, expected: str | int | None, *, name: str = "ttft") -> Case:
    found = expected if isinstance(expected, str) else {f"{name}_us": expected}
    return Case(f"{name}_ms {brief(text)}", found, {f"{name}_ms": text})


def time(text: str, expected: str | int, option: str = "") -> Case:
    found = expected if isinstance(expected, str) else {"arrived_us": expected}
    return Case(f"timestamp {text} {option}".strip(), found, {"timestamp": text}, option=option)


def name(key: str, text: str, expected: str | dict[str, Any]) -> Case:
    return Case(f"{key} {brief(text)}", expected, {key: text})


def status(text: str, kept: str | None, outcome: str) -> Case:
    return Case(f"status {text}", {"status": kept, "outcome": outcome}, {"status": text})


CASES = [
    Case("a good line", {"input_tokens": 1000, "cached_tokens": 400, "ttft_us": 250_000, "outcome": "ok"}),
    # What is no object of one request.
    Case("an open brace", "not_json", raw="{"),
    Case("words", "not_json", raw="these are words"),
    Case("single quotes", "not_json", raw="{'timestamp': 1}"),
    Case("two objects on a line", "not_json", raw='{"a": 1}{"b": 2}'),
    Case("a NUL", "not_json", raw='{"a": "\0"}'),
    Case("a lone surrogate", "not_json", fields={"model": '"\\ud800"'}),
    Case("200,000 open brackets", "not_json", raw="[" * 200_000),
    Case("100,000 open objects", "not_json", raw='{"a":' * 100_000),
    Case("a number", "not_an_object", raw="3"),
    Case("a null", "not_an_object", raw="null"),
    Case("a text", "not_an_object", raw='"x"'),
    Case("an array", "not_an_object", raw="[{}]"),
    Case("an empty object", "missing_timestamp", raw="{}"),
    Case("a key twice", "duplicate_key", {"model": '"m", "model": "n"'}),
    Case("a key twice, once in disguise", "duplicate_key", {"model": '"m", "mo\\u0064el": "n"'}),
    Case("a key twice with the same value", "duplicate_key", {"model": '"m", "model": "m"'}),
    Case("a key twice deeper down", {"input_tokens": 1000}, {"extra": '{"a": 1, "a": 2}'}),
    Case("an unknown key", {"input_tokens": 1000}, {"extra": "[[[1e400]]]"}),
    # Token counts: JSON integers from 0 to 10,000,000, nothing else.
    tokens("0", 0),
    tokens("10000000", 10_000_000),
    tokens("-0", 0),
    tokens("-1", "negative_token_count"),
    tokens("-1.5", "negative_token_count"),
    tokens("100.0", "decimal_token_count"),
    tokens("100.7", "decimal_token_count"),
    tokens("1e3", "decimal_token_count"),
    tokens("NaN", "decimal_token_count"),
    tokens("Infinity", "decimal_token_count"),
    tokens("1e400", "decimal_token_count"),
    tokens("10000001", "token_count_too_large"),
    tokens("9223372036854775807", "token_count_too_large"),
    tokens("9223372036854775808", "token_count_too_large"),
    tokens("18446744073709551616", "token_count_too_large"),
    tokens("1" + "0" * 400, "token_count_too_large"),
    tokens('"100"', "token_count_is_not_a_number"),
    tokens("true", "token_count_is_not_a_number"),
    tokens("[]", "token_count_is_not_a_number"),
    tokens("{}", "token_count_is_not_a_number"),
    tokens("007", "not_json"),
    tokens("null", "missing_input_tokens"),
    tokens(GONE, "missing_input_tokens"),
    *(
        tokens(text, reason, name=key)
        for key in ("cached_tokens", "output_tokens", "cache_write_tokens")
        for text, reason in (
            ("-1", "negative_token_count"),
            ("1.5", "decimal_token_count"),
            ("true", "token_count_is_not_a_number"),
            ("10000001", "token_count_too_large"),
        )
    ),
    Case("all is cached", {"cached_tokens": 1000}, {"cached_tokens": "1000"}),
    Case("one more cached than there are", "cached_exceeds_input", {"cached_tokens": "1001"}),
    Case("cached of an empty prompt", "cached_exceeds_input", {"input_tokens": "0", "cached_tokens": "1"}),
    Case("an empty prompt", {"input_tokens": 0, "cached_tokens": 0}, {"input_tokens": "0", "cached_tokens": "0"}),
    Case("nothing cached", {"cached_tokens": 0}, {"cached_tokens": "0"}),
    Case("cached is null", {"cached_tokens": None}, {"cached_tokens": "null"}),
    Case("cached is not there", {"cached_tokens": None}, {"cached_tokens": GONE}),
    Case("output is null", {"output_tokens": None}, {"output_tokens": "null"}),
    Case(
        "a failure without counts",
        {"input_tokens": None, "cached_tokens": None, "outcome": "failed"},
        {"status": "502", "input_tokens": "null", "cached_tokens": "null", "ttft_ms": "null"},
    ),
    Case("a failure with a wrong count", "negative_token_count", {"status": "502", "input_tokens": "-1"}),
    # Latencies: finite milliseconds from 0 to a day, kept as the nearest microsecond.
    latency("0", 0),
    latency("-0.0", 0),
    latency("250", 250_000),
    latency("0.0004", 0),
    latency("0.0005", 1),
    latency("0.0006", 1),
    latency("123.4567", 123_457),
    latency("86400000", 86_400_000_000),
    latency("null", None),
    latency(GONE, None),
    latency("86400000.001", "latency_over_a_day"),
    latency("1e300", "latency_over_a_day"),
    latency("-0.001", "negative_latency"),
    latency("-1e400", "latency_is_not_finite"),
    latency("1e400", "latency_is_not_finite"),
    latency("NaN", "latency_is_not_finite"),
    latency("Infinity", "latency_is_not_finite"),
    latency('"250"', "latency_is_not_a_number"),
    latency("true", "latency_is_not_a_number"),
    latency("[250]", "latency_is_not_a_number"),
    *(
        latency(text, expected, name=key)
        for key in ("queue", "prefill", "e2e")
        for text, expected in (("1.5", 1500), ("-1", "negative_latency"), ('"1"', "latency_is_not_a_number"))
    ),
    # Arrivals: ISO 8601 with an offset, or numbers in the unit the source declares; from 2020 to ten minutes ahead.
    time(GONE, "missing_timestamp"),
    time("null", "missing_timestamp"),
    time('"2026-11-28T10:15:00+00:00"', AT),
    time('"2026-11-28 10:15:00Z"', AT),
    time('"2026-11-28T10:15Z"', AT),
    time('"2026-11-28T15:45:00+0530"', AT),
    time('"2026-11-29T00:15:00+14:00"', AT),
    time('"2026-11-27T22:15:00-12"', AT),
    time('"2026-11-28T10:15:00.5Z"', AT + 500_000),
    time('"2026-11-28T10:15:00.1234567Z"', AT + 123_456),
    time('"2026-11-28T10:15:00.123456789Z"', AT + 123_456),
    time('"2026-11-28T24:00:00Z"', MIDNIGHT),
    time('"2026-11-28T10:15:00"', "timestamp_without_offset"),
    time('"2026-11-28T10:15:00.25"', "timestamp_without_offset"),
    time('"2026-11-28T10:15:00"', AT, 'timezone = "UTC"'),
    time('"2026-11-28 10:15:00.25"', AT + 250_000, 'timezone = "UTC"'),
    time('"2026-11-28T12:15:00+02:00"', AT, 'timezone = "UTC"'),
    time('"2026-02-30T10:15:00"', "timestamp_not_understood", 'timezone = "UTC"'),
    time('"2026-11-28T11:15:00"', AT, 'timezone = "Europe/Berlin"'),
    time('"2026-11-28 05:15:00.000000999"', AT, 'timezone = "America/New_York"'),
    time('"2026-11-28T12:15:00+02:00"', AT, 'timezone = "Europe/Berlin"'),
    time('"2026-10-25T02:30:00"', "timestamp_ambiguous", 'timezone = "Europe/Berlin"'),
    time('"2026-10-25T02:30:00+01:00"', to_us(datetime(2026, 10, 25, 1, 30, tzinfo=UTC)), 'timezone = "Europe/Berlin"'),
    time('"2026-03-29T02:30:00"', "timestamp_never_occurred", 'timezone = "Europe/Berlin"'),
    time('"2026-02-30T10:15:00"', "timestamp_not_understood", 'timezone = "Europe/Berlin"'),
    time('"2011-12-30T10:15:00"', "timestamp_never_occurred", 'timezone = "Pacific/Apia"'),
    time('"2026-11-28T23:59:60Z"', "timestamp_not_understood"),
    time('"2026-11-28T25:00:00Z"', "timestamp_not_understood"),
    time('"2026-02-30T00:00:00Z"', "timestamp_not_understood"),
    time('"2026-11-28"', "timestamp_not_understood"),
    time('"28/Nov/2026:10:15:00 +0000"', "timestamp_not_understood"),
    time('"now"', "timestamp_not_understood"),
    time('"infinity"', "timestamp_not_understood"),
    time('""', "timestamp_not_understood"),
    time("true", "timestamp_not_understood"),
    time("{}", "timestamp_not_understood"),
    time('"1795860900"', "timestamp_not_understood", 'epoch_unit = "s"'),
    time('"2019-12-31T23:59:59.999999Z"', "timestamp_before_2020"),
    time('"2020-01-01T00:00:00Z"', to_us(datetime(2020, 1, 1, tzinfo=UTC))),
    time('"2026-11-29T12:10:00Z"', to_us(NOW) + 600_000_000),
    time('"2026-11-29T12:10:00.000001Z"', "timestamp_in_the_future"),
    time('"9999-12-31T23:59:59Z"', "timestamp_in_the_future"),
    time("1795860900", "epoch_unit_not_declared"),
    time("1795860900.5", "epoch_unit_not_declared"),
    time("1795860900", AT, 'epoch_unit = "s"'),
    time("1795860900.123456", AT + 123_456, 'epoch_unit = "s"'),
    time("1795860900000", AT, 'epoch_unit = "ms"'),
    time("1795860900000.5", AT + 500, 'epoch_unit = "ms"'),
    time("1795860900000000", AT, 'epoch_unit = "us"'),
    time("1795860900000000999", AT, 'epoch_unit = "ns"'),
    time("1795860900000", "timestamp_in_the_future", 'epoch_unit = "s"'),
    time("1795860900", "timestamp_before_2020", 'epoch_unit = "ms"'),
    time("-1", "timestamp_before_2020", 'epoch_unit = "s"'),
    time('"2026-11-28T10:15:00Z"', AT, 'epoch_unit = "s"'),
    *(
        time(text, "timestamp_not_understood", f'epoch_unit = "{unit}"')
        for unit in ("s", "ms", "us", "ns")
        for text in ("1e300", "-1e300", "1e400", "NaN")
    ),
    # Names: text or integers of at most 256 characters; empty ones are not reported.
    name("deployment", GONE, "missing_deployment"),
    name("deployment", "null", "missing_deployment"),
    name("deployment", '""', "missing_deployment"),
    name("deployment", "7", {"deployment": "7"}),
    name("deployment", '"a\'; drop table requests;--"', {"deployment": "a'; drop table requests;--"}),
    name("deployment", '"\\u0000\\u001b[2J"', {"deployment": "\0\x1b[2J"}),
    name("deployment", json.dumps("x" * 256), {"deployment": "x" * 256}),
    name("deployment", json.dumps("é" * 256), {"deployment": "é" * 256}),
    Case("a deployment given by the source", {"deployment": "s"}, {"deployment": GONE}, option='deployment = "s"'),
    Case("a deployment of the line's own", {"deployment": "pool"}, option='deployment = "s"'),
    Case("a model and no deployment", {"deployment": "m", "model": "m"}, {"deployment": GONE, "model": '"m"'}),
    Case(
        "a model and a deployment given by the source",
        {"deployment": "s", "model": "m"},
        {"deployment": GONE, "model": '"m"'},
        option='deployment = "s"',
    ),
    *(
        name(key, text, reason)
        for key in ("request_id", "deployment", "instance", "model", "session_id")
        for text, reason in (
            (json.dumps("x" * 257), "name_too_long"),
            ("1.5", "name_is_not_text"),
            ("true", "name_is_not_text"),
            ("[]", "name_is_not_text"),
            ('{"a": 1}', "name_is_not_text"),
        )
    ),
    name("instance", "null", {"instance": None}),
    name("instance", '""', {"instance": None}),
    name("session_id", "3", {"session_id": "3"}),
    name("request_id", "123", {"request_id": "123"}),
    # Status: 2xx and words of success are ok, cancelled requests are aborted, the rest failed.
    status("200", "200", "ok"),
    status("299", "299", "ok"),
    status("300", "300", "failed"),
    status("499", "499", "aborted"),
    status("502", "502", "failed"),
    status('"200"', "200", "ok"),
    status('"OK"', "ok", "ok"),
    status('"Cancelled"', "cancelled", "aborted"),
    status('"stop"', "stop", "ok"),
    status('"timeout"', "timeout", "failed"),
    status("true", "true", "ok"),
    status("false", "false", "failed"),
    status("null", None, "ok"),
    status(GONE, None, "ok"),
    Case("status 200.0", "status_not_understood", {"status": "200.0"}),
    Case("status {}", "status_not_understood", {"status": "{}"}),
    Case("status []", "status_not_understood", {"status": "[]"}),
]
OPTIONS = sorted({case.option for case in CASES})


@pytest.fixture(scope="module", params=list(KEYS))
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """Every case's reason or request, all ingested once per format."""
    found: dict[int, Any] = {}
    for option in OPTIONS:
        source = SOURCE.replace('"canonical"', f'"{request.param}"')
        place = Place(tmp_path_factory.mktemp("rules"), source + option + "\n")
        cases = [case for case in CASES if case.option == option]
        lines = [case.line(number, request.param) for number, case in enumerate(cases)]
        place.write("a.jsonl", "".join(f"{line}\n" for line in lines).encode())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(staging, "MIN_REJECTS", 10**9)
            (outcome,) = place.ingest()
        assert outcome.n_lines == len(cases) == outcome.n_loaded + outcome.n_quarantined
        for row in place.rows("select * from requests"):
            found[id(cases[row["source_line"] - 1])] = row
        for row in place.rows("select * from quarantine"):
            found[id(cases[row["source_line"] - 1])] = row["reason"]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_a_line_becomes_what_the_table_says(judged: dict[int, Any], case: Case) -> None:
    found = judged[id(case)]
    if isinstance(case.expected, dict) and isinstance(found, dict):
        found = {key: found[key] for key in case.expected}
    assert found == case.expected


def test_every_reason_of_the_sql_occurs_in_the_table() -> None:
    folder = resource_folder("sql") / "ingest"
    rules = (folder / "judged.sql").read_text().split("faulted as", 1)[1]
    texts = [rules, *(path.read_text() for path in sorted(Path(folder / "macros").glob("*_fault.sql")))]
    reasons = set(re.findall(r"then\s+'([a-z0-9_]+)'", "\n".join(texts)))
    assert len(reasons) >= 20
    # The mark of a line that is no request leaves the staging table before anything is counted.
    assert reasons - {"not_a_request"} == {case.expected for case in CASES if isinstance(case.expected, str)}


def test_no_two_cases_share_a_name() -> None:
    names = [case.what for case in CASES]
    assert sorted(names) == sorted(set(names))


def test_the_excerpt_of_a_refused_line_is_bounded_and_exact(place: Place) -> None:
    place.configure(SOURCE + EXCERPTS)
    place.write("a.jsonl", ("{" + "é" * 1000 + "\n").encode())
    place.ingest()
    (row,) = place.rows("select * from quarantine")
    assert row["excerpt"] == "{" + "é" * 499
    assert (row["source_line"], row["byte_offset"], row["line_bytes"]) == (1, 0, 2001)
