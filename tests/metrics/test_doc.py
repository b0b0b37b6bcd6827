"""The page on operations tells of every metric, and of none that there is not."""

from __future__ import annotations

import re

from pipelines.metrics.exposition import MAX_DEPLOYMENTS, read_families
from pipelines.metrics.server import LOOK_S
from tests.conftest import REPO, FleetWarehouse

PAGE = (REPO / "docs" / "operations.md").read_text()
SECTION = re.split(r"^## ", PAGE.partition("## Metrics\n")[2], flags=re.MULTILINE)[0]


def test_the_table_has_every_metric_and_its_labels(fleet_warehouse: FleetWarehouse) -> None:
    families = {family.name: family for family in read_families(fleet_warehouse.place.warehouse)}
    rows = re.findall(r"^\| (`valleywatch_.*?) \| (.*?) ?\| ", SECTION, re.MULTILINE)
    told = {}
    for names, labels in rows:
        listed = re.findall(r"`(valleywatch_\w+|…_\w+)`", names)
        for name in listed:
            told[name.replace("…", listed[0])] = {label for label in labels.split(", ") if label}
    assert told == {name: set(family.samples[0].labels) for name, family in families.items()}


def test_the_figures_are_those_of_the_code() -> None:
    assert f"At most {MAX_DEPLOYMENTS} deployments" in SECTION
    assert f"every {LOOK_S:.0f} s" in SECTION
