"""Logs in object stores: read once, whole or not at all, and never in the way of other sources."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from tests.objects.conftest import Bucket
from tests.place import PRICE, Place, as_bytes, request

ROWS = [request(number, timestamp=f"2026-11-28T{number:02}:15:00Z", input_tokens=1000 + number) for number in range(12)]
DATA = as_bytes(ROWS)


def source(path: str, name: str = "store", log_format: str = "canonical") -> str:
    return f"[[sources]]\nname = '{name}'\nformat = '{log_format}'\npath = '{path}'\n"


def n_requests(place: Place) -> int:
    return int(place.rows("select count(*) as n from requests")[0]["n"])


def test_the_objects_that_a_pattern_matches_are_loaded(place: Place, bucket: Bucket) -> None:
    bucket.put("logs/a.jsonl", as_bytes(ROWS[:3]))
    bucket.put("logs/day=1/b.jsonl.gz", gzip.compress(as_bytes(ROWS[3:7])))
    bucket.put("logs/day=2/deep/er/c.jsonl", as_bytes(ROWS[7:]))
    bucket.put("logs/day=2/readme.txt", b"no log")
    bucket.put("other/d.jsonl", b"no log")
    place.configure(source(f"{bucket.url}/logs/**/*.jsonl*") + PRICE)
    outcomes = place.settle()
    assert [outcome.status for outcome in outcomes] == ["loaded"] * 3, [x.detail for x in outcomes]
    assert n_requests(place) == 12
    assert {row["source_file"] for row in place.rows("select distinct source_file from requests")} == {
        f"{bucket.url}/logs/{key}" for key in ("a.jsonl", "day=1/b.jsonl.gz", "day=2/deep/er/c.jsonl")
    }
