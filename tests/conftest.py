"""Fixtures every folder of tests may use."""

import contextlib
import importlib.util
import io
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from pipelines.cli import main
from tests.place import Place

REPO = Path(__file__).parents[1]
FLEET_FILE = REPO / "fixtures" / "fleet.py"

# No test touches a Dagster instance of the machine it runs on, and nothing measures who runs the tests.
os.environ.pop("DAGSTER_HOME", None)
os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"
os.environ["GX_ANALYTICS_ENABLED"] = "false"

# The same examples in every run, whatever the machine's speed: a failure is seen again.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is shown and golden instead of comparing")


@pytest.fixture(scope="session")
def fleet_module() -> ModuleType:
    """The generator of synthetic fleet days, loaded by its path: fixtures/ is data, not a package."""
    spec = importlib.util.spec_from_file_location("fleet", FLEET_FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def fleet_day(fleet_module: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The default synthetic day: its folder of logs (read only, please) and its truth."""
    folder = tmp_path_factory.mktemp("fleet")
    return folder, fleet_module.generate_fleet(folder)


@dataclass(frozen=True)
class FleetWarehouse:
    """The fleet day and a measured replay after one `valleywatch run`; read only: tests that change it copy it."""

    place: Place
    truth: dict[str, Any]
    exit_code: int
    printed: str

    def copy(self, folder: Path) -> Place:
        """Return a place of its own with the same logs and the same warehouse."""
        shutil.copytree(self.place.folder, folder, symlinks=True, dirs_exist_ok=True)
        return Place(folder, self.place.config.read_text())


@pytest.fixture(scope="session")
def fleet_warehouse(fleet_day: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> FleetWarehouse:
    """What `valleywatch demo` leaves, on the fleet day that is there already."""
    logs, truth = fleet_day
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(logs, folder / "fleet")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main(["demo", "--folder", str(folder)])
    place = Place(folder, (folder / "valleywatch.toml").read_text())
    return FleetWarehouse(place, truth, code, printed.getvalue())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty place of its own."""
    return Place(tmp_path / "place")


@pytest.fixture
def in_tmp(tmp_path: Path) -> Iterator[Path]:
    """Make a scratch folder the current one."""
    with contextlib.chdir(tmp_path):
        yield tmp_path
