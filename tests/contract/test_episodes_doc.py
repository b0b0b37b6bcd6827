"""docs/episodes.md is executed: what it says is typed is typed here, and what it shows is what comes out."""

from __future__ import annotations

import contextlib
import re
import shlex

import pytest

from pipelines.cli import main
from pipelines.settings import PolicySettings
from pipelines.words import reason_sentence
from tests.conftest import REPO, FleetWarehouse
from tests.contract.pages import Step, steps

PAGE = REPO / "docs" / "episodes.md"
DOC = PAGE.read_text()


@pytest.mark.parametrize("step", steps(PAGE), ids=lambda step: step.command)
def test_what_the_page_types_prints_what_it_shows(
    step: Step, fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    with contextlib.chdir(fleet_warehouse.place.folder):
        assert main(shlex.split(step.command)[1:]) == 0
    step.require(capsys.readouterr().out, request.config)


def test_every_option_figure_and_key_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["episodes", "--help"])
    for option in set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--config"}:
        assert f"`{option}" in DOC
    for key in PolicySettings.model_fields:
        assert f"`{key}`" in DOC.partition("| key | can be tried |")[2]
    figures = re.findall(r"^([a-z][a-z0-9 ]+?)  +", steps(PAGE)[1].shown, re.MULTILINE)
    for figure in set(figures) - {"policy", "capacity", "episodes", "deployment"}:
        assert f"\n| {figure} | " in DOC


def test_every_reason_to_hold_an_hour_is_one_that_is_told() -> None:
    (table,) = re.findall(r"\| an hour is held for .*?\n\n", DOC, re.DOTALL)
    reasons = re.findall(r"`([a-z_]+)`", table.replace("`min_requests`", "").replace("`valley_status`", ""))
    told = [code for code in reasons if code not in ("regime", "capacity_limited")]
    assert len(told) > 8
    assert [code for code in told if reason_sentence(code) == code] == []
