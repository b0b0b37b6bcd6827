"""The gauges of the job: when it last succeeded, what it left undone, what became of alerts.

Belongs here: their names and where each value comes from. Does not belong here: gauges of deployments (`deployments`).
Everything is a moment or a count of the published snapshot: ages are the dashboard's to take, with its own clock. Days
that are judged and not published cannot be counted without the writer's lock; their trace is a snapshot older than the
last success.
"""

from __future__ import annotations

from prometheus_client.core import GaugeMetricFamily, Metric

from pipelines import __version__
from pipelines.heartbeat import last_beat
from pipelines.warehouse import SCHEMA_VERSION, Reader, Warehouse

STATUSES = ("waiting", "sent", "dead", "too_old", "silenced", "unwanted", "unopened")
"""What can become of an alert at a channel (`sql/schema/34_alert_deliveries.sql`): none of a kind is a known 0."""


def job_families(reader: Reader, warehouse: Warehouse) -> list[Metric]:
    """Return all gauges of the job that wrote the snapshot."""
    beat = last_beat(warehouse)
    with_data = {row["day_index"] for row in reader.rows("ops/lake_days")}
    dirty = {row["day_index"] for row in reader.rows("ops/dirty_days")}
    refused = reader.rows("metrics/refused")[0]
    build = GaugeMetricFamily(
        "valleywatch_build_info",
        "Version of valleywatch and of the layout of its tables.",
        labels=("version", "layout"),
    )
    build.add_metric([__version__, str(SCHEMA_VERSION)], 1)
    deliveries = GaugeMetricFamily(
        "valleywatch_alerts",
        "Alerts by what became of them at each channel, as of the snapshot; dead ones were given up.",
        labels=("status",),
    )
    n_of = dict.fromkeys(STATUSES, 0) | {
        row["status"]: row["n_deliveries"] for row in reader.rows("metrics/deliveries")
    }
    for status, n in n_of.items():
        deliveries.add_metric([status], n)
    return [
        build,
        _one("last_success_timestamp_seconds", "When a run last did and published all that was due.",
             None if beat is None else beat.finished.timestamp()),
        _one("snapshot_timestamp_seconds", "When the published snapshot was written.",
             warehouse.snapshot.resolve().stat().st_mtime),
        _one("dirty_partitions", "UTC days whose results no longer follow from the logs, as of the snapshot.",
             len(with_data & dirty)),
        _one("blocked_partitions", "UTC days that a broken contract stopped: what is published of them is older.",
             len(reader.rows("metrics/blocked_days"))),
        _one("quarantined_lines", "Refused lines of the files read in the 24 hours before the newest reading.",
             refused["quarantined_lines"]),
        _one("rejected_files", "Files and sources refused whole in the 24 hours before the newest reading.",
             refused["rejected_files"]),
        deliveries,
    ]  # fmt: skip


def _one(name: str, meaning: str, value: float | None) -> Metric:
    return GaugeMetricFamily(f"valleywatch_{name}", meaning, value=value)
