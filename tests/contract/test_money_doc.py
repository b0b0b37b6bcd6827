"""docs/money.md is executed: what it says is typed is typed here, and what it shows is what comes out."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path

import pytest

from models.waterfall import FACTORS
from pipelines.cli import main
from pipelines.settings import load_settings
from tests.conftest import REPO, FleetWarehouse
from tests.contract.pages import Step, steps

PAGE = REPO / "docs" / "money.md"
DOC = PAGE.read_text()


@pytest.mark.parametrize("step", steps(PAGE), ids=lambda step: step.command)
def test_what_the_page_types_prints_what_it_shows(
    step: Step, fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    with contextlib.chdir(fleet_warehouse.place.folder):
        assert main(shlex.split(step.command)[1:]) == 0
    step.require(capsys.readouterr().out, request.config)


def test_the_page_shows_every_command_of_money() -> None:
    assert {shlex.split(step.command)[1] for step in steps(PAGE)} == {"whatif", "waterfall", "profit"}


def test_the_configuration_shown_is_accepted(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", DOC, re.DOTALL)
    config = tmp_path / "valleywatch.toml"
    config.write_text(shown)
    settings = load_settings(config)
    assert (len(settings.costs), len(settings.objectives), settings.policy.revenue_scope) == (2, 1, "full")


def test_every_option_of_whatif_and_every_part_of_a_waterfall_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["whatif", "--help"])
    for option in set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--config"}:
        assert f"`{option}" in DOC
    for factor in FACTORS:
        assert f"\n| {factor.replace('_', ' ')} | " in DOC
