"""The published snapshot → gauges → text that Prometheus, the node exporter and OpenMetrics scrapers read.

Belongs here: putting the gauges together and their bound. Does not belong here: any gauge (`deployments`, `job`).
All of them are gauges without time stamps, so that one text is valid in both formats: the end mark that OpenMetrics
asks for is a comment to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from pipelines.metrics.deployments import deployment_families, published_deployments
from pipelines.metrics.job import job_families
from pipelines.warehouse import Warehouse

MAX_DEPLOYMENTS = 500
"""Deployments with series of their own, some twenty each: names come from logs, and whoever can write them could fill a
Prometheus with them. Those in the valley are the last to be left out."""


class Fixed(Collector):
    """A collector of families that are there already."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Return them."""
        return self._families


def read_families(warehouse: Warehouse, *, max_deployments: int = MAX_DEPLOYMENTS) -> list[Metric]:
    """Return the gauges of what is published, those without a series left out.

    Raises UsageError where nothing is published yet, ValleywatchError where it cannot be read.
    """
    with warehouse.reader() as reader:
        found = published_deployments(reader)
        families = [
            *job_families(reader, warehouse),
            GaugeMetricFamily("valleywatch_deployments", "Deployments in the snapshot.", value=len(found)),
            GaugeMetricFamily(
                "valleywatch_deployments_left_out",
                "Deployments without series of their own: a fleet has more than are told of here.",
                value=max(len(found) - max_deployments, 0),
            ),
            *deployment_families(found[:max_deployments]),
        ]
    return [family for family in families if family.samples]


def as_text(families: Sequence[Metric]) -> bytes:
    """Return the exposition of `families`, UTF-8; valid as Prometheus text 0.0.4 and as OpenMetrics 1.0."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Fixed(families))
    return generate_latest(registry) + b"# EOF\n"
