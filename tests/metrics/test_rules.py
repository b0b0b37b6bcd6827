"""The example alert rules are accepted, and fire when they say they do."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pipelines.metrics.exposition import read_families
from tests.conftest import REPO, FleetWarehouse
from tests.metrics.conftest import Promtool

RULES = REPO / "docs" / "deploy" / "prometheus"


def test_promtool_accepts_them(promtool: Promtool) -> None:
    assert "SUCCESS: 6 rules found" in promtool("check", "rules", "--lint-fatal", RULES / "rules.yml")


def test_they_fire_and_hold_as_their_examples_say(promtool: Promtool) -> None:
    assert "SUCCESS" in promtool("test", "rules", RULES / "rules_test.yml")


@pytest.mark.parametrize(
    ("written", "broken"),
    [
        ('last_over_time(valleywatch_state{state="in_valley"}[6h]) == 1', 'valleywatch_state{state="in_valley"} == 1'),
        (
            "last_over_time(valleywatch_last_success_timestamp_seconds[6h])",
            "valleywatch_last_success_timestamp_seconds",
        ),
        ("> 30 * 3600", "> 29 * 3600"),
        ("> 26 * 3600", "> 27 * 3600"),
        ('status="dead"', 'status=~".*"'),
        ("last_over_time(valleywatch_blocked_partitions[6h])", "valleywatch_blocked_partitions"),
        ("absent_over_time(valleywatch_build_info[1h])", "absent_over_time(valleywatch_build_info[6h])"),
    ],
)
def test_the_examples_notice_a_broken_rule(written: str, broken: str, tmp_path: Path, promtool: Promtool) -> None:
    shutil.copy2(RULES / "rules_test.yml", tmp_path)
    text = (RULES / "rules.yml").read_text()
    assert text.count(written) == 1
    (tmp_path / "rules.yml").write_text(text.replace(written, broken))
    with pytest.raises(AssertionError, match="FAILED"):
        promtool("test", "rules", tmp_path / "rules_test.yml")


def test_they_ask_for_what_there_is(fleet_warehouse: FleetWarehouse) -> None:
    there = {family.name for family in read_families(fleet_warehouse.place.warehouse)}
    text = re.sub(r"^ *#.*$", "", (RULES / "rules.yml").read_text(), flags=re.MULTILINE)
    assert set(re.findall(r"valleywatch_\w+", text)) <= there
