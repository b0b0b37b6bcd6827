"""The README is executed: what it says is typed is typed here, and what it shows is what comes out."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from pipelines.cli import COMMANDS, main
from pipelines.costs import CostSettings
from pipelines.engines.settings import SparkSettings
from pipelines.formats import formats
from pipelines.metrics.settings import MetricsSettings
from pipelines.objectives import ObjectiveSettings
from pipelines.prices.rows import PriceSettings
from pipelines.privacy.settings import PrivacySettings
from pipelines.settings import PolicySettings, PriceBookSettings, SourceSettings, WarehouseSettings, load_settings
from tests.conftest import REPO, FleetWarehouse
from tests.contract.pages import Step, steps

README = (REPO / "README.md").read_text()
TYPED = [step for step in steps(REPO / "README.md") if step.command.startswith("valleywatch ")]


@pytest.mark.parametrize("step", TYPED, ids=lambda step: step.command)
def test_what_the_readme_types_prints_what_it_shows(
    step: Step, fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    folder = fleet_warehouse.place.folder
    sweep = Path("logs") / "llama_server" / "sweep_L8192_ub512.jsonl"
    shutil.copy2(REPO / "fixtures" / sweep, folder / sweep)
    with contextlib.chdir(folder):
        assert main(shlex.split(step.command)[1:]) == 0
    step.require(capsys.readouterr().out, request.config)


def test_the_demo_prints_the_table_that_the_readme_shows(
    fleet_warehouse: FleetWarehouse, request: pytest.FixtureRequest
) -> None:
    (demo,) = [step for step in steps(REPO / "README.md") if step.command == "make demo"]
    assert fleet_warehouse.exit_code == 0
    n_lines = demo.shown.count("\n")
    demo.require("".join(fleet_warehouse.printed.splitlines(keepends=True)[:n_lines]), request.config)
    assert "in valley" in demo.shown
    assert "escaped" in demo.shown


@pytest.mark.parametrize("verb", ["demo", "test"])
def test_the_two_commands_are_verbs_of_the_makefile(verb: str) -> None:
    assert f"$ make {verb}\n" in README
    assert re.search(rf"^{verb}: setup ##", (REPO / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_command_is_in_the_readme(command: object) -> None:
    assert f"`valleywatch {command.__name__.rpartition('.')[2]}" in README


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("warehouse", WarehouseSettings),
        ("sources", SourceSettings),
        ("prices", PriceSettings),
        ("price_book", PriceBookSettings),
        ("costs", CostSettings),
        ("objectives", ObjectiveSettings),
        ("policy", PolicySettings),
        ("metrics", MetricsSettings),
        ("privacy", PrivacySettings),
        ("spark", SparkSettings),
    ],
)
def test_every_key_is_in_the_readme(section: str, model: type) -> None:
    for key in model.model_fields:
        assert f"`{section}.{key}`" in README


def test_the_configuration_shown_is_accepted(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    config = tmp_path / "valleywatch.toml"
    config.write_text(shown)
    assert load_settings(config).sources[0].format in formats()


def test_the_prices_shown_are_accepted(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```csv\n(.*?)```", README, re.DOTALL)
    (tmp_path / "prices.csv").write_text(shown)
    config = tmp_path / "valleywatch.toml"
    config.write_text('[price_book]\npath = "prices.csv"\n')
    assert {row.hours_text for row in load_settings(config).book.rows} == {"16:30-00:30", "00:30-16:30"}


def test_help_names_every_command() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as printed, pytest.raises(SystemExit):
        main(["--help"])
    for command in COMMANDS:
        assert re.search(rf"^ +{command.__name__.rpartition('.')[2]}\s", printed.getvalue(), re.MULTILINE)
