"""The Grafana dashboard asks for what there is, in expressions that Prometheus reads, and fits on a page."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pipelines.metrics.exposition import read_families
from tests.conftest import REPO, FleetWarehouse
from tests.metrics.conftest import Promtool

DASHBOARD: dict[str, Any] = json.loads((REPO / "docs" / "deploy" / "grafana" / "valleywatch.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
EXPRESSIONS = {
    f"{panel['title']}:{target['refId']}": target["expr"].replace("$deployment", ".*")
    for panel in PANELS
    for target in panel["targets"]
}


def test_it_shows_what_an_operator_asks_for() -> None:
    shown = {(panel["type"], panel["title"]) for panel in PANELS}
    assert {("table", "Fleet"), ("timeseries", "Revenue index"), ("state-timeline", "State"), ("stat", "Job")} <= shown
    (loss,) = [panel for panel in PANELS if panel["title"] == "What the hits cost per hour"]
    assert loss["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"


def test_every_metric_that_it_asks_for_is_in_the_demo(fleet_warehouse: FleetWarehouse) -> None:
    there = {family.name: family for family in read_families(fleet_warehouse.place.warehouse)}
    asked = {name for expression in EXPRESSIONS.values() for name in re.findall(r"valleywatch_\w+", expression)}
    assert asked <= set(there)
    told_elsewhere = {
        f"valleywatch_{name}" for name in (
            "coverage", "price_ratio", "floor_hit_rate", "exit_hit_rate", "is_held",
            "newest_judged_hour_timestamp_seconds",
        )
    }  # fmt: skip
    assert set(there) - asked == told_elsewhere


def test_the_labels_that_it_asks_for_are_there(fleet_warehouse: FleetWarehouse) -> None:
    labels = {
        label
        for family in read_families(fleet_warehouse.place.warehouse)
        for sample in family.samples
        for label in sample.labels
    }
    grouped = [names for expression in EXPRESSIONS.values() for names in re.findall(r"by \(([^)]*)\)", expression)]
    legends = [target.get("legendFormat", "") for panel in PANELS for target in panel["targets"]]
    asked = {name.strip() for names in grouped for name in names.split(",")}
    asked |= {name for legend in legends for name in re.findall(r"{{(\w+)}}", legend)}
    assert asked <= labels


def test_every_expression_is_read_by_prometheus(tmp_path: Path, promtool: Promtool) -> None:
    rules = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(EXPRESSIONS.values())]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))  # JSON is YAML
    assert f"SUCCESS: {len(EXPRESSIONS)} rules found" in promtool("check", "rules", path)
    path.write_text(json.dumps({"groups": [{"name": "broken", "rules": [{"record": "x", "expr": "max by (valley"}]}]}))
    with pytest.raises(AssertionError, match="parse error"):
        promtool("check", "rules", path)


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    cells = [
        {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        for at in (panel["gridPos"] for panel in PANELS)
    ]
    assert all(not (one & other) for one, other in combinations(cells, 2))
    assert all(0 <= x < 24 for cell in cells for x, _ in cell)


def test_source_and_deployment_are_variables() -> None:
    assert DASHBOARD["schemaVersion"] >= 39
    assert {variable["name"]: variable["type"] for variable in DASHBOARD["templating"]["list"]} == {
        "datasource": "datasource",
        "deployment": "query",
    }
    sources = [panel["datasource"] for panel in PANELS] + [t["datasource"] for p in PANELS for t in p["targets"]]
    assert {source["uid"] for source in sources} == {"${datasource}"}
    for panel in PANELS:
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs)
