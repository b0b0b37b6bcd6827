"""The exposition says what `status` says, leaves out what is not known, and no name from a log can bend it."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prometheus_client.core import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from pipelines import __version__
from pipelines.heartbeat import beat
from pipelines.metrics.deployments import GAUGES, STATES, Deployment, deployment_families
from pipelines.metrics.exposition import as_text, read_families
from pipelines.verdict import Verdict
from pipelines.warehouse import SCHEMA_VERSION
from tests.conftest import FleetWarehouse
from tests.metrics.conftest import Promtool
from tests.place import ABSENT, NOW, Place, as_bytes, request

HOSTILE = (
    "../../etc/x", "a'; DROP TABLE core.requests;--", '"', "$1", "%s{0}{{7*7}}", "<script>alert(1)</script>", "\\",
    "\\n", "}", "{",
    'x"} 1\nvalleywatch_hit_rate{deployment="forged', "=cmd|'/c calc'!A1", "\t", "\r", "\r\nX-Header: 1",
    "\n", "# EOF", "\x1b[2J", "\u202e", "\u200b", "\u2028", "\x85", "\x0b", "e\u0301", "\u00e9", "\U0001f600" * 60,
    "NaN", " ", "..", 'a",b="c', "trailing\\",
)  # fmt: skip
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def series(families: Any) -> Series:
    """All samples by name and labels; a second sample of one series fails."""
    found: Series = {}
    for family in families:
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def parsed(text: bytes) -> Series:
    """The text as Prometheus' own Python parser reads it, and OpenMetrics' the same."""
    plain = series(text_string_to_metric_families(text.decode()))
    assert series(openmetrics.text_string_to_metric_families(text.decode())) == plain
    return plain


def of(found: Series, name: str, **labels: str) -> float | None:
    return found.get((f"valleywatch_{name}", frozenset(labels.items())))


def test_it_says_what_status_says(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    place = fleet_warehouse.place
    assert place.valleywatch("status", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    found = parsed(as_text(read_families(place.warehouse)))
    names = {"lost_24h": {"currency": "USD"}, "hit_rate": {}, "revenue_index": {}, "price_ratio": {}, "coverage": {},
             "floor_hit_rate": {}, "exit_hit_rate": {}}  # fmt: skip
    for row in status:
        deployment = row["deployment"]
        for name, labels in names.items():
            assert of(found, name, deployment=deployment, **labels) == row[name]
        assert of(found, "revenue_index_low", deployment=deployment) == row["index_low"]
        assert of(found, "revenue_index_high", deployment=deployment) == row["index_high"]
        assert {name: of(found, "state", deployment=deployment, state=name) for name in STATES} == {
            name: float(name == row["state"]) for name in STATES
        }
    assert of(found, "deployments") == len(status) == 5
    assert of(found, "deployments_left_out") == 0
    assert of(found, "build_info", version=__version__, layout=str(SCHEMA_VERSION)) == 1


def test_the_newest_hour_is_that_of_the_view(fleet_warehouse: FleetWarehouse) -> None:
    found = parsed(as_text(read_families(fleet_warehouse.place.warehouse)))
    newest = fleet_warehouse.place.rows(
        "select deployment, epoch(hour_utc) as at_s, p_in_valley, is_held, lost_per_hour, currency from valley_status "
        "qualify row_number() over (partition by deployment order by hour_utc desc) = 1"
    )
    entered = {
        row["deployment"]: row["at_s"]
        for row in fleet_warehouse.place.rows(
            "select deployment, epoch(entered_at) as at_s from valley_episodes where left_at is null"
        )
    }
    assert len(entered) == 2
    for row in newest:
        name = row["deployment"]
        assert of(found, "p_in_valley", deployment=name) == row["p_in_valley"]
        assert of(found, "is_held", deployment=name) == row["is_held"]
        assert of(found, "lost_per_hour", deployment=name, currency=row["currency"]) == row["lost_per_hour"]
        assert of(found, "newest_hour_timestamp_seconds", deployment=name) == row["at_s"]
        assert of(found, "newest_judged_hour_timestamp_seconds", deployment=name) == row["at_s"]
        assert of(found, "in_valley_since_timestamp_seconds", deployment=name) == entered.get(name)


def test_what_is_not_known_has_no_series(place: Place) -> None:
    place.configure(place.config.read_text().partition("[[prices]]")[0])
    place.write("log.jsonl", [request(number, cached_tokens=ABSENT) for number in range(40)])
    place.settle()
    found = parsed(as_text(read_families(place.warehouse)))
    told = {name.removeprefix("valleywatch_") for name, labels in found if ("deployment", "pool") in labels}
    assert told == {
        "state", "coverage", "is_held", "newest_hour_timestamp_seconds", "newest_judged_hour_timestamp_seconds",
    }  # fmt: skip
    assert of(found, "coverage", deployment="pool") == 0
    assert of(found, "state", deployment="pool", state="unknown") == 1
    assert of(found, "last_success_timestamp_seconds") is None


def test_the_job_is_told_of(place: Place) -> None:
    place.write("log.jsonl", [*(request(number) for number in range(3)), request(4, input_tokens=-1)])
    damaged = bytearray(gzip.compress(as_bytes([request(5)])))
    damaged[-6] ^= 1  # its checksum
    place.write("damaged.jsonl.gz", bytes(damaged))
    with place.warehouse.writer() as writer:
        for status, n in (("sent", 3), ("dead", 1), ("waiting", 2)):
            writer.insert_rows("ops.alert_deliveries", [
                {"dedup_key": f"{status}-{i}", "kind": "entered", "level": 0, "channel": "slack", "status": status,
                 "attempts": 1} for i in range(n)
            ])  # fmt: skip
        writer.insert_rows("ops.findings", [
            {"day_index": 20_000, "contract": "c", "expectation": e, "severity": s, "passed": p, "detail": ""}
            for e, s, p in (("a", "block", False), ("b", "block", False), ("c", "warn", False), ("d", "block", True))
        ])  # fmt: skip
    place.ingest()
    beat(place.warehouse, NOW, "2026-11-28")
    found = parsed(as_text(read_families(place.warehouse)))
    assert {
        name: of(found, name)
        for name in ("dirty_partitions", "blocked_partitions", "quarantined_lines", "rejected_files")
    } == {"dirty_partitions": 1, "blocked_partitions": 1, "quarantined_lines": 1, "rejected_files": 1}
    assert of(found, "last_success_timestamp_seconds") == NOW.timestamp()
    assert of(found, "snapshot_timestamp_seconds") == place.warehouse.snapshot.resolve().stat().st_mtime
    alerts = {dict(labels)["status"]: n for (name, labels), n in found.items() if name == "valleywatch_alerts"}
    assert alerts == {"sent": 3, "dead": 1, "waiting": 2, "too_old": 0, "silenced": 0, "unwanted": 0, "unopened": 0}


def test_hostile_names_from_a_log_come_back_as_they_are(place: Place, promtool: Promtool) -> None:
    place.write("log.jsonl", [request(number, deployment=name) for number, name in enumerate(HOSTILE[:16])])
    place.settle()
    text = as_text(read_families(place.warehouse))
    found = parsed(text)
    loaded = {row["deployment"] for row in place.rows("select distinct deployment from requests")}
    assert {dict(labels)["deployment"] for name, labels in found if name == "valleywatch_hit_rate"} == loaded
    assert len(loaded) == 16
    assert promtool("check", "metrics", given=text) == ""


def deployment(name: str, value: float | None = None) -> Deployment:
    verdict = Verdict(hit_rate=value, revenue_index=value, lost_24h=value, currency="USD")
    return Deployment(name, verdict, {"state": "escaped"}, None)


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(codec="utf-8")), unique=True, min_size=1, max_size=4), st.floats())
@example(list(HOSTILE), 0.1)
@example(["a", "a "], math.nan)
@example(["x"], -math.inf)
def test_any_name_and_any_number_come_back_or_have_no_series(names: list[str], value: float) -> None:
    families = [family for family in deployment_families([deployment(name, value) for name in names]) if family.samples]
    found = parsed(as_text(families))
    assert {dict(labels)["deployment"] for _, labels in found} == set(names)
    for name in names:
        assert of(found, "hit_rate", deployment=name) == (value if math.isfinite(value) else None)


def test_every_name_is_a_plain_gauge_of_the_vocabulary() -> None:
    names = {field.name for field in fields(Verdict)} | {
        "revenue_index_low", "revenue_index_high", "p_in_valley", "is_held", "in_valley_since_timestamp_seconds",
        "lost_per_hour", "newest_hour_timestamp_seconds", "newest_judged_hour_timestamp_seconds",
    }  # fmt: skip
    assert {gauge.name for gauge in GAUGES} <= names


def test_the_number_of_series_is_bounded_and_the_valley_stays(place: Place) -> None:
    place.write("log.jsonl", [request(n, deployment=f"pool-{n % 7}") for n in range(21)])
    place.settle()
    found = parsed(as_text(read_families(place.warehouse, max_deployments=3)))
    kept = {dict(labels)["deployment"] for name, labels in found if name == "valleywatch_state"}
    assert len(kept) == 3
    assert (of(found, "deployments"), of(found, "deployments_left_out")) == (7, 4)


def test_those_in_the_valley_are_the_last_to_be_left_out(fleet_warehouse: FleetWarehouse) -> None:
    found = parsed(as_text(read_families(fleet_warehouse.place.warehouse, max_deployments=2)))
    kept = {dict(labels)["deployment"] for name, labels in found if name == "valleywatch_hit_rate"}
    assert kept == {"agent-offload", "glm-5-h200"}


def test_promtool_has_nothing_to_say(fleet_warehouse: FleetWarehouse, promtool: Promtool) -> None:
    assert promtool("check", "metrics", given=as_text(read_families(fleet_warehouse.place.warehouse))) == ""


def test_a_family_of_one_name_is_told_once(fleet_warehouse: FleetWarehouse) -> None:
    families: list[Metric] = read_families(fleet_warehouse.place.warehouse)
    assert len({family.name for family in families}) == len(families)
