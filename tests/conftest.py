"""Fixtures every folder of tests may use."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FLEET_FILE = Path(__file__).parents[1] / "fixtures" / "fleet.py"


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
